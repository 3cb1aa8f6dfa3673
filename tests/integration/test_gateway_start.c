/* lapse-gateway: how it starts, whom it lets in, and how tokens are replaced. */
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/text.h"
#include "common/io/signature.h"
#include "tests/support/gateway.h"
#include "tests/support/http_client.h"
#include "tests/support/orders.h"
#include "tests/support/process.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/scratch.h"
#include "tests/support/wait_until.h"

enum {
	CONFIGURATION = 78
};

static struct sandbox *sandbox;
static struct gateway_run gateway;
static char tokens[PATH_MAX];

static void set_up(void)
{
	sandbox_create(SANDBOX_NO_BROKER, &sandbox);
	memset(&gateway, 0, sizeof(gateway));
}

static void tear_down(void)
{
	gateway_leave(&gateway);
	sandbox_destroy(&sandbox);
}

static void save_token(const char *token)
{
	char digest[SIGNATURE_HEX_SIZE];
	char line[128];

	signature_sha256_hex(digest, token, strlen(token));
	(void)text_format(line, sizeof(line), "# callers\nshop:%s\n", digest);
	scratch_write("tokens", line, tokens);
	sandbox_set(sandbox, "LAPSE_API_TOKENS_FILE", "%s", tokens);
}

static unsigned int ask_with(const char *token)
{
	char header[128];

	(void)text_format(header, sizeof(header), "Authorization: Bearer %s\r\n", token);
	return api_client_call(gateway.client,
		&(struct api_request){
			.method = "GET", .path = "/v1/orders/A1", .headers = header })
		->status;
}

static void expect_refused(const char *words)
{
	char *output = NULL;
	int status = sandbox_run(sandbox, "lapse-gateway", NULL, &output);

	ck_assert_msg(
		status == CONFIGURATION && strstr(output, words) != NULL, "%d: %s", status, output);
	free(output);
}

START_TEST(without_tokens_it_serves_loopback_only)
{
	static const char *const elsewhere[] = { "0.0.0.0:0", "[::]:0", "192.0.2.1:8081",
		"[::ffff:192.0.2.1]:0" };

	for (size_t i = 0; i < ARRAY_LENGTH(elsewhere); i++) {
		sandbox_set(sandbox, "LAPSE_GATEWAY_ADDR", "%s", elsewhere[i]);
		expect_refused("LAPSE_API_TOKENS_FILE");
	}
	/* Names are never looked up, and this one is none of loopback. */
	sandbox_set(sandbox, "LAPSE_GATEWAY_ADDR", "127.0.0.1.example.com:8081");
	expect_refused("LAPSE_GATEWAY_ADDR");
}
END_TEST

START_TEST(every_mistake_of_the_settings_is_told_before_anything_is_opened)
{
	sandbox_set(sandbox, "LAPSE_GATEWAY_ADDR", "nonsense");
	sandbox_set(sandbox, "LAPSE_NOTIFY_SECRET", "short");
	sandbox_set(sandbox, "LAPSE_API_TOKENS_FILE", "/nowhere/tokens");
	expect_refused("LAPSE_GATEWAY_ADDR");
	expect_refused("LAPSE_NOTIFY_SECRET");
	expect_refused("LAPSE_API_TOKENS_FILE");
	sandbox_set(sandbox, "LAPSE_MERCHANT_ID",
		"12345678901234567890123456789012345678901234567890123456789012345");
	expect_refused("LAPSE_MERCHANT_ID");
}
END_TEST

START_TEST(with_tokens_it_serves_everywhere_whom_it_knows)
{
	save_token("the token of the shop");
	gateway_start(&gateway, sandbox);
	sandbox_stop_all(sandbox, WAIT_LIMIT_MS);
	sandbox_set(sandbox, "LAPSE_GATEWAY_ADDR", "0.0.0.0:%u", gateway.port);
	gateway_start_again(&gateway);
	ck_assert_uint_eq(ask_with("the token of the shop"), 404);
	ck_assert_uint_eq(ask_with("another one"), 401);
	gateway_expect(
		api_client_get(gateway.client, "/v1/orders/A1"), 401, "\"code\":\"no_token\"");
	gateway_expect(
		api_client_post(gateway.client, "/v1/orders", "{}"), 401, "\"code\":\"no_token\"");
	gateway_expect(api_client_post(gateway.client, "/v1/orders/A1/cancel", "{}"), 401,
		"\"code\":\"no_token\"");
}
END_TEST

/* A payment channel has no token of ours. */
START_TEST(a_notice_needs_its_signature_and_no_token)
{
	save_token("the token of the shop");
	orders_insert_one(sandbox_query(sandbox), "A1", 3600000);
	gateway_start(&gateway, sandbox);
	gateway_expect(gateway_notify(gateway.client,
			       &(struct gateway_notice){ .order_no = "A1", .trade_no = "T1" }),
		200, "APPLIED");
}
END_TEST

static bool new_token_is_good(void *context)
{
	(void)context;
	return ask_with("new") == 404;
}

START_TEST(tokens_are_replaced_without_a_restart)
{
	char path[PATH_MAX];

	save_token("old");
	gateway_start(&gateway, sandbox);
	ck_assert_uint_eq(ask_with("old"), 404);
	ck_assert_uint_eq(ask_with("new"), 401);
	/* A file with a mistake changes nothing. */
	scratch_write("tokens", "nonsense\n", path);
	process_signal(gateway.process, SIGHUP);
	ck_assert_uint_eq(ask_with("old"), 404);
	save_token("new");
	process_signal(gateway.process, SIGHUP);
	WAIT_UNTIL(new_token_is_good, NULL);
	ck_assert_uint_eq(ask_with("old"), 401);
}
END_TEST

START_TEST(no_secret_is_ever_logged)
{
	save_token("the token of the shop");
	gateway_start(&gateway, sandbox);
	(void)ask_with("another token");
	(void)gateway_notify_text(gateway.client, "a wrong secret, good length", "{}", 0);
	process_signal(gateway.process, SIGUSR1);
	process_signal(gateway.process, SIGHUP);
	sandbox_stop_all(sandbox, WAIT_LIMIT_MS);
	ck_assert_uint_gt(process_count_logged(gateway.process, "dump"), 0);
	ck_assert_uint_eq(process_count_logged(gateway.process, GATEWAY_SECRET), 0);
	ck_assert_uint_eq(process_count_logged(gateway.process, "another token"), 0);
	ck_assert_uint_eq(process_count_logged(gateway.process, "the token"), 0);
}
END_TEST

START_TEST(what_it_answers_is_counted)
{
	uint16_t ops = sandbox_free_port();

	sandbox_set(sandbox, "LAPSE_OPS_ADDR", "127.0.0.1:%u", ops);
	gateway_start(&gateway, sandbox);
	(void)api_client_get(gateway.client, "/v1/orders/A1");
	(void)gateway_notify(
		gateway.client, &(struct gateway_notice){ .order_no = "A1", .trade_no = "T1" });
	(void)gateway_notify_text(gateway.client, "a wrong secret, good length", "{}", 0);
	ck_assert_double_eq(
		http_client_metric(ops,
			"lapse_http_requests_total{route=\"/v1/orders/{order_no}\",code=\"404\"}"),
		1);
	ck_assert_double_eq(
		http_client_metric(ops, "lapse_payments_total{outcome=\"unknown_order\"}"), 1);
	ck_assert_double_eq(
		http_client_metric(ops, "lapse_auth_failures_total{method=\"signature\"}"), 1);
	ck_assert_double_ge(
		http_client_metric(ops, "lapse_http_requests_total{route=\"other\",code=\"404\"}"),
		1);
	ck_assert_uint_eq(http_client_get(ops, "/readyz", WAIT_LIMIT_MS, NULL), 200);
}
END_TEST

int main(void)
{
	const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = {
		without_tokens_it_serves_loopback_only,
		every_mistake_of_the_settings_is_told_before_anything_is_opened,
		with_tokens_it_serves_everywhere_whom_it_knows,
		a_notice_needs_its_signature_and_no_token,
		tokens_are_replaced_without_a_restart,
		no_secret_is_ever_logged,
		what_it_answers_is_counted,
	};

	sandbox_need_servers();
	return runner_run_with("gateway_start", &fixture, tests, ARRAY_LENGTH(tests));
}
