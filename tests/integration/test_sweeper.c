/* lapse-sweeper on a real server, without any broker. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/text.h"
#include "common/order/close.h"
#include "tests/support/daemon.h"
#include "tests/support/direct_db.h"
#include "tests/support/orders.h"
#include "tests/support/process.h"
#include "tests/support/proxy.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/wait_until.h"

enum {
	STOP_LIMIT_MS = 10000,
	INTERVAL_MS = 1000,
	TWO_INTERVALS_MS = 2000
};

static struct sandbox *sandbox;
static struct query *query;
static struct daemon sweeper;

static void set_up(void)
{
	sandbox_create(SANDBOX_NO_BROKER, &sandbox);
	query = sandbox_query(sandbox);
	sandbox_set(sandbox, "LAPSE_SWEEP_INTERVAL", "%dms", INTERVAL_MS);
}

static void tear_down(void)
{
	sandbox_destroy(&sandbox);
}

static void start_sweeper(void)
{
	daemon_start_ready(sandbox, "lapse-sweeper", &sweeper);
}

static void stop_sweeper(void)
{
	struct direct_db direct;

	daemon_expect_well(&sweeper);
	daemon_stop(&sweeper, STOP_LIMIT_MS);
	direct_db_open(&direct, sandbox, NULL, NULL);
	direct_db_expect_sound(&direct);
	direct_db_close(&direct);
}

static void insert(const char *prefix, uint32_t count, int64_t due_in_ms, uint32_t spread_ms)
{
	const struct orders_plan plan = { .prefix = prefix,
		.count = count,
		.due_in_ms = due_in_ms,
		.spread_ms = spread_ms,
		.has_no_events = true };

	orders_insert_many(query, &plan);
}

static int64_t worst_lag_ms(void)
{
	return query_number(query,
		"SELECT MAX(TIMESTAMPDIFF(MICROSECOND, expire_time, close_time)) "
		"DIV 1000 FROM t_order");
}

START_TEST(an_order_no_message_closed_is_closed_within_two_intervals)
{
	start_sweeper();
	orders_insert_one(query, "A1", 1500);
	/* As if its outbox row had been lost. */
	query_run(query, "DELETE FROM t_outbox_event");
	WAIT_UNTIL(orders_are_all_final, query);
	ck_assert_int_ge(worst_lag_ms(), 0);
	ck_assert_int_le(worst_lag_ms(), TWO_INTERVALS_MS);
	ck_assert(daemon_metric(&sweeper, "lapse_orders_closed_total{reason=\"timeout\","
					  "source=\"sweep\"}") == 1);
	stop_sweeper();
}
END_TEST

START_TEST(an_order_of_last_year_is_found_by_the_first_sweep)
{
	orders_insert_one(query, "OLD", INT64_C(-400) * 86400000);
	orders_insert_one(query, "NEW", -1000);
	start_sweeper();
	WAIT_UNTIL(orders_are_all_final, query);
	ck_assert_int_eq(
		query_number(query, "SELECT a.close_time <= b.close_time FROM t_order a, "
				    "t_order b WHERE a.order_no = 'OLD' AND b.order_no = 'NEW'"),
		1);
	stop_sweeper();
}
END_TEST

static bool has_swept_in_vain(void *context)
{
	(void)context;
	return daemon_metric(&sweeper, "lapse_sweeps_total{result=\"ok\"}") >= 3;
}

START_TEST(an_order_that_comes_after_idle_sweeps_is_seen)
{
	start_sweeper();
	WAIT_UNTIL(has_swept_in_vain, NULL);
	orders_insert_one(query, "A1", -1);
	WAIT_UNTIL(orders_are_all_final, query);
	ck_assert_int_le(worst_lag_ms(), TWO_INTERVALS_MS);
	stop_sweeper();
}
END_TEST

START_TEST(misses_make_it_look_again_after_a_second)
{
	sandbox_set(sandbox, "LAPSE_SWEEP_INTERVAL", "1h");
	insert("A", 10, -1000, 0);
	start_sweeper();
	WAIT_UNTIL(orders_are_all_final, query);
	insert("B", 10, -1000, 0);
	WAIT_UNTIL_WITHIN(orders_are_all_final, query, 10000);
	ck_assert_uint_ge(process_count_logged(sweeper.process, "sweep_found_misses"), 2);
	stop_sweeper();
}
END_TEST

START_TEST(a_backlog_goes_batch_after_batch_without_a_pause)
{
	sandbox_set(sandbox, "LAPSE_SWEEP_INTERVAL", "1h");
	sandbox_set(sandbox, "LAPSE_SWEEP_BATCH", "50");
	sandbox_set(sandbox, "LAPSE_SWEEP_BUDGET", "100ms");
	insert("A", 3000, -100000, 50000);
	start_sweeper();
	WAIT_UNTIL_WITHIN(orders_are_all_final, query, 30000);
	stop_sweeper();
}
END_TEST

static bool is_due_order_bad(void *context)
{
	return query_number(context, "SELECT COUNT(*) FROM t_alert WHERE kind = 'ORDER_STUCK' AND "
				     "ref = 'BAD' AND state = 'FIRING'") == 1;
}

static bool is_the_rest_closed(void *count)
{
	return orders_count(query, "CLOSED") == *(const int *)count;
}

START_TEST(a_bad_order_raises_one_alert_and_is_tried_again)
{
	int count = 20;

	orders_insert_one(query, "BAD", -60000);
	insert("A", 20, -30000, 0);
	query_run(query,
		"INSERT INTO t_compensation(kind,target,idempotency_key,order_no,payload) "
		"SELECT 'STOCK_RESTORE', 'stock', CONCAT('restore:', order_no, ':', i.id), "
		"order_no, '{}' FROM t_order o JOIN t_order_item i ON i.order_id = o.id "
		"WHERE order_no = 'BAD'");
	start_sweeper();
	WAIT_UNTIL(is_the_rest_closed, &count);
	WAIT_UNTIL(is_due_order_bad, query);
	insert("B", 10, -1000, 0);
	count = 30;
	WAIT_UNTIL(is_the_rest_closed, &count);
	ck_assert(daemon_is_ready(&sweeper));
	query_run(query, "DELETE FROM t_compensation WHERE payload = '{}'");
	WAIT_UNTIL(orders_are_all_final, query);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_alert"), 1);
	stop_sweeper();
}
END_TEST

START_TEST(two_sweepers_close_each_order_once)
{
	struct daemon second;

	sandbox_set(sandbox, "LAPSE_SWEEP_BATCH", "20");
	insert("A", 3000, -100000, 50000);
	daemon_start(sandbox, "lapse-sweeper", &sweeper);
	daemon_start(sandbox, "lapse-sweeper", &second);
	WAIT_UNTIL(orders_are_all_final, query);
	WAIT_UNTIL(daemon_is_ready, &second);
	WAIT_UNTIL(daemon_is_ready, &sweeper);
	ck_assert(daemon_metric(
			  &second, "lapse_contract_violations_total{check=\"close_count\"}") == 0);
	daemon_stop(&second, STOP_LIMIT_MS);
	stop_sweeper();
}
END_TEST

static bool it_asks_for_a_schema(void *context)
{
	(void)context;
	return daemon_is_not_ready(&sweeper) && daemon_says(&sweeper, "lapsectl migrate");
}

START_TEST(it_may_start_before_the_schema_is_there)
{
	static const char *const migrate[] = { "migrate", NULL };

	sandbox_destroy(&sandbox);
	sandbox_create(SANDBOX_NO_BROKER | SANDBOX_NO_SCHEMA, &sandbox);
	query = sandbox_query(sandbox);
	sandbox_set(sandbox, "LAPSE_SWEEP_INTERVAL", "%dms", INTERVAL_MS);
	daemon_start(sandbox, "lapse-sweeper", &sweeper);
	WAIT_UNTIL(it_asks_for_a_schema, NULL);
	ck_assert_int_eq(sandbox_run(sandbox, "lapsectl", migrate, NULL), 0);
	WAIT_UNTIL(daemon_is_ready, &sweeper);
	orders_insert_one(query, "A1", -1000);
	WAIT_UNTIL(orders_are_all_final, query);
	stop_sweeper();
}
END_TEST

START_TEST(it_outlives_a_lost_mysql)
{
	struct proxy *proxy = sandbox_proxy_mysql(sandbox);

	start_sweeper();
	proxy_refuse(proxy, true);
	WAIT_UNTIL(daemon_is_not_ready, &sweeper);
	insert("A", 50, -1000, 0);
	proxy_refuse(proxy, false);
	WAIT_UNTIL(orders_are_all_final, query);
	WAIT_UNTIL(daemon_is_ready, &sweeper);
	stop_sweeper();
}
END_TEST

/* ---- --once */

static int run_once(void)
{
	static const char *const words[] = { "--once", NULL };

	return sandbox_run(sandbox, "lapse-sweeper", words, NULL);
}

START_TEST(once_says_by_its_exit_status_how_it_went)
{
	struct query *other = NULL;

	ck_assert_int_eq(run_once(), 0);
	insert("A", 1200, -1000, 0);
	ck_assert_int_eq(run_once(), 0);
	ck_assert_int_eq(orders_count(query, "CLOSED"), 1200);
	orders_insert_one(query, "LOCKED", -1000);
	orders_insert_one(query, "FREE", -1000);
	query_create(sandbox_mysql_url(sandbox), &other);
	query_run(other, "START TRANSACTION");
	query_run(other, "SELECT id FROM t_order WHERE order_no = 'LOCKED' FOR UPDATE");
	ck_assert_int_eq(run_once(), 75);
	ck_assert(orders_is(query, "FREE", "CLOSED"));
	query_run(other, "ROLLBACK");
	ck_assert_int_eq(run_once(), 0);
	orders_insert_one(query, "BAD", -1000);
	orders_insert_one(query, "GOOD", -1000);
	query_run(query,
		"INSERT INTO t_compensation(kind,target,idempotency_key,order_no,payload) "
		"SELECT 'STOCK_RESTORE', 'stock', CONCAT('restore:', order_no, ':', i.id), "
		"order_no, '{}' FROM t_order o JOIN t_order_item i ON i.order_id = o.id "
		"WHERE order_no = 'BAD'");
	ck_assert_int_eq(run_once(), 1);
	ck_assert(orders_is(query, "GOOD", "CLOSED"));
	ck_assert(orders_is(query, "BAD", "UNPAID"));
	sandbox_set(sandbox, "LAPSE_MYSQL_URL", "mysql://u:p@127.0.0.1:1/nothing");
	ck_assert_int_eq(run_once(), 75);
	query_destroy(&other);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		an_order_no_message_closed_is_closed_within_two_intervals,
		an_order_of_last_year_is_found_by_the_first_sweep,
		an_order_that_comes_after_idle_sweeps_is_seen,
		misses_make_it_look_again_after_a_second,
		a_backlog_goes_batch_after_batch_without_a_pause,
		a_bad_order_raises_one_alert_and_is_tried_again,
		two_sweepers_close_each_order_once,
		it_may_start_before_the_schema_is_there,
		it_outlives_a_lost_mysql,
		once_says_by_its_exit_status_how_it_went,
	};
	const struct runner_fixture fixture = { set_up, tear_down };

	sandbox_need_servers();
	return runner_run_with("sweeper", &fixture, tests, ARRAY_LENGTH(tests));
}
