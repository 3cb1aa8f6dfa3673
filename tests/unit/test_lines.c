#include <string.h>
#include <unistd.h>

#include "producer/lines.h"
#include "tests/support/runner.h"

static int ends[2];
static struct lines *lines;
static char order_no[TEXT_KEY_SIZE];

static void set_up(void)
{
	ck_assert_int_eq(pipe(ends), 0);
	lines_create(ends[0], &lines);
}

static void tear_down(void)
{
	lines_destroy(&lines);
	lines_destroy(&lines);
	(void)close(ends[0]);
	if (ends[1] >= 0)
		(void)close(ends[1]);
}

static void feed(const char *bytes, size_t size)
{
	ck_assert_int_eq(write(ends[1], bytes, size), (ssize_t)size);
}

#define FEED(text) feed((text), sizeof(text) - 1)

static void end(void)
{
	(void)close(ends[1]);
	ends[1] = -1;
}

static void expect_order(const char *expected)
{
	ck_assert_int_eq(lines_next(lines, 0, order_no), LINES_ORDER);
	ck_assert_str_eq(order_no, expected);
}

static void expect(enum lines_answer answer)
{
	ck_assert_int_eq(lines_next(lines, 0, order_no), answer);
}

START_TEST(a_line_is_an_order_number_or_an_object)
{
	FEED("A1\n\n\r\n{\"order_no\":\"A2\",\"x\":[{}]}\r\n{ \"order_no\" : \"A3\" }\nA4");
	end();
	expect_order("A1");
	expect_order("A2");
	expect_order("A3");
	expect_order("A4");
	expect(LINES_END);
	expect(LINES_END);
}
END_TEST

START_TEST(a_line_is_never_taken_for_another_one)
{
	static const char *const bad[] = { " A1", "A1 ", "A1\tB", "A1\rA2", "{\"order_no\":7}",
		"{\"order_no\":\"A 1\"}", "{\"order_no\":\"\"}", "{}", "{", "[\"A1\"]", "\"A1\"",
		"{\"order_no\":\"A1\"} x", "{\"order_no\":\"A1\",\"order_no\":\"A2\"}", "\xc3\x84",
		"\r\r" };

	for (size_t i = 0; i < ARRAY_LENGTH(bad); i++) {
		feed(bad[i], strlen(bad[i]));
		FEED("\n");
		expect(LINES_MALFORMED);
		ck_assert_uint_gt(strlen(lines_shown(lines)), 0);
	}
	FEED("A1\0\nA1\0A2\n\0\nGOOD\n");
	expect(LINES_MALFORMED);
	expect(LINES_MALFORMED);
	expect(LINES_MALFORMED);
	expect_order("GOOD");
}
END_TEST

START_TEST(lines_come_in_pieces)
{
	expect(LINES_NONE);
	FEED("A");
	expect(LINES_NONE);
	FEED("1");
	expect(LINES_NONE);
	FEED("\nA2\nA");
	expect_order("A1");
	expect_order("A2");
	expect(LINES_NONE);
	FEED("3");
	end();
	expect_order("A3");
	expect(LINES_END);
}
END_TEST

START_TEST(a_line_that_is_too_long_is_one_bad_line)
{
	char piece[1000];

	memset(piece, 'A', sizeof(piece));
	for (int i = 0; i < 20; i++) {
		feed(piece, sizeof(piece));
		expect(LINES_NONE);
	}
	FEED("\nA1\n");
	expect(LINES_MALFORMED);
	expect_order("A1");
	for (int i = 0; i < 20; i++) {
		feed(piece, sizeof(piece));
		expect(LINES_NONE);
	}
	end();
	expect(LINES_MALFORMED);
	expect(LINES_END);
}
END_TEST

START_TEST(a_line_of_the_longest_length_is_read)
{
	char longest[LINES_LENGTH_MAX + 2];
	static const char start[] = "{\"order_no\":\"A1\"";
	const size_t size = LINES_LENGTH_MAX;

	memset(longest, ' ', sizeof(longest));
	/* Without the NUL behind it. */
	memcpy(longest, start, sizeof(start) - 1);
	longest[size - 1] = '}';
	longest[size] = '\n';
	feed(longest, size + 1);
	expect_order("A1");
	longest[size - 1] = ' ';
	longest[size] = '}';
	longest[size + 1] = '\n';
	feed(longest, size + 2);
	expect(LINES_MALFORMED);
	FEED("A2\n");
	expect_order("A2");
}
END_TEST

START_TEST(what_is_shown_is_short_and_clean)
{
	FEED("\x1b[31m0123456789012345678901234567890123456789012345678901234567890123456789"
	     "01234567890123456789\xff\n");
	expect(LINES_MALFORMED);
	ck_assert_uint_lt(strlen(lines_shown(lines)), 80);
	ck_assert_ptr_null(strchr(lines_shown(lines), '\x1b'));
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		a_line_is_an_order_number_or_an_object,
		a_line_is_never_taken_for_another_one,
		lines_come_in_pieces,
		a_line_that_is_too_long_is_one_bad_line,
		a_line_of_the_longest_length_is_read,
		what_is_shown_is_short_and_clean,
	};
	const struct runner_fixture fixture = { set_up, tear_down };

	return runner_run_with("lines", &fixture, tests, ARRAY_LENGTH(tests));
}
