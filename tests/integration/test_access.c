/* The file of tokens and the rate of each caller; time moves only when the test says so. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/text.h"
#include "common/io/signature.h"
#include "gateway/access.h"
#include "gateway/respond.h"
#include "tests/support/fake_clock.h"
#include "tests/support/runner.h"
#include "tests/support/scratch.h"

enum {
	BURST = 4000,
	RATE_PER_SECOND = 2000,
	FILE_SIZE = 65536,
	TOKEN_MAX = 256,
};

static char path[PATH_MAX];
static char file[FILE_SIZE];
static struct access *access_list;
static struct httpd_answer answer;
static const char *authorization; /* of the request; NULL: none */

/* The request of these tests has one header. */
const char *httpd_header(const struct httpd_request *request, const char *name)
{
	(void)request;
	return strcasecmp(name, "Authorization") == 0 ? authorization : NULL;
}

static void add_line(const char *name, const char *token)
{
	char digest[SIGNATURE_HEX_SIZE];
	size_t size = strlen(file);

	signature_sha256_hex(digest, token, strlen(token));
	(void)text_format(file + size, sizeof(file) - size, "%s:%s\n", name, digest);
}

static void add_text(const char *text)
{
	size_t size = strlen(file);

	(void)text_copy(file + size, sizeof(file) - size, text);
}

static void save(void)
{
	scratch_write("tokens", file, path);
}

static void forget_answer(void)
{
	free(answer.body_adopt);
	memset(&answer, 0, sizeof(answer));
}

static void set_up(void)
{
	file[0] = '\0';
	authorization = NULL;
	access_list = NULL;
	fake_clock_set_ms(1000000);
}

static void tear_down(void)
{
	forget_answer();
	access_destroy(&access_list);
}

static enum result create(void)
{
	struct error error = { .text = "" };

	save();
	enum result result = access_create(path, RATE_PER_SECOND, &access_list, &error);
	ck_assert(result == RESULT_OK || strstr(error.text, "LAPSE_API_TOKENS_FILE") != NULL);
	return result;
}

static bool admit(const char *header)
{
	const struct httpd_request request = { .method = "GET", .path = "/" };

	authorization = header;
	forget_answer();
	respond_add_request_id(&request, &answer);
	return access_admit(access_list, &request, &answer);
}

static const char *answer_header(const char *name)
{
	for (size_t i = 0; i < HTTPD_HEADER_MAX && answer.headers[i].name != NULL; i++)
		if (text_equals(answer.headers[i].name, name))
			return answer.headers[i].value;
	return "";
}

START_TEST(a_token_of_the_file_is_let_in)
{
	add_text("# callers\n\n");
	add_line("shop", "token of the shop");
	add_line("app", "token of the app");
	ck_assert_int_eq(create(), RESULT_OK);
	ck_assert(admit("Bearer token of the shop"));
	ck_assert(admit("bearer token of the app"));
}
END_TEST

START_TEST(anything_else_is_answered_401)
{
	static const char *const wrong[] = { NULL, "", "Bearer", "Bearer ", "Bearer token",
		"Bearer token of the shop ", "Bearer  token of the shop", "token of the shop",
		"Basic token of the shop", "Bearer TOKEN OF THE SHOP" };

	add_line("shop", "token of the shop");
	ck_assert_int_eq(create(), RESULT_OK);
	for (size_t i = 0; i < ARRAY_LENGTH(wrong); i++) {
		ck_assert_msg(!admit(wrong[i]), "%s", wrong[i] == NULL ? "none" : wrong[i]);
		ck_assert_uint_eq(answer.status, 401);
		ck_assert_str_eq(answer_header("WWW-Authenticate"), "Bearer");
		ck_assert_ptr_nonnull(strstr(answer.body_adopt, "\"code\":\"no_token\""));
	}
}
END_TEST

/* The digest itself is no token, or a file that leaked would let everybody in. */
START_TEST(the_digest_is_no_token)
{
	char header[128];
	char digest[SIGNATURE_HEX_SIZE];

	add_line("shop", "token of the shop");
	ck_assert_int_eq(create(), RESULT_OK);
	signature_sha256_hex(digest, "token of the shop", strlen("token of the shop"));
	(void)text_format(header, sizeof(header), "Bearer %s", digest);
	ck_assert(!admit(header));
}
END_TEST

START_TEST(a_file_with_a_mistake_is_refused)
{
	static const char *const wrong[] = {
		"",
		"# nobody\n",
		"shop\n",
		"shop:\n",
		"shop:token\n",
		":9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\n",
		"a shop:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\n",
		"shop:9F86D081884C7D659A2FEAA0C55AD015A3BF4F1B2B0B822CD15D6C15B0F00A08\n",
		"shop:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a0\n",
		"shop:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 \n",
		"shop:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\nx\n",
	};

	for (size_t i = 0; i < ARRAY_LENGTH(wrong); i++) {
		file[0] = '\0';
		add_text(wrong[i]);
		ck_assert_msg(create() == RESULT_PERMANENT, "%s", wrong[i]);
		ck_assert_ptr_null(access_list);
	}
}
END_TEST

START_TEST(lines_may_end_in_any_way_and_comments_may_be_long)
{
	for (int i = 0; i < 50; i++)
		add_text(i == 0 ? "#" : " a comment that is longer than a line of a caller");
	add_text("\r\nshop:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\r\n"
		 "app:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08");
	ck_assert_int_eq(create(), RESULT_OK);
	ck_assert(admit("Bearer test"));
}
END_TEST

START_TEST(so_many_callers_and_no_more)
{
	for (int i = 0; i < TOKEN_MAX; i++) {
		char name[16];

		(void)text_format(name, sizeof(name), "c%d", i);
		add_line(name, name);
	}
	ck_assert_int_eq(create(), RESULT_OK);
	ck_assert(admit("Bearer c0"));
	ck_assert(admit("Bearer c255"));
	access_destroy(&access_list);
	add_line("one-more", "x");
	ck_assert_int_eq(create(), RESULT_PERMANENT);
}
END_TEST

START_TEST(a_file_that_is_not_there_is_refused)
{
	struct error error = { .text = "" };

	ck_assert_int_eq(access_create("/nowhere/tokens", RATE_PER_SECOND, &access_list, &error),
		RESULT_PERMANENT);
	ck_assert_ptr_null(access_list);
}
END_TEST

START_TEST(a_reload_takes_new_tokens_and_a_bad_file_changes_nothing)
{
	struct error error = { .text = "" };

	add_line("shop", "old");
	ck_assert_int_eq(create(), RESULT_OK);
	add_text("nonsense\n");
	save();
	ck_assert_int_eq(access_reload(access_list, &error), RESULT_PERMANENT);
	ck_assert(admit("Bearer old"));
	file[0] = '\0';
	add_line("shop", "new");
	save();
	ck_assert_int_eq(access_reload(access_list, &error), RESULT_OK);
	ck_assert(admit("Bearer new"));
	ck_assert(!admit("Bearer old"));
}
END_TEST

START_TEST(without_a_file_everybody_is_let_in)
{
	struct error error = { .text = "" };

	ck_assert_int_eq(access_create(NULL, RATE_PER_SECOND, &access_list, &error), RESULT_OK);
	ck_assert(admit(NULL));
	ck_assert(admit("Bearer anything"));
	ck_assert_int_eq(access_reload(access_list, &error), RESULT_OK);
}
END_TEST

static unsigned int count_admitted(const char *header, unsigned int calls)
{
	unsigned int admitted = 0;

	for (unsigned int i = 0; i < calls; i++)
		admitted += admit(header) ? 1 : 0;
	return admitted;
}

START_TEST(a_caller_that_asks_too_often_is_answered_429_and_the_others_are_not)
{
	add_line("shop", "shop");
	add_line("app", "app");
	ck_assert_int_eq(create(), RESULT_OK);
	ck_assert_uint_eq(count_admitted("Bearer shop", BURST + 10), BURST);
	ck_assert_uint_eq(answer.status, 429);
	ck_assert_str_eq(answer_header("Retry-After"), "1");
	ck_assert(admit("Bearer app"));
	fake_clock_advance_ms(100);
	ck_assert_uint_eq(count_admitted("Bearer shop", BURST), RATE_PER_SECOND / 10);
	fake_clock_advance_ms(86400000);
	ck_assert_uint_eq(count_admitted("Bearer shop", BURST + 10), BURST);
}
END_TEST

START_TEST(who_is_refused_costs_nobody_anything)
{
	add_line("shop", "shop");
	ck_assert_int_eq(create(), RESULT_OK);
	ck_assert_uint_eq(count_admitted("Bearer wrong", BURST), 0);
	ck_assert_uint_eq(count_admitted("Bearer shop", BURST), BURST);
}
END_TEST

int main(void)
{
	const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = {
		a_token_of_the_file_is_let_in,
		anything_else_is_answered_401,
		the_digest_is_no_token,
		a_file_with_a_mistake_is_refused,
		lines_may_end_in_any_way_and_comments_may_be_long,
		so_many_callers_and_no_more,
		a_file_that_is_not_there_is_refused,
		a_reload_takes_new_tokens_and_a_bad_file_changes_nothing,
		without_a_file_everybody_is_let_in,
		a_caller_that_asks_too_often_is_answered_429_and_the_others_are_not,
		who_is_refused_costs_nobody_anything,
	};

	return runner_run_with("access", &fixture, tests, ARRAY_LENGTH(tests));
}
