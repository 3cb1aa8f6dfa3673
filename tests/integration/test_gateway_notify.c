/* A running lapse-gateway: signed payment notices over HTTP. */
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/text.h"
#include "tests/support/gateway.h"
#include "tests/support/orders.h"
#include "tests/support/process.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/scratch.h"
#include "tests/support/wait_until.h"

#define HOUR_MS INT64_C(3600000)
#define NEXT    "the secret that takes its place"
#define PAID_A1                                                                               \
	"{\"channel\":\"pay\",\"trade_no\":\"T1\",\"order_no\":\"A1\",\"amount_cents\":9900," \
	"\"currency\":\"CNY\",\"state\":\"paid\"}"
#define EVERYTHING                                                                          \
	"SELECT (SELECT GROUP_CONCAT(order_no, status, version) FROM t_order), "            \
	"(SELECT COUNT(*) FROM t_payment), (SELECT COUNT(*) FROM t_compensation), (SELECT " \
	"COUNT(*) FROM t_outbox_event)"

static struct sandbox *sandbox;
static struct query *query;
static struct gateway_run gateway;

static void set_up(void)
{
	sandbox_create(SANDBOX_NO_BROKER, &sandbox);
	query = sandbox_query(sandbox);
	gateway_start(&gateway, sandbox);
}

static void tear_down(void)
{
	gateway_leave(&gateway);
	sandbox_destroy(&sandbox);
}

static const struct api_answer *notify(const char *order_no, const char *trade_no)
{
	return gateway_notify(gateway.client,
		&(struct gateway_notice){ .order_no = order_no, .trade_no = trade_no });
}

static void expect_outcome(const struct api_answer *answer, const char *outcome)
{
	char words[64];

	(void)text_format(words, sizeof(words), "{\"code\":0,\"outcome\":\"%s\"}", outcome);
	gateway_expect(answer, 200, words);
	ck_assert_uint_eq(strlen(answer->body), strlen(words));
}

START_TEST(each_outcome_is_told_and_the_caller_may_stop)
{
	orders_insert_one(query, "A1", HOUR_MS);
	orders_insert_one(query, "A2", HOUR_MS);
	orders_insert_one(query, "L1", -1000);
	expect_outcome(notify("A1", "T1"), "APPLIED");
	expect_outcome(notify("A1", "T2"), "DUPLICATE");
	expect_outcome(notify("L1", "T3"), "LATE");
	expect_outcome(gateway_notify(gateway.client,
			       &(struct gateway_notice){
				       .order_no = "A2", .trade_no = "T4", .amount_cents = 1 }),
		"MISMATCH");
	gateway_expect(
		notify("A1", "T1"), 200, "{\"code\":0,\"outcome\":\"APPLIED\",\"repeated\":true}");
	gateway_expect(
		notify("L1", "T3"), 200, "{\"code\":0,\"outcome\":\"LATE\",\"repeated\":true}");
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_payment"), 4);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_compensation"), 3);
}
END_TEST

/* PAY-1 */
START_TEST(a_late_payment_of_a_closed_order_is_never_called_paid)
{
	orders_insert_one(query, "A1", HOUR_MS);
	ck_assert_uint_eq(
		api_client_post(gateway.client, "/v1/orders/A1/cancel", NULL)->status, 200);
	expect_outcome(notify("A1", "T1"), "LATE");
	const struct api_answer *answer = api_client_get(gateway.client, "/v1/orders/A1");
	gateway_expect(answer, 200, "\"status\":\"CLOSED\"");
	gateway_expect(answer, 200, "\"outcome\":\"LATE\",\"refund_state\":\"PENDING\"");
	gateway_expect(answer, 200, "\"kind\":\"REFUND\",\"status\":\"PENDING\"");
	ck_assert_ptr_null(strstr(answer->body, "paid"));
	ck_assert_ptr_null(strstr(answer->body, "PAID"));
	query_run(query, "UPDATE t_payment SET refund_state = 'DONE'");
	answer = api_client_get(gateway.client, "/v1/orders/A1");
	gateway_expect(answer, 200, "\"refund_state\":\"DONE\"");
	ck_assert_ptr_null(strstr(answer->body, "paid"));
}
END_TEST

START_TEST(a_paid_order_shows_its_payment)
{
	orders_insert_one(query, "A1", HOUR_MS);
	expect_outcome(notify("A1", "T1"), "APPLIED");
	const struct api_answer *answer = api_client_get(gateway.client, "/v1/orders/A1");
	gateway_expect(answer, 200, "\"status\":\"PAID\"");
	gateway_expect(answer, 200,
		"{\"channel\":\"pay\",\"trade_no\":\"T1\",\"amount_cents\":9900,"
		"\"currency\":\"CNY\",\"outcome\":\"APPLIED\",\"refund_state\":\"NONE\"");
	gateway_expect(answer, 200, "\"what\":\"paid\"");
}
END_TEST

/* PAY-2 */
START_TEST(notices_that_do_not_say_paid_change_nothing)
{
	static const char *const states[] = { "closed", "refunded", "PAID", "wait_buyer_pay" };
	char before[QUERY_TEXT_SIZE];
	char after[QUERY_TEXT_SIZE];

	orders_insert_one(query, "A1", HOUR_MS);
	orders_insert_one(query, "P1", HOUR_MS);
	ck_assert(orders_pay(query, "P1"));
	query_text(query, before, EVERYTHING);
	for (size_t i = 0; i < ARRAY_LENGTH(states); i++) {
		struct gateway_notice notice = {
			.order_no = "A1", .trade_no = "T1", .state = states[i]
		};

		expect_outcome(gateway_notify(gateway.client, &notice), "IGNORED");
		notice.order_no = "P1";
		expect_outcome(gateway_notify(gateway.client, &notice), "IGNORED");
	}
	expect_outcome(gateway_notify_text(gateway.client, GATEWAY_SECRET,
			       "{\"state\":\"refunded\",\"refund_no\":7}", 0),
		"IGNORED");
	query_text(query, after, EVERYTHING);
	ck_assert_str_eq(before, after);
	ck_assert_uint_eq(process_count_logged(gateway.process, "notice_ignored"),
		2 * ARRAY_LENGTH(states) + 1);
}
END_TEST

START_TEST(a_forged_or_stale_notice_is_refused_and_changes_nothing)
{
	char header[API_CLIENT_SIGNATURE_SIZE];
	struct api_request request = {
		.method = "POST", .path = "/v1/payments/notify", .body = PAID_A1
	};

	orders_insert_one(query, "A1", HOUR_MS);
	gateway_expect(api_client_call(gateway.client, &request), 401, "bad_signature");
	gateway_expect(
		gateway_notify_text(gateway.client, "another secret of good length", PAID_A1, 0),
		401, "bad_signature");
	gateway_expect(gateway_notify_text(gateway.client, GATEWAY_SECRET, PAID_A1, -310), 401,
		"bad_signature");
	gateway_expect(gateway_notify_text(gateway.client, GATEWAY_SECRET, PAID_A1, 310), 401,
		"bad_signature");
	/* Another body under a good signature. */
	api_client_sign(header, GATEWAY_SECRET, PAID_A1, 0);
	request.headers = header;
	request.body =
		"{\"channel\":\"pay\",\"trade_no\":\"T1\",\"order_no\":\"A2\",\"amount_cents\""
		":9900,\"currency\":\"CNY\",\"state\":\"paid\"}";
	gateway_expect(api_client_call(gateway.client, &request), 401, "bad_signature");
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_payment"), 0);
	ck_assert(orders_is(query, "A1", "UNPAID"));
	/* The replayed one is the same trade. */
	expect_outcome(
		gateway_notify_text(gateway.client, GATEWAY_SECRET, PAID_A1, -290), "APPLIED");
	gateway_expect(gateway_notify_text(gateway.client, GATEWAY_SECRET, PAID_A1, 290), 200,
		"\"repeated\":true");
}
END_TEST

START_TEST(a_signed_notice_with_a_mistake_is_answered_400)
{
	static const char *const bodies[] = { "", "[]", "{}", "paid", "{\"state\":\"paid\"}",
		"{\"channel\":\"a:b\",\"trade_no\":\"T\",\"order_no\":\"A1\",\"amount_cents\":1,"
		"\"currency\":\"CNY\",\"state\":\"paid\"}",
		"{\"channel\":\"a\",\"trade_no\":\"T\",\"order_no\":\"A1 \",\"amount_cents\":1,"
		"\"currency\":\"CNY\",\"state\":\"paid\"}",
		"{\"channel\":\"a\",\"trade_no\":\"T\",\"order_no\":\"A1\",\"amount_cents\":1.5,"
		"\"currency\":\"CNY\",\"state\":\"paid\"}" };

	for (size_t i = 0; i < ARRAY_LENGTH(bodies); i++)
		gateway_expect(gateway_notify_text(gateway.client, GATEWAY_SECRET, bodies[i], 0),
			400, "\"code\":\"bad_notice\"");
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_payment"), 0);
}
END_TEST

START_TEST(an_unknown_order_is_recorded_and_asked_for_again)
{
	gateway_expect(notify("A1", "T1"), 404, "\"code\":\"unknown_order\"");
	gateway_expect(notify("A1", "T1"), 404, "\"code\":\"unknown_order\"");
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_payment WHERE "
					     "outcome = 'UNKNOWN_ORDER'"),
		1);
	orders_insert_one(query, "A1", HOUR_MS);
	expect_outcome(notify("A1", "T1"), "APPLIED");
	ck_assert(orders_is(query, "A1", "PAID"));
}
END_TEST

static bool refund_is_due(void *context)
{
	(void)context;
	return query_number(query, "SELECT COUNT(*) FROM t_compensation WHERE kind = 'REFUND'") ==
	       1;
}

/* The whole way: gateway, housekeeping of the sweeper, gateway. */
START_TEST(money_of_an_order_that_stays_unknown_goes_back_and_the_caller_may_stop)
{
	sandbox_set(sandbox, "LAPSE_UNKNOWN_ORDER_GRACE", "1s");
	gateway_expect(notify("A1", "T1"), 404, "unknown_order");
	(void)sandbox_start(sandbox, "lapse-sweeper", NULL);
	WAIT_UNTIL(refund_is_due, NULL);
	gateway_expect(notify("A1", "T1"), 200,
		"{\"code\":0,\"outcome\":\"UNKNOWN_ORDER\",\"repeated\":true}");
	orders_insert_one(query, "A1", HOUR_MS);
	gateway_expect(notify("A1", "T1"), 200, "\"outcome\":\"UNKNOWN_ORDER\"");
	ck_assert(orders_is(query, "A1", "UNPAID"));
}
END_TEST

START_TEST(a_notice_of_another_merchant_is_refused)
{
	struct gateway_notice notice = { .order_no = "A1", .trade_no = "T1" };

	orders_insert_one(query, "A1", HOUR_MS);
	sandbox_stop_all(sandbox, WAIT_LIMIT_MS);
	sandbox_set(sandbox, "LAPSE_MERCHANT_ID", "m-1");
	gateway_start_again(&gateway);
	gateway_expect(gateway_notify(gateway.client, &notice), 403, "other_merchant");
	notice.more = ",\"merchant_id\":\"m-2\"";
	gateway_expect(gateway_notify(gateway.client, &notice), 403, "other_merchant");
	notice.more = ",\"merchant_id\":\"M-1\"";
	gateway_expect(gateway_notify(gateway.client, &notice), 403, "other_merchant");
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_payment"), 0);
	notice.more = ",\"merchant_id\":\"m-1\"";
	expect_outcome(gateway_notify(gateway.client, &notice), "APPLIED");
}
END_TEST

static bool next_secret_is_good(void *context)
{
	(void)context;
	return gateway_notify_text(gateway.client, NEXT, PAID_A1, 0)->status == 200;
}

START_TEST(a_secret_is_replaced_without_a_restart)
{
	char current[PATH_MAX];
	char old[PATH_MAX];

	orders_insert_one(query, "A1", HOUR_MS);
	sandbox_stop_all(sandbox, WAIT_LIMIT_MS);
	scratch_write("current", GATEWAY_SECRET "\n", current);
	scratch_write("old", "", old);
	sandbox_unset(sandbox, "LAPSE_NOTIFY_SECRET");
	sandbox_set(sandbox, "LAPSE_NOTIFY_SECRET_FILE", "%s", current);
	gateway_start_again(&gateway);
	expect_outcome(gateway_notify_text(gateway.client, GATEWAY_SECRET, PAID_A1, 0), "APPLIED");
	gateway_expect(gateway_notify_text(gateway.client, NEXT, PAID_A1, 0), 401, "");
	sandbox_stop_all(sandbox, WAIT_LIMIT_MS);
	scratch_write("old", GATEWAY_SECRET "\n", old);
	sandbox_set(sandbox, "LAPSE_NOTIFY_SECRET_OLD_FILE", "%s", old);
	gateway_start_again(&gateway);
	scratch_write("current", NEXT "\n", current);
	process_signal(gateway.process, SIGHUP);
	WAIT_UNTIL(next_secret_is_good, NULL);
	gateway_expect(gateway_notify_text(gateway.client, GATEWAY_SECRET, PAID_A1, 0), 200, "");
}
END_TEST

START_TEST(without_a_secret_notices_are_put_off)
{
	char value[16] = "";

	sandbox_stop_all(sandbox, WAIT_LIMIT_MS);
	sandbox_unset(sandbox, "LAPSE_NOTIFY_SECRET");
	gateway_start_again(&gateway);
	const struct api_answer *answer = notify("A1", "T1");
	gateway_expect(answer, 503, "not_configured");
	ck_assert(api_client_header(answer, "Retry-After", value, sizeof(value)));
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_payment"), 0);
}
END_TEST

int main(void)
{
	const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = {
		each_outcome_is_told_and_the_caller_may_stop,
		a_late_payment_of_a_closed_order_is_never_called_paid,
		a_paid_order_shows_its_payment,
		notices_that_do_not_say_paid_change_nothing,
		a_forged_or_stale_notice_is_refused_and_changes_nothing,
		a_signed_notice_with_a_mistake_is_answered_400,
		an_unknown_order_is_recorded_and_asked_for_again,
		money_of_an_order_that_stays_unknown_goes_back_and_the_caller_may_stop,
		a_notice_of_another_merchant_is_refused,
		a_secret_is_replaced_without_a_restart,
		without_a_secret_notices_are_put_off,
	};

	sandbox_need_servers();
	return runner_run_with("gateway_notify", &fixture, tests, ARRAY_LENGTH(tests));
}
