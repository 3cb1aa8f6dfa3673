/* A broker that closes a channel which holds a delivery for too long, and what holds one. */
#include "common/base/clock.h"
#include "common/base/text.h"
#include "tests/support/daemon.h"
#include "tests/support/fleet.h"
#include "tests/support/http_stub.h"
#include "tests/support/orders.h"
#include "tests/support/proxy.h"
#include "tests/support/query.h"
#include "tests/support/rabbit.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/stack.h"
#include "tests/support/wait_until.h"

#define DUE_QUEUE "lapse.timeout.due"
#define TIMED_OUT "timed out. Timeout value used"

enum {
	ORDERS = 50,
	TIMEOUT_MS = 5000,
	HANGING_MS = 3 * TIMEOUT_MS, /* of the product service */
};

static struct fleet *fleet;
static struct sandbox *sandbox;
static struct query *query;
static size_t log_mark;

static const struct fleet_expectation all_is_well = { .latest_ms = FLEET_ANY_LATENESS };

static void set_consumer_timeout(const char *value)
{
	const char *const words[] = { "consumer-timeout", value, NULL };

	stack_command(words);
}

static void set_up(void)
{
	char value[16];

	(void)text_format(value, sizeof(value), "%d", TIMEOUT_MS);
	set_consumer_timeout(value);
	log_mark = stack_mark_broker_log();
	fleet_create(&fleet);
	sandbox = fleet_sandbox(fleet);
	query = fleet_query(fleet);
}

static void tear_down(void)
{
	set_consumer_timeout("default");
	fleet_destroy(&fleet);
}

static bool has_a_consumer(void *context)
{
	(void)context;
	return rabbit_count_consumers(sandbox_rabbit(sandbox), DUE_QUEUE) == 1;
}

static bool is_closed(void *count)
{
	return fleet_count_closed(fleet, "", "message") == *(const int64_t *)count;
}

/* What hangs is called by another process, so no delivery waits for it. */
START_TEST(a_product_service_that_hangs_holds_no_delivery)
{
	const struct http_stub_rule rule = { .sku_id = "", .mode = HTTP_STUB_HANG };
	char prefix[16];
	int64_t count = 0;

	sandbox_set(sandbox, "LAPSE_RETRY_BASE", "5s");
	sandbox_set(sandbox, "LAPSE_RETRY_CAP", "20s");
	http_stub_set_rule(fleet_stub(fleet), &rule);
	fleet_start(fleet);
	fleet_await_ready(fleet, FLEET_CONSUMER, true);
	uint64_t end_ms = clock_now_ms() + HANGING_MS;
	for (int i = 0; clock_now_ms() < end_ms; i++) {
		(void)text_format(prefix, sizeof(prefix), "H%d-", i);
		count += ORDERS;
		fleet_feed(fleet, prefix, ORDERS, 500, 500);
		WAIT_UNTIL(is_closed, &count);
		ck_assert(has_a_consumer(NULL));
	}
	ck_assert_uint_eq(stack_count_in_broker_log(log_mark, TIMED_OUT), 0);
	http_stub_drop_rules(fleet_stub(fleet));
	fleet_check(fleet, &all_is_well);
}
END_TEST

static bool has_timed_out(void *context)
{
	(void)context;
	return stack_count_in_broker_log(log_mark, TIMED_OUT) > 0;
}

START_TEST(a_frozen_database_costs_the_channel_and_nothing_else)
{
	const struct orders_plan plan = {
		.prefix = "F", .count = ORDERS, .due_in_ms = -1000, .has_no_events = true
	};
	struct proxy *proxy = sandbox_proxy_mysql(sandbox);
	int64_t count = ORDERS;

	(void)fleet_start_one(fleet, FLEET_CONSUMER);
	fleet_await_ready(fleet, FLEET_CONSUMER, true);
	orders_insert_many(query, &plan);
	proxy_freeze(proxy, true);
	daemon_flood(sandbox, DUE_QUEUE, "F", ORDERS);
	WAIT_UNTIL(has_timed_out, NULL);
	ck_assert_int_eq(fleet_count_closed(fleet, "F", "%"), 0);
	proxy_freeze(proxy, false);
	WAIT_UNTIL(is_closed, &count);
	WAIT_UNTIL(has_a_consumer, NULL);
	fleet_await_ready(fleet, FLEET_CONSUMER, true);
	(void)fleet_start_one(fleet, FLEET_PRODUCER);
	(void)fleet_start_one(fleet, FLEET_RETRY);
	fleet_check(fleet, &all_is_well);
	ck_assert_uint_eq(http_stub_most_calls(fleet_stub(fleet)), 1);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		a_product_service_that_hangs_holds_no_delivery,
		a_frozen_database_costs_the_channel_and_nothing_else,
	};
	const struct runner_fixture fixture = { set_up, tear_down };

	sandbox_need_servers();
	return runner_run_with("consumer_timeout", &fixture, tests, ARRAY_LENGTH(tests));
}
