/* What payment_apply makes of each kind of notice, with rows counted as changed and as found. */
#include <inttypes.h>
#include <string.h>

#include "common/base/text.h"
#include "common/io/db.h"
#include "common/order/close.h"
#include "common/order/payment.h"
#include "tests/support/direct_db.h"
#include "tests/support/orders.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"

enum {
	PRICE = 9900 /* of the orders that orders_insert makes */
};

#define HOUR_MS  INT64_C(3600000)
#define SUM_SIZE QUERY_TEXT_SIZE
#define TRACE    "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
#define ALL_ROWS                                                                             \
	"SELECT (SELECT COUNT(*) FROM t_outbox_event), (SELECT COUNT(*) FROM "               \
	"t_compensation), (SELECT GROUP_CONCAT(status, version, IFNULL(pay_time, '') "       \
	"ORDER BY id) FROM t_order), (SELECT GROUP_CONCAT(trade_no, outcome, refund_state, " \
	"updated_at ORDER BY id) FROM t_payment)"

static const char *options;
static struct sandbox *sandbox;
static struct query *query;
static struct direct_db direct;
static struct payment_result judged;

static void set_up(void)
{
	sandbox_create(SANDBOX_NO_BROKER, &sandbox);
	query = sandbox_query(sandbox);
	direct_db_open(&direct, sandbox, NULL, options);
}

static void tear_down(void)
{
	direct_db_close(&direct);
	sandbox_destroy(&sandbox);
}

static enum payment_outcome apply(
	const char *order_no, const char *trade_no, int64_t amount_cents, const char *currency)
{
	struct payment_notice notice = { .channel = "pay", .amount_cents = amount_cents };
	struct error error = { .text = "" };

	(void)text_copy(notice.order_no, sizeof(notice.order_no), order_no);
	(void)text_copy(notice.trade_no, sizeof(notice.trade_no), trade_no);
	(void)text_copy(notice.currency, sizeof(notice.currency), currency);
	enum result result = payment_apply(direct.db, &notice, &judged, &error);
	ck_assert_msg(result == RESULT_OK, "payment_apply: %s", error.text);
	return judged.outcome;
}

static enum payment_outcome pay(const char *order_no, const char *trade_no)
{
	return apply(order_no, trade_no, PRICE, "CNY");
}

static void expect_row(const char *trade_no, const char *words)
{
	char text[QUERY_TEXT_SIZE];

	query_text(query, text,
		"SELECT order_no, amount_cents, currency, outcome, refund_state FROM t_payment "
		"WHERE channel = 'pay' AND trade_no = '%s'",
		trade_no);
	ck_assert_str_eq(text, words);
}

static int64_t count_refunds(const char *trade_no)
{
	return query_number(query,
		"SELECT COUNT(*) FROM t_compensation WHERE kind = 'REFUND' AND target = 'refund' "
		"AND status = 'PENDING' AND idempotency_key = 'refund:pay:%s'",
		trade_no);
}

static int64_t count_events(const char *order_no, const char *type)
{
	return query_number(query,
		"SELECT COUNT(*) FROM t_outbox_event WHERE order_no = '%s' AND event_type = '%s'",
		order_no, type);
}

static void close_order(const char *order_no, enum close_reason reason)
{
	struct close_report report = { .transactions = 0 };
	const struct close_request request = {
		.reason = reason, .source = CLOSE_SOURCE_API, .report = &report
	};
	struct close_order order = { .outcome = CLOSE_OUTCOME_LOCKED };
	struct error error = { .text = "" };

	(void)text_copy(order.order_no, sizeof(order.order_no), order_no);
	ck_assert_int_eq(close_orders(direct.db, &request, &order, 1, &error), RESULT_OK);
	ck_assert_int_eq(order.outcome, CLOSE_OUTCOME_CLOSED);
}

START_TEST(money_in_time_makes_the_order_paid)
{
	char text[QUERY_TEXT_SIZE];

	orders_insert_one(query, "A1", HOUR_MS);
	query_run(query, "UPDATE t_order SET trace_parent = '" TRACE "'");
	ck_assert_int_eq(pay("A1", "T1"), PAYMENT_OUTCOME_APPLIED);
	ck_assert(!judged.is_repeated && !judged.is_refunded && !judged.is_different);
	query_text(query, text,
		"SELECT status, version, pay_time <= UTC_TIMESTAMP(3), pay_time < expire_time, "
		"close_time IS NULL FROM t_order");
	ck_assert_str_eq(text, "PAID 1 1 1 1");
	expect_row("T1", "A1 9900 CNY APPLIED NONE");
	query_text(query, text,
		"SELECT trace_parent, JSON_EXTRACT(payload, '$.trade_no'), "
		"JSON_EXTRACT(payload, '$.amount_cents') FROM t_outbox_event "
		"WHERE event_type = 'ORDER_PAID'");
	ck_assert_str_eq(text, TRACE " \"T1\" 9900");
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_compensation"), 0);
	direct_db_expect_sound(&direct);
}
END_TEST

START_TEST(an_order_without_a_deadline_can_be_paid)
{
	static const struct order_plan never = { .order_no = "N1", .has_no_deadline = true };

	orders_insert(query, &never);
	ck_assert_int_eq(pay("N1", "T1"), PAYMENT_OUTCOME_APPLIED);
	ck_assert(orders_is(query, "N1", "PAID"));
}
END_TEST

/* What the order is when the money comes, and whether it is the right money. */
enum state {
	STATE_OPEN,
	STATE_OVERDUE,
	STATE_TIMED_OUT,
	STATE_CANCELLED,
	STATE_PAID,
	STATE_PAID_OVERDUE,
};

struct outcome_case {
	int64_t amount_cents;
	const char *currency;
	enum state state;
	enum payment_outcome outcome;
};

/* Closed or past before paid before wrong. */
static const struct outcome_case cases[] = {
	{ PRICE, "CNY", STATE_OPEN, PAYMENT_OUTCOME_APPLIED },
	{ PRICE - 1, "CNY", STATE_OPEN, PAYMENT_OUTCOME_MISMATCH },
	{ PRICE + 1, "CNY", STATE_OPEN, PAYMENT_OUTCOME_MISMATCH },
	{ PRICE, "USD", STATE_OPEN, PAYMENT_OUTCOME_MISMATCH },
	{ PRICE, "CNY", STATE_OVERDUE, PAYMENT_OUTCOME_LATE },
	{ 1, "CNY", STATE_OVERDUE, PAYMENT_OUTCOME_LATE },
	{ PRICE, "CNY", STATE_TIMED_OUT, PAYMENT_OUTCOME_LATE },
	{ PRICE, "USD", STATE_TIMED_OUT, PAYMENT_OUTCOME_LATE },
	{ PRICE, "CNY", STATE_CANCELLED, PAYMENT_OUTCOME_LATE },
	{ PRICE, "CNY", STATE_PAID, PAYMENT_OUTCOME_DUPLICATE },
	{ 1, "USD", STATE_PAID, PAYMENT_OUTCOME_DUPLICATE },
	{ PRICE, "CNY", STATE_PAID_OVERDUE, PAYMENT_OUTCOME_DUPLICATE },
};

static void make_order(const char *order_no, enum state state)
{
	bool is_overdue = state == STATE_OVERDUE || state == STATE_TIMED_OUT;

	orders_insert_one(query, order_no, is_overdue ? -1 : HOUR_MS);
	switch (state) {
	case STATE_OPEN:
	case STATE_OVERDUE:
		return;
	case STATE_TIMED_OUT:
		close_order(order_no, CLOSE_REASON_TIMEOUT);
		return;
	case STATE_CANCELLED:
		close_order(order_no, CLOSE_REASON_USER_CANCEL);
		return;
	case STATE_PAID:
		ck_assert(orders_pay(query, order_no));
		return;
	case STATE_PAID_OVERDUE:
		ck_assert(orders_pay(query, order_no));
		query_run(query,
			"UPDATE t_order SET pay_time = pay_time - INTERVAL 2 HOUR, expire_time = "
			"UTC_TIMESTAMP(3) - INTERVAL 1 HOUR WHERE order_no = '%s'",
			order_no);
		return;
	}
}

static void expect_case(const struct outcome_case *expected, size_t number)
{
	static const char *const events[] = { "ORDER_PAID", "PAYMENT_LATE", "PAYMENT_DUPLICATE",
		"PAYMENT_MISMATCH", NULL };
	char order_no[16];
	char trade_no[16];
	char before[QUERY_TEXT_SIZE];
	char after[QUERY_TEXT_SIZE];
	bool is_refunded = expected->outcome != PAYMENT_OUTCOME_APPLIED;

	(void)text_format(order_no, sizeof(order_no), "A%zu", number);
	(void)text_format(trade_no, sizeof(trade_no), "T%zu", number);
	make_order(order_no, expected->state);
	query_text(query, before,
		"SELECT status, version, pay_time, close_time FROM t_order WHERE order_no = '%s'",
		order_no);
	enum payment_outcome outcome =
		apply(order_no, trade_no, expected->amount_cents, expected->currency);
	ck_assert_msg(outcome == expected->outcome, "case %zu is %s", number,
		payment_outcome_names[outcome]);
	ck_assert(judged.is_refunded == is_refunded && !judged.is_repeated);
	ck_assert_int_eq(count_refunds(trade_no), is_refunded ? 1 : 0);
	ck_assert_int_eq(count_events(order_no, events[outcome]), 1);
	query_text(query, after,
		"SELECT status, version, pay_time, close_time FROM t_order WHERE order_no = '%s'",
		order_no);
	if (is_refunded)
		ck_assert_str_eq(before, after);
}

START_TEST(each_state_of_an_order_has_its_outcome)
{
	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++)
		expect_case(&cases[i], i);
	direct_db_expect_sound(&direct);
}
END_TEST

START_TEST(a_refund_says_what_goes_back_to_whom)
{
	char text[QUERY_TEXT_SIZE];

	orders_insert_one(query, "A1", -1000);
	ck_assert_int_eq(apply("A1", "T-1:x", PRICE, "CNY"), PAYMENT_OUTCOME_LATE);
	query_text(query, text,
		"SELECT idempotency_key, order_no, JSON_EXTRACT(payload, '$.channel'), "
		"JSON_EXTRACT(payload, '$.trade_no'), JSON_EXTRACT(payload, '$.amount_cents'), "
		"JSON_EXTRACT(payload, '$.currency') FROM t_compensation");
	ck_assert_str_eq(text, "refund:pay:T-1:x A1 \"pay\" \"T-1:x\" 9900 \"CNY\"");
	expect_row("T-1:x", "A1 9900 CNY LATE PENDING");
}
END_TEST

START_TEST(the_same_trade_again_changes_nothing)
{
	char before[SUM_SIZE];
	char after[SUM_SIZE];

	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++)
		expect_case(&cases[i], i);
	query_text(query, before, ALL_ROWS);
	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		char order_no[16];
		char trade_no[16];

		(void)text_format(order_no, sizeof(order_no), "A%zu", i);
		(void)text_format(trade_no, sizeof(trade_no), "T%zu", i);
		ck_assert_int_eq(
			apply(order_no, trade_no, cases[i].amount_cents, cases[i].currency),
			cases[i].outcome);
		ck_assert(judged.is_repeated && !judged.is_different);
		ck_assert(judged.is_refunded == (cases[i].outcome != PAYMENT_OUTCOME_APPLIED));
	}
	query_text(query, after, ALL_ROWS);
	ck_assert_str_eq(before, after);
}
END_TEST

START_TEST(the_same_trade_with_other_content_changes_nothing)
{
	char before[SUM_SIZE];
	char after[SUM_SIZE];

	orders_insert_one(query, "A1", HOUR_MS);
	orders_insert_one(query, "A2", HOUR_MS);
	ck_assert_int_eq(pay("A1", "T1"), PAYMENT_OUTCOME_APPLIED);
	query_text(query, before, ALL_ROWS);
	ck_assert_int_eq(pay("A2", "T1"), PAYMENT_OUTCOME_APPLIED);
	ck_assert(judged.is_repeated && judged.is_different);
	ck_assert_int_eq(apply("A1", "T1", PRICE - 1, "CNY"), PAYMENT_OUTCOME_APPLIED);
	ck_assert(judged.is_repeated && judged.is_different);
	query_text(query, after, ALL_ROWS);
	ck_assert_str_eq(before, after);
	ck_assert(orders_is(query, "A2", "UNPAID"));
}
END_TEST

START_TEST(one_trade_number_of_two_channels_is_two_trades)
{
	struct payment_notice notice = { .channel = "other", .amount_cents = PRICE };
	struct error error = { .text = "" };

	orders_insert_one(query, "A1", HOUR_MS);
	ck_assert_int_eq(pay("A1", "T1"), PAYMENT_OUTCOME_APPLIED);
	(void)text_copy(notice.order_no, sizeof(notice.order_no), "A1");
	(void)text_copy(notice.trade_no, sizeof(notice.trade_no), "T1");
	(void)text_copy(notice.currency, sizeof(notice.currency), "CNY");
	ck_assert_int_eq(payment_apply(direct.db, &notice, &judged, &error), RESULT_OK);
	ck_assert_int_eq(judged.outcome, PAYMENT_OUTCOME_DUPLICATE);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_compensation WHERE "
					     "idempotency_key = 'refund:other:T1'"),
		1);
}
END_TEST

/* With a colon the keys of a:b, c and a, b:c would be one. */
START_TEST(a_channel_has_no_colon)
{
	ck_assert(payment_is_channel("pay.me_2-x"));
	ck_assert(!payment_is_channel("pay:me"));
	ck_assert(!payment_is_channel(""));
	ck_assert(!payment_is_channel("pay me"));
	ck_assert(!payment_is_channel("123456789012345678901234567890123"));
}
END_TEST

START_TEST(keys_are_told_apart_by_case)
{
	orders_insert_one(query, "a1", HOUR_MS);
	ck_assert_int_eq(pay("A1", "T1"), PAYMENT_OUTCOME_UNKNOWN_ORDER);
	ck_assert_int_eq(pay("a1", "t1"), PAYMENT_OUTCOME_APPLIED);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_payment"), 2);
}
END_TEST

START_TEST(where_no_money_came_none_goes_back)
{
	orders_insert_one(query, "A1", -1000);
	ck_assert_int_eq(apply("A1", "T1", 0, "CNY"), PAYMENT_OUTCOME_LATE);
	ck_assert(!judged.is_refunded);
	expect_row("T1", "A1 0 CNY LATE NONE");
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_compensation"), 0);
	direct_db_expect_sound(&direct);
}
END_TEST

/* PAY-3: paid by another route, for 0 cents. */
START_TEST(an_order_paid_by_its_own_service_is_paid)
{
	struct close_report report = { .transactions = 0 };
	const struct close_request request = {
		.reason = CLOSE_REASON_TIMEOUT, .source = CLOSE_SOURCE_SWEEP, .report = &report
	};
	struct close_order order = { .order_no = "A1" };
	struct error error = { .text = "" };

	orders_insert_one(query, "A1", HOUR_MS);
	query_run(query, "UPDATE t_order SET amount_cents = 0");
	ck_assert(orders_pay(query, "A1"));
	query_run(query, "UPDATE t_order SET pay_time = pay_time - INTERVAL 1 HOUR, "
			 "expire_time = UTC_TIMESTAMP(3) - INTERVAL 1 MINUTE");
	ck_assert_int_eq(close_orders(direct.db, &request, &order, 1, &error), RESULT_OK);
	ck_assert_int_eq(order.outcome, CLOSE_OUTCOME_ALREADY_PAID);
	ck_assert(orders_is(query, "A1", "PAID"));
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_compensation"), 0);
	direct_db_expect_sound(&direct);
}
END_TEST

int main(void)
{
	static const char *const ways[] = { NULL, "found_rows=on" };
	const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = {
		money_in_time_makes_the_order_paid,
		an_order_without_a_deadline_can_be_paid,
		each_state_of_an_order_has_its_outcome,
		a_refund_says_what_goes_back_to_whom,
		the_same_trade_again_changes_nothing,
		the_same_trade_with_other_content_changes_nothing,
		one_trade_number_of_two_channels_is_two_trades,
		a_channel_has_no_colon,
		keys_are_told_apart_by_case,
		where_no_money_came_none_goes_back,
		an_order_paid_by_its_own_service_is_paid,
	};
	int status = 0;

	sandbox_need_servers();
	for (size_t i = 0; i < ARRAY_LENGTH(ways) && status == 0; i++) {
		options = ways[i];
		status = runner_run_with("payment", &fixture, tests, ARRAY_LENGTH(tests));
	}
	return status;
}
