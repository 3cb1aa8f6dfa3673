/* docs/openapi.yaml says what lapse-gateway does: every route, status, header and field. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/signature.h"
#include "tests/support/example.h"
#include "tests/support/gateway.h"
#include "tests/support/openapi.h"
#include "tests/support/orders.h"
#include "tests/support/outline.h"
#include "tests/support/proxy.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/scratch.h"
#include "tests/support/wait_until.h"

enum {
	LARGE_SIZE = 65537,
	BODY_SIZE = 1024,
	CALLS_MAX = 100,
};

#define HOUR_MS  INT64_C(3600000)
#define MERCHANT ",\"merchant_id\":\"m-1\""
#define ORDERS   "/v1/orders"
#define ORDER    "/v1/orders/{order_no}"
#define CANCEL   "/v1/orders/{order_no}/cancel"
#define NOTIFY   "/v1/payments/notify"
#define BODY                                                                                 \
	"{\"order_no\":\"A1\",\"user_id\":\"1\",\"amount_cents\":9900,\"currency\":\"CNY\"," \
	"\"timeout\":\"30m\",\"items\":[{\"sku_id\":\"SKU-1\",\"quantity\":1}]}"

static struct sandbox *sandbox;
static struct query *query;
static struct proxy *proxy;
static struct gateway_run gateway;
static struct openapi *openapi;
static char large[LARGE_SIZE + 1];

static void save_token(void)
{
	char digest[SIGNATURE_HEX_SIZE];
	char line[128];
	char path[PATH_MAX];

	signature_sha256_hex(digest, "good", strlen("good"));
	(void)text_format(line, sizeof(line), "shop:%s\n", digest);
	scratch_write("tokens", line, path);
	sandbox_set(sandbox, "LAPSE_API_TOKENS_FILE", "%s", path);
}

static void set_up(void)
{
	sandbox_create(SANDBOX_NO_BROKER, &sandbox);
	query = sandbox_query(sandbox);
	proxy = sandbox_proxy_mysql(sandbox);
	save_token();
	sandbox_set(sandbox, "LAPSE_MERCHANT_ID", "m-1");
	gateway_start(&gateway, sandbox);
	openapi_open(TEST_SOURCE_DIR "/docs/openapi.yaml", &openapi);
	memset(large, ' ', LARGE_SIZE);
}

static void tear_down(void)
{
	openapi_close(&openapi);
	gateway_leave(&gateway);
	sandbox_destroy(&sandbox);
}

static const struct api_answer *call(const char *method, const char *path, const char *body)
{
	return api_client_call(gateway.client, &(struct api_request){ .method = method,
						       .path = path,
						       .headers = "Authorization: Bearer good\r\n",
						       .body = body });
}

/* The answer has the status and is described. */
static void expect(
	const char *method, const char *path, unsigned int status, const struct api_answer *answer)
{
	ck_assert_msg(answer->status == status, "%s %s: %u, not %u: %s", method, path,
		answer->status, status, answer->body);
	openapi_check(openapi, method, path, answer);
}

static const struct api_answer *notify(const char *order_no, const char *trade_no)
{
	return gateway_notify(gateway.client,
		&(struct gateway_notice){
			.order_no = order_no, .trade_no = trade_no, .more = MERCHANT });
}

static void provoke_good_answers(void)
{
	expect("post", ORDERS, 201, call("POST", "/v1/orders", BODY));
	expect("post", ORDERS, 200, call("POST", "/v1/orders", BODY));
	expect("get", ORDER, 200, call("GET", "/v1/orders/A1", NULL));
	expect("post", NOTIFY, 200, notify("A1", "T1"));
	expect("post", NOTIFY, 200, notify("A1", "T1"));
	expect("post", NOTIFY, 200, notify("A1", "T2"));
	expect("get", ORDER, 200, call("GET", "/v1/orders/A1", NULL));
	orders_insert_one(query, "C1", HOUR_MS);
	expect("post", CANCEL, 200, call("POST", "/v1/orders/C1/cancel", NULL));
	/* With everything an order can show. */
	query_run(query, "UPDATE t_order SET close_reason = 'TIMEOUT', close_source = 'sweep', "
			 "rule_id = 3; "
			 "UPDATE t_compensation SET status = 'DONE', done_at = UTC_TIMESTAMP(3); "
			 "UPDATE t_outbox_event SET status = 'SENT', sent_at = UTC_TIMESTAMP(3)");
	expect("get", ORDER, 200, call("GET", "/v1/orders/C1", NULL));
	orders_insert(query, &(struct order_plan){ .order_no = "N1", .has_no_deadline = true });
	expect("get", ORDER, 200, call("GET", "/v1/orders/N1", NULL));
}

static void provoke_refusals(void)
{
	expect("post", ORDERS, 400, call("POST", "/v1/orders", "{}"));
	expect("post", ORDERS, 409,
		call("POST", "/v1/orders",
			"{\"order_no\":\"A1\",\"user_id\":2,\"amount_cents\":1}"));
	expect("post", ORDERS, 413, call("POST", "/v1/orders", large));
	expect("post", CANCEL, 413, call("POST", "/v1/orders/A1/cancel", large));
	expect("post", NOTIFY, 413, call("POST", "/v1/payments/notify", large));
	expect("get", ORDER, 404, call("GET", "/v1/orders/NOBODY", NULL));
	expect("post", CANCEL, 404, call("POST", "/v1/orders/NOBODY/cancel", NULL));
	expect("post", CANCEL, 409, call("POST", "/v1/orders/A1/cancel", NULL));
	expect("post", CANCEL, 409, call("POST", "/v1/orders/C1/cancel", NULL));
	expect("post", NOTIFY, 400,
		gateway_notify_text(gateway.client, GATEWAY_SECRET, "{\"state\":\"paid\"}", 0));
	expect("post", NOTIFY, 401, call("POST", "/v1/payments/notify", "{}"));
	expect("post", NOTIFY, 403,
		gateway_notify(gateway.client,
			&(struct gateway_notice){ .order_no = "A1", .trade_no = "T9" }));
	expect("post", NOTIFY, 404, notify("NOBODY", "T9"));
	expect("post", ORDERS, 401, api_client_post(gateway.client, "/v1/orders", BODY));
	expect("get", ORDER, 401, api_client_get(gateway.client, "/v1/orders/A1"));
	expect("post", CANCEL, 401, api_client_post(gateway.client, "/v1/orders/A1/cancel", NULL));
}

static bool is_put_off(void *context)
{
	(void)context;
	return call("GET", "/v1/orders/A1", NULL)->status == 503;
}

static void provoke_put_offs(void)
{
	proxy_refuse(proxy, true);
	WAIT_UNTIL(is_put_off, NULL);
	expect("get", ORDER, 503, call("GET", "/v1/orders/A1", NULL));
	expect("post", ORDERS, 503, call("POST", "/v1/orders", BODY));
	expect("post", CANCEL, 503, call("POST", "/v1/orders/A1/cancel", NULL));
	expect("post", NOTIFY, 503, notify("A1", "T1"));
}

/* A schema that refuses what the program writes and gives what it cannot read. */
static void provoke_faults(void)
{
	query_run(query, "CREATE TRIGGER t_no_event BEFORE INSERT ON t_outbox_event "
			 "FOR EACH ROW SIGNAL SQLSTATE '45000'");
	expect("post", ORDERS, 500,
		call("POST", "/v1/orders",
			"{\"order_no\":\"F1\",\"user_id\":1,\"amount_cents\":1}"));
	expect("post", CANCEL, 500, call("POST", "/v1/orders/N1/cancel", NULL));
	expect("post", NOTIFY, 500, notify("N1", "T5"));
	/* A1 has payments, and there is more than one order. */
	query_run(query, "RENAME TABLE t_payment TO t_payment_kept; "
			 "CREATE VIEW t_payment AS SELECT id, channel, trade_no, order_no, "
			 "amount_cents, currency, (SELECT order_no FROM t_order) AS outcome, "
			 "refund_state, created_at FROM t_payment_kept");
	expect("get", ORDER, 500, call("GET", "/v1/orders/A1", NULL));
	query_run(query, "DROP VIEW t_payment; RENAME TABLE t_payment_kept TO t_payment; "
			 "DROP TRIGGER t_no_event");
}

/* The bucket fills up again meanwhile, and the first line leads to the process before. */
static void expect_refusal(const char *method, const char *path, const char *real, const char *body)
{
	const struct api_answer *answer = NULL;

	for (int i = 0; i < CALLS_MAX && (answer == NULL || answer->status != 429); i++)
		answer = call(text_equals(method, "get") ? "GET" : "POST", real, body);
	expect(method, path, 429, answer);
}

static void provoke_too_many(void)
{
	proxy_refuse(proxy, false);
	sandbox_stop_all(sandbox, WAIT_LIMIT_MS);
	sandbox_set(sandbox, "LAPSE_API_RATE", "1");
	gateway_start_again(&gateway);
	expect_refusal("post", ORDERS, "/v1/orders", BODY);
	expect_refusal("get", ORDER, "/v1/orders/A1", NULL);
	expect_refusal("post", CANCEL, "/v1/orders/A1/cancel", NULL);
	expect("post", NOTIFY, 200, notify("A1", "T1"));
}

START_TEST(every_answer_is_described_and_every_description_is_true)
{
	provoke_good_answers();
	provoke_refusals();
	provoke_faults();
	provoke_put_offs();
	provoke_too_many();
	openapi_expect_all_seen(openapi);
}
END_TEST

START_TEST(a_path_has_the_methods_that_are_described_and_no_others)
{
	static const struct {
		const char *name;
		const char *method;
	} methods[] = { { "get", "GET" }, { "post", "POST" }, { "put", "PUT" },
		{ "delete", "DELETE" }, { "patch", "PATCH" } };
	const struct outline *paths = outline_find(openapi_root(openapi), "paths");

	for (const struct outline *path = paths->first; path != NULL; path = path->next) {
		char real[128];
		const char *place = strstr(path->key, "{order_no}");

		(void)text_format(real, sizeof(real), "%.*s%s%s",
			place == NULL ? (int)strlen(path->key) : (int)(place - path->key),
			path->key, place == NULL ? "" : "A1",
			place == NULL ? "" : place + strlen("{order_no}"));
		for (size_t i = 0; i < ARRAY_LENGTH(methods); i++) {
			bool is_described = outline_find(path, methods[i].name) != NULL;
			unsigned int status = call(methods[i].method, real, NULL)->status;

			ck_assert_msg((status != 405) == is_described, "%s %s: %u",
				methods[i].method, real, status);
		}
	}
}
END_TEST

/* A body with every member of a schema but one. */
static void write_without(const struct outline *schema, const char *missing, const char *order_no,
	char body[BODY_SIZE])
{
	static const char *const values[][2] = { { "user_id", "\"1\"" }, { "amount_cents", "9900" },
		{ "currency", "\"CNY\"" }, { "items", "[]" }, { "timeout", "\"30m\"" },
		{ "attributes", "{}" }, { "channel", "\"pay\"" }, { "trade_no", "\"T1\"" },
		{ "state", "\"paid\"" }, { "merchant_id", "\"m-1\"" } };
	const struct outline *properties = outline_find(schema, "properties");

	(void)text_copy(body, BODY_SIZE, "{");
	for (const struct outline *one = properties->first; one != NULL; one = one->next) {
		char quoted[80];
		const char *value = NULL;
		size_t size = strlen(body);

		if (text_equals(one->key, missing))
			continue;
		(void)text_format(quoted, sizeof(quoted), "\"%s\"", order_no);
		if (text_equals(one->key, "order_no"))
			value = quoted;
		for (size_t i = 0; i < ARRAY_LENGTH(values); i++)
			value = text_equals(values[i][0], one->key) ? values[i][1] : value;
		ck_assert_msg(value != NULL, "this test knows no value of %s", one->key);
		(void)text_format(body + size, BODY_SIZE - size, "%s\"%s\":%s",
			size == 1 ? "" : ",", one->key, value);
	}
	(void)text_copy(body + strlen(body), BODY_SIZE - strlen(body), "}");
}

static const struct outline *find_schema(const char *name)
{
	return outline_find(
		outline_find(outline_find(openapi_root(openapi), "components"), "schemas"), name);
}

START_TEST(an_order_needs_exactly_the_fields_that_are_required)
{
	const struct outline *schema = find_schema("OrderRequest");
	const struct outline *required = outline_find(schema, "required");
	unsigned int number = 0;

	for (const struct outline *one = outline_find(schema, "properties")->first; one != NULL;
		one = one->next) {
		char order_no[16];
		char body[BODY_SIZE];

		(void)text_format(order_no, sizeof(order_no), "R%u", number++);
		write_without(schema, one->key, order_no, body);
		unsigned int status = call("POST", "/v1/orders", body)->status;
		ck_assert_msg(status == (outline_has_item(required, one->key) ? 400 : 201),
			"without %s: %u", one->key, status);
	}
}
END_TEST

START_TEST(a_notice_needs_exactly_the_fields_that_are_required)
{
	const struct outline *schema = find_schema("Notice");
	const struct outline *required = outline_find(schema, "required");

	orders_insert_one(query, "A1", HOUR_MS);
	for (const struct outline *one = outline_find(schema, "properties")->first; one != NULL;
		one = one->next) {
		char body[BODY_SIZE];

		write_without(schema, one->key, "A1", body);
		unsigned int status =
			gateway_notify_text(gateway.client, GATEWAY_SECRET, body, 0)->status;
		/* Without the merchant it is another one's, as the setting is there. */
		ck_assert_msg(status == (outline_has_item(required, one->key) ? 400 : 403),
			"without %s: %u", one->key, status);
	}
}
END_TEST

/* docs/api.md shows them. */
START_TEST(the_examples_are_documents_of_their_schemas)
{
	static const char *const examples[][2] = { { "order_request", "OrderRequest" },
		{ "order", "Order" }, { "notice", "Notice" }, { "notice_answer", "NoticeAnswer" },
		{ "problem", "FinalProblem" } };

	for (size_t i = 0; i < ARRAY_LENGTH(examples); i++) {
		char *text = example_read(examples[i][0]);

		openapi_check_document(openapi, examples[i][1], text);
		free(text);
	}
}
END_TEST

int main(void)
{
	const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = {
		every_answer_is_described_and_every_description_is_true,
		a_path_has_the_methods_that_are_described_and_no_others,
		an_order_needs_exactly_the_fields_that_are_required,
		a_notice_needs_exactly_the_fields_that_are_required,
		the_examples_are_documents_of_their_schemas,
	};

	sandbox_need_servers();
	return runner_run_with("openapi", &fixture, tests, ARRAY_LENGTH(tests));
}
