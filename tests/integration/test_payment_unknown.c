/* Money for orders that nobody knows (yet), with rows counted as changed and as found. */
#include <string.h>

#include "common/base/text.h"
#include "common/io/db.h"
#include "common/order/payment.h"
#include "tests/support/direct_db.h"
#include "tests/support/orders.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"

enum {
	PRICE = 9900, /* of the orders that orders_insert makes */
	LIMIT = 100
};

#define HOUR_MS INT64_C(3600000)
#define NOW_MS  UINT64_C(0) /* a grace that is over at once */

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

static uint64_t settle_unknown(uint64_t grace_ms)
{
	struct payment_unknown unknown = { .last_id = 0 };
	struct error error = { .text = "" };
	enum result result = RESULT_OK;

	while (result == RESULT_OK)
		result = payment_settle_unknown(direct.db, grace_ms, LIMIT, &unknown, &error);
	ck_assert_msg(result == RESULT_NONE, "settle: %s", error.text);
	ck_assert_uint_eq(unknown.last_id, 0);
	ck_assert_uint_eq(unknown.failed, 0);
	return unknown.settled;
}

START_TEST(where_no_money_came_none_goes_back)
{
	ck_assert_int_eq(apply("NOBODY", "T2", 0, "CNY"), PAYMENT_OUTCOME_UNKNOWN_ORDER);
	ck_assert_uint_eq(settle_unknown(NOW_MS), 0);
	expect_row("T2", "NOBODY 0 CNY UNKNOWN_ORDER NONE");
	direct_db_expect_sound(&direct);
}
END_TEST

START_TEST(a_trade_of_an_unknown_order_is_judged_anew_when_the_order_is_there)
{
	ck_assert_int_eq(pay("A1", "T1"), PAYMENT_OUTCOME_UNKNOWN_ORDER);
	ck_assert(!judged.is_repeated && !judged.is_refunded);
	ck_assert_int_eq(pay("A1", "T1"), PAYMENT_OUTCOME_UNKNOWN_ORDER);
	expect_row("T1", "A1 9900 CNY UNKNOWN_ORDER NONE");
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_outbox_event"), 0);
	orders_insert_one(query, "A1", HOUR_MS);
	ck_assert_int_eq(pay("A1", "T1"), PAYMENT_OUTCOME_APPLIED);
	ck_assert(!judged.is_repeated);
	expect_row("T1", "A1 9900 CNY APPLIED NONE");
	ck_assert(orders_is(query, "A1", "PAID"));
	ck_assert_uint_eq(settle_unknown(NOW_MS), 0);
	direct_db_expect_sound(&direct);
}
END_TEST

START_TEST(money_for_an_order_that_stays_unknown_goes_back_once)
{
	ck_assert_int_eq(pay("A1", "T1"), PAYMENT_OUTCOME_UNKNOWN_ORDER);
	ck_assert_uint_eq(settle_unknown(HOUR_MS), 0);
	ck_assert_uint_eq(settle_unknown(NOW_MS), 1);
	ck_assert_uint_eq(settle_unknown(NOW_MS), 0);
	expect_row("T1", "A1 9900 CNY UNKNOWN_ORDER PENDING");
	ck_assert_int_eq(count_refunds("T1"), 1);
	direct_db_expect_sound(&direct);
}
END_TEST

/* Or the order would be paid with money that is on its way back. */
START_TEST(money_that_goes_back_pays_nothing_any_more)
{
	ck_assert_int_eq(pay("A1", "T1"), PAYMENT_OUTCOME_UNKNOWN_ORDER);
	ck_assert_uint_eq(settle_unknown(NOW_MS), 1);
	orders_insert_one(query, "A1", HOUR_MS);
	ck_assert_int_eq(pay("A1", "T1"), PAYMENT_OUTCOME_UNKNOWN_ORDER);
	ck_assert(judged.is_repeated && judged.is_refunded);
	ck_assert(orders_is(query, "A1", "UNPAID"));
	expect_row("T1", "A1 9900 CNY UNKNOWN_ORDER PENDING");
	ck_assert_int_eq(pay("A1", "T2"), PAYMENT_OUTCOME_APPLIED);
	direct_db_expect_sound(&direct);
}
END_TEST

START_TEST(housekeeping_judges_by_the_order_as_it_is_now)
{
	ck_assert_int_eq(pay("A1", "T1"), PAYMENT_OUTCOME_UNKNOWN_ORDER);
	ck_assert_int_eq(pay("A2", "T2"), PAYMENT_OUTCOME_UNKNOWN_ORDER);
	ck_assert_int_eq(pay("A3", "T3"), PAYMENT_OUTCOME_UNKNOWN_ORDER);
	orders_insert_one(query, "A1", HOUR_MS);
	orders_insert_one(query, "A2", -1000);
	ck_assert_uint_eq(settle_unknown(NOW_MS), 3);
	expect_row("T1", "A1 9900 CNY APPLIED NONE");
	expect_row("T2", "A2 9900 CNY LATE PENDING");
	expect_row("T3", "A3 9900 CNY UNKNOWN_ORDER PENDING");
	ck_assert_int_eq(count_events("A2", "PAYMENT_LATE"), 1);
	direct_db_expect_sound(&direct);
}
END_TEST

START_TEST(an_unknown_trade_with_other_content_is_not_judged_anew)
{
	ck_assert_int_eq(pay("A1", "T1"), PAYMENT_OUTCOME_UNKNOWN_ORDER);
	orders_insert_one(query, "A2", HOUR_MS);
	ck_assert_int_eq(pay("A2", "T1"), PAYMENT_OUTCOME_UNKNOWN_ORDER);
	ck_assert(judged.is_repeated && judged.is_different);
	ck_assert(orders_is(query, "A2", "UNPAID"));
	ck_assert_uint_eq(settle_unknown(NOW_MS), 1);
	expect_row("T1", "A1 9900 CNY UNKNOWN_ORDER PENDING");
}
END_TEST

int main(void)
{
	static const char *const ways[] = { NULL, "found_rows=on" };
	const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = {
		where_no_money_came_none_goes_back,
		a_trade_of_an_unknown_order_is_judged_anew_when_the_order_is_there,
		money_for_an_order_that_stays_unknown_goes_back_once,
		money_that_goes_back_pays_nothing_any_more,
		housekeeping_judges_by_the_order_as_it_is_now,
		an_unknown_trade_with_other_content_is_not_judged_anew,
	};
	int status = 0;

	sandbox_need_servers();
	for (size_t i = 0; i < ARRAY_LENGTH(ways) && status == 0; i++) {
		options = ways[i];
		status = runner_run_with("payment_unknown", &fixture, tests, ARRAY_LENGTH(tests));
	}
	return status;
}
