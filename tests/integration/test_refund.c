/* Money that goes back, the whole way: notice, task, call, refund service, answer to the caller. */
#include <stdlib.h>
#include <string.h>

#include "common/base/text.h"
#include "common/io/json.h"
#include "tests/support/api_client.h"
#include "tests/support/gateway.h"
#include "tests/support/orders.h"
#include "tests/support/process.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/wait_until.h"

enum {
	TRADES = 40
};

static struct sandbox *sandbox;
static struct query *query;
static struct gateway_run gateway;
static struct api_client *refunds; /* to the refund service */

static bool refund_service_answers(void *context)
{
	(void)context;
	return api_client_get(refunds, "/v1/refunds")->status == 200;
}

static void start_refund_service(void)
{
	uint16_t port = sandbox_free_port();
	char address[32];
	const char *const words[] = { "--listen", address, NULL };

	(void)text_format(address, sizeof(address), "127.0.0.1:%u", port);
	(void)sandbox_start(sandbox, "lapse-receiver", words);
	api_client_create(port, &refunds);
	WAIT_UNTIL(refund_service_answers, NULL);
	sandbox_set(sandbox, "LAPSE_REFUND_URL", "http://127.0.0.1:%u", port);
}

static void set_up(void)
{
	sandbox_create(SANDBOX_NO_BROKER, &sandbox);
	query = sandbox_query(sandbox);
	sandbox_set(sandbox, "LAPSE_RETRY_BASE", "50ms");
	sandbox_set(sandbox, "LAPSE_RETRY_CAP", "500ms");
	sandbox_set(sandbox, "LAPSE_HTTP_TIMEOUT", "1s");
	sandbox_set(sandbox, "LAPSE_LEASE", "5s");
	start_refund_service();
	gateway_start(&gateway, sandbox);
	orders_insert_one(query, "L1", -1000);
}

static void tear_down(void)
{
	api_client_destroy(&refunds);
	gateway_leave(&gateway);
	sandbox_destroy(&sandbox);
}

static void misbehave(const char *body)
{
	ck_assert_uint_eq(api_client_post(refunds, "/v1/misbehave", body)->status, 200);
}

/* Each with a cent more than the one before. */
static void pay_late(int trades)
{
	for (int i = 0; i < trades; i++) {
		char trade_no[TEXT_KEY_SIZE];

		(void)text_format(trade_no, sizeof(trade_no), "T%d", i);
		gateway_expect(
			gateway_notify(gateway.client, &(struct gateway_notice){ .order_no = "L1",
							       .trade_no = trade_no,
							       .amount_cents = 100 + i }),
			200, "LATE");
	}
}

static bool all_have_ended(void *context)
{
	(void)context;
	return query_number(query, "SELECT COUNT(*) FROM t_payment WHERE "
				   "refund_state = 'PENDING'") == 0;
}

/* The refund service gave so many back, each once and in full. */
static void expect_given_back(size_t count)
{
	struct json *root = NULL;
	struct error error = { .text = "" };
	int64_t sum = 0;
	int64_t amount = 0;
	const struct api_answer *answer = api_client_get(refunds, "/v1/refunds");

	ck_assert_int_eq(
		json_parse(answer->body, strlen(answer->body), API_CLIENT_BODY_SIZE, &root, &error),
		RESULT_OK);
	const struct json *list = json_get(root, "refunds");
	ck_assert_uint_eq(json_count(list), count);
	for (size_t i = 0; i < count; i++) {
		ck_assert(json_get_int(json_at(list, i), "amount_cents", &amount));
		sum += amount;
	}
	json_destroy(&root);
	ck_assert_int_eq(sum, query_number(query, "SELECT COALESCE(SUM(amount_cents), 0) FROM "
						  "t_payment WHERE refund_state = 'DONE'"));
}

START_TEST(late_money_comes_back_and_everybody_can_see_it)
{
	pay_late(1);
	gateway_expect(api_client_get(gateway.client, "/v1/orders/L1"), 200,
		"\"refund_state\":\"PENDING\"");
	(void)sandbox_start(sandbox, "lapse-retry", NULL);
	WAIT_UNTIL(all_have_ended, NULL);
	const struct api_answer *answer = api_client_get(gateway.client, "/v1/orders/L1");
	gateway_expect(answer, 200, "\"outcome\":\"LATE\",\"refund_state\":\"DONE\"");
	gateway_expect(answer, 200, "\"what\":\"refunded\"");
	gateway_expect(answer, 200, "\"kind\":\"REFUND\",\"status\":\"DONE\",\"calls\":1");
	expect_given_back(1);
}
END_TEST

/* The state of the payment is written with the end of its task, never before or behind it. */
static void expect_states_agree(void)
{
	ck_assert_int_eq(
		query_number(query,
			"SELECT COUNT(*) FROM t_payment p JOIN t_compensation c ON "
			"c.idempotency_key = CONCAT('refund:', p.channel, ':', p.trade_no) WHERE "
			"p.refund_state <> CASE c.status WHEN 'DONE' THEN 'DONE' WHEN 'DEAD' THEN "
			"'FAILED' ELSE 'PENDING' END"),
		0);
}

START_TEST(a_refund_service_that_misbehaves_gives_each_back_once)
{
	misbehave("{\"fail-rate\":\"0.2\",\"lose-answers\":\"0.3\",\"error-code\":\"0.1\"}");
	pay_late(TRADES);
	/* More retries than there will be failures in a row. */
	query_run(query, "UPDATE t_compensation SET max_retries = 60");
	sandbox_set(sandbox, "LAPSE_RETRY_MAX", "5");
	(void)sandbox_start(sandbox, "lapse-retry", NULL);
	for (int i = 0; i < 100 && !wait_until(all_have_ended, NULL, 200); i++)
		expect_states_agree();
	WAIT_UNTIL(all_have_ended, NULL);
	expect_states_agree();
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_payment WHERE "
					     "refund_state = 'DONE'"),
		TRADES);
	expect_given_back(TRADES);
}
END_TEST

START_TEST(a_refund_that_fails_for_good_is_said_so_and_can_be_tried_again)
{
	const char *const words[] = { "requeue", "1", "--yes", NULL };

	misbehave("{\"fail-rate\":\"1\"}");
	pay_late(1);
	(void)sandbox_start(sandbox, "lapse-retry", NULL);
	WAIT_UNTIL(all_have_ended, NULL);
	gateway_expect(api_client_get(gateway.client, "/v1/orders/L1"), 200,
		"\"refund_state\":\"FAILED\"");
	ck_assert_int_eq(query_number(query, "SELECT calls FROM t_compensation"), 6);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_alert WHERE "
					     "kind = 'TASK_DEAD' AND severity = 'critical'"),
		1);
	expect_given_back(0);
	misbehave("{\"fail-rate\":\"0\"}");
	ck_assert_int_eq(sandbox_run(sandbox, "lapsectl", words, NULL), 0);
	WAIT_UNTIL(all_have_ended, NULL);
	gateway_expect(
		api_client_get(gateway.client, "/v1/orders/L1"), 200, "\"refund_state\":\"DONE\"");
	expect_given_back(1);
}
END_TEST

#ifdef LAPSE_FAILPOINTS
START_TEST(a_killed_retry_gives_back_once_and_the_states_agree)
{
	static const char *const failpoints[] = { "after_claim", "after_call", "before_commit",
		"after_commit" };

	pay_late(TRADES);
	for (size_t i = 0; i < ARRAY_LENGTH(failpoints); i++) {
		sandbox_set(sandbox, "FAILPOINT", "%s", failpoints[i]);
		struct process *process = sandbox_start(sandbox, "lapse-retry", NULL);
		sandbox_unset(sandbox, "FAILPOINT");
		if (process_wait(process, WAIT_LIMIT_MS) == PROCESS_TIME_IS_UP)
			process_kill(process);
		expect_states_agree();
		query_run(query, "UPDATE t_compensation SET lease_until = UTC_TIMESTAMP(3), "
				 "next_retry_at = UTC_TIMESTAMP(3) WHERE status = 'RUNNING'");
		query_run(query, "UPDATE t_compensation SET max_retries = 60");
	}
	(void)sandbox_start(sandbox, "lapse-retry", NULL);
	WAIT_UNTIL(all_have_ended, NULL);
	expect_states_agree();
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_payment WHERE "
					     "refund_state = 'DONE'"),
		TRADES);
	expect_given_back(TRADES);
}
END_TEST
#endif

int main(void)
{
	const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = {
		late_money_comes_back_and_everybody_can_see_it,
		a_refund_service_that_misbehaves_gives_each_back_once,
		a_refund_that_fails_for_good_is_said_so_and_can_be_tried_again,
#ifdef LAPSE_FAILPOINTS
		a_killed_retry_gives_back_once_and_the_states_agree,
#endif
	};

	sandbox_need_servers();
	return runner_run_with("refund", &fixture, tests, ARRAY_LENGTH(tests));
}
