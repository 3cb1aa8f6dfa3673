/* lapse-gateway among slow and hostile callers, locked orders and a MySQL that is away. */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "tests/support/gateway.h"
#include "tests/support/http_client.h"
#include "tests/support/listener.h"
#include "tests/support/orders.h"
#include "tests/support/process.h"
#include "tests/support/proxy.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/wait_until.h"

enum {
	SLOW_CLIENTS = 50,
	QUICK_MS = 2000, /* for an answer that nobody may hold up */
	BODY_MAX = 65536,
	HEAD_SIZE = 20000,
	HOSTILE_REQUESTS = 400,
	HOSTILE_SIZE = 2000,
	VALUE_SIZE = 64,
};

#define HOUR_MS INT64_C(3600000)

static struct sandbox *sandbox;
static struct query *query;
static struct proxy *proxy;
static struct gateway_run gateway;
static uint16_t ops;

static void set_up(void)
{
	sandbox_create(SANDBOX_NO_BROKER, &sandbox);
	query = sandbox_query(sandbox);
	proxy = sandbox_proxy_mysql(sandbox);
	ops = sandbox_free_port();
	sandbox_set(sandbox, "LAPSE_OPS_ADDR", "127.0.0.1:%u", ops);
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

static void expect_put_off(const struct api_answer *answer)
{
	char value[VALUE_SIZE] = "";

	gateway_expect(answer, 503, "\"code\":\"try_again\"");
	ck_assert(api_client_header(answer, "Retry-After", value, sizeof(value)));
	ck_assert_str_eq(value, "1");
}

/* ---- callers */

/* OPS-6 */
START_TEST(slow_callers_hold_nobody_up)
{
	static const char head[] = "POST /v1/orders HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n";
	int sockets[SLOW_CLIENTS];

	for (size_t i = 0; i < SLOW_CLIENTS; i++)
		ck_assert_int_ge(sockets[i] = listener_connect(gateway.port), 0);
	for (size_t byte = 0; byte < strlen(head); byte++) {
		for (size_t i = 0; i < SLOW_CLIENTS; i++)
			(void)send(sockets[i], head + byte, 1, MSG_NOSIGNAL);
		if (byte % 10 != 0)
			continue;
		uint64_t start_ms = clock_now_ms();
		gateway_expect(api_client_get(gateway.client, "/v1/orders/A1"), 404, "");
		ck_assert_uint_eq(http_client_get(ops, "/livez", QUICK_MS, NULL), 200);
		ck_assert_uint_lt(clock_now_ms() - start_ms, QUICK_MS);
	}
	for (size_t i = 0; i < SLOW_CLIENTS; i++)
		(void)close(sockets[i]);
}
END_TEST

START_TEST(a_body_over_the_limit_is_refused_and_one_at_the_limit_is_read)
{
	char *body = memory_allocate(BODY_MAX + 2);
	const char order[] = "{\"order_no\":\"A1\",\"user_id\":1,\"amount_cents\":1}";

	memset(body, ' ', BODY_MAX + 1);
	memcpy(body, order, strlen(order));
	const struct api_answer *answer = api_client_post(gateway.client, "/v1/orders", body);
	gateway_expect(answer, 413, "\"code\":\"too_large\"");
	ck_assert_ptr_nonnull(strstr(answer->head, "application/problem+json"));
	body[BODY_MAX] = '\0';
	gateway_expect(api_client_post(gateway.client, "/v1/orders", body), 201, "A1");
	free(body);
}
END_TEST

START_TEST(headers_over_the_limit_are_refused)
{
	char *headers = memory_allocate(HEAD_SIZE + 1);
	char request[64];
	int handle = listener_connect(gateway.port);

	memset(headers, 'a', HEAD_SIZE);
	(void)text_copy(request, sizeof(request), "GET /v1/orders/A1 HTTP/1.1\r\nHost: x\r\nX: ");
	(void)send(handle, request, strlen(request), MSG_NOSIGNAL);
	(void)send(handle, headers, HEAD_SIZE, MSG_NOSIGNAL);
	(void)close(handle);
	free(headers);
	gateway_expect(api_client_get(gateway.client, "/v1/orders/A1"), 404, "not_found");
	sandbox_expect_all_alive(sandbox);
}
END_TEST

/* Parts that parsers trip over, put together by chance. */
static void write_hostile(char body[HOSTILE_SIZE])
{
	static const char *const parts[] = { "{", "}", "[", "]", "\"", ":", ",", "\\u0000", "\\",
		"\"order_no\"", "\"amount_cents\"", "\"items\"", "\"state\":\"paid\"", "1e999",
		"-0", "\xff\xfe", "\xc3", "\xed\xa0\x80", "null", "9223372036854775808", "\n",
		"'--", "%s%n", "<script>" };
	size_t size = 0;

	body[0] = '\0';
	while (size < HOSTILE_SIZE - 32 && runner_random(40) != 0) {
		(void)text_copy(body + size, HOSTILE_SIZE - size,
			parts[runner_random(ARRAY_LENGTH(parts) - 1)]);
		size = strlen(body);
	}
}

START_TEST(hostile_bodies_are_refused_and_change_nothing)
{
	static const char *const paths[] = { "/v1/orders", "/v1/orders/A1/cancel",
		"/v1/payments/notify" };
	char body[HOSTILE_SIZE];

	for (int i = 0; i < HOSTILE_REQUESTS; i++) {
		write_hostile(body);
		const struct api_answer *answer =
			i % 4 == 3 ? gateway_notify_text(gateway.client, GATEWAY_SECRET, body, 0)
				   : api_client_post(gateway.client, paths[i % 3], body);

		ck_assert_msg(answer->status >= 400 && answer->status < 500, "%u: %s",
			answer->status, body);
	}
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_order"), 0);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_payment"), 0);
	sandbox_expect_all_alive(sandbox);
}
END_TEST

/* ---- locks */

START_TEST(an_order_that_somebody_holds_holds_up_no_other)
{
	struct query *other = NULL;

	orders_insert_one(query, "A1", HOUR_MS);
	orders_insert_one(query, "A2", HOUR_MS);
	query_create(sandbox_mysql_url(sandbox), &other);
	query_run(other, "START TRANSACTION");
	query_run(other, "SELECT id FROM t_order WHERE order_no = 'A1' FOR UPDATE");
	uint64_t start_ms = clock_now_ms();
	expect_put_off(notify("A1", "T1"));
	expect_put_off(api_client_post(gateway.client, "/v1/orders/A1/cancel", NULL));
	gateway_expect(api_client_get(gateway.client, "/v1/orders/A1"), 200, "UNPAID");
	gateway_expect(notify("A2", "T2"), 200, "APPLIED");
	ck_assert_uint_lt(clock_now_ms() - start_ms, QUICK_MS);
	query_run(other, "ROLLBACK");
	gateway_expect(notify("A1", "T1"), 200, "APPLIED");
	query_destroy(&other);
}
END_TEST

/* ---- MySQL */

static bool readyz_is(unsigned int status)
{
	return http_client_get(ops, "/readyz", QUICK_MS, NULL) == status;
}

static bool is_not_ready(void *context)
{
	(void)context;
	return readyz_is(503);
}

static bool is_ready(void *context)
{
	(void)context;
	return readyz_is(200);
}

START_TEST(while_mysql_is_away_callers_are_put_off_at_once)
{
	orders_insert_one(query, "A1", HOUR_MS);
	proxy_refuse(proxy, true);
	WAIT_UNTIL(is_not_ready, NULL);
	for (int i = 0; i < 20; i++) {
		uint64_t start_ms = clock_now_ms();

		expect_put_off(notify("A1", "T1"));
		expect_put_off(api_client_get(gateway.client, "/v1/orders/A1"));
		expect_put_off(api_client_post(gateway.client, "/v1/orders",
			"{\"order_no\":\"A2\",\"user_id\":1,\"amount_cents\":1}"));
		expect_put_off(api_client_post(gateway.client, "/v1/orders/A1/cancel", NULL));
		ck_assert_uint_lt(clock_now_ms() - start_ms, QUICK_MS);
	}
	ck_assert_uint_eq(http_client_get(ops, "/livez", QUICK_MS, NULL), 200);
	proxy_refuse(proxy, false);
	WAIT_UNTIL(is_ready, NULL);
	gateway_expect(notify("A1", "T1"), 200, "APPLIED");
	sandbox_expect_all_alive(sandbox);
}
END_TEST

static bool is_applied(void *context)
{
	(void)context;
	return notify("A1", "T1")->status == 200;
}

START_TEST(a_frozen_mysql_costs_the_callers_an_answer_and_no_more)
{
	orders_insert_one(query, "A1", HOUR_MS);
	gateway_expect(api_client_get(gateway.client, "/v1/orders/A1"), 200, "UNPAID");
	proxy_freeze(proxy, true);
	expect_put_off(notify("A1", "T1"));
	ck_assert_uint_eq(http_client_get(ops, "/livez", QUICK_MS, NULL), 200);
	proxy_freeze(proxy, false);
	WAIT_UNTIL(is_applied, NULL);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_payment"), 1);
}
END_TEST

START_TEST(a_lost_answer_of_mysql_loses_and_doubles_nothing)
{
	static const char order[] = "{\"order_no\":\"A2\",\"user_id\":1,\"amount_cents\":1,"
				    "\"items\":[{\"sku_id\":\"S\",\"quantity\":1}]}";

	orders_insert_one(query, "A1", HOUR_MS);
	proxy_cut_at(proxy, PROXY_COMMIT, PROXY_AFTER, 1);
	expect_put_off(notify("A1", "T1"));
	gateway_expect(notify("A1", "T1"), 200, "\"outcome\":\"APPLIED\",\"repeated\":true");
	proxy_cut_at(proxy, PROXY_COMMIT, PROXY_AFTER, 1);
	expect_put_off(api_client_post(gateway.client, "/v1/orders", order));
	gateway_expect(api_client_post(gateway.client, "/v1/orders", order), 200, "A2");
	proxy_cut_at(proxy, PROXY_COMMIT, PROXY_AFTER, 1);
	expect_put_off(api_client_post(gateway.client, "/v1/orders/A2/cancel", NULL));
	gateway_expect(
		api_client_post(gateway.client, "/v1/orders/A2/cancel", NULL), 409, "CLOSED");
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_order"), 2);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_compensation"), 1);
}
END_TEST

int main(void)
{
	const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = {
		slow_callers_hold_nobody_up,
		a_body_over_the_limit_is_refused_and_one_at_the_limit_is_read,
		headers_over_the_limit_are_refused,
		hostile_bodies_are_refused_and_change_nothing,
		an_order_that_somebody_holds_holds_up_no_other,
		while_mysql_is_away_callers_are_put_off_at_once,
		a_frozen_mysql_costs_the_callers_an_answer_and_no_more,
		a_lost_answer_of_mysql_loses_and_doubles_nothing,
	};

	sandbox_need_servers();
	return runner_run_with("gateway_trouble", &fixture, tests, ARRAY_LENGTH(tests));
}
