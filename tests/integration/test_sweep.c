/* close_due_orders: which orders a sweep takes, in which order, and what looking costs. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/db.h"
#include "common/order/close.h"
#include "common/order/close_transaction.h"
#include "tests/support/direct_db.h"
#include "tests/support/orders.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"

enum {
	LIMIT = 100,
	READS_MAX = 12
};

static struct sandbox *sandbox;
static struct query *query;
static struct direct_db direct;
static struct close_order *orders;
static struct close_report report;
static struct close_cursor cursor;

static void set_up(void)
{
	sandbox_create(SANDBOX_NO_BROKER, &sandbox);
	query = sandbox_query(sandbox);
	direct_db_open(&direct, sandbox, NULL, NULL);
	orders = memory_allocate_array(LIMIT, sizeof(*orders));
	memset(&report, 0, sizeof(report));
	memset(&cursor, 0, sizeof(cursor));
}

static void tear_down(void)
{
	free(orders);
	direct_db_close(&direct);
	sandbox_destroy(&sandbox);
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

/* How many were looked at; the outcomes are in orders. */
static size_t sweep(size_t limit, uint64_t overdue_ms)
{
	const struct close_due_request due = { limit, overdue_ms, &cursor };
	struct error error = { .text = "" };
	size_t count = 0;
	enum result result = close_due_orders(direct.db, &due, orders, &count, &report, &error);

	ck_assert_msg(result == RESULT_OK || result == RESULT_NONE, "%s", error.text);
	ck_assert((result == RESULT_NONE) == (count == 0));
	return count;
}

START_TEST(the_oldest_go_first)
{
	insert("A", 50, -1000000, 900000);
	query_run(query, "UPDATE t_order SET expire_time = expire_time - INTERVAL 1 DAY "
			 "WHERE order_no IN ('A7', 'A33', 'A49')");
	orders_insert_one(query, "NOT-DUE", 60000);
	ck_assert_uint_eq(sweep(3, 0), 3);
	ck_assert_str_eq(orders[0].order_no, "A7");
	ck_assert_str_eq(orders[1].order_no, "A33");
	ck_assert_str_eq(orders[2].order_no, "A49");
	for (size_t left = 47; left > 0; left -= left < 10 ? left : 10) {
		ck_assert_uint_eq(sweep(10, 0), left < 10 ? left : 10);
		ck_assert_int_eq(
			query_number(query, "SELECT COUNT(*) FROM t_order a JOIN t_order b "
					    "ON a.expire_time < b.expire_time WHERE "
					    "a.status = 'UNPAID' AND b.status = 'CLOSED'"),
			0);
	}
	ck_assert_uint_eq(sweep(10, 0), 0);
	ck_assert(orders_is(query, "NOT-DUE", "UNPAID"));
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_order WHERE status = 'CLOSED' "
					     "AND close_source = 'sweep' AND close_reason = "
					     "'TIMEOUT' AND close_time >= expire_time"),
		50);
	direct_db_expect_sound(&direct);
}
END_TEST

START_TEST(many_with_the_same_deadline_are_passed_one_by_one)
{
	insert("A", 50, -1000, 0);
	query_run(query, "UPDATE t_order SET expire_time = '2026-01-01'");
	for (int i = 0; i < 10; i++)
		ck_assert_uint_eq(sweep(5, 0), 5);
	ck_assert_uint_eq(sweep(5, 0), 0);
	ck_assert_int_eq(orders_count(query, "CLOSED"), 50);
}
END_TEST

START_TEST(messages_go_first)
{
	orders_insert_one(query, "A", -300);
	orders_insert_one(query, "B", -5000);
	ck_assert_uint_eq(sweep(10, 2000), 1);
	ck_assert_str_eq(orders[0].order_no, "B");
	ck_assert_int_ge(orders[0].lag_ms, 5000);
}
END_TEST

START_TEST(locked_orders_delay_only_themselves)
{
	struct query *other = NULL;

	insert("A", 30, -30000, 10000);
	query_create(sandbox_mysql_url(sandbox), &other);
	query_run(other, "START TRANSACTION");
	query_run(other, "SELECT id FROM t_order WHERE order_no IN ('A0', 'A1', 'A15') FOR UPDATE");
	ck_assert_uint_eq(sweep(10, 0), 10);
	ck_assert_uint_eq(sweep(50, 0), 17);
	ck_assert_uint_eq(sweep(50, 0), 0);
	ck_assert_int_eq(orders_count(query, "CLOSED"), 27);
	query_run(other, "ROLLBACK");
	/* The pass stands behind them; the next one finds them. */
	ck_assert_uint_eq(sweep(50, 0), 0);
	cursor = (struct close_cursor){ .id = 0 };
	ck_assert_uint_eq(sweep(50, 0), 3);
	query_destroy(&other);
	direct_db_expect_sound(&direct);
}
END_TEST

START_TEST(bad_orders_delay_only_themselves)
{
	insert("A", 40, -30000, 10000);
	query_run(query,
		"INSERT INTO t_compensation(kind,target,idempotency_key,order_no,payload) "
		"SELECT 'STOCK_RESTORE', 'stock', CONCAT('restore:', order_no, ':', i.id), "
		"order_no, '{}' FROM t_order o JOIN t_order_item i ON i.order_id = o.id "
		"WHERE order_no IN ('A0', 'A20') AND quantity = 1");
	ck_assert_uint_eq(sweep(15, 0), 15);
	ck_assert_str_eq(orders[0].order_no, "A0");
	ck_assert_int_eq(orders[0].outcome, CLOSE_OUTCOME_FAILED);
	for (size_t i = 1; i < 15; i++)
		ck_assert_int_eq(orders[i].outcome, CLOSE_OUTCOME_CLOSED);
	ck_assert_uint_eq(sweep(15, 0), 15);
	ck_assert_uint_eq(sweep(15, 0), 10);
	ck_assert_uint_eq(sweep(15, 0), 0);
	ck_assert_int_eq(orders_count(query, "CLOSED"), 38);
	cursor = (struct close_cursor){ .id = 0 };
	ck_assert_uint_eq(sweep(15, 0), 2);
	query_run(query, "DELETE FROM t_compensation WHERE payload = '{}'");
	cursor = (struct close_cursor){ .id = 0 };
	ck_assert_uint_eq(sweep(15, 0), 2);
	ck_assert_int_eq(orders_count(query, "CLOSED"), 40);
	direct_db_expect_sound(&direct);
}
END_TEST

/* ---- what it costs */

/* Rows the server has read for this session. */
static uint64_t count_reads(void)
{
	struct db_rows *rows = NULL;
	struct error error = { .text = "" };
	uint64_t reads = 0;

	ck_assert_int_eq(db_query(direct.db, "SHOW SESSION STATUS LIKE 'Handler_read%'", NULL, 0,
				 &rows, &error),
		RESULT_OK);
	while (db_rows_next(rows))
		if (!text_starts_with(db_rows_text(rows, 0, NULL), "Handler_read_rnd"))
			reads += db_rows_uint(rows, 1);
	db_rows_destroy(&rows);
	return reads;
}

static uint64_t cost_of_a_sweep(size_t expected)
{
	uint64_t before = count_reads();

	cursor = (struct close_cursor){ .id = 0 };
	ck_assert_uint_eq(sweep(10, 0), expected);
	return count_reads() - before;
}

START_TEST(an_idle_sweep_reads_the_same_few_rows_however_many_orders_there_are)
{
	insert("SMALL", 100, 3600000, 1000);
	(void)cost_of_a_sweep(0);
	uint64_t few = cost_of_a_sweep(0);
	ck_assert_uint_le(few, READS_MAX);
	insert("BIG", 20000, 3600000, 60000);
	insert("OLD", 20000, -3600000, 1000);
	query_run(query, "UPDATE t_order SET status = 'PAID', pay_time = expire_time - INTERVAL 1 "
			 "SECOND WHERE order_no LIKE 'OLD%%'");
	ck_assert_uint_eq(cost_of_a_sweep(0), few);
}
END_TEST

START_TEST(a_sweep_reads_what_it_takes_and_not_what_it_has_passed)
{
	insert("BIG", 20000, -3600000, 1000000);
	uint64_t first = cost_of_a_sweep(10);
	ck_assert_uint_le(first, 300);
	query_run(query,
		"UPDATE t_order SET expire_time = '9999-01-01' WHERE status = 'UNPAID' AND "
		"amount_cents BETWEEN 5000 AND 15000");
	uint64_t before = count_reads();
	for (int i = 0; i < 20; i++)
		ck_assert_uint_eq(sweep(10, 0), 10);
	ck_assert_uint_le(count_reads() - before, 20 * first);
}
END_TEST

static void expect_plan(const char *sql, const struct db_param *params, size_t count)
{
	char explain[2048];
	struct db_rows *rows = NULL;
	struct error error = { .text = "" };

	(void)text_format(explain, sizeof(explain), "EXPLAIN %s", sql);
	enum result result = db_query(direct.db, explain, params, count, &rows, &error);
	ck_assert_msg(result == RESULT_OK, "%s", error.text);
	ck_assert(db_rows_next(rows));
	/* id, select_type, table, type, possible_keys, key, ... in both servers up to type. */
	bool is_range = false;
	bool has_key = false;
	bool has_filesort = false;
	for (size_t i = 0; i < 10; i++) {
		const char *text = db_rows_text(rows, i, NULL);

		is_range = is_range || text_equals(text, "range");
		has_key = has_key || text_equals(text, "idx_status_expire");
		has_filesort = has_filesort || strstr(text, "filesort") != NULL;
	}
	ck_assert(is_range);
	ck_assert(has_key);
	ck_assert(!has_filesort);
	ck_assert(!db_rows_next(rows));
	db_rows_destroy(&rows);
}

START_TEST(the_index_serves_the_choice_and_its_order)
{
	const struct db_param first[] = { db_uint(500000), db_uint(10) };
	const struct db_param next[] = { db_uint(500000), db_text("2026-01-01 00:00:00.000"),
		db_text("2026-01-01 00:00:00.000"), db_uint(7), db_uint(10) };

	insert("A", 5000, -3600000, 7200000);
	expect_plan(close_transaction_due_sql, first, ARRAY_LENGTH(first));
	expect_plan(close_transaction_due_next_sql, next, ARRAY_LENGTH(next));
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		the_oldest_go_first,
		many_with_the_same_deadline_are_passed_one_by_one,
		messages_go_first,
		locked_orders_delay_only_themselves,
		bad_orders_delay_only_themselves,
		an_idle_sweep_reads_the_same_few_rows_however_many_orders_there_are,
		a_sweep_reads_what_it_takes_and_not_what_it_has_passed,
		the_index_serves_the_choice_and_its_order,
	};
	const struct runner_fixture fixture = { set_up, tear_down };

	sandbox_need_servers();
	return runner_run_with("sweep", &fixture, tests, ARRAY_LENGTH(tests));
}
