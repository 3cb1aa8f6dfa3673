/* What callers ask and what orders are called makes no series; slow callers hold nobody up. */
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/text.h"
#include "tests/support/console.h"
#include "tests/support/daemon.h"
#include "tests/support/gateway.h"
#include "tests/support/http_client.h"
#include "tests/support/listener.h"
#include "tests/support/orders.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/wait_until.h"

enum {
	ORDERS = 5000,
	UNKNOWN = 200,
	GROWTH_MAX = 20,
	SLOW_CLIENTS = 50,
	QUICK_MS = 2000,
	PROCESSES = 3, /* consumer, gateway, console */
};

static struct sandbox *sandbox;
static struct query *query;
static struct daemon consumer;
static struct gateway_run gateway;
static struct console_run console;
static uint16_t ports[PROCESSES];

static uint16_t next_ops_port(void)
{
	uint16_t port = sandbox_free_port();

	sandbox_set(sandbox, "LAPSE_OPS_ADDR", "127.0.0.1:%u", port);
	return port;
}

static void set_up(void)
{
	sandbox_create(SANDBOX_EVERYTHING, &sandbox);
	query = sandbox_query(sandbox);
	sandbox_set(sandbox, "LAPSE_DELAY", "none");
	daemon_start_ready(sandbox, "lapse-consumer", &consumer);
	ports[0] = consumer.port;
	ports[1] = next_ops_port();
	gateway_start(&gateway, sandbox);
	ports[2] = next_ops_port();
	console_start(&console, sandbox);
}

static void tear_down(void)
{
	console_leave(&console);
	gateway_leave(&gateway);
	sandbox_destroy(&sandbox);
}

/* Lines of the page that are samples; no line names an order. */
static size_t count_series(uint16_t port)
{
	static char page[HTTP_CLIENT_SIZE];
	size_t count = 0;

	ck_assert_uint_eq(http_client_get(port, "/metrics", WAIT_LIMIT_MS, page), 200);
	ck_assert_msg(strstr(page, "NAMED") == NULL, "%s", strstr(page, "NAMED"));
	for (const char *line = strstr(page, "\r\n\r\n"); *line != '\0';
		line += strcspn(line, "\n") + 1)
		count += line[0] != '#';
	return count;
}

/* The figures of the fleet are not there before they have been taken once. */
static bool has_figures(void *context)
{
	(void)context;
	return http_client_metric(ports[2], "lapse_orders_overdue") >= 0;
}

static void ask_for_what_is_not_there(void)
{
	char path[64];

	for (int i = 0; i < UNKNOWN; i++) {
		(void)text_format(
			path, sizeof(path), "/%sNAMED-%d", i % 2 == 0 ? "" : "orders/", i);
		(void)console_get(&console, i % 3 == 0 ? NULL : "vera", path);
		(void)text_format(
			path, sizeof(path), "/v1/%sNAMED-%d", i % 2 == 0 ? "" : "orders/", i);
		(void)api_client_get(gateway.client, path);
	}
}

START_TEST(no_caller_and_no_order_makes_a_series)
{
	const struct orders_plan plan = {
		.prefix = "NAMED", .count = ORDERS, .due_in_ms = -1000, .has_no_events = true
	};
	size_t before[PROCESSES];

	WAIT_UNTIL(has_figures, NULL);
	for (size_t i = 0; i < PROCESSES; i++)
		before[i] = count_series(ports[i]);
	orders_insert_many(query, &plan);
	daemon_flood(sandbox, "lapse.timeout.due", "NAMED", ORDERS);
	WAIT_UNTIL(orders_are_all_final, query);
	ask_for_what_is_not_there();
	for (size_t i = 0; i < PROCESSES; i++) {
		size_t after = count_series(ports[i]);

		ck_assert_uint_gt(before[i], 0);
		ck_assert_msg(after <= before[i] + GROWTH_MAX, "program %zu: %zu series, then %zu",
			i, before[i], after);
	}
}
END_TEST

/* It lets in so many from one address, and vera was there first. */
START_TEST(slow_callers_of_the_console_hold_nobody_up)
{
	static const char head[] = "GET /tasks HTTP/1.1\r\nHost: x\r\nCookie: lapse=0123456789\r\n";
	int sockets[SLOW_CLIENTS];

	console_expect(console_get(&console, "vera", "/about"), 200, "");
	for (size_t i = 0; i < SLOW_CLIENTS; i++)
		ck_assert_int_ge(sockets[i] = listener_connect(console.port), 0);
	for (size_t byte = 0; byte < strlen(head); byte += 10) {
		for (size_t i = 0; i < SLOW_CLIENTS; i++)
			(void)send(sockets[i], head + byte, 1, MSG_NOSIGNAL);
		uint64_t start_ms = clock_now_ms();
		console_expect(console_get(&console, "vera", "/about"), 200, "");
		ck_assert_uint_eq(http_client_get(ports[2], "/livez", QUICK_MS, NULL), 200);
		ck_assert_uint_lt(clock_now_ms() - start_ms, QUICK_MS);
	}
	for (size_t i = 0; i < SLOW_CLIENTS; i++)
		(void)close(sockets[i]);
}
END_TEST

int main(void)
{
	const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = {
		no_caller_and_no_order_makes_a_series,
		slow_callers_of_the_console_hold_nobody_up,
	};

	sandbox_need_servers();
	return runner_run_with("series", &fixture, tests, ARRAY_LENGTH(tests));
}
