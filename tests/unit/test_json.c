/* json: what is refused, what is read, and that what is written can be read again. */
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "common/base/compiler.h"
#include "common/base/memory.h"
#include "common/io/json.h"
#include "tests/support/runner.h"

enum {
	SIZE_MAX_HERE = 4096
};

static enum result parse(const char *text, struct json **root_out, struct error *error)
{
	return json_parse(text, strlen(text), SIZE_MAX_HERE, root_out, error);
}

struct refused {
	const char *text;
	const char *words;
};

static const struct refused refused[] = {
	{ "", "too early" },
	{ " ", "too early" },
	{ "{", "too early" },
	{ "{\"a\":1", "too early" },
	{ "nonsense", "broken" },
	{ "\"text\"", "broken" },
	{ "17", "broken" },
	{ "null", "broken" },
	{ "{\"a\":1}x", "behind the end" },
	{ "{\"a\":1}{}", "behind the end" },
	{ "{\"a\":1,\"a\":2}", "doubled" },
	{ "{\"b\":{\"a\":1,\"\\u0061\":2}}", "doubled" },
	{ "{\"a\":\"\xff\"}", "no UTF-8" },
	{ "{\"a\":\"\xc0\xaf\"}", "no UTF-8" },
	{ "{\"a\":\"\\u0000\"}", "NUL" },
	{ "{\"a\\u0000\":1}", "NUL" },
	{ "{\"a\":\"\\ud800\"}", "broken" },
	{ "{\"a\":99999999999999999999}", "too large" },
	{ "{\"a\":1e999}", "too large" },
	{ "{\"a\":'b'}", "broken" },
	{ "{'a':1}", "broken" },
	{ "{\"a\":1,}", "broken" },
	{ "[1,]", "broken" },
	{ "{\"a\":01}", "broken" },
	{ "{\"a\":+1}", "broken" },
	{ "{\"a\":NaN}", "broken" },
	{ "{\"a\":\"line\nbreak\"}", "broken" },
};

START_TEST(what_is_no_json_is_refused_with_the_reason)
{
	for (size_t i = 0; i < ARRAY_LENGTH(refused); i++) {
		struct json *root = NULL;
		struct error error = { 0 };

		ck_assert_int_eq(parse(refused[i].text, &root, &error), RESULT_PERMANENT);
		ck_assert_ptr_null(root);
		ck_assert_msg(strstr(error.text, refused[i].words) != NULL,
			"line %zu: \"%s\" does not say \"%s\"", i, error.text, refused[i].words);
	}
}
END_TEST

START_TEST(an_error_never_quotes_the_text)
{
	struct json *root = NULL;
	struct error error = { 0 };

	ck_assert_int_eq(parse("{\"card\": 4711secret", &root, &error), RESULT_PERMANENT);
	ck_assert_ptr_null(strstr(error.text, "secret"));
	ck_assert_ptr_null(strstr(error.text, "4711"));
}
END_TEST

START_TEST(a_nul_byte_in_the_middle_is_refused)
{
	static const char text[] = "{\"a\":1\0}";
	struct json *root = NULL;
	struct error error = { 0 };

	ck_assert_int_eq(
		json_parse(text, sizeof(text) - 1, SIZE_MAX_HERE, &root, &error), RESULT_PERMANENT);
}
END_TEST

START_TEST(bytes_behind_the_given_size_are_not_read)
{
	struct json *root = NULL;
	struct error error = { 0 };

	ck_assert_int_eq(json_parse("{}garbage", 2, SIZE_MAX_HERE, &root, &error), RESULT_OK);
	json_destroy(&root);
	ck_assert_int_eq(json_parse(NULL, 0, SIZE_MAX_HERE, &root, &error), RESULT_PERMANENT);
}
END_TEST

START_TEST(a_text_over_the_limit_is_refused)
{
	struct json *root = NULL;
	struct error error = { 0 };

	ck_assert_int_eq(json_parse("[1,2]", 5, 5, &root, &error), RESULT_OK);
	json_destroy(&root);
	ck_assert_int_eq(json_parse("[1,2]", 5, 4, &root, &error), RESULT_PERMANENT);
	ck_assert_ptr_null(root);
}
END_TEST

/* The result of so many opened and closed arrays. */
static enum result parse_nested(size_t depth)
{
	char *text = memory_allocate(2 * depth);
	struct json *root = NULL;
	struct error error = { 0 };

	memset(text, '[', depth);
	memset(text + depth, ']', depth);
	enum result result = json_parse(text, 2 * depth, 2 * depth, &root, &error);
	json_destroy(&root);
	free(text);
	return result;
}

START_TEST(depth_is_limited)
{
	ck_assert_int_eq(parse_nested(JSON_DEPTH_MAX), RESULT_OK);
	ck_assert_int_eq(parse_nested(JSON_DEPTH_MAX + 1), RESULT_PERMANENT);
	/* Enough to end a parser that recurses. */
	ck_assert_int_eq(parse_nested(1000000), RESULT_PERMANENT);
}
END_TEST

START_TEST(brackets_inside_a_text_are_not_depth)
{
	struct json *root = NULL;
	struct error error = { 0 };

	ck_assert_int_eq(
		parse("{\"a\":\"\\\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\"}", &root, &error),
		RESULT_OK);
	json_destroy(&root);
}
END_TEST

START_TEST(values_are_read_by_their_type)
{
	struct json *root = NULL;
	struct error error = { 0 };
	int64_t number = -1;

	ck_assert_int_eq(parse("{\"t\":\"x\",\"n\":-9223372036854775808,\"r\":1.0,\"o\":{\"k\":7},"
			       "\"l\":[{},\"b\"],\"z\":null}",
				 &root, &error),
		RESULT_OK);
	ck_assert(json_is_object(root));
	ck_assert_str_eq(json_get_text(root, "t"), "x");
	ck_assert(json_get_int(root, "n", &number));
	ck_assert(number == INT64_MIN);
	ck_assert(!json_get_int(root, "r", &number));
	ck_assert(!json_get_int(root, "t", &number));
	ck_assert_ptr_null(json_get_text(root, "n"));
	ck_assert_ptr_null(json_get_text(root, "z"));
	ck_assert(json_get_int(json_get(root, "o"), "k", &number));
	ck_assert_int_eq(number, 7);
	ck_assert_uint_eq(json_count(json_get(root, "l")), 2);
	ck_assert(json_is_object(json_at(json_get(root, "l"), 0)));
	ck_assert(!json_is_object(json_at(json_get(root, "l"), 1)));
	ck_assert_ptr_null(json_at(json_get(root, "l"), 2));
	json_destroy(&root);
	ck_assert_ptr_null(root);
	json_destroy(&root);
}
END_TEST

START_TEST(what_is_absent_is_null_all_the_way_down)
{
	ck_assert(!json_is_object(NULL));
	ck_assert_ptr_null(json_get(NULL, "a"));
	ck_assert_ptr_null(json_get_text(json_get(NULL, "a"), "b"));
	ck_assert_uint_eq(json_count(NULL), 0);
	ck_assert_ptr_null(json_at(NULL, 0));
}
END_TEST

START_TEST(what_is_built_is_written_in_order)
{
	struct json *root = json_create_object();
	struct json *list = json_create_array();
	struct json *item = json_create_object();

	json_set_text(root, "z", "A1");
	json_set_text(root, "a", NULL);
	json_set_int(root, "n", -3);
	json_set_bool(root, "yes", true);
	json_set_id(root, "id", UINT64_MAX);
	json_append_adopt(list, &item);
	ck_assert_ptr_null(item);
	json_adopt(root, "list", &list);
	ck_assert_ptr_null(list);
	char *text = json_write(root);
	ck_assert_str_eq(text, "{\"z\":\"A1\",\"a\":null,\"n\":-3,\"yes\":true,"
			       "\"id\":\"18446744073709551615\",\"list\":[{}]}");
	free(text);
	json_destroy(&root);
}
END_TEST

START_TEST(a_text_that_is_no_utf8_is_cleaned)
{
	struct json *root = json_create_object();

	json_set_text(root, "e", "bad \xff\xfe \"end\"\n\xe4\xb8\xad");
	json_set_text(root, "k", "tab\there");
	ck_assert_str_eq(json_get_text(root, "e"), "bad ?? \"end\"?\xe4\xb8\xad");
	ck_assert_str_eq(json_get_text(root, "k"), "tab\there");
	char *text = json_write(root);
	struct json *again = NULL;
	struct error error = { 0 };
	ck_assert_int_eq(parse(text, &again, &error), RESULT_OK);
	json_destroy(&again);
	free(text);
	json_destroy(&root);
}
END_TEST

START_TEST(setting_a_key_again_replaces_it)
{
	struct json *root = json_create_object();

	json_set_int(root, "a", 1);
	json_set_text(root, "a", "two");
	ck_assert_str_eq(json_get_text(root, "a"), "two");
	json_destroy(&root);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		what_is_no_json_is_refused_with_the_reason,
		an_error_never_quotes_the_text,
		a_nul_byte_in_the_middle_is_refused,
		bytes_behind_the_given_size_are_not_read,
		a_text_over_the_limit_is_refused,
		depth_is_limited,
		brackets_inside_a_text_are_not_depth,
		values_are_read_by_their_type,
		what_is_absent_is_null_all_the_way_down,
		what_is_built_is_written_in_order,
		a_text_that_is_no_utf8_is_cleaned,
		setting_a_key_again_replaces_it,
	};

	return runner_run("json", tests, ARRAY_LENGTH(tests));
}
