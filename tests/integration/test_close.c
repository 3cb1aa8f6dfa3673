/* What close_orders makes of each kind of order, on a real server. */
#include <inttypes.h>
#include <string.h>

#include "common/base/text.h"
#include "common/io/db.h"
#include "common/order/close.h"
#include "tests/support/direct_db.h"
#include "tests/support/orders.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"

enum {
	ORDERS_MAX = 16
};

static struct sandbox *sandbox;
static struct query *query;
static struct direct_db direct;
static struct close_order orders[ORDERS_MAX];

static void set_up(void)
{
	sandbox_create(SANDBOX_NO_BROKER, &sandbox);
	query = sandbox_query(sandbox);
	direct_db_open(&direct, sandbox, NULL, NULL);
	memset(orders, 0, sizeof(orders));
}

static void tear_down(void)
{
	direct_db_close(&direct);
	sandbox_destroy(&sandbox);
}

static void close_as(enum close_reason reason, enum close_source source, size_t count)
{
	struct close_report report = { .transactions = 0 };
	const struct close_request request = {
		.reason = reason, .source = source, .report = &report
	};
	struct error error = { .text = "" };
	enum result result = close_orders(direct.db, &request, orders, count, &error);

	ck_assert_msg(result == RESULT_OK, "close_orders: %s", error.text);
}

static void name_order(size_t place, const char *order_no)
{
	ck_assert(text_copy(orders[place].order_no, sizeof(orders[place].order_no), order_no));
}

static const struct close_order *close_one(const char *order_no)
{
	name_order(0, order_no);
	close_as(CLOSE_REASON_TIMEOUT, CLOSE_SOURCE_MESSAGE, 1);
	return &orders[0];
}

static int64_t count_tasks(const char *order_no)
{
	return query_number(query,
		"SELECT COUNT(*) FROM t_compensation WHERE order_no = '%s' AND "
		"kind = 'STOCK_RESTORE'",
		order_no);
}

static int64_t count_events(const char *order_no)
{
	return query_number(query,
		"SELECT COUNT(*) FROM t_outbox_event WHERE order_no = '%s' AND "
		"event_type = 'ORDER_CLOSED' AND status = 'NEW'",
		order_no);
}

START_TEST(each_order_gets_its_own_outcome)
{
	static const struct order_plan never = { .order_no = "NEVER", .has_no_deadline = true };
	static const struct {
		const char *order_no;
		enum close_outcome outcome;
	} expected[] = {
		{ "DUE", CLOSE_OUTCOME_CLOSED },
		{ "PAID", CLOSE_OUTCOME_ALREADY_PAID },
		{ "CLOSED", CLOSE_OUTCOME_ALREADY_CLOSED },
		{ "EARLY", CLOSE_OUTCOME_NOT_DUE },
		{ "NEVER", CLOSE_OUTCOME_NOT_DUE },
		{ "NOBODY", CLOSE_OUTCOME_NOT_FOUND },
		{ "DUE-2", CLOSE_OUTCOME_CLOSED },
	};

	orders_insert_one(query, "DUE", -1000);
	orders_insert_one(query, "DUE-2", -1);
	orders_insert_one(query, "PAID", 60000);
	ck_assert(orders_pay(query, "PAID"));
	orders_insert_one(query, "CLOSED", -1000);
	ck_assert_int_eq(close_one("CLOSED")->outcome, CLOSE_OUTCOME_CLOSED);
	orders_insert_one(query, "EARLY", 60000);
	orders_insert(query, &never);
	for (size_t i = 0; i < ARRAY_LENGTH(expected); i++)
		name_order(i, expected[i].order_no);
	close_as(CLOSE_REASON_TIMEOUT, CLOSE_SOURCE_MESSAGE, ARRAY_LENGTH(expected));
	for (size_t i = 0; i < ARRAY_LENGTH(expected); i++)
		ck_assert_msg(orders[i].outcome == expected[i].outcome, "%s: %s",
			orders[i].order_no, close_outcome_names[orders[i].outcome]);
	ck_assert_int_ge(orders[0].lag_ms, 1000);
	ck_assert_int_gt(orders[3].wait_ms, 50000);
	ck_assert_int_le(orders[3].wait_ms, 60000);
	ck_assert_int_eq(orders[3].due_ms,
		query_number(query, "SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', expire_time) "
				    "DIV 1000 FROM t_order WHERE order_no = 'EARLY'"));
	ck_assert_int_eq(orders[4].wait_ms, -1);
	ck_assert_int_eq(orders[4].due_ms, 0);
	ck_assert_uint_eq(orders[5].id, 0);
	ck_assert_int_eq(orders_count(query, "CLOSED"), 3);
	direct_db_expect_sound(&direct);
}
END_TEST

START_TEST(a_closed_order_says_when_why_and_by_whom)
{
	char text[QUERY_TEXT_SIZE];

	orders_insert_one(query, "A1", -1000);
	const struct close_order *order = close_one("A1");
	query_text(query, text,
		"SELECT status, close_reason, close_source, version, id = %" PRIu64
		", TIMESTAMPDIFF(MICROSECOND, expire_time, close_time) DIV 1000 = %" PRId64
		", close_time <= UTC_TIMESTAMP(3), pay_time IS NULL FROM t_order",
		order->id, order->lag_ms);
	ck_assert_str_eq(text, "CLOSED TIMEOUT message 1 1 1 1 1");
}
END_TEST

START_TEST(every_item_with_a_quantity_is_owed_once)
{
	static const struct order_item items[] = { { "SKU-1", 2 }, { "SKU-2", 0 }, { "SKU-1", 5 },
		{ "S:k_u.-9", 4294967295 } };
	const struct order_plan plan = { .order_no = "CS1",
		.due_in_ms = -1000,
		.items = items,
		.item_count = ARRAY_LENGTH(items) };
	char text[QUERY_TEXT_SIZE];

	orders_insert(query, &plan);
	query_run(query, "UPDATE t_order SET trace_parent = '00-ab-cd-01'");
	ck_assert_int_eq(close_one("CS1")->outcome, CLOSE_OUTCOME_CLOSED);
	ck_assert_int_eq(count_tasks("CS1"), 3);
	ck_assert_int_eq(count_events("CS1"), 1);
	query_text(query, text,
		"SELECT COUNT(*), MIN(c.status), MIN(c.target), SUM(c.calls), SUM(c.retry_count), "
		"MIN(c.max_retries), SUM(JSON_EXTRACT(c.payload, '$.quantity') = i.quantity), "
		"SUM(JSON_UNQUOTE(JSON_EXTRACT(c.payload, '$.sku_id')) = i.sku_id) "
		"FROM t_compensation c JOIN t_order_item i "
		"ON c.idempotency_key = CONCAT('restore:CS1:', i.id)");
	ck_assert_str_eq(text, "3 PENDING stock 0 0 5 3 3");
	query_text(query, text,
		"SELECT trace_parent, payload, attempts, CHAR_LENGTH(event_id) "
		"FROM t_outbox_event WHERE event_type = 'ORDER_CLOSED'");
	ck_assert_str_eq(text, "00-ab-cd-01 NULL 0 36");
	direct_db_expect_sound(&direct);
}
END_TEST

START_TEST(an_order_without_items_owes_nothing)
{
	static const struct order_plan plan = { .order_no = "CS2", .due_in_ms = -1000 };

	orders_insert(query, &plan);
	ck_assert_int_eq(close_one("CS2")->outcome, CLOSE_OUTCOME_CLOSED);
	ck_assert_int_eq(count_events("CS2"), 1);
	ck_assert_int_eq(count_tasks("CS2"), 0);
}
END_TEST

START_TEST(a_closed_order_never_changes_again)
{
	char before[QUERY_TEXT_SIZE];
	char after[QUERY_TEXT_SIZE];

	orders_insert_one(query, "A1", -1000);
	(void)close_one("A1");
	query_text(query, before,
		"SELECT close_time, close_reason, close_source, version FROM t_order");
	for (int i = 0; i < 5; i++)
		ck_assert_int_eq(close_one("A1")->outcome, CLOSE_OUTCOME_ALREADY_CLOSED);
	close_as(CLOSE_REASON_OPERATOR, CLOSE_SOURCE_CONSOLE, 1);
	ck_assert_int_eq(orders[0].outcome, CLOSE_OUTCOME_ALREADY_CLOSED);
	query_text(query, after,
		"SELECT close_time, close_reason, close_source, version FROM t_order");
	ck_assert_str_eq(before, after);
	ck_assert_int_eq(count_tasks("A1"), 1);
	ck_assert_int_eq(count_events("A1"), 1);
}
END_TEST

START_TEST(a_cancel_does_not_wait_for_the_deadline)
{
	static const struct order_plan never = { .order_no = "C", .has_no_deadline = true };
	char text[QUERY_TEXT_SIZE];

	orders_insert_one(query, "A", 60000);
	orders_insert_one(query, "B", -60000);
	orders_insert(query, &never);
	orders_insert_one(query, "D", 60000);
	ck_assert(orders_pay(query, "D"));
	for (size_t i = 0; i < 4; i++)
		orders[i].order_no[0] = (char)('A' + i);
	close_as(CLOSE_REASON_USER_CANCEL, CLOSE_SOURCE_API, 4);
	for (size_t i = 0; i < 3; i++)
		ck_assert_int_eq(orders[i].outcome, CLOSE_OUTCOME_CLOSED);
	ck_assert_int_eq(orders[3].outcome, CLOSE_OUTCOME_ALREADY_PAID);
	query_text(query, text,
		"SELECT GROUP_CONCAT(order_no, close_reason, close_source ORDER BY order_no) "
		"FROM t_order WHERE status = 'CLOSED'");
	ck_assert_str_eq(text, "AUSER_CANCELapi,BUSER_CANCELapi,CUSER_CANCELapi");
	ck_assert_int_eq(count_tasks("A"), 1);
	ck_assert_int_eq(count_events("C"), 1);
	direct_db_expect_sound(&direct);
}
END_TEST

/* Everything a close leaves behind, without the names. */
static void describe(char text[QUERY_TEXT_SIZE], const char *order_no)
{
	query_text(query, text,
		"SELECT o.status, o.version, o.close_time IS NOT NULL, (SELECT GROUP_CONCAT("
		"c.kind, c.target, c.status, c.payload, c.calls, c.max_retries ORDER BY c.payload) "
		"FROM t_compensation c WHERE c.order_no = o.order_no), (SELECT GROUP_CONCAT("
		"e.event_type, e.status, IFNULL(e.payload, '-')) FROM t_outbox_event e "
		"WHERE e.order_no = o.order_no) FROM t_order o WHERE o.order_no = '%s'",
		order_no);
}

START_TEST(every_way_to_close_leaves_the_same_behind)
{
	static const struct order_item items[] = { { "SKU-1", 2 }, { "SKU-2", 3 } };
	static const struct {
		const char *order_no;
		enum close_reason reason;
		enum close_source source;
	} ways[] = {
		{ "M", CLOSE_REASON_TIMEOUT, CLOSE_SOURCE_MESSAGE },
		{ "S", CLOSE_REASON_TIMEOUT, CLOSE_SOURCE_SWEEP },
		{ "A", CLOSE_REASON_USER_CANCEL, CLOSE_SOURCE_API },
		{ "C", CLOSE_REASON_OPERATOR, CLOSE_SOURCE_CONSOLE },
	};
	char first[QUERY_TEXT_SIZE] = "";
	char text[QUERY_TEXT_SIZE];

	for (size_t i = 0; i < ARRAY_LENGTH(ways); i++) {
		const struct order_plan plan = { .order_no = ways[i].order_no,
			.due_in_ms = -1000,
			.items = items,
			.item_count = ARRAY_LENGTH(items) };

		orders_insert(query, &plan);
		name_order(0, ways[i].order_no);
		close_as(ways[i].reason, ways[i].source, 1);
		describe(i == 0 ? first : text, ways[i].order_no);
		if (i > 0)
			ck_assert_str_eq(text, first);
		query_text(query, text,
			"SELECT close_reason, close_source FROM t_order WHERE order_no = '%s'",
			ways[i].order_no);
		ck_assert(strstr(text, close_reason_names[ways[i].reason]) != NULL);
		ck_assert(strstr(text, close_source_names[ways[i].source]) != NULL);
	}
	ck_assert(strstr(first, "SKU-1") != NULL && strstr(first, "ORDER_CLOSED") != NULL);
}
END_TEST

START_TEST(a_key_is_compared_byte_by_byte)
{
	static const char *const strangers[] = { "a1", "A1 ", " A1", "A01", "A1.", "A" };

	orders_insert_one(query, "A1", -1000);
	for (size_t i = 0; i < ARRAY_LENGTH(strangers); i++)
		name_order(i, strangers[i]);
	close_as(CLOSE_REASON_TIMEOUT, CLOSE_SOURCE_MESSAGE, ARRAY_LENGTH(strangers));
	for (size_t i = 0; i < ARRAY_LENGTH(strangers); i++)
		ck_assert_msg(orders[i].outcome == CLOSE_OUTCOME_NOT_FOUND, "\"%s\": %s",
			strangers[i], close_outcome_names[orders[i].outcome]);
	ck_assert(orders_is(query, "A1", "UNPAID"));
	name_order(0, "A1");
	name_order(1, "a1");
	orders_insert_one(query, "a1", 60000);
	close_as(CLOSE_REASON_TIMEOUT, CLOSE_SOURCE_MESSAGE, 2);
	ck_assert_int_eq(orders[0].outcome, CLOSE_OUTCOME_CLOSED);
	ck_assert_int_eq(orders[1].outcome, CLOSE_OUTCOME_NOT_DUE);
}
END_TEST

START_TEST(deadlines_far_away_are_understood)
{
	orders_insert_one(query, "OLD", INT64_C(-400) * 86400 * 1000);
	orders_insert_one(query, "2050", 1000);
	orders_insert_one(query, "LAST", 1000);
	orders_insert_one(query, "1969", 1000);
	query_run(query, "UPDATE t_order SET expire_time = '2050-06-01' WHERE order_no = '2050'");
	query_run(query, "UPDATE t_order SET expire_time = '9999-12-31 23:59:59.999' "
			 "WHERE order_no = 'LAST'");
	query_run(query, "UPDATE t_order SET expire_time = '1969-01-01' WHERE order_no = '1969'");
	ck_assert_int_eq(close_one("OLD")->outcome, CLOSE_OUTCOME_CLOSED);
	ck_assert_int_ge(orders[0].lag_ms, INT64_C(400) * 86400 * 1000);
	ck_assert_int_eq(close_one("2050")->outcome, CLOSE_OUTCOME_NOT_DUE);
	ck_assert_int_eq(orders[0].due_ms, INT64_C(2537654400000));
	ck_assert_int_eq(close_one("LAST")->outcome, CLOSE_OUTCOME_NOT_DUE);
	ck_assert_int_eq(orders[0].due_ms, INT64_C(253402300799999));
	ck_assert_int_eq(close_one("1969")->outcome, CLOSE_OUTCOME_CLOSED);
}
END_TEST

START_TEST(no_order_closes_a_millisecond_early)
{
	for (int i = 0; i < 20; i++) {
		char order_no[TEXT_KEY_SIZE];
		int tries = 0;

		(void)text_format(order_no, sizeof(order_no), "E%d", i);
		orders_insert_one(query, order_no, 15);
		while (close_one(order_no)->outcome == CLOSE_OUTCOME_NOT_DUE) {
			ck_assert_int_ge(orders[0].wait_ms, 1);
			ck_assert_int_lt(++tries, 100000);
		}
		ck_assert_int_eq(orders[0].outcome, CLOSE_OUTCOME_CLOSED);
		ck_assert_int_ge(orders[0].lag_ms, 0);
	}
	ck_assert_int_eq(
		query_number(query, "SELECT COUNT(*) FROM t_order WHERE close_time < expire_time"),
		0);
}
END_TEST

START_TEST(matched_and_changed_rows_are_the_same_to_us)
{
	struct direct_db found_rows;
	struct close_report report = { .transactions = 0 };
	const struct close_request request = {
		.reason = CLOSE_REASON_TIMEOUT, .source = CLOSE_SOURCE_MESSAGE, .report = &report
	};

	direct_db_open(&found_rows, sandbox, NULL, "found_rows=on");
	orders_insert_one(query, "A1", -1000);
	orders_insert_one(query, "A2", -1000);
	name_order(0, "A1");
	name_order(1, "A2");
	for (int i = 0; i < 3; i++) {
		struct error error = { .text = "" };

		ck_assert_int_eq(
			close_orders(found_rows.db, &request, orders, 2, &error), RESULT_OK);
		ck_assert_int_eq(orders[0].outcome,
			i == 0 ? CLOSE_OUTCOME_CLOSED : CLOSE_OUTCOME_ALREADY_CLOSED);
	}
	direct_db_close(&found_rows);
	direct_db_expect_sound(&direct);
}
END_TEST

START_TEST(an_order_paid_without_a_payment_row_is_paid)
{
	orders_insert_one(query, "FREE", 60000);
	query_run(query, "UPDATE t_order SET amount_cents = 0");
	ck_assert(orders_pay(query, "FREE"));
	query_run(query, "UPDATE t_order SET expire_time = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND, "
			 "pay_time = UTC_TIMESTAMP(3) - INTERVAL 5 SECOND");
	ck_assert_int_eq(close_one("FREE")->outcome, CLOSE_OUTCOME_ALREADY_PAID);
	ck_assert_int_eq(count_tasks("FREE"), 0);
	direct_db_expect_sound(&direct);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		each_order_gets_its_own_outcome,
		a_closed_order_says_when_why_and_by_whom,
		every_item_with_a_quantity_is_owed_once,
		an_order_without_items_owes_nothing,
		a_closed_order_never_changes_again,
		a_cancel_does_not_wait_for_the_deadline,
		every_way_to_close_leaves_the_same_behind,
		a_key_is_compared_byte_by_byte,
		deadlines_far_away_are_understood,
		no_order_closes_a_millisecond_early,
		matched_and_changed_rows_are_the_same_to_us,
		an_order_paid_without_a_payment_row_is_paid,
	};
	const struct runner_fixture fixture = { set_up, tear_down };

	sandbox_need_servers();
	return runner_run_with("close", &fixture, tests, ARRAY_LENGTH(tests));
}
