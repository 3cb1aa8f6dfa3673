/* A running lapse-console: what one client, and all of them together, may take of it. */
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "tests/support/console.h"
#include "tests/support/listener.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"

enum {
	BODY_MAX = 65536,
	HEAD_MAX = 16384,
	PER_ADDRESS = 8,
	ALL = 128,
	TRIED = 150,
	IDLE_MS = 10000,
	EARLY_MS = 9000,
	LATE_MS = 20000, /* the machine may be busy */
	HEAD_SIZE = 20000,
};

static struct sandbox *sandbox;
static struct console_run console;

static void set_up(void)
{
	sandbox_create(SANDBOX_EVERYTHING, &sandbox);
}

static void tear_down(void)
{
	console_leave(&console);
	sandbox_destroy(&sandbox);
}

/* The status of a form of so many bytes, with a token that is none. */
static unsigned int send_body(size_t size)
{
	char *body = memory_allocate(size + 1);

	memset(body, 'a', size);
	body[0] = 'x';
	body[1] = '=';
	unsigned int status = console_post(&console, "olga",
		&(struct console_form){ .path = "/tasks/1/requeue", .fields = body })
				      ->status;
	free(body);
	return status;
}

START_TEST(a_body_has_64_kib_at_most)
{
	console_start(&console, sandbox);
	ck_assert_uint_eq(send_body(BODY_MAX), 403);
	ck_assert_uint_eq(send_body(BODY_MAX + 1), 413);
	console_expect(console_get(&console, "vera", "/"), 200, "Overview");
}
END_TEST

/* The status of a request whose head has about so many bytes; 0: none. */
static unsigned int send_head(size_t size)
{
	char *request = memory_allocate(HEAD_SIZE + 256);
	char answer[64] = "";
	int client = listener_connect(console.port);
	struct pollfd news = { .fd = client, .events = POLLIN };

	ck_assert_uint_lt(size, HEAD_SIZE);
	(void)text_copy(request, 64, "GET / HTTP/1.1\r\nHost: x\r\nX-Long: ");
	memset(request + strlen(request), 'a', size);
	memcpy(request + strlen(request), "\r\n\r\n", 5);
	(void)send(client, request, strlen(request), MSG_NOSIGNAL);
	if (poll(&news, 1, LATE_MS) == 1)
		(void)recv(client, answer, sizeof(answer) - 1, 0);
	(void)close(client);
	free(request);
	return answer[0] == '\0' ? 0 : (unsigned int)strtoul(answer + 9, NULL, 10);
}

START_TEST(a_head_has_16_kib_at_most)
{
	console_start(&console, sandbox);
	ck_assert_uint_eq(send_head(HEAD_MAX / 2), 401);
	ck_assert_uint_ne(send_head(HEAD_MAX), 401);
	console_expect(console_get(&console, "vera", "/"), 200, "Overview");
}
END_TEST

static void expect_state(int client, bool is_open)
{
	struct pollfd news = { .fd = client, .events = POLLIN };
	char byte = 0;

	if (is_open)
		ck_assert_int_eq(poll(&news, 1, 0), 0);
	else
		ck_assert(poll(&news, 1, LATE_MS) == 1 && recv(client, &byte, 1, 0) <= 0);
}

/* The client of the test has one as well. */
START_TEST(an_address_has_eight_connections_at_most)
{
	int clients[PER_ADDRESS];

	console_start(&console, sandbox);
	console_expect(console_get(&console, "vera", "/"), 200, "Overview");
	for (size_t i = 0; i < PER_ADDRESS; i++)
		clients[i] = listener_connect(console.port);
	expect_state(clients[PER_ADDRESS - 1], false);
	for (size_t i = 0; i < PER_ADDRESS - 1; i++)
		expect_state(clients[i], true);
	console_expect(console_get(&console, "vera", "/"), 200, "Overview");
	(void)close(clients[0]);
	console_expect(console_get(&console, "vera", "/"), 200, "Overview");
	clients[0] = listener_connect(console.port);
	console_expect(console_get(&console, "vera", "/"), 200, "Overview");
	expect_state(clients[0], true);
	for (size_t i = 0; i < PER_ADDRESS; i++)
		(void)close(clients[i]);
}
END_TEST

static size_t count_open(const int *clients, size_t count)
{
	size_t open = 0;

	for (size_t i = 0; i < count; i++) {
		struct pollfd news = { .fd = clients[i], .events = POLLIN };

		open += poll(&news, 1, 0) == 0 ? 1 : 0;
	}
	return open;
}

/* All come from the proxy's address, which has no limit of its own. */
START_TEST(there_are_128_connections_at_most_and_room_for_one_more)
{
	int clients[TRIED];

	sandbox_set(sandbox, "LAPSE_CONSOLE_TRUSTED_PROXIES", "127.0.0.1/32");
	console_start(&console, sandbox);
	for (size_t i = 0; i < TRIED; i++) {
		clients[i] = listener_connect(console.port);
		ck_assert_int_ge(clients[i], 0);
		if (i % PER_ADDRESS == 0)
			console_expect(console_get(&console, "vera", "/"), 200, "Overview");
	}
	console_expect(console_get(&console, "vera", "/"), 200, "Overview");
	size_t open = count_open(clients, TRIED);
	ck_assert_uint_gt(open, PER_ADDRESS);
	ck_assert_uint_le(open, ALL);
	for (size_t i = 0; i < TRIED; i++)
		(void)close(clients[i]);
}
END_TEST

START_TEST(who_says_nothing_has_ten_seconds)
{
	console_start(&console, sandbox);
	uint64_t begin_ms = clock_now_ms();
	int client = listener_connect(console.port);
	expect_state(client, false);
	uint64_t took_ms = clock_now_ms() - begin_ms;
	ck_assert_uint_ge(took_ms, EARLY_MS);
	ck_assert_uint_lt(took_ms, LATE_MS);
	(void)close(client);
}
END_TEST

int main(void)
{
	static const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = {
		a_body_has_64_kib_at_most,
		a_head_has_16_kib_at_most,
		an_address_has_eight_connections_at_most,
		there_are_128_connections_at_most_and_room_for_one_more,
		who_says_nothing_has_ten_seconds,
	};

	sandbox_need_servers();
	return runner_run_with("console_limits", &fixture, tests, ARRAY_LENGTH(tests));
}
