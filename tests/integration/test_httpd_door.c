/* httpd: names inside a path, refusals in the owner's words, leaving without losing a request. */
#include <string.h>
#include <unistd.h>

#include "common/base/compiler.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/httpd.h"
#include "tests/support/httpd_client.h"
#include "tests/support/listener.h"
#include "tests/support/runner.h"

static struct httpd *httpd;
static char taken[256]; /* by which handler, and what */

static void answer_text(struct httpd_answer *answer, const char *text)
{
	answer->body_adopt = memory_copy_text(text);
	answer->body_size = strlen(text);
}

static void handle_part(
	void *context, const struct httpd_request *request, struct httpd_answer *answer)
{
	(void)context;
	(void)text_format(taken, sizeof(taken), "part %s", request->path);
	answer->status = 200;
	answer_text(answer, taken);
}

static void handle_all(
	void *context, const struct httpd_request *request, struct httpd_answer *answer)
{
	(void)context;
	(void)text_format(taken, sizeof(taken), "all %s", request->path);
	answer->status = 200;
	answer_text(answer, taken);
	answer->delay_ms = text_equals(request->path, "/items/slow") ? 300 : 0;
}

static void refuse(void *context, const struct httpd_request *request, struct httpd_answer *answer)
{
	char text[64];

	ck_assert_ptr_eq(context, taken);
	(void)text_format(text, sizeof(text), "mine: %u %s", answer->status, request->method);
	answer_text(answer, text);
	answer->content_type = "text/mine";
}

static const struct httpd_route routes[] = {
	{ "POST", "/items/*/part", handle_part },
	{ "PUT", "/items/*/part", handle_part },
	{ "GET", "/items/*", handle_all },
	{ NULL, NULL, NULL },
};

static const struct httpd_settings server = { .address = "127.0.0.1:0",
	.routes = routes,
	.refuse = refuse,
	.context = taken,
	.body_max = 100,
	.connection_max = 16,
	.time_limit_ms = 1000 };

static void set_up(void)
{
	struct error error = { 0 };

	taken[0] = '\0';
	ck_assert_msg(httpd_create(&server, &httpd, &error) == RESULT_OK, "%s", error.text);
}

static void tear_down(void)
{
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

START_TEST(a_star_in_the_middle_stands_for_one_name)
{
	expect("POST /items/a/part" TAIL, "HTTP/1.1 200", "part /items/a/part");
	expect("PUT /items/a/part" TAIL, "HTTP/1.1 200", "part /items/a/part");
	expect("POST /items//part" TAIL, "HTTP/1.1 200", "part /items//part");
	expect("GET /items/a/b/part" TAIL, "HTTP/1.1 200", "all /items/a/b/part");
	expect("GET /items/a/parts" TAIL, "HTTP/1.1 200", "all /items/a/parts");
	expect("GET /items/a" TAIL, "HTTP/1.1 200", "all /items/a");
}
END_TEST

START_TEST(a_known_path_has_the_methods_of_the_first_one_that_fits)
{
	expect("GET /items/a/part" TAIL, "HTTP/1.1 405", "Allow: POST");
	expect("POST /items/a" TAIL, "HTTP/1.1 405", "Allow: GET");
}
END_TEST

START_TEST(the_owner_words_every_refusal)
{
	expect("GET /nothing" TAIL, "HTTP/1.1 404", "mine: 404 GET");
	expect("DELETE /items/a" TAIL, "HTTP/1.1 405", "mine: 405 DELETE");
	expect("DELETE /items/a" TAIL, "HTTP/1.1 405", "text/mine");
	expect("POST /items/a/part HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
	       "Content-Length: 101\r\n\r\n",
		"HTTP/1.1 413", "mine: 413 POST");
	ck_assert_str_eq(taken, "");
}
END_TEST

START_TEST(behind_a_closed_door_the_requests_under_way_are_answered)
{
	static const char request[] = "GET /items/slow HTTP/1.1\r\nHost: x\r\n\r\n";
	struct httpd_client client;

	httpd_client_open(&client, httpd);
	httpd_client_send(&client, request, strlen(request));
	while (httpd_count_under_way(httpd) == 0)
		httpd_client_turn(&client);
	httpd_close_door(httpd);
	httpd_close_door(httpd);
	httpd_client_serve(&client, "all /items/slow");
	httpd_client_serve(&client, NULL);
	ck_assert_uint_eq(httpd_count_under_way(httpd), 0);
	httpd_client_close(&client);
}
END_TEST

START_TEST(a_kept_connection_ends_with_its_next_answer_when_the_door_is_closed)
{
	static const char request[] = "GET /items/a HTTP/1.1\r\nHost: x\r\n\r\n";
	struct httpd_client client;

	httpd_client_open(&client, httpd);
	httpd_client_send(&client, request, strlen(request));
	httpd_client_serve(&client, "all /items/a");
	httpd_close_door(httpd);
	httpd_client_send(&client, request, strlen(request));
	httpd_client_serve(&client, "Connection: close");
	httpd_client_serve(&client, NULL);
	httpd_client_close(&client);
}
END_TEST

START_TEST(nobody_new_is_let_in_by_a_closed_door)
{
	uint16_t port = httpd_port(httpd);

	httpd_step(httpd, 0);
	httpd_close_door(httpd);
	ck_assert_int_eq(listener_connect(port), -1);
	httpd_step(httpd, 0);
	ck_assert_uint_eq(httpd_port(httpd), port);
}
END_TEST

int main(void)
{
	static const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = {
		a_star_in_the_middle_stands_for_one_name,
		a_known_path_has_the_methods_of_the_first_one_that_fits,
		the_owner_words_every_refusal,
		behind_a_closed_door_the_requests_under_way_are_answered,
		a_kept_connection_ends_with_its_next_answer_when_the_door_is_closed,
		nobody_new_is_let_in_by_a_closed_door,
	};

	return runner_run_with("httpd_door", &fixture, tests, ARRAY_LENGTH(tests));
}
