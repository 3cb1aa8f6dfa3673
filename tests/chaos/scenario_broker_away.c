/* The broker is killed, frozen, blocked, restarted: that costs lateness, never an order. */
#include "tests/support/fleet.h"
#include "tests/support/http_client.h"
#include "tests/support/query.h"
#include "tests/support/rabbit.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/stack.h"
#include "tests/support/wait_until.h"

enum {
	PROBE_LIMIT_MS = 5000
};

static struct fleet *fleet;

static const struct fleet_expectation all_is_well = { .latest_ms = FLEET_ANY_LATENESS };

static void set_up(void)
{
	fleet_create(&fleet);
	sandbox_set(fleet_sandbox(fleet), "LAPSE_AMQP_HEARTBEAT", "2s");
}

/* Nothing may stay broken for the tests behind this one. */
static void tear_down(void)
{
	stack_do("start-broker");
	stack_do("thaw-broker");
	stack_do("unblock-broker");
	fleet_destroy(&fleet);
}

struct wanted {
	const char *prefix;
	const char *source;
	int64_t count;
};

static bool are_closed(void *context)
{
	const struct wanted *wanted = context;

	return fleet_count_closed(fleet, wanted->prefix, wanted->source) >= wanted->count;
}

static void await_closed(const char *prefix, const char *source, int64_t count)
{
	struct wanted wanted = { prefix, source, count };

	ck_assert_msg(wait_until(are_closed, &wanted, WAIT_LIMIT_MS),
		"%s: %lld closed by %s, not %lld", prefix,
		(long long)fleet_count_closed(fleet, prefix, source), source, (long long)count);
}

static void await_connected(void)
{
	fleet_await_ready(fleet, FLEET_PRODUCER, true);
	fleet_await_ready(fleet, FLEET_CONSUMER, true);
}

/* What comes after the trouble goes the fast way again. */
static void expect_fast_way(const char *prefix)
{
	await_connected();
	fleet_feed(fleet, prefix, 100, 3000, 1000);
	await_closed(prefix, "%", 100);
	ck_assert_int_ge(fleet_count_closed(fleet, prefix, "message"), 90);
}

START_TEST(orders_close_by_sweep_while_the_broker_is_dead_and_by_message_after_it)
{
	fleet_start(fleet);
	await_connected();
	fleet_feed(fleet, "DURING", 600, 1000, 5000);
	await_closed("DURING", "message", 20);
	stack_do("kill-broker");
	fleet_feed(fleet, "MEANWHILE", 200, 500, 1000);
	await_closed("MEANWHILE", "sweep", 200);
	fleet_await_ready(fleet, FLEET_CONSUMER, false);
	fleet_await_ready(fleet, FLEET_PRODUCER, false);
	stack_do("start-broker");
	expect_fast_way("AFTER");
	fleet_check(fleet, &all_is_well);
}
END_TEST

START_TEST(levels_lose_no_order_when_the_broker_is_killed_in_the_middle)
{
	sandbox_set(fleet_sandbox(fleet), "LAPSE_DELAY", "levels");
	fleet_start(fleet);
	await_connected();
	fleet_feed(fleet, "L", 2000, 6000, 5000);
	await_closed("L", "message", 300);
	stack_do("kill-broker");
	stack_do("start-broker");
	await_closed("L", "%", 2000);
	expect_fast_way("AFTER");
	fleet_check(fleet, &all_is_well);
}
END_TEST

START_TEST(a_blocked_broker_makes_rows_wait_and_never_fail)
{
	uint16_t port = 0;

	fleet_start(fleet);
	await_connected();
	port = fleet_ops_port(fleet, FLEET_PRODUCER);
	stack_do("block-broker");
	fleet_feed(fleet, "B", 300, 500, 2000);
	fleet_await_ready(fleet, FLEET_PRODUCER, false);
	await_closed("B", "sweep", 300);
	ck_assert_uint_eq(http_client_get(port, "/livez", PROBE_LIMIT_MS, NULL), 200);
	ck_assert_int_eq(query_number(fleet_query(fleet), "SELECT COUNT(*) FROM t_outbox_event "
							  "WHERE status = 'FAILED'"),
		0);
	stack_do("unblock-broker");
	expect_fast_way("AFTER");
	fleet_check(fleet, &all_is_well);
}
END_TEST

START_TEST(a_frozen_broker_is_noticed_and_used_again_when_it_thaws)
{
	fleet_start(fleet);
	await_connected();
	stack_do("freeze-broker");
	fleet_feed(fleet, "F", 100, 500, 1000);
	fleet_await_ready(fleet, FLEET_CONSUMER, false);
	fleet_await_ready(fleet, FLEET_PRODUCER, false);
	await_closed("F", "sweep", 100);
	stack_do("thaw-broker");
	expect_fast_way("AFTER");
	fleet_check(fleet, &all_is_well);
}
END_TEST

static void let_the_broker_come_and_go(int times)
{
	char prefix[] = "G0-";

	fleet_start(fleet);
	for (int i = 0; i < times; i++) {
		prefix[1] = (char)('0' + i);
		/* A quorum queue whose broker dies while it is being made may never come back. */
		await_connected();
		fleet_feed(fleet, prefix, 200, 500, 3000);
		await_closed(prefix, "%", 20);
		stack_do("kill-broker");
		stack_do("start-broker");
	}
	expect_fast_way("AFTER");
	fleet_check(fleet, &all_is_well);
}

START_TEST(the_broker_may_come_and_go)
{
	let_the_broker_come_and_go(5);
}
END_TEST

/* Behind TLS a write on a dead line is another function of another library. */
START_TEST(the_broker_may_come_and_go_under_tls)
{
	char url[STACK_URL_SIZE];

	stack_format_amqps_url(url, sandbox_name(fleet_sandbox(fleet)), stack_ca_file());
	sandbox_set(fleet_sandbox(fleet), "LAPSE_AMQP_URL", "%s", url);
	let_the_broker_come_and_go(2);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		orders_close_by_sweep_while_the_broker_is_dead_and_by_message_after_it,
		levels_lose_no_order_when_the_broker_is_killed_in_the_middle,
		a_blocked_broker_makes_rows_wait_and_never_fail,
		a_frozen_broker_is_noticed_and_used_again_when_it_thaws,
		the_broker_may_come_and_go,
		the_broker_may_come_and_go_under_tls,
	};
	const struct runner_fixture fixture = { set_up, tear_down };

	sandbox_need_servers();
	return runner_run_with("broker_away", &fixture, tests, ARRAY_LENGTH(tests));
}
