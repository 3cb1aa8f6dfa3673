/* http: whatever a server does, each call ends in time, within its size, sent once at most. */
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/compiler.h"
#include "common/base/text.h"
#include "common/io/http.h"
#include "tests/support/http_stub.h"
#include "tests/support/listener.h"
#include "tests/support/runner.h"

enum {
	LIMIT_MS = 1000,
	SLACK_MS = 1000,
	PLACES = 8,
	REQUEST_SIZE = 4096,
	SERVER_WAIT_MS = 500
};

static struct http *http;
static struct http_stub *stub;
static char url[HTTP_STUB_URL_SIZE + 32];

static void set_up(void)
{
	char base[HTTP_STUB_URL_SIZE];

	http_create(PLACES, LIMIT_MS, &http);
	http_stub_create(&stub);
	http_stub_format_url(stub, base);
	(void)text_format(url, sizeof(url), "%s/v1/stock/restores", base);
}

static void tear_down(void)
{
	http_destroy(&http);
	http_destroy(&http);
	http_stub_destroy(&stub);
}

static void start(const char *address, const char *body, void *context)
{
	static const char *const headers[] = { "Content-Type: application/json",
		"Idempotency-Key: k", NULL };

	http_start(http, &(struct http_request){ .url = address,
				 .headers = headers,
				 .body = body,
				 .body_size = body == NULL ? 0 : strlen(body),
				 .time_limit_ms = LIMIT_MS,
				 .context = context });
}

static void take(struct http_answer *answer)
{
	uint64_t end_ms = clock_now_ms() + 10000;

	while (!http_take_answer(http, answer)) {
		ck_assert_uint_lt(clock_now_ms(), end_ms);
		http_work(http, 100);
	}
}

static const char restore[] = "{\"idempotency_key\":\"k\",\"order_no\":\"A1\","
			      "\"sku_id\":\"SKU-1\",\"quantity\":2}";

static void call(struct http_answer *answer)
{
	start(url, restore, NULL);
	take(answer);
}

START_TEST(an_answer_comes_back_with_its_context)
{
	struct http_answer answer;
	int context;

	start(url, restore, &context);
	ck_assert_uint_eq(http_count_running(http), 1);
	ck_assert_uint_eq(http_count_free(http), PLACES - 1);
	take(&answer);
	ck_assert_ptr_eq(answer.context, &context);
	ck_assert_int_eq(answer.failure, HTTP_FAILURE_NONE);
	ck_assert_int_eq(answer.status, 200);
	ck_assert(strstr(answer.body, "\"code\":0") != NULL);
	ck_assert_uint_eq(answer.body_size, strlen(answer.body));
	ck_assert_uint_eq(answer.retry_after_ms, 0);
	ck_assert_uint_eq(http_count_free(http), PLACES);
	ck_assert(!http_take_answer(http, &answer));
	ck_assert_uint_eq(http_stub_count_effects(stub), 1);
}
END_TEST

START_TEST(a_place_serves_one_call_after_the_other)
{
	struct http_answer answer;

	for (int i = 0; i < 3 * PLACES; i++) {
		call(&answer);
		ck_assert_int_eq(answer.status, 200);
	}
	for (int i = 0; i < PLACES; i++)
		start(url, restore, NULL);
	for (int i = 0; i < PLACES; i++) {
		take(&answer);
		ck_assert_int_eq(answer.status, 200);
	}
	ck_assert_uint_eq(http_stub_count_changed(stub), 0);
}
END_TEST

static const struct bad_case {
	struct http_stub_rule rule;
	enum http_failure failure;
	long status;
} bad_cases[] = {
	{ { .sku_id = "", .mode = HTTP_STUB_HANG }, HTTP_FAILURE_TIME, 0 },
	{ { .sku_id = "", .mode = HTTP_STUB_TRICKLE }, HTTP_FAILURE_TIME, 0 },
	{ { .sku_id = "", .mode = HTTP_STUB_ENDLESS }, HTTP_FAILURE_BROKEN, 0 },
	{ { .sku_id = "", .mode = HTTP_STUB_CUT }, HTTP_FAILURE_BROKEN, 0 },
	{ { .sku_id = "", .mode = HTTP_STUB_ANSWER_LOST }, HTTP_FAILURE_BROKEN, 0 },
	{ { .sku_id = "", .mode = HTTP_STUB_STATUS, .status = 503 }, HTTP_FAILURE_NONE, 503 },
	{ { .sku_id = "", .mode = HTTP_STUB_TEXT, .text = "no json" }, HTTP_FAILURE_NONE, 200 },
};

static void expect_bad(const struct bad_case *row)
{
	uint64_t start_ms = clock_now_ms();
	struct http_answer answer;

	http_stub_set_rule(stub, &row->rule);
	call(&answer);
	ck_assert_int_eq(answer.failure, row->failure);
	ck_assert_int_eq(answer.status, row->status);
	ck_assert_int_eq(answer.error[0] != '\0', row->failure != HTTP_FAILURE_NONE);
	ck_assert_uint_le(clock_now_ms() - start_ms, LIMIT_MS + SLACK_MS);
	ck_assert_uint_le(answer.body_size, HTTP_ANSWER_MAX);
	http_stub_drop_rules(stub);
	call(&answer);
	ck_assert_int_eq(answer.status, 200);
}

START_TEST(a_bad_answer_ends_its_call_in_time)
{
	for (size_t i = 0; i < ARRAY_LENGTH(bad_cases); i++)
		expect_bad(&bad_cases[i]);
}
END_TEST

START_TEST(a_redirect_is_not_followed)
{
	struct http_stub *other = NULL;
	char other_url[HTTP_STUB_URL_SIZE];
	struct http_answer answer;

	http_stub_create(&other);
	http_stub_format_url(other, other_url);
	http_stub_set_rule(
		stub, &(struct http_stub_rule){
			      .sku_id = "", .mode = HTTP_STUB_REDIRECT, .text = other_url });
	call(&answer);
	ck_assert_int_eq(answer.status, 302);
	ck_assert_uint_eq(http_stub_count_calls(other), 0);
	http_stub_destroy(&other);
}
END_TEST

START_TEST(retry_after_is_read)
{
	struct http_answer answer;

	http_stub_set_rule(stub, &(struct http_stub_rule){ .sku_id = "",
					 .mode = HTTP_STUB_STATUS,
					 .status = 429,
					 .retry_after_s = 7 });
	call(&answer);
	ck_assert_int_eq(answer.status, 429);
	ck_assert_uint_eq(answer.retry_after_ms, 7000);
}
END_TEST

START_TEST(a_refused_connection_is_no_connection)
{
	struct http_answer answer;

	http_stub_refuse(stub, true);
	call(&answer);
	ck_assert_int_eq(answer.failure, HTTP_FAILURE_CONNECT);
	start("http://name.invalid/", restore, NULL);
	take(&answer);
	ck_assert_int_eq(answer.failure, HTTP_FAILURE_CONNECT);
	start("https://127.0.0.1:1/", NULL, NULL);
	take(&answer);
	ck_assert_int_eq(answer.failure, HTTP_FAILURE_CONNECT);
	http_stub_refuse(stub, false);
	call(&answer);
	ck_assert_int_eq(answer.status, 200);
}
END_TEST

/* A server on one socket: answers the first request of a connection as told, and closes it at the
 * second one.  Counts requests. */
struct server {
	int listening;
	const char *first_answer;
	int requests;
};

static bool read_request(int connection)
{
	char request[REQUEST_SIZE];
	size_t size = 0;

	while (size < sizeof(request) - 1) {
		ssize_t got = recv(connection, request + size, sizeof(request) - 1 - size, 0);

		if (got <= 0)
			return false;
		size += (size_t)got;
		request[size] = '\0';
		if (strstr(request, "\r\n\r\n") != NULL && strstr(request, "}") != NULL)
			return true;
	}
	return false;
}

static void *serve(void *context)
{
	struct server *server = context;
	struct pollfd wait = { .fd = server->listening, .events = POLLIN };

	while (poll(&wait, 1, SERVER_WAIT_MS) == 1) {
		int connection = accept(server->listening, NULL, NULL);

		if (connection < 0)
			break;
		for (int i = 0; i < 2 && read_request(connection); i++) {
			server->requests++;
			if (i == 0)
				(void)send(connection, server->first_answer,
					strlen(server->first_answer), MSG_NOSIGNAL);
		}
		(void)close(connection);
	}
	return NULL;
}

static void with_server(struct server *server, uint16_t *port, pthread_t *thread)
{
	server->listening = listener_open(port);
	ck_assert_int_ge(server->listening, 0);
	ck_assert_int_eq(pthread_create(thread, NULL, serve, server), 0);
}

static void end_server(struct server *server, pthread_t thread)
{
	(void)pthread_join(thread, NULL);
	(void)close(server->listening);
}

START_TEST(a_request_is_never_sent_twice)
{
	struct server server = {
		.first_answer = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{\"code\":0}"
	};
	struct http_answer answer;
	char address[64];
	uint16_t port = 0;
	pthread_t thread;

	with_server(&server, &port, &thread);
	(void)text_format(address, sizeof(address), "http://127.0.0.1:%u/", port);
	start(address, restore, NULL);
	take(&answer);
	ck_assert_int_eq(answer.status, 200);
	/* The kept connection is cut under the second one; the library would try another. */
	start(address, restore, NULL);
	take(&answer);
	ck_assert_int_eq(answer.failure, HTTP_FAILURE_BROKEN);
	end_server(&server, thread);
	ck_assert_int_eq(server.requests, 2);
}
END_TEST

static const char *const broken_heads[] = {
	"SSH-2.0-OpenSSH_9.2\r\n",
	"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{\"co",
	"HTTP/9.9 0 \xff\r\n\r\n",
	"\r\n\r\n",
};

static void expect_broken(const char *head)
{
	struct server server = { .first_answer = head };
	struct http_answer answer;
	char address[64];
	uint16_t port = 0;
	pthread_t thread;

	with_server(&server, &port, &thread);
	(void)text_format(address, sizeof(address), "http://127.0.0.1:%u/", port);
	start(address, restore, NULL);
	take(&answer);
	ck_assert_int_ne(answer.failure, HTTP_FAILURE_NONE);
	http_destroy(&http);
	end_server(&server, thread);
	http_create(PLACES, LIMIT_MS, &http);
}

START_TEST(what_is_no_http_is_broken)
{
	for (size_t i = 0; i < ARRAY_LENGTH(broken_heads); i++)
		expect_broken(broken_heads[i]);
}
END_TEST

START_TEST(an_endless_head_is_broken)
{
	static char head[100000];
	struct server server = { .first_answer = head };
	struct http_answer answer;
	char address[64];
	uint16_t port = 0;
	pthread_t thread;
	size_t used = 0;

	(void)text_format(head, sizeof(head), "HTTP/1.1 200 OK\r\n");
	for (used = strlen(head); used < sizeof(head) - 64; used = strlen(head))
		(void)text_format(head + used, sizeof(head) - used,
			"X-Header: 0123456789012345678901234567890123456789\r\n");
	with_server(&server, &port, &thread);
	(void)text_format(address, sizeof(address), "http://127.0.0.1:%u/", port);
	start(address, restore, NULL);
	take(&answer);
	ck_assert_int_eq(answer.failure, HTTP_FAILURE_BROKEN);
	http_destroy(&http);
	end_server(&server, thread);
}
END_TEST

START_TEST(calls_under_way_are_given_up_at_the_end)
{
	http_stub_set_rule(stub, &(struct http_stub_rule){ .sku_id = "", .mode = HTTP_STUB_HANG });
	for (int i = 0; i < PLACES; i++)
		start(url, restore, NULL);
	http_work(http, 50);
	http_destroy(&http);
	ck_assert_ptr_null(http);
}
END_TEST

START_TEST(only_http_addresses_are_addresses)
{
	static const char *const good[] = { "http://a", "https://a:1/x", "http://[::1]:8090",
		"http://a/x?token=y", "http://user:pw@a" };
	static const char *const bad[] = { "", "a", "ftp://a", "http://", "http:///x", "http://a b",
		"http://a/\n", "http://a/#x", "file:///etc/passwd", "http://a:0",
		"http://a:99999" };
	char target[HTTP_TARGET_SIZE];

	for (size_t i = 0; i < ARRAY_LENGTH(good); i++)
		ck_assert_msg(http_is_url(good[i]), "%s", good[i]);
	for (size_t i = 0; i < ARRAY_LENGTH(bad); i++)
		ck_assert_msg(!http_is_url(bad[i]), "%s", bad[i]);
	http_format_target("https://user:pw@stock/x", target, sizeof(target));
	ck_assert_str_eq(target, "stock:443");
	http_format_target("http://[::1]/x", target, sizeof(target));
	ck_assert_str_eq(target, "[::1]:80");
	http_format_target("nonsense", target, sizeof(target));
	ck_assert_str_eq(target, "");
}
END_TEST

int main(void)
{
	const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = {
		an_answer_comes_back_with_its_context,
		a_place_serves_one_call_after_the_other,
		a_bad_answer_ends_its_call_in_time,
		a_redirect_is_not_followed,
		retry_after_is_read,
		a_refused_connection_is_no_connection,
		a_request_is_never_sent_twice,
		what_is_no_http_is_broken,
		an_endless_head_is_broken,
		calls_under_way_are_given_up_at_the_end,
		only_http_addresses_are_addresses,
	};

	return runner_run_with("http", &fixture, tests, ARRAY_LENGTH(tests));
}
