/* close_orders among locks, bad rows and deadlocks. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/db.h"
#include "common/order/close.h"
#include "tests/support/direct_db.h"
#include "tests/support/orders.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/shared.h"
#include "tests/support/wait_until.h"

enum {
	BATCH = 500,
	MOMENT_MS = 3000 /* far more than a close takes, far less than waiting for a lock in vain */
};

static struct sandbox *sandbox;
static struct query *query;
static struct query *other; /* another session, with locks of its own */
static struct direct_db direct;
static struct close_order *orders;
static struct close_report report;

static void set_up(void)
{
	sandbox_create(SANDBOX_NO_BROKER, &sandbox);
	query = sandbox_query(sandbox);
	query_create(sandbox_mysql_url(sandbox), &other);
	query_run(other, "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED");
	direct_db_open(&direct, sandbox, NULL, NULL);
	orders = memory_allocate_array(BATCH, sizeof(*orders));
	memset(&report, 0, sizeof(report));
}

static void tear_down(void)
{
	free(orders);
	query_destroy(&other);
	direct_db_close(&direct);
	sandbox_destroy(&sandbox);
}

static void insert_due(uint32_t count)
{
	const struct orders_plan plan = {
		.prefix = "T", .count = count, .due_in_ms = -5000, .has_no_events = true
	};

	orders_insert_many(query, &plan);
}

static void name_orders(struct close_order *list, size_t count)
{
	memset(list, 0, count * sizeof(*list));
	for (size_t i = 0; i < count; i++)
		(void)text_format(list[i].order_no, sizeof(list[i].order_no), "T%zu", i);
}

static enum result try_close(size_t count, struct error *error)
{
	const struct close_request request = {
		.reason = CLOSE_REASON_TIMEOUT, .source = CLOSE_SOURCE_MESSAGE, .report = &report
	};

	return close_orders(direct.db, &request, orders, count, error);
}

static void close_first(size_t count)
{
	struct error error = { .text = "" };

	name_orders(orders, count);
	enum result result = try_close(count, &error);
	ck_assert_msg(result == RESULT_OK, "close_orders: %s", error.text);
}

static void expect_outcomes(size_t count, size_t odd_one, enum close_outcome outcome_of_odd_one)
{
	for (size_t i = 0; i < count; i++)
		ck_assert_msg(orders[i].outcome ==
				      (i == odd_one ? outcome_of_odd_one : CLOSE_OUTCOME_CLOSED),
			"%s: %s %s", orders[i].order_no, close_outcome_names[orders[i].outcome],
			orders[i].error);
}

START_TEST(a_locked_order_holds_nobody_up)
{
	insert_due(BATCH);
	query_run(other, "START TRANSACTION");
	query_run(other, "SELECT id FROM t_order WHERE order_no = 'T77' FOR UPDATE");
	uint64_t start_ms = clock_now_ms();
	close_first(BATCH);
	ck_assert_uint_lt(clock_now_ms() - start_ms, MOMENT_MS);
	expect_outcomes(BATCH, 77, CLOSE_OUTCOME_LOCKED);
	ck_assert_int_eq(orders_count(query, "CLOSED"), BATCH - 1);
	ck_assert_uint_gt(report.repeats[CLOSE_REPEAT_LOCK_WAIT], 0);
	query_run(other, "COMMIT");
	(void)text_copy(orders[0].order_no, sizeof(orders[0].order_no), "T77");
	struct error error = { .text = "" };
	ck_assert_int_eq(try_close(1, &error), RESULT_OK);
	ck_assert_int_eq(orders[0].outcome, CLOSE_OUTCOME_CLOSED);
	direct_db_expect_sound(&direct);
}
END_TEST

START_TEST(an_order_somebody_pays_late_is_waited_for_a_moment)
{
	insert_due(2);
	query_run(other, "START TRANSACTION");
	query_run(other, "UPDATE t_order SET expire_time = UTC_TIMESTAMP(3) + INTERVAL 1 HOUR "
			 "WHERE order_no = 'T0'");
	close_first(2);
	ck_assert_int_eq(orders[0].outcome, CLOSE_OUTCOME_LOCKED);
	ck_assert_int_eq(orders[1].outcome, CLOSE_OUTCOME_CLOSED);
	query_run(other, "COMMIT");
	close_first(2);
	ck_assert_int_eq(orders[0].outcome, CLOSE_OUTCOME_NOT_DUE);
	ck_assert_int_eq(orders[1].outcome, CLOSE_OUTCOME_ALREADY_CLOSED);
}
END_TEST

START_TEST(a_locked_item_holds_nobody_up)
{
	insert_due(10);
	query_run(other, "START TRANSACTION");
	query_run(other, "SELECT id FROM t_order_item FOR UPDATE");
	uint64_t start_ms = clock_now_ms();
	close_first(10);
	ck_assert_uint_lt(clock_now_ms() - start_ms, MOMENT_MS);
	expect_outcomes(10, 10, CLOSE_OUTCOME_CLOSED);
	query_run(other, "ROLLBACK");
	direct_db_expect_sound(&direct);
}
END_TEST

/* Its restore task is there already, so that the insert of the close fails. */
static void spoil(const char *order_no)
{
	query_run(query,
		"INSERT INTO t_compensation(kind,target,idempotency_key,order_no,payload) "
		"SELECT 'STOCK_RESTORE', 'stock', CONCAT('restore:%s:', MIN(i.id)), '%s', '{}' "
		"FROM t_order o JOIN t_order_item i ON i.order_id = o.id WHERE order_no = '%s'",
		order_no, order_no, order_no);
}

static void expect_untouched(const char *order_no)
{
	char text[QUERY_TEXT_SIZE];

	query_text(query, text,
		"SELECT status, version, close_time, (SELECT COUNT(*) FROM t_outbox_event e WHERE "
		"e.order_no = o.order_no), (SELECT COUNT(*) FROM t_compensation c WHERE "
		"c.order_no = o.order_no) FROM t_order o WHERE order_no = '%s'",
		order_no);
	ck_assert_str_eq(text, "UNPAID 0 NULL 0 1");
}

START_TEST(the_one_bad_order_stands_alone)
{
	insert_due(BATCH);
	spoil("T250");
	close_first(BATCH);
	expect_outcomes(BATCH, 250, CLOSE_OUTCOME_FAILED);
	ck_assert(strstr(orders[250].error, "1062") != NULL);
	ck_assert_uint_ge(report.repeats[CLOSE_REPEAT_SPLIT], 8);
	ck_assert_int_eq(orders_count(query, "CLOSED"), BATCH - 1);
	expect_untouched("T250");
	query_run(query, "DELETE FROM t_compensation WHERE payload = '{}'");
	close_first(BATCH);
	ck_assert_int_eq(orders[250].outcome, CLOSE_OUTCOME_CLOSED);
	ck_assert_str_eq(orders[250].error, "");
	direct_db_expect_sound(&direct);
}
END_TEST

START_TEST(bad_orders_at_every_place_stand_alone)
{
	static const char *const bad[] = { "T0", "T1", "T49", "T98", "T99" };

	insert_due(100);
	for (size_t i = 0; i < ARRAY_LENGTH(bad); i++)
		spoil(bad[i]);
	close_first(100);
	for (size_t i = 0; i < ARRAY_LENGTH(bad); i++)
		expect_untouched(bad[i]);
	ck_assert_int_eq(orders_count(query, "CLOSED"), 95);
}
END_TEST

START_TEST(a_batch_of_nothing_but_bad_orders_ends)
{
	insert_due(20);
	for (int i = 0; i < 20; i++) {
		char order_no[TEXT_KEY_SIZE];

		(void)text_format(order_no, sizeof(order_no), "T%d", i);
		spoil(order_no);
	}
	close_first(20);
	for (size_t i = 0; i < 20; i++)
		ck_assert_int_eq(orders[i].outcome, CLOSE_OUTCOME_FAILED);
	ck_assert_int_eq(orders_count(query, "UNPAID"), 20);
}
END_TEST

START_TEST(a_task_key_that_somebody_holds_costs_only_its_order)
{
	insert_due(8);
	query_run(other, "START TRANSACTION");
	query_run(other,
		"INSERT INTO t_compensation(kind,target,idempotency_key,order_no,payload) "
		"SELECT 'STOCK_RESTORE', 'stock', CONCAT('restore:T5:', MIN(i.id)), 'T5', '{}' "
		"FROM t_order o JOIN t_order_item i ON i.order_id = o.id WHERE order_no = 'T5'");
	uint64_t start_ms = clock_now_ms();
	close_first(8);
	/* One lock wait of a second on each way down, and no more. */
	ck_assert_uint_lt(clock_now_ms() - start_ms, 8000);
	expect_outcomes(8, 5, CLOSE_OUTCOME_LOCKED);
	query_run(other, "ROLLBACK");
	close_first(8);
	ck_assert_int_eq(orders[5].outcome, CLOSE_OUTCOME_CLOSED);
	direct_db_expect_sound(&direct);
}
END_TEST

/* ---- deadlock */

/* An insert of so few rows takes so long only when it waits for a lock. */
static bool the_close_waits_for_a_lock(void *context)
{
	return query_number(context, "SELECT COUNT(*) FROM information_schema.processlist "
				     "WHERE db = DATABASE() AND id <> CONNECTION_ID() AND "
				     "info LIKE 'INSERT INTO t_compensation%%' AND "
				     "time_ms > 150") > 0;
}

/*
 * Holds a task's key that the close waits for, then wants a row that the close holds.  It has
 * changed more rows than the close, so the close is the one that the server sacrifices.
 */
static void make_deadlock(void *context)
{
	struct query *mine = NULL;
	struct query *watch = NULL;
	atomic_bool *is_ready = context;

	query_create(sandbox_mysql_url(sandbox), &mine);
	query_create(sandbox_mysql_url(sandbox), &watch);
	(void)query_try(mine, "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED; "
			      "START TRANSACTION");
	(void)query_try(mine, "INSERT INTO t_event_consumed(consumer_name, event_id) "
			      "SELECT 'weight', id FROM t_order_item");
	(void)query_try(mine,
		"INSERT INTO t_compensation(kind,target,idempotency_key,order_no,payload) "
		"SELECT 'STOCK_RESTORE', 'stock', CONCAT('restore:T1:', MIN(i.id)), 'T1', '{}' "
		"FROM t_order o JOIN t_order_item i ON i.order_id = o.id WHERE order_no = 'T1'");
	atomic_store(is_ready, true);
	(void)wait_until(the_close_waits_for_a_lock, watch, WAIT_LIMIT_MS);
	(void)query_try(mine, "SELECT id FROM t_order WHERE order_no = 'T0' FOR UPDATE");
	(void)query_try(mine, "ROLLBACK");
}

static bool is_set(void *context)
{
	return atomic_load((atomic_bool *)context);
}

START_TEST(a_deadlock_is_repeated_and_counted)
{
	atomic_bool *is_ready = shared_create(sizeof(*is_ready));

	insert_due(400);
	pid_t child = shared_fork(make_deadlock, is_ready);
	WAIT_UNTIL(is_set, is_ready);
	close_first(2);
	shared_end(child);
	shared_destroy(is_ready, sizeof(*is_ready));
	expect_outcomes(2, 2, CLOSE_OUTCOME_CLOSED);
	ck_assert_uint_ge(report.repeats[CLOSE_REPEAT_DEADLOCK], 1);
	direct_db_expect_sound(&direct);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		a_locked_order_holds_nobody_up,
		an_order_somebody_pays_late_is_waited_for_a_moment,
		a_locked_item_holds_nobody_up,
		the_one_bad_order_stands_alone,
		bad_orders_at_every_place_stand_alone,
		a_batch_of_nothing_but_bad_orders_ends,
		a_task_key_that_somebody_holds_costs_only_its_order,
		a_deadlock_is_repeated_and_counted,
	};
	const struct runner_fixture fixture = { set_up, tear_down };

	sandbox_need_servers();
	return runner_run_with("close_trouble", &fixture, tests, ARRAY_LENGTH(tests));
}
