/* httpd: an answer that is made while it is sent arrives whole, or is seen to be broken. */
#include <string.h>

#include "common/base/clock.h"
#include "common/base/compiler.h"
#include "common/base/text.h"
#include "common/io/httpd.h"
#include "tests/support/httpd_client.h"
#include "tests/support/runner.h"

enum {
	PIECES = 20,
	TIME_LIMIT_MS = 400,
	PAUSE_MS = 50, /* all pieces take longer than the limit */
};

static struct httpd *httpd;
static int pieces_read;
static int destroyed;
static int broken_at; /* 0: never */
static uint64_t pause_ms;

static long read_piece(void *context, char *bytes_out, size_t size)
{
	ck_assert_ptr_eq(context, &destroyed);
	ck_assert_uint_gt(size, 16);
	clock_wait_ms(pause_ms);
	if (pieces_read == PIECES)
		return 0;
	if (++pieces_read == broken_at)
		return HTTPD_SOURCE_BROKEN;
	return (long)text_clip(bytes_out, size, "<piece>", 7);
}

static void destroy(void *context)
{
	(void)context;
	destroyed++;
}

static void handle(void *context, const struct httpd_request *request, struct httpd_answer *answer)
{
	(void)context;
	(void)request;
	answer->status = 200;
	answer->source = (struct httpd_source){ read_piece, destroy, &destroyed };
}

static const struct httpd_route routes[] = {
	{ "GET", "/stream", handle },
	{ NULL, NULL, NULL },
};

static const struct httpd_settings server = { .address = "127.0.0.1:0",
	.routes = routes,
	.body_max = 100,
	.connection_max = 16,
	.time_limit_ms = TIME_LIMIT_MS };

static void set_up(void)
{
	struct error error = { 0 };

	pieces_read = 0;
	destroyed = 0;
	broken_at = 0;
	pause_ms = 0;
	ck_assert_msg(httpd_create(&server, &httpd, &error) == RESULT_OK, "%s", error.text);
}

static void tear_down(void)
{
	httpd_destroy(&httpd);
}

static int count_pieces(const char *answer)
{
	int count = 0;

	for (const char *place = answer; (place = strstr(place, "<piece>")) != NULL; place++)
		count++;
	return count;
}

START_TEST(all_pieces_arrive_and_the_end_is_told)
{
	struct httpd_client client;

	httpd_client_ask(
		&client, httpd, "GET /stream HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
	ck_assert_ptr_nonnull(strstr(client.answer, "Transfer-Encoding: chunked"));
	ck_assert_int_eq(count_pieces(client.answer), PIECES);
	ck_assert_ptr_nonnull(strstr(client.answer, "\r\n0\r\n\r\n"));
	ck_assert(!client.is_reset);
	ck_assert_int_eq(destroyed, 1);
}
END_TEST

START_TEST(an_old_client_gets_them_without_chunks)
{
	struct httpd_client client;

	httpd_client_ask(&client, httpd, "GET /stream HTTP/1.0\r\nHost: x\r\n\r\n");
	ck_assert_ptr_null(strstr(client.answer, "chunked"));
	ck_assert_int_eq(count_pieces(client.answer), PIECES);
	ck_assert(!client.is_reset);
}
END_TEST

/* Without a length the end of the stream would look like the end of the answer. */
START_TEST(a_broken_one_is_never_taken_for_whole)
{
	static const char *const requests[] = { "GET /stream HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /stream HTTP/1.0\r\nHost: x\r\n\r\n" };

	broken_at = PIECES / 2;
	for (size_t i = 0; i < ARRAY_LENGTH(requests); i++) {
		struct httpd_client client;

		pieces_read = 0;
		httpd_client_ask(&client, httpd, requests[i]);
		ck_assert_ptr_null(strstr(client.answer, "\r\n0\r\n\r\n"));
		ck_assert(client.is_reset);
		ck_assert_int_eq(destroyed, (int)i + 1);
	}
}
END_TEST

START_TEST(who_takes_pieces_is_not_slow)
{
	struct httpd_client client;

	pause_ms = PAUSE_MS;
	httpd_client_ask(
		&client, httpd, "GET /stream HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
	ck_assert_int_eq(count_pieces(client.answer), PIECES);
	ck_assert_ptr_nonnull(strstr(client.answer, "\r\n0\r\n\r\n"));
}
END_TEST

START_TEST(a_client_that_has_left_ends_it)
{
	struct httpd_client client;

	httpd_client_open(&client, httpd);
	httpd_client_send(&client, "GET /stream HTTP/1.1\r\nHost: x\r\n\r\n", 33);
	httpd_client_close(&client);
	for (int i = 0; i < PIECES && destroyed == 0; i++)
		httpd_step(httpd, PAUSE_MS);
	ck_assert_int_eq(destroyed, 1);
}
END_TEST

int main(void)
{
	static const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = {
		all_pieces_arrive_and_the_end_is_told,
		an_old_client_gets_them_without_chunks,
		a_broken_one_is_never_taken_for_whole,
		who_takes_pieces_is_not_slow,
		a_client_that_has_left_ends_it,
	};

	return runner_run_with("httpd_stream", &fixture, tests, ARRAY_LENGTH(tests));
}
