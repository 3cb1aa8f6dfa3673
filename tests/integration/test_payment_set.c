/* Notices that are applied together: the plain ones in one go, the others left as they are. */
#include <string.h>

#include "common/base/text.h"
#include "common/io/db.h"
#include "common/io/db_group.h"
#include "common/order/payment_set.h"
#include "tests/support/direct_db.h"
#include "tests/support/orders.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"

#define HOUR_MS INT64_C(3600000)
#define TRACE   "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
#define STATUSES                                                                         \
	"SELECT GROUP_CONCAT(CONCAT(order_no, ':', status, version) ORDER BY order_no) " \
	"FROM t_order"
#define TRADES                                                                                 \
	"SELECT GROUP_CONCAT(CONCAT(trade_no, ':', order_no, outcome, refund_state) ORDER BY " \
	"trade_no) FROM t_payment"

static const char *options;
static struct sandbox *sandbox;
static struct query *query;
static struct direct_db direct;
static struct payment_notice notices[PAYMENT_SET_MAX];
static struct payment_entry entries[PAYMENT_SET_MAX];
static size_t count;

static void set_up(void)
{
	sandbox_create(SANDBOX_NO_BROKER, &sandbox);
	query = sandbox_query(sandbox);
	direct_db_open(&direct, sandbox, NULL, options);
	count = 0;
}

static void tear_down(void)
{
	direct_db_close(&direct);
	sandbox_destroy(&sandbox);
}

static struct payment_notice *add(const char *order_no, const char *trade_no)
{
	struct payment_notice *notice = &notices[count];

	*notice = (struct payment_notice){ .channel = "pay", .amount_cents = 9900 };
	(void)text_copy(notice->order_no, sizeof(notice->order_no), order_no);
	(void)text_copy(notice->trade_no, sizeof(notice->trade_no), trade_no);
	(void)text_copy(notice->currency, sizeof(notice->currency), "CNY");
	entries[count++] = (struct payment_entry){ notice, true };
	return notice;
}

static enum result apply(void)
{
	struct error error = { .text = "" };

	return payment_set_apply(direct.db, entries, count, &error);
}

/* One character an entry: "+" applied, "-" not. */
static void expect_applied(const char *expected)
{
	char text[PAYMENT_SET_MAX + 1] = "";

	for (size_t i = 0; i < count; i++)
		text[i] = entries[i].is_applied ? '+' : '-';
	ck_assert_str_eq(text, expected);
}

static enum payment_outcome apply_alone(size_t entry)
{
	struct payment_result judged = { .is_repeated = false };
	struct error error = { .text = "" };

	ck_assert_int_eq(
		payment_apply(direct.db, entries[entry].notice, &judged, &error), RESULT_OK);
	return judged.outcome;
}

START_TEST(plain_ones_are_applied_in_one_go)
{
	orders_insert_one(query, "A1", HOUR_MS);
	orders_insert_one(query, "A2", HOUR_MS);
	orders_insert(
		query, &(struct order_plan){
			       .order_no = "A3", .has_no_deadline = true, .has_no_event = true });
	query_run(query, "UPDATE t_order SET trace_parent = '" TRACE "' WHERE order_no = 'A2';"
			 "DELETE FROM t_outbox_event");
	add("A3", "T3");
	add("A1", "T1");
	add("A2", "T2");
	ck_assert_int_eq(apply(), RESULT_OK);
	expect_applied("+++");
	query_expect(query, "A1:PAID1,A2:PAID1,A3:PAID1", STATUSES);
	query_expect(query, "T1:A1APPLIEDNONE,T2:A2APPLIEDNONE,T3:A3APPLIEDNONE", TRADES);
	query_expect(query, "3 1 3",
		"SELECT COUNT(*), SUM(trace_parent <=> '" TRACE "' AND order_no = 'A2'), "
		"SUM(JSON_VALUE(payload, '$.trade_no') = REPLACE(order_no, 'A', 'T') AND "
		"JSON_VALUE(payload, '$.amount_cents') = 9900) "
		"FROM t_outbox_event WHERE event_type = 'ORDER_PAID'");
	query_expect(query, "3 3",
		"SELECT SUM(pay_time <= UTC_TIMESTAMP(3)), SUM(amount_cents = 9900) FROM t_order "
		"JOIN t_payment USING (order_no, amount_cents, currency)");
}
END_TEST

START_TEST(what_is_special_is_left_as_it_is)
{
	struct query *other = NULL;

	orders_insert_one(query, "GOOD", HOUR_MS);
	orders_insert_one(query, "HELD", HOUR_MS);
	orders_insert_one(query, "LATE", -1000);
	orders_insert_one(query, "LESS", HOUR_MS);
	orders_insert_one(query, "MONEY", HOUR_MS);
	orders_insert_one(query, "PAID", HOUR_MS);
	ck_assert(orders_pay(query, "PAID"));
	query_create(sandbox_mysql_url(sandbox), &other);
	query_run(other, "START TRANSACTION");
	query_run(other, "SELECT 1 FROM t_order WHERE order_no = 'HELD' FOR UPDATE");
	add("LATE", "T1");
	add("LESS", "T2")->amount_cents = 9899;
	(void)text_copy(add("MONEY", "T3")->currency, PAYMENT_CURRENCY_SIZE, "USD");
	add("PAID", "T4");
	add("NOBODY", "T5");
	add("GOOD", "T6")->amount_cents = 1;
	add("GOOD", "T7");
	add("GOOD", "T8");
	add("HELD", "T9");
	ck_assert_int_eq(apply(), RESULT_OK);
	query_destroy(&other);
	expect_applied("------+--");
	query_expect(query,
		"GOOD:PAID1,HELD:UNPAID0,LATE:UNPAID0,LESS:UNPAID0,MONEY:UNPAID0,PAID:PAID1",
		STATUSES);
	query_expect(query, "T7:GOODAPPLIEDNONE", TRADES);
	query_expect(query, "0", "SELECT COUNT(*) FROM t_compensation");
}
END_TEST

/* Two orders paid by one trade, and a trade that paid another order before. */
START_TEST(a_trade_that_is_known_leaves_all_for_one_by_one)
{
	orders_insert_one(query, "A1", HOUR_MS);
	orders_insert_one(query, "A2", HOUR_MS);
	add("A1", "T1");
	add("A2", "T1");
	ck_assert_int_eq(apply(), RESULT_CONFLICT);
	expect_applied("--");
	query_expect(query, "A1:UNPAID0,A2:UNPAID0", STATUSES);
	query_expect(query, "NULL", TRADES);
	ck_assert_int_eq(apply_alone(0), PAYMENT_OUTCOME_APPLIED);
	ck_assert_int_eq(apply_alone(1), PAYMENT_OUTCOME_APPLIED); /* what T1 was, repeated */
	query_expect(query, "A1:PAID1,A2:UNPAID0", STATUSES);
	count = 0;
	orders_insert_one(query, "A3", HOUR_MS);
	add("A3", "T3");
	add("A2", "T1");
	ck_assert_int_eq(apply(), RESULT_CONFLICT);
	expect_applied("--");
	query_expect(query, "A1:PAID1,A2:UNPAID0,A3:UNPAID0", STATUSES);
	query_expect(query, "T1:A1APPLIEDNONE", TRADES);
}
END_TEST

/* What the set took back stays back, and what it did stays, with what others do in the group. */
START_TEST(in_a_group_it_is_a_member_like_others)
{
	struct error error = { .text = "" };

	for (int i = 1; i <= 4; i++)
		orders_insert_one(
			query, (const char *[]){ "A1", "A2", "A3", "A4" }[i - 1], HOUR_MS);
	ck_assert_int_eq(db_group_begin(direct.db, &error), RESULT_OK);
	add("A1", "T1");
	add("A2", "T2");
	ck_assert_int_eq(apply(), RESULT_OK);
	count = 0;
	add("A3", "T3");
	add("A4", "T1");
	ck_assert_int_eq(apply(), RESULT_CONFLICT);
	ck_assert(!db_group_is_lost(direct.db));
	ck_assert_int_eq(apply_alone(0), PAYMENT_OUTCOME_APPLIED);
	query_expect(query, "A1:UNPAID0,A2:UNPAID0,A3:UNPAID0,A4:UNPAID0", STATUSES);
	ck_assert_int_eq(db_group_end(direct.db, &error), RESULT_OK);
	query_expect(query, "A1:PAID1,A2:PAID1,A3:PAID1,A4:UNPAID0", STATUSES);
	query_expect(query, "T1:A1APPLIEDNONE,T2:A2APPLIEDNONE,T3:A3APPLIEDNONE", TRADES);
}
END_TEST

/* Time may pass between the look at an order and its payment. */
START_TEST(only_what_is_unpaid_and_in_time_becomes_paid)
{
	struct error error = { .text = "" };
	uint64_t ids[4];
	uint64_t changed = 0;

	orders_insert_one(query, "A1", -1);
	orders_insert_one(query, "A2", HOUR_MS);
	orders_insert_one(query, "A3", HOUR_MS);
	orders_insert_one(query, "A4", HOUR_MS);
	query_run(query, "UPDATE t_order SET status = 'CLOSED', close_time = UTC_TIMESTAMP(3), "
			 "close_reason = 'USER_CANCEL', close_source = 'api' "
			 "WHERE order_no = 'A2'");
	ck_assert(orders_pay(query, "A3"));
	for (size_t i = 0; i < ARRAY_LENGTH(ids); i++)
		ids[i] = (uint64_t)query_number(
			query, "SELECT id FROM t_order WHERE order_no = 'A%zu'", i + 1);
	ck_assert_int_eq(
		payment_rows_pay(direct.db, ids, ARRAY_LENGTH(ids), &changed, &error), RESULT_OK);
	query_expect(query, "A1:UNPAID0,A2:CLOSED0,A3:PAID1,A4:PAID1", STATUSES);
}
END_TEST

START_TEST(as_many_as_fit_are_applied)
{
	char order_no[32];

	orders_insert_many(
		query, &(struct orders_plan){
			       .prefix = "M", .count = PAYMENT_SET_MAX, .due_in_ms = HOUR_MS });
	query_run(query, "UPDATE t_order SET amount_cents = 9900");
	for (int i = 0; i < PAYMENT_SET_MAX; i++) {
		(void)text_format(order_no, sizeof(order_no), "M%d", i);
		add(order_no, order_no);
	}
	ck_assert_int_eq(apply(), RESULT_OK);
	ck_assert_int_eq(orders_count(query, "PAID"), PAYMENT_SET_MAX);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_payment JOIN t_order USING "
					     "(order_no, amount_cents) WHERE outcome = 'APPLIED'"),
		PAYMENT_SET_MAX);
}
END_TEST

int main(void)
{
	static const char *const ways[] = { NULL, "found_rows=on" };
	const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = {
		plain_ones_are_applied_in_one_go,
		what_is_special_is_left_as_it_is,
		a_trade_that_is_known_leaves_all_for_one_by_one,
		in_a_group_it_is_a_member_like_others,
		only_what_is_unpaid_and_in_time_becomes_paid,
		as_many_as_fit_are_applied,
	};

	int status = 0;

	sandbox_need_servers();
	for (size_t i = 0; i < ARRAY_LENGTH(ways) && status == 0; i++) {
		options = ways[i];
		status = runner_run_with("payment_set", &fixture, tests, ARRAY_LENGTH(tests));
	}
	return status;
}
