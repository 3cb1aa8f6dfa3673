/*
 * httpd on a loopback port: routes, bodies and broken requests.  Server and clients take turns on
 * one thread.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/compiler.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/httpd.h"
#include "tests/support/httpd_client.h"
#include "tests/support/runner.h"

enum {
	BODY_MAX = 10000,
	CONNECTION_MAX = 16,
};

static struct httpd *httpd;
static unsigned int handled;

static void answer_text(struct httpd_answer *answer, const char *text)
{
	answer->status = 200;
	answer->body_adopt = memory_copy_text(text);
	answer->body_size = strlen(text);
}

static void handle_echo(
	void *context, const struct httpd_request *request, struct httpd_answer *answer)
{
	(void)context;
	handled++;
	answer->status = 200;
	answer->content_type = "application/octet-stream";
	answer->body_adopt = memory_copy_bytes(request->body, request->body_size);
	answer->body_size = request->body_size;
}

/* What the request was, in words. */
static void handle_describe(
	void *context, const struct httpd_request *request, struct httpd_answer *answer)
{
	const char *query = httpd_query(request, "q");
	const char *header = httpd_header(request, "X-Test");
	char text[512];

	(void)context;
	handled++;
	(void)text_format(text, sizeof(text), "%s %s q=%s x=%s", request->method, request->path,
		query == NULL ? "none" : query, header == NULL ? "none" : header);
	answer_text(answer, text);
	httpd_add_header(answer, "Retry-After", "7");
}

static void handle_dead(
	void *context, const struct httpd_request *request, struct httpd_answer *answer)
{
	(void)context;
	(void)request;
	handled++;
	answer_text(answer, "never seen");
	answer->drop_connection = true;
}

static void add_pair(void *context, const char *name, const char *value)
{
	char *text = context;
	size_t size = strlen(text);

	(void)text_format(text + size, 256 - size, "[%s=%s]", name, value);
}

/* Who asks, and every pair of the query in its order. */
static void handle_pairs(
	void *context, const struct httpd_request *request, struct httpd_answer *answer)
{
	char peer[HTTPD_PEER_SIZE];
	char text[256] = "";

	(void)context;
	httpd_peer(request, peer);
	(void)text_copy(text, sizeof(text), peer);
	httpd_each_query(request, add_pair, text);
	answer_text(answer, text);
}

static const struct httpd_constant constants[] = {
	{ "X-Always", "here" },
	{ NULL, NULL },
};

static const struct httpd_route routes[] = {
	{ "GET", "/pairs", handle_pairs },
	{ "POST", "/echo", handle_echo },
	{ "GET", "/describe", handle_describe },
	{ "GET", "/items/*", handle_describe },
	{ "GET", "/dead", handle_dead },
	{ NULL, NULL, NULL },
};

static const struct httpd_settings server = { .address = "127.0.0.1:0",
	.constants = constants,
	.routes = routes,
	.body_max = BODY_MAX,
	.connection_max = CONNECTION_MAX,
	.time_limit_ms = 1000 };

static void set_up(void)
{
	struct error error = { 0 };

	handled = 0;
	ck_assert_msg(httpd_create(&server, &httpd, &error) == RESULT_OK, "%s", error.text);
}

static void tear_down(void)
{
	httpd_destroy(&httpd);
	httpd_destroy(&httpd);
}

static void expect(const char *request, const char *status, const char *words)
{
	struct httpd_client client;

	httpd_client_ask(&client, httpd, request);
	ck_assert_msg(strncmp(client.answer, status, strlen(status)) == 0 &&
			      strstr(client.answer, words) != NULL,
		"\"%s\" gives \"%s\", not %s %s", request, client.answer, status, words);
}

#define TAIL " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"

START_TEST(each_path_and_method_has_its_answer)
{
	expect("GET /describe" TAIL, "HTTP/1.1 200", "GET /describe q=none x=none");
	expect("GET /nothing" TAIL, "HTTP/1.1 404", "not found");
	expect("GET /describe/" TAIL, "HTTP/1.1 404", "not found");
	expect("POST /describe" TAIL, "HTTP/1.1 405", "Allow: GET");
	expect("GET /items/a/b" TAIL, "HTTP/1.1 200", "GET /items/a/b ");
	expect("GET /items/" TAIL, "HTTP/1.1 200", "GET /items/ ");
	expect("GET /items" TAIL, "HTTP/1.1 404", "not found");
}
END_TEST

START_TEST(head_is_get_without_a_body)
{
	struct httpd_client client;

	httpd_client_ask(&client, httpd, "HEAD /describe" TAIL);
	ck_assert_int_eq(strncmp(client.answer, "HTTP/1.1 200", 12), 0);
	ck_assert_ptr_nonnull(strstr(client.answer, "Content-Length: 28"));
	ck_assert_str_eq(strstr(client.answer, "\r\n\r\n"), "\r\n\r\n");
}
END_TEST

START_TEST(query_and_headers_reach_the_handler)
{
	expect("GET /describe?q=a%20b&z=1" TAIL, "HTTP/1.1 200", "q=a b");
	expect("GET /describe?q" TAIL, "HTTP/1.1 200", "q= x");
	expect("GET /describe HTTP/1.1\r\nHost: x\r\nX-TEST: yes\r\nConnection: close\r\n\r\n",
		"HTTP/1.1 200", "x=yes");
	expect("GET /describe" TAIL, "HTTP/1.1 200", "Retry-After: 7");
	expect("GET /describe" TAIL, "HTTP/1.1 200", "Content-Type: text/plain; charset=utf-8");
}
END_TEST

START_TEST(every_pair_of_the_query_and_the_peer_are_told)
{
	expect("GET /pairs?a=1&b&a=%3C2&c=x+y" TAIL, "HTTP/1.1 200",
		"127.0.0.1[a=1][b=][a=<2][c=x y]");
}
END_TEST

START_TEST(constant_headers_stand_in_every_answer)
{
	expect("GET /describe" TAIL, "HTTP/1.1 200", "X-Always: here");
	expect("GET /nothing" TAIL, "HTTP/1.1 404", "X-Always: here");
	expect("POST /describe" TAIL, "HTTP/1.1 405", "X-Always: here");
}
END_TEST

START_TEST(an_encoded_nul_does_not_end_a_path)
{
	expect("GET /describe%00/x" TAIL, "HTTP/1.1 404", "not found");
	expect("GET /items/a%00b" TAIL, "HTTP/1.1 200", "/items/a?b");
	expect("GET /items/..%2Fdescribe" TAIL, "HTTP/1.1 200", "/items/../describe");
}
END_TEST

static void post_body(size_t size, const char *head, struct httpd_client *client)
{
	static const char line[] = "POST /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
				   "Content-Length: %zu\r\n%s\r\n";
	char text[512];
	char *body = memory_allocate(size);

	memset(body, 'b', size);
	(void)text_format(text, sizeof(text), line, size, head);
	httpd_client_open(client, httpd);
	httpd_client_send(client, text, strlen(text));
	httpd_client_send(client, body, size);
	httpd_client_serve(client, NULL);
	httpd_client_close(client);
	free(body);
}

START_TEST(a_body_up_to_the_limit_is_taken_whole)
{
	struct httpd_client client;

	post_body(BODY_MAX, "", &client);
	const char *body = strstr(client.answer, "\r\n\r\n");
	ck_assert_ptr_nonnull(body);
	ck_assert_uint_eq(strspn(body + 4, "b"), BODY_MAX);
	ck_assert_ptr_nonnull(strstr(client.answer, "application/octet-stream"));
}
END_TEST

START_TEST(a_larger_body_is_refused_before_it_is_read)
{
	struct httpd_client client;

	post_body(BODY_MAX + 1, "", &client);
	ck_assert_int_eq(strncmp(client.answer, "HTTP/1.1 413", 12), 0);
	ck_assert_uint_eq(handled, 0);
}
END_TEST

START_TEST(a_larger_body_in_pieces_is_refused_too)
{
	static const char head[] = "POST /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
				   "Transfer-Encoding: chunked\r\n\r\n";
	char piece[4096];
	struct httpd_client client;

	memset(piece, 'c', sizeof(piece));
	httpd_client_open(&client, httpd);
	httpd_client_send(&client, head, strlen(head));
	for (int i = 0; i < 4; i++) {
		httpd_client_send(&client, "1000\r\n", strlen("1000\r\n"));
		httpd_client_send(&client, piece, sizeof(piece));
		httpd_client_send(&client, "\r\n", strlen("\r\n"));
		httpd_client_turn(&client);
	}
	httpd_client_send(&client, "0\r\n\r\n", 5);
	httpd_client_serve(&client, NULL);
	httpd_client_close(&client);
	ck_assert_int_eq(strncmp(client.answer, "HTTP/1.1 413", 12), 0);
	ck_assert_uint_eq(handled, 0);
}
END_TEST

START_TEST(two_requests_on_one_connection_are_answered)
{
	static const char first[] = "GET /items/1 HTTP/1.1\r\nHost: x\r\n\r\n";
	struct httpd_client client;

	httpd_client_open(&client, httpd);
	httpd_client_send(&client, first, strlen(first));
	httpd_client_serve(&client, "/items/1");
	httpd_client_send(&client, "GET /items/2" TAIL, strlen("GET /items/2" TAIL));
	httpd_client_serve(&client, NULL);
	ck_assert_ptr_nonnull(strstr(client.answer, "/items/2"));
	httpd_client_close(&client);
}
END_TEST

START_TEST(nonsense_ends_only_its_own_connection)
{
	static const char *const requests[] = {
		"\r\n\r\n\r\n\r\n",
		"GET\r\n\r\n",
		"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
		"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
		"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n",
		"POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
		"GET /describe HTTP/9.9\r\n\r\n",
	};
	struct httpd_client client;

	for (size_t i = 0; i < ARRAY_LENGTH(requests); i++)
		httpd_client_ask(&client, httpd, requests[i]);
	expect("GET /describe" TAIL, "HTTP/1.1 200", "GET /describe");
}
END_TEST

#define POST_ECHO "POST /echo HTTP/1.1\r\nHost: x\r\n"
#define SMUGGLED  "GET /items/9 HTTP/1.1\r\nHost: x\r\n\r\n"

/* A proxy may have taken what follows the body for a part of it, or the other way round. */
START_TEST(a_head_that_can_be_read_in_two_ways_is_refused)
{
	static const char *const requests[] = {
		POST_ECHO "Content-Length: 0\r\nContent-Length: 5\r\n\r\n" SMUGGLED,
		POST_ECHO "Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc" SMUGGLED,
		POST_ECHO
		"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" SMUGGLED,
		POST_ECHO
		"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
		POST_ECHO "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" SMUGGLED,
		POST_ECHO "Host: y\r\nContent-Length: 0\r\n\r\n" SMUGGLED,
	};
	struct httpd_client client;

	for (size_t i = 0; i < ARRAY_LENGTH(requests); i++) {
		httpd_client_ask(&client, httpd, requests[i]);
		ck_assert_msg(strncmp(client.answer, "HTTP/1.1 400", 12) == 0, "%zu: %s", i,
			client.answer);
		ck_assert_msg(strstr(client.answer, "/items/9") == NULL, "%zu", i);
	}
	ck_assert_uint_eq(handled, 0);
}
END_TEST

START_TEST(a_head_without_end_is_refused)
{
	static const char line[] =
		"X-Filler: abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz\r\n";
	struct httpd_client client;

	httpd_client_open(&client, httpd);
	httpd_client_send(
		&client, "GET /describe HTTP/1.1\r\n", strlen("GET /describe HTTP/1.1\r\n"));
	for (int i = 0; i < 2000 && !client.is_closed; i++) {
		httpd_client_send(&client, line, strlen(line));
		httpd_client_turn(&client);
	}
	httpd_client_serve(&client, NULL);
	httpd_client_close(&client);
	ck_assert_uint_eq(handled, 0);
}
END_TEST

START_TEST(a_dropped_connection_carries_no_answer)
{
	struct httpd_client client;

	httpd_client_ask(&client, httpd, "GET /dead" TAIL);
	ck_assert_uint_eq(client.size, 0);
	ck_assert_uint_eq(handled, 1);
}
END_TEST

START_TEST(an_address_that_cannot_be_bound_is_named)
{
	static const char *const addresses[] = { "", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x",
		"127.0.0.1:65536", "somewhere:80", "[::1:80", "192.0.2.1:0" };
	struct httpd_settings other = server;
	struct httpd *second = NULL;
	struct error error = { 0 };
	char taken[32];

	for (size_t i = 0; i < ARRAY_LENGTH(addresses); i++) {
		other.address = addresses[i];
		ck_assert_int_eq(httpd_create(&other, &second, &error), RESULT_PERMANENT);
		ck_assert_ptr_null(second);
		ck_assert_ptr_nonnull(strstr(error.text, addresses[i]));
	}
	(void)text_format(taken, sizeof(taken), "127.0.0.1:%u", httpd_port(httpd));
	other.address = taken;
	ck_assert_int_eq(httpd_create(&other, &second, &error), RESULT_PERMANENT);
	ck_assert_ptr_nonnull(strstr(error.text, "in use"));
}
END_TEST

int main(void)
{
	static const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = {
		each_path_and_method_has_its_answer,
		head_is_get_without_a_body,
		query_and_headers_reach_the_handler,
		every_pair_of_the_query_and_the_peer_are_told,
		constant_headers_stand_in_every_answer,
		an_encoded_nul_does_not_end_a_path,
		a_body_up_to_the_limit_is_taken_whole,
		a_larger_body_is_refused_before_it_is_read,
		a_larger_body_in_pieces_is_refused_too,
		two_requests_on_one_connection_are_answered,
		nonsense_ends_only_its_own_connection,
		a_head_that_can_be_read_in_two_ways_is_refused,
		a_head_without_end_is_refused,
		a_dropped_connection_carries_no_answer,
		an_address_that_cannot_be_bound_is_named,
	};

	return runner_run_with("httpd", &fixture, tests, ARRAY_LENGTH(tests));
}
