/* Messages vanish, by whatever fault of whoever: the sweep is sure. */
#include "tests/support/fleet.h"
#include "tests/support/http_client.h"
#include "tests/support/orders.h"
#include "tests/support/query.h"
#include "tests/support/rabbit.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/wait_until.h"

#define DUE "lapse.timeout.due"

enum {
	/* Two sweep intervals are promised; the rest is for a machine that runs other tests. */
	LATEST_MS = 2 * FLEET_SWEEP_MS + 3000
};

static struct fleet *fleet;

static const struct fleet_expectation by_sweep = { .latest_ms = LATEST_MS };

static void set_up(void)
{
	fleet_create(&fleet);
}

static void tear_down(void)
{
	fleet_destroy(&fleet);
}

static bool have_arrived(void *context)
{
	const int64_t *wanted = context;

	return rabbit_count(sandbox_rabbit(fleet_sandbox(fleet)), DUE) >= *wanted;
}

START_TEST(orders_without_an_event_close_by_sweep)
{
	const struct orders_plan plan = { .prefix = "N",
		.count = 200,
		.due_in_ms = 1000,
		.spread_ms = 4000,
		.has_no_events = true };
	double missed = 0;

	fleet_start(fleet);
	fleet_await_ready(fleet, FLEET_SWEEPER, true);
	orders_insert_many(fleet_query(fleet), &plan);
	fleet_settle(fleet);
	ck_assert_int_eq(fleet_count_closed(fleet, "N", "sweep"), 200);
	missed = http_client_metric(fleet_ops_port(fleet, FLEET_SWEEPER),
		"lapse_orders_closed_total{reason=\"timeout\",source=\"sweep\"}");
	ck_assert_msg(missed >= 200, "counted: %f", missed);
	fleet_check(fleet, &by_sweep);
}
END_TEST

START_TEST(orders_of_a_purged_queue_close_by_sweep)
{
	int64_t all = 300;

	(void)fleet_start_one(fleet, FLEET_PRODUCER);
	fleet_feed(fleet, "P", 300, -1000, 0);
	ck_assert(wait_until(have_arrived, &all, WAIT_LIMIT_MS));
	rabbit_purge(sandbox_rabbit(fleet_sandbox(fleet)), DUE);
	(void)fleet_start_one(fleet, FLEET_CONSUMER);
	(void)fleet_start_one(fleet, FLEET_SWEEPER);
	(void)fleet_start_one(fleet, FLEET_RETRY);
	fleet_settle(fleet);
	ck_assert_int_eq(fleet_count_closed(fleet, "P", "sweep"), 300);
	fleet_check(fleet, &(struct fleet_expectation){ .latest_ms = FLEET_ANY_LATENESS });
}
END_TEST

static bool is_consumed(void *context)
{
	(void)context;
	return rabbit_count_consumers(sandbox_rabbit(fleet_sandbox(fleet)), DUE) == 1;
}

START_TEST(a_deleted_queue_is_made_again_and_used)
{
	fleet_start(fleet);
	fleet_await_ready(fleet, FLEET_CONSUMER, true);
	fleet_await_ready(fleet, FLEET_PRODUCER, true);
	fleet_feed(fleet, "BEFORE", 100, 3000, 1000);
	rabbit_delete_queue(sandbox_rabbit(fleet_sandbox(fleet)), DUE);
	ck_assert(wait_until(is_consumed, NULL, WAIT_LIMIT_MS));
	fleet_await_ready(fleet, FLEET_CONSUMER, true);
	fleet_feed(fleet, "AFTER", 100, 3000, 1000);
	fleet_settle(fleet);
	ck_assert_int_ge(fleet_count_closed(fleet, "AFTER", "message"), 90);
	fleet_check(fleet, &by_sweep);
}
END_TEST

/* Nobody's timeout message can be on its way: the fleet has no broker at all. */
START_TEST(a_sweeper_needs_no_broker)
{
	sandbox_unset(fleet_sandbox(fleet), "LAPSE_AMQP_URL");
	(void)fleet_start_one(fleet, FLEET_SWEEPER);
	(void)fleet_start_one(fleet, FLEET_RETRY);
	fleet_await_ready(fleet, FLEET_SWEEPER, true);
	fleet_feed(fleet, "S", 500, 1000, 3000);
	ck_assert(wait_until(orders_are_all_final, fleet_query(fleet), WAIT_LIMIT_MS));
	ck_assert(wait_until(orders_are_all_restored, fleet_query(fleet), WAIT_LIMIT_MS));
	ck_assert_int_le(query_number(fleet_query(fleet),
				 "SELECT MAX(TIMESTAMPDIFF(MICROSECOND, expire_time, close_time)) "
				 "DIV 1000 FROM t_order"),
		LATEST_MS);
	sandbox_stop_all(fleet_sandbox(fleet), WAIT_LIMIT_MS);
}
END_TEST

START_TEST(one_pass_of_cron_closes_what_is_due)
{
	static const char *const words[] = { "--once", NULL };

	sandbox_unset(fleet_sandbox(fleet), "LAPSE_AMQP_URL");
	fleet_feed(fleet, "O", 1500, -500000, 1000);
	fleet_feed(fleet, "FUTURE", 10, 3600000, 0);
	ck_assert_int_eq(sandbox_run(fleet_sandbox(fleet), "lapse-sweeper", words, NULL), 0);
	ck_assert_int_eq(fleet_count_closed(fleet, "", "sweep"), 1500);
	ck_assert_int_eq(orders_count(fleet_query(fleet), "UNPAID"), 10);
}
END_TEST

/* A consumer that was off for a while is late, and its histogram says how late. */
START_TEST(a_consumer_that_was_off_closes_late_and_says_so)
{
	int64_t one = 1;

	(void)fleet_start_one(fleet, FLEET_PRODUCER);
	orders_insert_one(fleet_query(fleet), "LATE", 500);
	ck_assert(wait_until(have_arrived, &one, WAIT_LIMIT_MS));
	query_run(fleet_query(fleet), "SELECT SLEEP(6)");
	(void)fleet_start_one(fleet, FLEET_CONSUMER);
	(void)fleet_start_one(fleet, FLEET_RETRY);
	fleet_settle(fleet);
	uint16_t port = fleet_ops_port(fleet, FLEET_CONSUMER);
	ck_assert(http_client_metric(port, "lapse_close_lag_seconds_bucket{source=\"message\","
					   "le=\"5\"}") <= 0);
	ck_assert(
		http_client_metric(port, "lapse_close_lag_seconds_count{source=\"message\"}") >= 1);
	fleet_check(fleet, &(struct fleet_expectation){ .latest_ms = FLEET_ANY_LATENESS });
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		orders_without_an_event_close_by_sweep,
		orders_of_a_purged_queue_close_by_sweep,
		a_deleted_queue_is_made_again_and_used,
		a_consumer_that_was_off_closes_late_and_says_so,
		a_sweeper_needs_no_broker,
		one_pass_of_cron_closes_what_is_due,
	};
	const struct runner_fixture fixture = { set_up, tear_down };

	sandbox_need_servers();
	return runner_run_with("lost_messages", &fixture, tests, ARRAY_LENGTH(tests));
}
