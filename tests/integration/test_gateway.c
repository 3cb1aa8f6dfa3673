/* A running lapse-gateway: orders over HTTP, and how every refusal looks. */
#include <string.h>

#include "common/base/text.h"
#include "common/io/json.h"
#include "tests/support/gateway.h"
#include "tests/support/orders.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/wait_until.h"

enum {
	VALUE_SIZE = 256
};

#define TRACE "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
#define ORDER                                                                              \
	"{\"order_no\":\"A1\",\"user_id\":\"18446744073709551615\",\"amount_cents\":9900," \
	"\"currency\":\"CNY\",\"timeout\":\"30m\",\"items\":[{\"sku_id\":\"SKU-1\","       \
	"\"quantity\":2},{\"sku_id\":\"SKU-2\",\"quantity\":0}]}"

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

static const struct api_answer *get(const char *path)
{
	return api_client_get(gateway.client, path);
}

static const struct api_answer *post(const char *path, const char *body)
{
	return api_client_post(gateway.client, path, body);
}

static void expect_header(const struct api_answer *answer, const char *name, const char *value)
{
	char got[VALUE_SIZE] = "";

	ck_assert_msg(api_client_header(answer, name, got, sizeof(got)), "no %s", name);
	if (value != NULL)
		ck_assert_str_eq(got, value);
}

/* RFC 9457, with our code and request id. */
static void expect_problem(const struct api_answer *answer, unsigned int status, const char *code)
{
	struct json *root = NULL;
	struct error error = { .text = "" };
	char id[VALUE_SIZE] = "";
	int64_t number = 0;

	ck_assert_msg(
		answer->status == status, "%u, not %u: %s", answer->status, status, answer->body);
	expect_header(answer, "Content-Type", "application/problem+json");
	ck_assert(api_client_header(answer, "X-Request-Id", id, sizeof(id)));
	ck_assert_int_eq(
		json_parse(answer->body, strlen(answer->body), API_CLIENT_BODY_SIZE, &root, &error),
		RESULT_OK);
	ck_assert_str_eq(json_get_text(root, "type"), "about:blank");
	ck_assert_ptr_nonnull(json_get_text(root, "title"));
	ck_assert(json_get_int(root, "status", &number));
	ck_assert_int_eq(number, status);
	ck_assert_str_eq(json_get_text(root, "code"), code);
	ck_assert_str_ne(json_get_text(root, "detail"), "");
	ck_assert_str_eq(json_get_text(root, "request_id"), id);
	json_destroy(&root);
}

START_TEST(an_order_is_created_once_and_read_again)
{
	const struct api_answer *answer = post("/v1/orders", ORDER);
	char created[API_CLIENT_HEAD_SIZE];

	gateway_expect(answer, 201, "\"status\":\"UNPAID\"");
	expect_header(answer, "Location", "/v1/orders/A1");
	expect_header(answer, "Content-Type", "application/json");
	ck_assert(text_copy(created, sizeof(created), answer->body));
	ck_assert_str_eq(get("/v1/orders/A1")->body, created);
	answer = post("/v1/orders", ORDER);
	gateway_expect(answer, 200, "\"order_no\":\"A1\"");
	ck_assert_str_eq(answer->body, created);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_order"), 1);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_order_item"), 2);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_outbox_event WHERE "
					     "event_type = 'ORDER_CREATED'"),
		1);
}
END_TEST

START_TEST(an_order_shows_all_there_is_to_know)
{
	static const char *const words[] = {
		"\"order_no\":\"A1\"",
		"\"user_id\":\"18446744073709551615\"",
		"\"amount_cents\":9900",
		"\"currency\":\"CNY\"",
		"\"items\":[{\"sku_id\":\"SKU-1\",\"quantity\":2},{",
		"},{\"sku_id\":\"SKU-2\",\"quantity\":0}]",
		"\"payments\":[]",
		"\"tasks\":[]",
		"\"what\":\"created\"",
		"\"what\":\"due\"",
	};

	(void)post("/v1/orders", ORDER);
	for (size_t i = 0; i < ARRAY_LENGTH(words); i++)
		gateway_expect(get("/v1/orders/A1"), 200, words[i]);
	ck_assert_ptr_null(strstr(get("/v1/orders/A1")->body, "close"));
	ck_assert_ptr_null(strstr(get("/v1/orders/A1")->body, "paid"));
}
END_TEST

START_TEST(an_order_that_never_times_out_says_so)
{
	gateway_expect(post("/v1/orders", "{\"order_no\":\"N1\",\"user_id\":1,\"amount_cents\":0,"
					  "\"timeout\":\"\"}"),
		201, "\"expire_time\":null");
	gateway_expect(get("/v1/orders/N1"), 200, "\"expire_time\":null");
	ck_assert_ptr_null(strstr(get("/v1/orders/N1")->body, "\"due\""));
}
END_TEST

/* The rules are read anew now and then. */
static bool no_rule_matches(void *context)
{
	(void)context;
	gateway_expect(post("/v1/orders", "{\"user_id\":1,\"amount_cents\":1}"), 201, "UNPAID");
	return query_number(query, "SELECT rule_id IS NULL AND expire_time IS NULL FROM t_order "
				   "ORDER BY id DESC LIMIT 1") == 1;
}

/* CS-8, and the rule by its attributes */
START_TEST(the_timeout_comes_from_the_rules_unless_the_order_brings_one)
{
	static const struct {
		const char *more;
		int64_t seconds; /* -1: never */
		int64_t rule_id; /* 0: no rule decided it */
	} cases[] = {
		{ "", 600, 1 },
		{ ",\"attributes\":{\"tenant\":\"t\"}", 60, 2 },
		{ ",\"attributes\":{\"tenant\":\"null\"}", -1, 3 },
		{ ",\"attributes\":{\"tenant\":\"zero\"}", -1, 4 },
		{ ",\"attributes\":{\"tenant\":\"t\"},\"timeout\":\"2h\"", 7200, 0 },
		{ ",\"timeout\":\"0\"", -1, 0 },
	};

	query_run(query, "INSERT INTO t_timeout_rule(tenant, timeout_seconds) VALUES (NULL, 600), "
			 "('t', 60), ('null', NULL), ('zero', 0)");
	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		char body[VALUE_SIZE];

		(void)text_format(body, sizeof(body),
			"{\"order_no\":\"R%zu\",\"user_id\":1,\"amount_cents\":1%s}", i,
			cases[i].more);
		gateway_expect(post("/v1/orders", body), 201, "UNPAID");
		ck_assert_int_eq(query_number(query,
					 "SELECT IFNULL(TIMESTAMPDIFF(SECOND, created_at, "
					 "expire_time), -1) FROM t_order WHERE order_no = 'R%zu'",
					 i),
			cases[i].seconds);
		ck_assert_int_eq(query_number(query,
					 "SELECT IFNULL(rule_id, 0) FROM t_order WHERE "
					 "order_no = 'R%zu'",
					 i),
			cases[i].rule_id);
	}
	gateway_expect(api_client_get(gateway.client, "/v1/orders/R1"), 200, "\"rule_id\":\"2\"");
	ck_assert_ptr_null(
		strstr(api_client_get(gateway.client, "/v1/orders/R4")->body, "rule_id"));
	/* Where no rule matches, none decided. */
	query_run(query, "DELETE FROM t_timeout_rule");
	WAIT_UNTIL(no_rule_matches, NULL);
}
END_TEST

START_TEST(an_order_number_of_another_order_is_a_conflict)
{
	gateway_expect(post("/v1/orders", ORDER), 201, "");
	expect_problem(post("/v1/orders", "{\"order_no\":\"A1\",\"user_id\":1,\"amount_cents\":1}"),
		409, "order_exists");
}
END_TEST

START_TEST(an_order_without_a_number_gets_one)
{
	const struct api_answer *answer =
		post("/v1/orders", "{\"user_id\":1,\"amount_cents\":1,\"timeout\":\"1h\"}");
	char location[VALUE_SIZE];

	ck_assert_uint_eq(answer->status, 201);
	ck_assert(api_client_header(answer, "Location", location, sizeof(location)));
	gateway_expect(get(location), 200, location + strlen("/v1/orders/"));
}
END_TEST

START_TEST(a_trace_is_kept_with_order_and_event)
{
	const struct api_request traced = { .method = "POST",
		.path = "/v1/orders",
		.headers = "traceparent: " TRACE "\r\n",
		.body = ORDER };
	const struct api_request broken = { .method = "POST",
		.path = "/v1/orders",
		.headers = "traceparent: 00-' OR 1=1-b7ad6b7169203331-01\r\n",
		.body = "{\"order_no\":\"A2\",\"user_id\":1,\"amount_cents\":1}" };

	ck_assert_uint_eq(api_client_call(gateway.client, &traced)->status, 201);
	ck_assert_uint_eq(api_client_call(gateway.client, &broken)->status, 201);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_order JOIN t_outbox_event "
					     "USING (order_no, trace_parent) WHERE "
					     "trace_parent = '" TRACE "'"),
		1);
	ck_assert_int_eq(query_number(query,
				 "SELECT trace_parent IS NULL FROM t_order WHERE order_no = 'A2'"),
		1);
}
END_TEST

#define DIGITS_32 "12345678901234567890123456789012"
#define TOO_LONG  "X-Request-Id: " DIGITS_32 DIGITS_32 "3\r\n"

START_TEST(a_request_id_comes_back_and_a_strange_one_is_replaced)
{
	static const char *const strange[] = { "X-Request-Id: a b\r\n", "X-Request-Id: \r\n",
		"X-Request-Id: <script>\r\n", TOO_LONG };
	struct api_request request = {
		.method = "GET", .path = "/v1/orders/NONE", .headers = "x-request-id: my.id:1\r\n"
	};

	expect_header(api_client_call(gateway.client, &request), "X-Request-Id", "my.id:1");
	for (size_t i = 0; i < ARRAY_LENGTH(strange); i++) {
		char id[VALUE_SIZE] = "";

		request.headers = strange[i];
		const struct api_answer *answer = api_client_call(gateway.client, &request);
		ck_assert(api_client_header(answer, "X-Request-Id", id, sizeof(id)));
		ck_assert_uint_eq(strlen(id), 26);
		expect_problem(answer, 404, "not_found");
	}
}
END_TEST

START_TEST(a_cancel_closes_and_gives_the_stock_back)
{
	(void)post("/v1/orders", ORDER);
	const struct api_answer *answer = post("/v1/orders/A1/cancel", NULL);

	gateway_expect(answer, 200, "\"status\":\"CLOSED\"");
	gateway_expect(answer, 200, "\"close_reason\":\"USER_CANCEL\",\"close_source\":\"api\"");
	gateway_expect(
		answer, 200, "\"what\":\"closed\",\"source\":\"api\",\"reason\":\"USER_CANCEL\"");
	gateway_expect(answer, 200, "\"kind\":\"STOCK_RESTORE\",\"status\":\"PENDING\"");
	ck_assert_ptr_null(strstr(answer->body, "lateness"));
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_compensation"), 1);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_outbox_event WHERE "
					     "event_type = 'ORDER_CLOSED'"),
		1);
}
END_TEST

START_TEST(what_is_final_cannot_be_cancelled)
{
	orders_insert_one(query, "P1", 3600000);
	ck_assert(orders_pay(query, "P1"));
	orders_insert_one(query, "C1", 3600000);
	ck_assert_uint_eq(post("/v1/orders/C1/cancel", NULL)->status, 200);
	const struct api_answer *answer = post("/v1/orders/P1/cancel", "{}");
	expect_problem(answer, 409, "order_paid");
	gateway_expect(answer, 409, "\"order_status\":\"PAID\"");
	answer = post("/v1/orders/C1/cancel", "{}");
	expect_problem(answer, 409, "order_closed");
	gateway_expect(answer, 409, "\"order_status\":\"CLOSED\"");
	expect_problem(post("/v1/orders/NONE/cancel", NULL), 404, "not_found");
}
END_TEST

START_TEST(an_overdue_order_can_still_be_cancelled)
{
	orders_insert_one(query, "D1", -5000);
	gateway_expect(post("/v1/orders/D1/cancel", NULL), 200, "USER_CANCEL");
}
END_TEST

START_TEST(a_late_close_says_how_late)
{
	orders_insert_one(query, "L1", -1);
	query_run(query, "UPDATE t_order SET status = 'CLOSED', close_reason = 'TIMEOUT', "
			 "close_source = 'sweep', close_time = expire_time + INTERVAL 1234 * 1000 "
			 "MICROSECOND");
	gateway_expect(get("/v1/orders/L1"), 200,
		"\"what\":\"closed\",\"source\":\"sweep\",\"reason\":\"TIMEOUT\","
		"\"lateness_ms\":1234");
	gateway_expect(get("/v1/orders/L1"), 200, "\"lateness_ms\":1234");
}
END_TEST

/* COMP-4 */
START_TEST(a_path_that_is_no_order_number_leads_nowhere)
{
	static const char *const paths[] = { "/v1/orders/", "/v1/orders/..%2Fadmin",
		"/v1/orders/%2e%2e/payments", "/v1/orders/../payments/notify", "/v1/orders/A1/",
		"/v1/orders/A1%00", "/v1/orders/A1%20", "/v1/orders/A1%0a", "/v1/orders/A1/items",
		"/v1/orders/%41%31%2f", "/v1/orders/A%251", "/v1/orders/%", "/v1/orders/*",
		"/v1/orders/1234567890123456789012345678901234567890123456789012345678901234567",
		"/v2/orders/A1", "/", "/v1", "//v1/orders/A1", "/v1/orders/A1;x=1" };

	(void)post("/v1/orders", ORDER);
	for (size_t i = 0; i < ARRAY_LENGTH(paths); i++) {
		const struct api_answer *answer = get(paths[i]);

		ck_assert_msg(answer->status == 404, "%s: %u", paths[i], answer->status);
		expect_problem(answer, 404, "not_found");
	}
	gateway_expect(get("/v1/orders/%41%31"), 200, "\"order_no\":\"A1\"");
	gateway_expect(get("/v1/orders/A1?x=/../&y"), 200, "\"order_no\":\"A1\"");
}
END_TEST

START_TEST(another_method_is_answered_405)
{
	static const struct {
		const char *method;
		const char *path;
		const char *allowed;
	} cases[] = {
		{ "GET", "/v1/orders", "POST" },
		{ "PUT", "/v1/orders", "POST" },
		{ "POST", "/v1/orders/A1", "GET" },
		{ "DELETE", "/v1/orders/A1", "GET" },
		{ "GET", "/v1/orders/A1/cancel", "POST" },
		{ "GET", "/v1/payments/notify", "POST" },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		const struct api_request request = { .method = cases[i].method,
			.path = cases[i].path };
		const struct api_answer *answer = api_client_call(gateway.client, &request);

		expect_problem(answer, 405, "method_not_allowed");
		expect_header(answer, "Allow", cases[i].allowed);
	}
}
END_TEST

START_TEST(head_is_get_without_a_body)
{
	const struct api_request request = { .method = "HEAD", .path = "/v1/orders/A1" };

	(void)post("/v1/orders", ORDER);
	const struct api_answer *answer = api_client_call(gateway.client, &request);
	ck_assert_uint_eq(answer->status, 200);
	ck_assert_str_eq(answer->body, "");
}
END_TEST

int main(void)
{
	const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = {
		an_order_is_created_once_and_read_again,
		an_order_shows_all_there_is_to_know,
		an_order_that_never_times_out_says_so,
		the_timeout_comes_from_the_rules_unless_the_order_brings_one,
		an_order_number_of_another_order_is_a_conflict,
		an_order_without_a_number_gets_one,
		a_trace_is_kept_with_order_and_event,
		a_request_id_comes_back_and_a_strange_one_is_replaced,
		a_cancel_closes_and_gives_the_stock_back,
		what_is_final_cannot_be_cancelled,
		an_overdue_order_can_still_be_cancelled,
		a_late_close_says_how_late,
		a_path_that_is_no_order_number_leads_nowhere,
		another_method_is_answered_405,
		head_is_get_without_a_body,
	};

	sandbox_need_servers();
	return runner_run_with("gateway", &fixture, tests, ARRAY_LENGTH(tests));
}
