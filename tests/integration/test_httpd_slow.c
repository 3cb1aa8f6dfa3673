/*
 * httpd and clients that take their time: what is slow is cut off and holds up nobody.  Server and
 * clients run in turns on one thread.
 */
#include <string.h>

#include <check.h>

#include "common/base/clock.h"
#include "common/base/compiler.h"
#include "common/base/memory.h"
#include "common/io/httpd.h"
#include "tests/support/httpd_client.h"
#include "tests/support/runner.h"

enum {
	CONNECTION_MAX = 16,
	TIME_LIMIT_MS = 400,
	BIG_ANSWER_BYTES = 8000000,
	DELAY_MS = 300,
	CROWD = 60,
};

#define TAIL " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"

static struct httpd *httpd;
static unsigned int handled;

static void answer_text(struct httpd_answer *answer, const char *text)
{
	answer->status = 200;
	answer->body_adopt = memory_copy_text(text);
	answer->body_size = strlen(text);
}

static void handle_quick(
	void *context, const struct httpd_request *request, struct httpd_answer *answer)
{
	(void)context;
	(void)request;
	handled++;
	answer_text(answer, "quick");
}

static void handle_late(
	void *context, const struct httpd_request *request, struct httpd_answer *answer)
{
	(void)context;
	(void)request;
	handled++;
	answer_text(answer, "late");
	answer->delay_ms = DELAY_MS;
}

static void handle_big(
	void *context, const struct httpd_request *request, struct httpd_answer *answer)
{
	(void)context;
	(void)request;
	handled++;
	answer->status = 200;
	answer->body_adopt = memory_allocate(BIG_ANSWER_BYTES);
	answer->body_size = BIG_ANSWER_BYTES;
}

static const struct httpd_route routes[] = {
	{ "GET", "/quick", handle_quick },
	{ "GET", "/late", handle_late },
	{ "GET", "/big", handle_big },
	{ NULL, NULL, NULL },
};

static const struct httpd_settings server = { .address = "127.0.0.1:0",
	.routes = routes,
	.body_max = 1000,
	.connection_max = CONNECTION_MAX,
	.time_limit_ms = TIME_LIMIT_MS };

static void set_up(void)
{
	struct error error = { 0 };

	handled = 0;
	ck_assert_msg(httpd_create(&server, &httpd, &error) == RESULT_OK, "%s", error.text);
}

static void tear_down(void)
{
	httpd_destroy(&httpd);
	httpd_destroy(&httpd);
}

static void expect_quick_answer(void)
{
	struct httpd_client client;

	httpd_client_ask(&client, httpd, "GET /quick" TAIL);
	ck_assert_ptr_nonnull(strstr(client.answer, "quick"));
}

START_TEST(a_client_that_sends_byte_by_byte_is_cut_off)
{
	static const char request[] = "GET /quick HTTP/1.1\r\nHost: x\r\nX-Long: aaaaaaaaaaaaaaa";
	uint64_t begin_ms = clock_now_ms();
	struct httpd_client client;
	size_t sent = 0;

	httpd_client_open(&client, httpd);
	while (!client.is_closed && clock_now_ms() < begin_ms + HTTPD_CLIENT_LIMIT_MS) {
		httpd_client_send(&client, request + sent++ % strlen(request), 1);
		clock_wait_ms(20);
		httpd_client_turn(&client);
	}
	httpd_client_close(&client);
	ck_assert(client.is_closed);
	ck_assert_uint_ge(clock_now_ms() - begin_ms, TIME_LIMIT_MS - 1);
	ck_assert_uint_eq(client.size, 0);
}
END_TEST

START_TEST(a_kept_connection_without_requests_is_cut_off)
{
	static const char request[] = "GET /quick HTTP/1.1\r\nHost: x\r\n\r\n";
	struct httpd_client client;

	httpd_client_open(&client, httpd);
	httpd_client_send(&client, request, strlen(request));
	httpd_client_serve(&client, "quick");
	uint64_t begin_ms = clock_now_ms();
	httpd_client_serve(&client, NULL);
	ck_assert_uint_ge(clock_now_ms() - begin_ms, TIME_LIMIT_MS / 2);
	httpd_client_close(&client);
}
END_TEST

START_TEST(a_client_that_does_not_take_its_answer_is_cut_off)
{
	static const char request[] = "GET /big HTTP/1.1\r\nHost: x\r\n\r\n";
	uint64_t end_ms = clock_now_ms() + HTTPD_CLIENT_LIMIT_MS;
	struct httpd_client client;
	uint64_t received = 0;

	httpd_client_open(&client, httpd);
	httpd_client_send(&client, request, strlen(request));
	/* Takes nothing for more than the limit, then what is left. */
	for (uint64_t begin_ms = clock_now_ms();
		clock_now_ms() < begin_ms + TIME_LIMIT_MS + TIME_LIMIT_MS;)
		httpd_step(httpd, 10);
	while (!client.is_closed && clock_now_ms() < end_ms) {
		client.size = 0;
		httpd_client_turn(&client);
		received += client.size;
	}
	httpd_client_close(&client);
	ck_assert_uint_eq(handled, 1);
	ck_assert(client.is_closed);
	ck_assert_uint_lt(received, BIG_ANSWER_BYTES);
}
END_TEST

START_TEST(idle_connections_never_use_up_all_places)
{
	struct httpd_client crowd[CROWD];
	uint64_t begin_ms = clock_now_ms();

	for (size_t i = 0; i < CROWD; i++) {
		httpd_client_open(&crowd[i], httpd);
		httpd_client_send(&crowd[i], "G", 1);
		httpd_step(httpd, 0);
	}
	expect_quick_answer();
	/* Not because their time was over. */
	ck_assert_uint_lt(clock_now_ms() - begin_ms, TIME_LIMIT_MS);
	for (size_t i = 0; i < CROWD; i++)
		httpd_client_close(&crowd[i]);
}
END_TEST

START_TEST(a_delayed_answer_holds_up_nobody)
{
	uint64_t begin_ms = clock_now_ms();
	struct httpd_client late;

	httpd_client_open(&late, httpd);
	httpd_client_send(&late, "GET /late" TAIL, strlen("GET /late" TAIL));
	while (handled == 0 && clock_now_ms() < begin_ms + HTTPD_CLIENT_LIMIT_MS)
		httpd_client_turn(&late);
	expect_quick_answer();
	ck_assert_uint_eq(late.size, 0);
	httpd_client_serve(&late, "late");
	ck_assert_uint_ge(clock_now_ms() - begin_ms, DELAY_MS);
	ck_assert_uint_eq(handled, 2);
	httpd_client_close(&late);
}
END_TEST

START_TEST(a_server_can_end_while_an_answer_is_delayed)
{
	uint64_t end_ms = clock_now_ms() + HTTPD_CLIENT_LIMIT_MS;
	struct httpd_client late;
	struct httpd_client gone;

	httpd_client_open(&late, httpd);
	httpd_client_open(&gone, httpd);
	httpd_client_send(&late, "GET /late" TAIL, strlen("GET /late" TAIL));
	httpd_client_send(&gone, "GET /late" TAIL, strlen("GET /late" TAIL));
	while (handled < 2 && clock_now_ms() < end_ms)
		httpd_client_turn(&late);
	httpd_client_close(&gone);
	httpd_step(httpd, 5);
	httpd_destroy(&httpd);
	httpd_client_close(&late);
}
END_TEST

START_TEST(a_step_without_work_waits_and_does_not_spin)
{
	uint64_t begin_ms = clock_now_ms();
	unsigned int steps = 0;

	for (; clock_now_ms() < begin_ms + 200; steps++)
		httpd_step(httpd, 50);
	ck_assert_uint_le(steps, 6);
}
END_TEST

int main(void)
{
	static const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = {
		a_client_that_sends_byte_by_byte_is_cut_off,
		a_kept_connection_without_requests_is_cut_off,
		a_client_that_does_not_take_its_answer_is_cut_off,
		idle_connections_never_use_up_all_places,
		a_delayed_answer_holds_up_nobody,
		a_server_can_end_while_an_answer_is_delayed,
		a_step_without_work_waits_and_does_not_spin,
	};

	return runner_run_with("httpd_slow", &fixture, tests, ARRAY_LENGTH(tests));
}
