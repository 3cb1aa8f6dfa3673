/* The instruments themselves: what they measure is only worth something when they are right. */
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/text.h"
#include "tests/support/http_stub.h"
#include "tests/support/listener.h"
#include "tests/support/orders.h"
#include "tests/support/process.h"
#include "tests/support/proxy.h"
#include "tests/support/query.h"
#include "tests/support/rabbit.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/wait_until.h"

enum {
	ANSWER_LIMIT_MS = 2000
};

static struct sandbox *sandbox;

static void set_up(void)
{
	sandbox_create(SANDBOX_EVERYTHING, &sandbox);
}

static void tear_down(void)
{
	sandbox_destroy(&sandbox);
}

START_TEST(a_sandbox_has_a_schema_of_its_own)
{
	struct query *query = sandbox_query(sandbox);
	char text[QUERY_TEXT_SIZE];

	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_order"), 0);
	query_text(query, text, "SELECT DATABASE(), NULL");
	ck_assert(text_starts_with(text, sandbox_name(sandbox)));
	ck_assert(strstr(text, " NULL") != NULL);
	ck_assert(!query_try(query, "SELECT nothing"));
	ck_assert(query_try(query, "SELECT 1"));
}
END_TEST

START_TEST(orders_come_with_items_and_events)
{
	static const struct order_item items[] = { { "SKU-1", 2 }, { "SKU-2", 0 } };
	const struct order_plan plan = {
		.order_no = "A1", .due_in_ms = -1000, .items = items, .item_count = 2
	};
	const struct orders_plan many = {
		.prefix = "B", .count = 12345, .due_in_ms = 60000, .spread_ms = 1000
	};
	struct query *query = sandbox_query(sandbox);

	orders_insert(query, &plan);
	orders_insert_many(query, &many);
	ck_assert_int_eq(orders_count(query, "UNPAID"), 12346);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_order_item"), 2 + 2 * 12345);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_outbox_event"), 12346);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_order "
					     "WHERE expire_time < UTC_TIMESTAMP(3)"),
		1);
	ck_assert(!orders_pay(query, "A1"));
	ck_assert(orders_pay(query, "B77"));
}
END_TEST

START_TEST(a_message_is_published_and_taken)
{
	static const struct rabbit_header headers[] = { { "x-delay", NULL, -5 },
		{ "who", "me", 0 } };
	const struct rabbit_message message = { .routing_key = "q",
		.body = "x\0y",
		.body_size = 3,
		.type = "t",
		.headers = headers,
		.header_count = 2 };
	struct rabbit *rabbit = sandbox_rabbit(sandbox);
	struct rabbit_delivery delivery;

	ck_assert_int_eq(rabbit_count(rabbit, "q"), RABBIT_ABSENT);
	rabbit_declare_queue(rabbit, "q");
	ck_assert(!rabbit_get(rabbit, "q", &delivery));
	rabbit_publish(rabbit, &message);
	ck_assert_int_eq(rabbit_count(rabbit, "q"), 1);
	ck_assert(rabbit_get(rabbit, "q", &delivery));
	ck_assert_uint_eq(delivery.body_size, 3);
	ck_assert_str_eq(delivery.type, "t");
	ck_assert_str_eq(delivery.message_id, "");
	ck_assert_str_eq(delivery.headers, "x-delay=-5 who=me ");
	ck_assert(delivery.is_persistent);
}
END_TEST

START_TEST(a_process_tells_how_it_ended)
{
	static const char *const words[] = { "-c", "echo out; echo err >&2; exit 7", NULL };
	static const char *const sleepy[] = { "-c", "kill -STOP $$", NULL };
	char *output = NULL;

	ck_assert_int_eq(sandbox_run(sandbox, "/bin/sh", words, &output), 7);
	ck_assert_str_eq(output, "out\nerr\n");
	free(output);
	struct process *process = sandbox_start(sandbox, "/bin/sh", sleepy);
	ck_assert_int_eq(process_wait(process, 50), PROCESS_TIME_IS_UP);
	ck_assert(process_is_alive(process));
	ck_assert_uint_gt(process_resident_kib(process), 0);
	process_signal(process, SIGKILL);
	ck_assert_int_eq(process_wait(process, WAIT_LIMIT_MS), 128 + SIGKILL);
	ck_assert(!process_is_alive(process));
	ck_assert_uint_eq(process_resident_kib(process), 0);
}
END_TEST

/* Sends one request and gives the status; 0: cut, or no whole head inside the limit. */
static unsigned int post(uint16_t port, const char *path, const char *key, const char *body)
{
	char request[4096];
	char answer[4096] = "";
	int handle = listener_connect(port);
	struct pollfd news = { .fd = handle, .events = POLLIN };
	uint64_t end_ms = clock_now_ms() + ANSWER_LIMIT_MS;
	size_t size = 0;
	ssize_t got = 1;

	ck_assert_int_ge(handle, 0);
	ck_assert(text_format(request, sizeof(request),
		"POST %s HTTP/1.1\r\nContent-Type: application/json\r\nidempotency-key: %s\r\n"
		"Content-Length: %zu\r\n\r\n%s",
		path, key, strlen(body), body));
	ck_assert_int_eq(
		send(handle, request, strlen(request), MSG_NOSIGNAL), (ssize_t)strlen(request));
	while (got > 0 && strstr(answer, "\r\n\r\n") == NULL && clock_now_ms() < end_ms &&
		poll(&news, 1, ANSWER_LIMIT_MS) > 0) {
		got = recv(handle, answer + size, sizeof(answer) - 1 - size, 0);
		size += got > 0 ? (size_t)got : 0;
	}
	(void)close(handle);
	if (strstr(answer, "\r\n\r\n") == NULL)
		return 0;
	return (unsigned int)strtoul(answer + strlen("HTTP/1.1"), NULL, 10);
}

static unsigned int restore(uint16_t port, const char *key, const char *sku_id)
{
	char body[512];

	(void)text_format(body, sizeof(body),
		"{\"idempotency_key\":\"%s\",\"order_no\":\"A1\",\"sku_id\":\"%s\",\"quantity\":2}",
		key, sku_id);
	return post(port, "/v1/stock/restores", key, body);
}

static uint16_t port_of(const struct http_stub *stub)
{
	char url[HTTP_STUB_URL_SIZE];

	http_stub_format_url(stub, url);
	return (uint16_t)strtoul(strrchr(url, ':') + 1, NULL, 10);
}

START_TEST(the_stub_applies_each_key_once)
{
	struct http_stub *stub = sandbox_stub(sandbox);
	struct http_stub_key key;

	ck_assert_uint_eq(restore(port_of(stub), "restore:A1:1", "SKU-1"), 200);
	ck_assert_uint_eq(restore(port_of(stub), "restore:A1:1", "SKU-1"), 200);
	ck_assert_uint_eq(restore(port_of(stub), "restore:A1:2", "SKU-2"), 200);
	ck_assert(http_stub_find(stub, "restore:A1:1", &key));
	ck_assert_uint_eq(key.calls, 2);
	ck_assert_uint_eq(key.effects, 1);
	ck_assert(!key.has_changed);
	ck_assert_uint_eq(http_stub_sum_effects(stub, "SKU-1"), 2);
	ck_assert_uint_eq(http_stub_sum_effects(stub, ""), 4);
	ck_assert_uint_eq(http_stub_count_keys(stub), 2);
	ck_assert_uint_eq(http_stub_count_calls(stub), 3);
	ck_assert_uint_eq(http_stub_most_calls(stub), 2);
	ck_assert_uint_eq(http_stub_count_strange(stub, NULL), 0);
	ck_assert(!http_stub_find(stub, "restore:A1:3", &key));
}
END_TEST

START_TEST(the_stub_notices_what_nobody_should_send)
{
	struct http_stub *stub = sandbox_stub(sandbox);
	char last[HTTP_STUB_TEXT_SIZE];

	ck_assert_uint_eq(post(port_of(stub), "/v1/stock/other", "k", "{}"), 404);
	ck_assert_uint_eq(post(port_of(stub), "/v1/stock/restores", "k", "{}"), 400);
	ck_assert_uint_eq(restore(port_of(stub), "k", "SKU-1"), 200);
	ck_assert_uint_eq(restore(port_of(stub), "k", "SKU-2"), 200);
	ck_assert_uint_eq(http_stub_count_strange(stub, last), 3);
	ck_assert_uint_eq(http_stub_count_changed(stub), 1);
	http_stub_accept_path(stub, "/alerts");
	ck_assert_uint_eq(post(port_of(stub), "/alerts", "k", "hello"), 200);
	char *body = malloc(HTTP_STUB_BODY_SIZE);
	ck_assert(http_stub_get_body(stub, 0, body));
	ck_assert_str_eq(body, "hello");
	free(body);
}
END_TEST

START_TEST(the_stub_lies_on_request)
{
	static const struct http_stub_rule rules[] = {
		{ .sku_id = "BUSY", .mode = HTTP_STUB_STATUS, .status = 503, .times = 1 },
		{ .sku_id = "CUT", .mode = HTTP_STUB_CUT },
		{ .sku_id = "LOST", .mode = HTTP_STUB_ANSWER_LOST },
		{ .sku_id = "HANG", .mode = HTTP_STUB_HANG },
		{ .sku_id = "DRIP", .mode = HTTP_STUB_TRICKLE },
		{ .sku_id = "AWAY", .mode = HTTP_STUB_REDIRECT, .text = "http://127.0.0.1:1/" },
	};
	struct http_stub *stub = sandbox_stub(sandbox);
	uint16_t port = port_of(stub);

	for (size_t i = 0; i < ARRAY_LENGTH(rules); i++)
		http_stub_set_rule(stub, &rules[i]);
	ck_assert_uint_eq(restore(port, "1", "BUSY"), 503);
	ck_assert_uint_eq(restore(port, "1", "BUSY"), 200);
	ck_assert_uint_eq(restore(port, "2", "CUT"), 0);
	ck_assert_uint_eq(http_stub_count_effects(stub), 1);
	ck_assert_uint_eq(restore(port, "3", "LOST"), 0);
	ck_assert_uint_eq(http_stub_count_effects(stub), 2);
	ck_assert_uint_eq(restore(port, "4", "HANG"), 0);
	ck_assert_uint_eq(restore(port, "5", "DRIP"), 0);
	ck_assert_uint_eq(restore(port, "6", "AWAY"), 302);
}
END_TEST

START_TEST(the_stub_gets_well_again)
{
	static const struct http_stub_rule cut = { .sku_id = "", .mode = HTTP_STUB_CUT };
	struct http_stub *stub = sandbox_stub(sandbox);
	uint16_t port = port_of(stub);

	http_stub_set_rule(stub, &cut);
	ck_assert_uint_eq(restore(port, "1", "SKU-1"), 0);
	http_stub_drop_rules(stub);
	ck_assert_uint_eq(restore(port, "1", "SKU-1"), 200);
	http_stub_refuse(stub, true);
	ck_assert_int_lt(listener_connect(port), 0);
	http_stub_refuse(stub, false);
	ck_assert_uint_eq(restore(port, "2", "SKU-1"), 200);
}
END_TEST

START_TEST(the_stub_answers_each_item_of_a_batch)
{
	static const struct http_stub_rule bad = {
		.sku_id = "BAD", .mode = HTTP_STUB_CODE, .code = 9
	};
	static const char body[] = "{\"restores\":["
				   "{\"idempotency_key\":\"a\",\"order_no\":\"A1\","
				   "\"sku_id\":\"GOOD\",\"quantity\":1},"
				   "{\"idempotency_key\":\"b\",\"order_no\":\"A1\","
				   "\"sku_id\":\"BAD\",\"quantity\":3}]}";
	struct http_stub *stub = sandbox_stub(sandbox);
	struct http_stub_key key;

	http_stub_set_rule(stub, &bad);
	ck_assert_uint_eq(post(port_of(stub), "/v1/stock/restores", "any", body), 200);
	ck_assert_uint_eq(http_stub_count_calls(stub), 1);
	ck_assert(http_stub_find(stub, "a", &key) && key.effects == 1);
	ck_assert(http_stub_find(stub, "b", &key) && key.effects == 0);
	ck_assert_uint_eq(http_stub_count_strange(stub, NULL), 0);
}
END_TEST

START_TEST(the_proxy_cuts_and_refuses)
{
	struct http_stub *stub = sandbox_stub(sandbox);
	struct proxy *proxy = NULL;

	proxy_create(port_of(stub), &proxy);
	ck_assert_uint_eq(restore(proxy_port(proxy), "1", "SKU-1"), 200);
	proxy_cut_at(proxy, "restore:A1:9", PROXY_BEFORE, 1);
	ck_assert_uint_eq(restore(proxy_port(proxy), "restore:A1:9", "SKU-1"), 0);
	ck_assert_uint_eq(http_stub_count_calls(stub), 1);
	proxy_cut_at(proxy, "restore:A1:9", PROXY_AFTER, 1);
	ck_assert_uint_eq(restore(proxy_port(proxy), "restore:A1:9", "SKU-1"), 0);
	ck_assert_uint_eq(http_stub_count_calls(stub), 2);
	ck_assert_uint_eq(restore(proxy_port(proxy), "restore:A1:9", "SKU-1"), 200);
	proxy_cut_after(proxy, 20);
	ck_assert_uint_eq(restore(proxy_port(proxy), "2", "SKU-1"), 0);
	ck_assert_uint_eq(proxy_count_cuts(proxy), 3);
	proxy_refuse(proxy, true);
	ck_assert_int_lt(listener_connect(proxy_port(proxy)), 0);
	proxy_refuse(proxy, false);
	ck_assert_uint_eq(restore(proxy_port(proxy), "2", "SKU-1"), 200);
	proxy_destroy(&proxy);
}
END_TEST

START_TEST(the_proxy_stands_between_a_program_and_its_server)
{
	static const char *const words[] = { "status", NULL };
	struct proxy *proxy = sandbox_proxy_mysql(sandbox);

	(void)sandbox_run(sandbox, "lapsectl", words, NULL);
	ck_assert_uint_ge(proxy_count_lines(proxy), 1);
	proxy_refuse(proxy, true);
	ck_assert_int_ne(sandbox_run(sandbox, "lapsectl", words, NULL), 0);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		a_sandbox_has_a_schema_of_its_own,
		orders_come_with_items_and_events,
		a_message_is_published_and_taken,
		a_process_tells_how_it_ended,
		the_stub_applies_each_key_once,
		the_stub_notices_what_nobody_should_send,
		the_stub_lies_on_request,
		the_stub_gets_well_again,
		the_stub_answers_each_item_of_a_batch,
		the_proxy_cuts_and_refuses,
		the_proxy_stands_between_a_program_and_its_server,
	};
	const struct runner_fixture fixture = { set_up, tear_down };

	sandbox_need_servers();
	return runner_run_with("support", &fixture, tests, ARRAY_LENGTH(tests));
}
