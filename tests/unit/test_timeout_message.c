#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/order/timeout_message.h"
#include "tests/support/runner.h"

enum {
	LARGE_SIZE = 1048576
};

static enum result parse(const char *body, size_t size, const char *type, char *order_no)
{
	struct error error = { 0 };

	order_no[0] = '\0';
	enum result result =
		timeout_message_parse((const uint8_t *)body, size, type, order_no, &error);
	/* Whoever parks the message needs a reason. */
	ck_assert(result == RESULT_OK || (result == RESULT_PERMANENT && error.text[0] != '\0'));
	return result;
}

START_TEST(what_was_written_is_read_again)
{
	static const char *const keys[] = {
		"A1",
		"a",
		"0",
		"ORD.2026_07-18:0001",
		"1234567890123456789012345678901234567890123456789012345678901234",
	};

	for (size_t i = 0; i < ARRAY_LENGTH(keys); i++) {
		char body[TIMEOUT_MESSAGE_SIZE];
		char order_no[TEXT_KEY_SIZE];
		size_t size = timeout_message_write(body, keys[i]);

		ck_assert_uint_eq(size, strlen(body));
		ck_assert_int_eq(parse(body, size, TIMEOUT_MESSAGE_TYPE, order_no), RESULT_OK);
		ck_assert_str_eq(order_no, keys[i]);
	}
}
END_TEST

START_TEST(the_body_is_exactly_that_of_the_contract)
{
	char body[TIMEOUT_MESSAGE_SIZE];

	ck_assert_uint_eq(timeout_message_write(body, "A1"), 17);
	ck_assert_str_eq(body, "{\"order_no\":\"A1\"}");
}
END_TEST

#define BODY(text)                       \
	{                                \
		(text), sizeof(text) - 1 \
	}

struct body_case {
	const char *body;
	size_t size;
};

START_TEST(a_body_of_another_writer_is_read_too)
{
	static const struct body_case cases[] = {
		BODY("{ \"order_no\" : \"A1\" }"),
		BODY("\n{\"order_no\":\"A1\"}\r\n"),
		BODY("{\"order_no\":\"A1\",\"extra\":{\"a\":[1,2,{\"b\":null}]},\"n\":1e3}"),
		BODY("{\"extra\":true,\"order_no\":\"A1\"}"),
		BODY("{\"order_no\":\"\\u0041\\u0031\"}"),
		BODY("{\"order\\u005fno\":\"A1\"}"),
		BODY("{\"order_no\":\"A1\",\"ORDER_NO\":\"B2\"}"),
		BODY("{\"note\":\"\xE4\xBD\xA0\",\"order_no\":\"A1\"}"),
	};

	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		char order_no[TEXT_KEY_SIZE];

		ck_assert_msg(parse(cases[i].body, cases[i].size, "", order_no) == RESULT_OK, "%s",
			cases[i].body);
		ck_assert_str_eq(order_no, "A1");
	}
}
END_TEST

START_TEST(a_body_that_names_no_order_is_refused)
{
	static const struct body_case cases[] = {
		BODY(""),
		BODY(" "),
		BODY("A1"),
		BODY("\"A1\""),
		BODY("null"),
		BODY("[]"),
		BODY("[\"order_no\",\"A1\"]"),
		BODY("[{\"order_no\":\"A1\"}]"),
		BODY("{}"),
		BODY("{\"order_no\":\"\"}"),
		BODY("{\"order_no\":null}"),
		BODY("{\"order_no\":1}"),
		BODY("{\"order_no\":1.0}"),
		BODY("{\"order_no\":true}"),
		BODY("{\"order_no\":[\"A1\"]}"),
		BODY("{\"order_no\":{\"order_no\":\"A1\"}}"),
		BODY("{\"order\":\"A1\"}"),
		BODY("{\"Order_no\":\"A1\"}"),
		BODY("{\"order_no \":\"A1\"}"),
		BODY("{\"order_no\":\"A1\",\"order_no\":\"A1\"}"),
		BODY("{\"order_no\":\"A1\",\"order_no\":\"B2\"}"),
		BODY("{\"order_no\":\"A1\",\"order\\u005fno\":\"B2\"}"),
		BODY("{\"order_no\":\"A1 \"}"),
		BODY("{\"order_no\":\" A1\"}"),
		BODY("{\"order_no\":\"A1\\n\"}"),
		BODY("{\"order_no\":\"A1\n\"}"),
		BODY("{\"order_no\":\"A1\\u0000\"}"),
		BODY("{\"order_no\":\"A1\\u0000B\"}"),
		BODY("{\"order_no\":\"A1\0\"}"),
		BODY("{\"order_no\":\"A1\"}\0"),
		BODY("\0{\"order_no\":\"A1\"}"),
		BODY("{\"order_no\":\"A1\"}{\"order_no\":\"B2\"}"),
		BODY("{\"order_no\":\"A1\"} x"),
		BODY("{\"order_no\":\"A1\""),
		BODY("{\"order_no\":\"A1\",}"),
		BODY("{\"order_no\":\"A1}"),
		BODY("{'order_no':'A1'}"),
		BODY("{order_no:\"A1\"}"),
		BODY("{\"order_no\":\"A1' OR 1=1 -- \"}"),
		BODY("{\"order_no\":\"A1%\"}"),
		BODY("{\"order_no\":\"A1/../B2\"}"),
		BODY("{\"order_no\":\"A1\\\"\"}"),
		BODY("{\"order_no\":\"\\u00410\xC3\"}"),
		BODY("{\"order_no\":\"\xEF\xBC\xA1\"}"),
		BODY("{\"order_no\":\"\xC3\xA9\"}"),
		BODY("{\"order_no\":\"\xFF\xFE\"}"),
		BODY("\xEF\xBB\xBF{\"order_no\":\"A1\"}"),
		BODY("{\"order_no\":\"12345678901234567890123456789012345678901234567890"
		     "123456789012345\"}"),
		BODY("<order_no>A1</order_no>"),
		BODY("order_no=A1"),
	};

	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		char order_no[TEXT_KEY_SIZE];

		ck_assert_msg(parse(cases[i].body, cases[i].size, "", order_no) == RESULT_PERMANENT,
			"%zu: %s", i, cases[i].body);
	}
}
END_TEST

START_TEST(only_our_own_type_or_none_is_read)
{
	static const char body[] = "{\"order_no\":\"A1\"}";
	static const char *const others[] = { "order.timeout.v2", "order.timeout",
		"ORDER.TIMEOUT.V1", "order.timeout.v1 ", "x" };
	char order_no[TEXT_KEY_SIZE];

	ck_assert_int_eq(parse(body, strlen(body), "", order_no), RESULT_OK);
	ck_assert_int_eq(parse(body, strlen(body), "order.timeout.v1", order_no), RESULT_OK);
	for (size_t i = 0; i < ARRAY_LENGTH(others); i++)
		ck_assert_int_eq(parse(body, strlen(body), others[i], order_no), RESULT_PERMANENT);
}
END_TEST

/* A body of size bytes: start, then as many of filler as are needed, then end. */
static char *make_body(size_t size, const char *start, char filler, const char *end)
{
	char *body = memory_allocate(size + 1);
	size_t start_size = strlen(start);
	size_t end_start = size - strlen(end);

	memset(body, filler, size);
	for (size_t i = 0; start[i] != '\0'; i++)
		body[i] = start[i];
	for (size_t i = 0; end[i] != '\0'; i++)
		body[end_start + i] = end[i];
	ck_assert_uint_ge(end_start, start_size);
	return body;
}

START_TEST(a_body_is_read_up_to_the_limit_and_no_further)
{
	char order_no[TEXT_KEY_SIZE];
	char *body = make_body(TIMEOUT_MESSAGE_MAX, "{\"order_no\":\"A1\",\"x\":\"", 'x', "\"}");

	ck_assert_int_eq(parse(body, TIMEOUT_MESSAGE_MAX, "", order_no), RESULT_OK);
	free(body);
	body = make_body(TIMEOUT_MESSAGE_MAX + 1, "{\"order_no\":\"A1\",\"x\":\"", 'x', "\"}");
	ck_assert_int_eq(parse(body, TIMEOUT_MESSAGE_MAX + 1, "", order_no), RESULT_PERMANENT);
	free(body);
}
END_TEST

START_TEST(a_huge_body_is_refused_whatever_it_holds)
{
	static const char fillers[] = { 'x', ' ', '[', '{', '\0', '"', (char)0xFF };
	char order_no[TEXT_KEY_SIZE];

	for (size_t i = 0; i < ARRAY_LENGTH(fillers); i++) {
		char *body = make_body(LARGE_SIZE, "{\"order_no\":\"", fillers[i], "\"}");

		ck_assert_int_eq(parse(body, LARGE_SIZE, "", order_no), RESULT_PERMANENT);
		free(body);
	}
}
END_TEST

START_TEST(deep_nesting_is_refused)
{
	static const char *const starts[] = { "{\"order_no\":\"A1\",\"x\":", "" };

	for (size_t i = 0; i < ARRAY_LENGTH(starts); i++) {
		char order_no[TEXT_KEY_SIZE];
		char *body = make_body(TIMEOUT_MESSAGE_MAX, starts[i], '[', "]");

		ck_assert_int_eq(parse(body, TIMEOUT_MESSAGE_MAX, "", order_no), RESULT_PERMANENT);
		free(body);
	}
}
END_TEST

/* Change one byte of a good body: it names the order of the changed text exactly, or nothing. */
START_TEST(a_damaged_body_never_names_another_order_than_it_spells)
{
	static const char good[] = "{\"order_no\":\"ORD-7\"}";

	for (size_t place = 0; place < strlen(good); place++) {
		for (int byte = 0; byte < 256; byte++) {
			char body[sizeof(good)];
			char order_no[TEXT_KEY_SIZE];

			memcpy(body, good, sizeof(good));
			body[place] = (char)byte;
			if (parse(body, strlen(good), "", order_no) != RESULT_OK)
				continue;
			ck_assert_uint_eq(strlen(order_no), 5);
			ck_assert_int_eq(memcmp(body + 13, order_no, 5), 0);
		}
	}
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		what_was_written_is_read_again,
		the_body_is_exactly_that_of_the_contract,
		a_body_of_another_writer_is_read_too,
		a_body_that_names_no_order_is_refused,
		only_our_own_type_or_none_is_read,
		a_body_is_read_up_to_the_limit_and_no_further,
		a_huge_body_is_refused_whatever_it_holds,
		deep_nesting_is_refused,
		a_damaged_body_never_names_another_order_than_it_spells,
	};

	return runner_run("timeout_message", tests, ARRAY_LENGTH(tests));
}
