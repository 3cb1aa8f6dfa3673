/* lapsectl verify: nothing is found in sound tables, and each damage is found by its own check. */
#include <stdlib.h>
#include <string.h>

#include "common/base/compiler.h"
#include "common/base/result.h"
#include "common/base/text.h"
#include "common/io/db.h"
#include "common/io/json.h"
#include "common/order/close.h"
#include "tests/support/orders.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"

enum {
	OUTPUT_MAX = 1048576,
	NAMES_SIZE = 256,
};

static struct sandbox *sandbox;

static void set_up(void)
{
	sandbox_create(SANDBOX_NO_BROKER, &sandbox);
}

static void tear_down(void)
{
	sandbox_destroy(&sandbox);
}

/* The names of the checks that found something, divided by blanks. */
static int verify(const char *option, char names[NAMES_SIZE])
{
	const char *const words[] = { "verify", "--json", "-q", option, NULL };
	struct json *root = NULL;
	char *output = NULL;
	int status = sandbox_run(sandbox, "lapsectl", words, &output);

	names[0] = '\0';
	ck_assert_msg(json_parse(output, strlen(output), OUTPUT_MAX, &root, NULL) == RESULT_OK,
		"status %d: %s", status, output);
	const struct json *checks = json_get(root, "checks");
	for (size_t i = 0; i < json_count(checks); i++) {
		const struct json *check = json_at(checks, i);
		int64_t count = -1;
		size_t used = strlen(names);

		ck_assert(json_get_int(check, "count", &count));
		if (count > 0)
			(void)text_format(names + used, NAMES_SIZE - used, "%s%s",
				used == 0 ? "" : " ", json_get_text(check, "check"));
	}
	json_destroy(&root);
	free(output);
	return status;
}

static void expect(const char *option, const char *expected)
{
	char names[NAMES_SIZE];
	int status = verify(option, names);

	ck_assert_str_eq(names, expected);
	ck_assert_int_eq(status, expected[0] == '\0' ? EXIT_STATUS_OK : EXIT_STATUS_FAILED);
}

/* C1 closed by timeout, with an item of each sort; P1 paid in time; U1 waits; F1 paid for nothing
 * by a service that writes no pay_time; all as the programs leave them. */
static void make_sound_tables(void)
{
	static const struct order_item items[] = { { "SKU-1", 2 }, { "SKU-2", 0 }, { "SKU-1", 1 } };
	const struct order_plan plan = {
		.order_no = "C1", .due_in_ms = -5000, .items = items, .item_count = 3
	};
	struct query *query = sandbox_query(sandbox);
	char url[512];
	struct db_settings settings = { .url = url, .lock_wait_ms = 2000 };
	struct close_report report = { 0 };
	const struct close_request request = {
		.reason = CLOSE_REASON_TIMEOUT, .source = CLOSE_SOURCE_SWEEP, .report = &report
	};
	struct close_order order = { .order_no = "C1" };
	struct error error = { 0 };
	struct db *db = NULL;

	orders_insert(query, &plan);
	orders_insert_one(query, "P1", 60000);
	orders_insert_one(query, "U1", 60000);
	ck_assert(orders_pay(query, "P1"));
	query_run(query, "INSERT INTO t_order (order_no, amount_cents, status, expire_time) "
			 "VALUES ('F1', 0, 'PAID', UTC_TIMESTAMP(3) - INTERVAL 1 HOUR)");
	ck_assert(text_copy(url, sizeof(url), sandbox_mysql_url(sandbox)));
	db_create(&settings, &db);
	ck_assert_msg(db_ensure_connected(db, &error) == RESULT_OK, "%s", error.text);
	ck_assert_msg(close_orders(db, &request, &order, 1, &error) == RESULT_OK, "%s", error.text);
	ck_assert_int_eq(order.outcome, CLOSE_OUTCOME_CLOSED);
	db_destroy(&db);
}

START_TEST(empty_and_sound_tables_are_clean)
{
	expect(NULL, "");
	make_sound_tables();
	expect(NULL, "");
	expect("--since=36500d", "");
	expect("--since=1s", "");
}
END_TEST

struct damage {
	const char *expected;
	const char *sql;
};

static const struct damage damages[] = {
	{ "closed_early", "UPDATE t_order SET close_time = expire_time - INTERVAL 1000 MICROSECOND "
			  "WHERE order_no = 'C1'" },
	{ "closed_early", "UPDATE t_order SET expire_time = NULL WHERE order_no = 'C1'" },
	{ "paid_late", "UPDATE t_order SET pay_time = expire_time WHERE order_no = 'P1'" },
	{ "overdue", "UPDATE t_order SET expire_time = UTC_TIMESTAMP(3) - INTERVAL 400 DAY "
		     "WHERE order_no = 'U1'" },
	{ "close_event", "DELETE FROM t_outbox_event WHERE order_no = 'C1' "
			 "AND event_type = 'ORDER_CLOSED'" },
	{ "close_event", "INSERT INTO t_outbox_event (event_type, order_no, status) "
			 "VALUES ('ORDER_CLOSED', 'C1', 'SENT')" },
	{ "close_event", "INSERT INTO t_outbox_event (event_type, order_no, status) "
			 "VALUES ('ORDER_CLOSED', 'P1', 'SENT')" },
	{ "close_event", "INSERT INTO t_outbox_event (event_type, order_no, status) "
			 "VALUES ('ORDER_CLOSED', 'nobody', 'SENT')" },
	{ "close_event restore_task",
		"INSERT INTO t_order (order_no, amount_cents) "
		"VALUES ('X1', 1); "
		"INSERT INTO t_order_item (order_id, sku_id, quantity) "
		"VALUES (LAST_INSERT_ID(), 'SKU-1', 1); "
		"UPDATE t_order SET status = 'CLOSED' WHERE order_no = 'X1'" },
	{ "restore_task", "DELETE FROM t_compensation WHERE order_no = 'C1' LIMIT 1" },
	{ "restore_task",
		"INSERT INTO t_compensation (kind, target, idempotency_key, order_no, payload) "
		"VALUES ('STOCK_RESTORE', 'stock', 'restore:C1:again', 'C1', '{}')" },
	{ "restore_task",
		"INSERT INTO t_compensation (kind, target, idempotency_key, order_no, payload) "
		"SELECT 'STOCK_RESTORE', 'stock', CONCAT('restore:C1:', i.id), 'C1', '{}' "
		"FROM t_order_item i WHERE i.quantity = 0" },
	{ "restore_task",
		"INSERT INTO t_compensation (kind, target, idempotency_key, order_no, payload) "
		"SELECT 'STOCK_RESTORE', 'stock', CONCAT('restore:P1:', i.id), 'P1', '{}' "
		"FROM t_order o JOIN t_order_item i ON i.order_id = o.id WHERE o.order_no = 'P1'" },
	{ "too_many_calls", "UPDATE t_compensation SET calls = 7 WHERE order_no = 'C1' LIMIT 1" },
	{ "too_many_calls",
		"UPDATE t_compensation SET retry_count = 6 WHERE order_no = 'C1' LIMIT 1" },
	{ "dead_without_alert",
		"UPDATE t_compensation SET status = 'DEAD' WHERE order_no = 'C1' LIMIT 1" },
	{ "dead_without_alert",
		"UPDATE t_compensation SET status = 'DEAD' WHERE order_no = 'C1' LIMIT 1; "
		"INSERT INTO t_alert (kind, ref, severity, labels, annotations, state) "
		"SELECT 'TASK_DEAD', id, 'warning', '{}', '{}', 'RESOLVED' FROM t_compensation "
		"WHERE status = 'DEAD'" },
	{ "refund_task", "INSERT INTO t_payment (channel, trade_no, order_no, amount_cents, "
			 "currency, outcome) VALUES ('pay', 'T1', 'C1', 100, 'CNY', 'LATE')" },
	{ "refund_task",
		"INSERT INTO t_compensation (kind, target, idempotency_key, order_no, payload) "
		"VALUES ('REFUND', 'refund', 'refund:pay:T1', 'C1', '{}')" },
	{ "lease_stuck", "UPDATE t_compensation SET status = 'RUNNING', "
			 "lease_until = UTC_TIMESTAMP(3) - INTERVAL 1 HOUR "
			 "WHERE order_no = 'C1' LIMIT 1" },
	{ "lease_stuck", "UPDATE t_compensation SET status = 'RUNNING', lease_until = NULL "
			 "WHERE order_no = 'C1' LIMIT 1" },
	{ "lease_stuck", "UPDATE t_outbox_event SET lease_token = 'x', "
			 "lease_until = UTC_TIMESTAMP(3) + INTERVAL 1 DAY "
			 "WHERE order_no = 'C1' LIMIT 1" },
	{ "outbox_stale",
		"UPDATE t_outbox_event SET available_at = UTC_TIMESTAMP(3) - INTERVAL 1 HOUR "
		"WHERE order_no = 'C1' LIMIT 1" },
};

START_TEST(each_damage_is_found_by_its_check_and_no_other)
{
	for (size_t i = 0; i < ARRAY_LENGTH(damages); i++) {
		char names[NAMES_SIZE];

		make_sound_tables();
		query_run(sandbox_query(sandbox), "%s", damages[i].sql);
		ck_assert_int_eq(verify(NULL, names), EXIT_STATUS_FAILED);
		ck_assert_msg(text_equals(names, damages[i].expected), "%s: found %s",
			damages[i].sql, names);
		tear_down();
		set_up();
	}
}
END_TEST

START_TEST(what_housekeeping_has_taken_is_not_missed)
{
	struct query *query = sandbox_query(sandbox);

	make_sound_tables();
	query_run(query, "DELETE FROM t_outbox_event WHERE order_no = 'C1'; "
			 "DELETE FROM t_compensation");
	expect(NULL, "close_event restore_task");
	query_run(query, "UPDATE t_order SET close_time = close_time - INTERVAL 8 DAY, "
			 "expire_time = expire_time - INTERVAL 9 DAY WHERE order_no = 'C1'");
	expect(NULL, "");
	sandbox_set(sandbox, "LAPSE_RETENTION", "30d");
	expect(NULL, "close_event restore_task");
}
END_TEST

START_TEST(the_grace_of_overdue_orders_can_be_shortened)
{
	make_sound_tables();
	orders_insert_one(sandbox_query(sandbox), "U2", -10000);
	expect(NULL, "");
	expect("--overdue-grace=500ms", "overdue");
}
END_TEST

START_TEST(an_example_names_the_order)
{
	static const char *const words[] = { "verify", NULL };
	char *output = NULL;

	orders_insert_one(sandbox_query(sandbox), "U2", -3600000);
	ck_assert_int_eq(sandbox_run(sandbox, "lapsectl", words, &output), EXIT_STATUS_FAILED);
	ck_assert_ptr_nonnull(strstr(output, "U2: unpaid, overdue for 36"));
	free(output);
}
END_TEST

/* More rows than one statement looks at, most of them older than the window. */
START_TEST(old_rows_are_skipped_unless_they_were_closed_or_are_open)
{
	const struct orders_plan plan = {
		.prefix = "B", .count = 120000, .due_in_ms = 3600000, .spread_ms = 1000
	};
	struct query *query = sandbox_query(sandbox);

	orders_insert_many(query, &plan);
	query_run(query, "UPDATE t_order SET created_at = UTC_TIMESTAMP(3) - INTERVAL 3 DAY "
			 "WHERE id <= 110000");
	expect(NULL, "");
	query_run(query, "UPDATE t_order SET status = 'CLOSED', close_reason = 'USER_CANCEL', "
			 "close_time = UTC_TIMESTAMP(3) - INTERVAL 2 DAY WHERE order_no = 'B5'");
	expect(NULL, "");
	expect("--since=4d", "close_event restore_task");
	query_run(query, "UPDATE t_order SET close_time = UTC_TIMESTAMP(3) WHERE order_no = 'B5'");
	expect(NULL, "close_event restore_task");
	query_run(query, "UPDATE t_order SET close_time = UTC_TIMESTAMP(3) - INTERVAL 2 DAY "
			 "WHERE order_no = 'B5'; UPDATE t_order SET status = 'CLOSED', "
			 "close_time = UTC_TIMESTAMP(3) WHERE order_no = 'B119999'");
	expect(NULL, "close_event restore_task");
}
END_TEST

START_TEST(without_a_schema_nothing_is_said_to_be_clean)
{
	static const char *const words[] = { "verify", NULL };
	char *output = NULL;

	query_run(sandbox_query(sandbox), "DROP TABLE t_schema_version");
	ck_assert_int_eq(sandbox_run(sandbox, "lapsectl", words, &output), EXIT_STATUS_UNAVAILABLE);
	ck_assert_ptr_nonnull(strstr(output, "run lapsectl migrate"));
	free(output);
}
END_TEST

int main(void)
{
	static const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = {
		empty_and_sound_tables_are_clean,
		each_damage_is_found_by_its_check_and_no_other,
		what_housekeeping_has_taken_is_not_missed,
		the_grace_of_overdue_orders_can_be_shortened,
		an_example_names_the_order,
		old_rows_are_skipped_unless_they_were_closed_or_are_open,
		without_a_schema_nothing_is_said_to_be_clean,
	};

	sandbox_need_servers();
	return runner_run_with("verify", &fixture, tests, ARRAY_LENGTH(tests));
}
