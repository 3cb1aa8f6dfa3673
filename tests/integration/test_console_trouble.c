/* Servers that are away: the console says that it cannot tell, and never shows a zero instead. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/text.h"
#include "tests/support/console.h"
#include "tests/support/http_client.h"
#include "tests/support/listener.h"
#include "tests/support/process.h"
#include "tests/support/proxy.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/wait_until.h"

enum {
	PROBE_MS = 2000
};

static struct sandbox *sandbox;
static struct console_run console;
static struct proxy *mysql;
static struct proxy *amqp;
static uint16_t ops_port;

static void set_up(void)
{
	sandbox_create(SANDBOX_EVERYTHING, &sandbox);
	mysql = sandbox_proxy_mysql(sandbox);
	amqp = sandbox_proxy_amqp(sandbox);
	ops_port = sandbox_free_port();
	sandbox_set(sandbox, "LAPSE_OPS_ADDR", "127.0.0.1:%u", ops_port);
	sandbox_set(sandbox, "LAPSE_CONSOLE_FLEET", "127.0.0.1:%u,localhost:%u", ops_port, 1U);
	console_start(&console, sandbox);
	console_fill(sandbox_query(sandbox));
}

static void tear_down(void)
{
	console_leave(&console);
	sandbox_destroy(&sandbox);
}

struct wish {
	const char *path;
	unsigned int status;
	const char *words;
};

static bool is_told(void *context)
{
	const struct wish *wish = context;
	const struct api_answer *answer = console_get(&console, "vera", wish->path);

	return answer->status == wish->status && strstr(answer->body, wish->words) != NULL;
}

static void await(const char *path, unsigned int status, const char *words)
{
	struct wish wish = { path, status, words };

	ck_assert_msg(wait_until(is_told, &wish, WAIT_LIMIT_MS), "%s never said %u %s", path,
		status, words);
}

START_TEST(without_mysql_nothing_is_told_and_everything_comes_back)
{
	await("/readyz", 404, ""); /* probes have a port of their own */
	await("/tasks", 200, "CLOSED-1");
	proxy_refuse(mysql, true);
	await("/tasks", 503, "MySQL is away");
	await("/orders/OPEN-1", 503, "cannot tell");
	await("/api/v1/tasks", 503, "\"status\":503");
	await("/", 200, "MySQL is away.");
	await("/", 200, "cannot tell");
	ck_assert_uint_eq(http_client_get(ops_port, "/livez", PROBE_MS, NULL), 200);
	ck_assert_uint_eq(http_client_get(ops_port, "/readyz", PROBE_MS, NULL), 503);
	ck_assert(process_is_alive(console.process));
	proxy_refuse(mysql, false);
	await("/tasks", 200, "CLOSED-1");
	await("/orders/OPEN-1", 200, "UNPAID");
}
END_TEST

START_TEST(without_a_broker_queues_are_unknown_and_the_rest_is_there)
{
	await("/queues", 200, "lapse.timeout.due");
	await("/parked", 200, "All clear");
	proxy_refuse(amqp, true);
	await("/parked", 503, "Cannot tell");
	await("/queues", 503, "Cannot tell");
	await("/tasks", 200, "RabbitMQ is away.");
	proxy_refuse(amqp, false);
	await("/parked", 200, "All clear");
	await("/queues", 200, "lapse.timeout.due");
}
END_TEST

/* The server takes what fits on the way, so the client is one that takes little. */
START_TEST(an_export_that_breaks_is_never_taken_for_whole)
{
	static const char request[] = "GET /tasks/export?format=jsonl HTTP/1.0\r\nHost: x\r\n"
				      "Authorization: Basic b2xnYTpzZWNyZXQ=\r\n\r\n";
	const int room = 4096;
	char bytes[4096];
	ssize_t got = 0;
	size_t size = 0;

	query_run(sandbox_query(sandbox),
		"INSERT INTO t_compensation (kind, target, idempotency_key, order_no, payload, "
		"status, last_error) SELECT 'WEBHOOK', 'x', CONCAT('k', seq), 'A1', '{}', 'DEAD', "
		"REPEAT('e', 500) FROM seq_1_to_10100");
	int client = listener_connect(console.port);
	ck_assert_int_eq(setsockopt(client, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room)), 0);
	ck_assert_int_gt(send(client, request, strlen(request), MSG_NOSIGNAL), 0);
	struct pollfd news = { .fd = client, .events = POLLIN };
	ck_assert_int_eq(poll(&news, 1, WAIT_LIMIT_MS), 1);
	proxy_refuse(mysql, true);
	while (poll(&news, 1, WAIT_LIMIT_MS) == 1 &&
		(got = recv(client, bytes, sizeof(bytes), 0)) > 0)
		size += (size_t)got;
	ck_assert_msg(got < 0 && errno == ECONNRESET, "%zd after %zu bytes", got, size);
	ck_assert_uint_gt(process_count_logged(console.process, "export_broken"), 0);
	proxy_refuse(mysql, false);
	(void)close(client);
}
END_TEST

START_TEST(the_fleet_says_who_is_ready_and_who_does_not_answer)
{
	await("/fleet", 200, "lapse-console");
	await("/fleet", 200, "no answer");
	await("/api/v1/fleet", 200, "\"is_ready\":true");
	await("/fleet?program=lapse-console", 200, "state ok");
}
END_TEST

int main(void)
{
	const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = {
		without_mysql_nothing_is_told_and_everything_comes_back,
		without_a_broker_queues_are_unknown_and_the_rest_is_there,
		an_export_that_breaks_is_never_taken_for_whole,
		the_fleet_says_who_is_ready_and_who_does_not_answer,
	};

	sandbox_need_servers();
	return runner_run_with("console_trouble", &fixture, tests, ARRAY_LENGTH(tests));
}
