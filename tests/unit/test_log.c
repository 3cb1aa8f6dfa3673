#include <regex.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/log.h"
#include "common/base/text.h"
#include "tests/support/child.h"
#include "tests/support/runner.h"

static bool matches(const char *text, const char *pattern)
{
	regex_t expression;

	ck_assert_int_eq(regcomp(&expression, pattern, REG_EXTENDED | REG_NOSUB), 0);
	bool is_match = regexec(&expression, text, 0, NULL, 0) == 0;
	regfree(&expression);
	return is_match;
}

#define TIME "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z"

static void write_a_line(void *context)
{
	const enum log_format *format = context;

	log_open("lapse-sweeper", "1.2.3", "host-1", *format);
	log_info(log_event("batch_closed"), log_uint("orders", 18446744073709551615U),
		log_int("offset", -5), log_text("order_no", "A1"), log_text("note", "two words"));
}

static struct child_end run(void (*function)(void *context), enum log_format format)
{
	struct child_end end;

	child_run(function, &format, &end);
	return end;
}

START_TEST(a_text_line_has_its_parts)
{
	struct child_end end = run(write_a_line, LOG_FORMAT_TEXT);

	ck_assert_msg(matches(end.output, "^" TIME " info lapse-sweeper batch_closed "
					  "orders=18446744073709551615 offset=-5 order_no=A1 "
					  "note=\"two words\"\n$"),
		"%s", end.output);
}
END_TEST

START_TEST(a_json_line_has_its_parts)
{
	static const enum log_format formats[] = { LOG_FORMAT_JSON, LOG_FORMAT_AUTO };

	for (size_t i = 0; i < ARRAY_LENGTH(formats); i++) {
		struct child_end end = run(write_a_line, formats[i]);

		ck_assert_msg(matches(end.output,
				      "^\\{\"time\":\"" TIME "\",\"level\":\"info\","
				      "\"event\":\"batch_closed\",\"program\":\"lapse-sweeper\","
				      "\"instance\":\"host-1\",\"version\":\"1\\.2\\.3\","
				      "\"orders\":18446744073709551615,\"offset\":-5,"
				      "\"order_no\":\"A1\",\"note\":\"two words\"\\}\n$"),
			"%s", end.output);
	}
}
END_TEST

static void write_hostile_values(void *context)
{
	const enum log_format *format = context;

	log_open("p", "v", "i", *format);
	log_warn(log_event("e"), log_text("a", "x\ny\x1B[31m\x01z"), log_text("b", "\"quo\\ted\""),
		log_text("c", "\xFF\xC0\xAF"), log_text("d", NULL), log_text("e", ""),
		log_text("f", "k=v"), log_text("g", "\xE4\xBD\xA0"));
}

START_TEST(a_hostile_value_stays_in_its_line_and_field)
{
	struct child_end text = run(write_hostile_values, LOG_FORMAT_TEXT);
	struct child_end json = run(write_hostile_values, LOG_FORMAT_JSON);

	ck_assert_msg(
		strstr(text.output, " a=x?y?[31m?z b=\"\\\"quo\\\\ted\\\"\" c=??? d=\"\" e=\"\" "
				    "f=\"k=v\" g=\xE4\xBD\xA0\n") != NULL,
		"%s", text.output);
	ck_assert_msg(
		strstr(json.output,
			"\"a\":\"x?y?[31m?z\",\"b\":\"\\\"quo\\\\ted\\\"\",\"c\":\"???\","
			"\"d\":\"\",\"e\":\"\",\"f\":\"k=v\",\"g\":\"\xE4\xBD\xA0\"}\n") != NULL,
		"%s", json.output);
}
END_TEST

/* Four values that together are much longer than a line, and a short one behind them. */
static void write_too_much(void *context)
{
	const enum log_format *format = context;
	char value[5000];

	memset(value, '"', sizeof(value) - 1);
	memset(value, 'x', 3000);
	value[sizeof(value) - 1] = '\0';
	log_open("p", "v", "i", *format);
	log_info(log_event("e"), log_text("a", value), log_text("b", value), log_text("c", value),
		log_text("d", value), log_uint("last", 7));
}

static void check_cut_line(const struct child_end *end, const char *last_field, const char *ending)
{
	size_t length = strlen(ending);

	ck_assert_uint_le(end->output_size, 8192);
	ck_assert_uint_gt(end->output_size, 4096);
	ck_assert_ptr_eq(strchr(end->output, '\n'), end->output + end->output_size - 1);
	ck_assert_msg(strstr(end->output, last_field) != NULL, "%s", end->output);
	ck_assert_msg(text_equals(end->output + end->output_size - length, ending), "%s",
		end->output + end->output_size - length);
}

START_TEST(a_line_that_is_too_long_loses_whole_fields)
{
	struct child_end text = run(write_too_much, LOG_FORMAT_TEXT);
	struct child_end json = run(write_too_much, LOG_FORMAT_JSON);

	check_cut_line(&text, " last=7", " cut=true\n");
	check_cut_line(&json, ",\"last\":7", ",\"cut\":\"true\"}\n");
}
END_TEST

START_TEST(a_json_line_that_is_too_long_is_still_json)
{
	struct child_end end = run(write_too_much, LOG_FORMAT_JSON);
	bool is_inside = false;

	for (size_t i = 0; i + 1 < end.output_size; i++) {
		if (is_inside && end.output[i] == '\\')
			i++;
		else if (end.output[i] == '"')
			is_inside = !is_inside;
	}
	ck_assert(!is_inside);
}
END_TEST

static void write_all_levels(void *context)
{
	(void)context;
	log_open("p", "v", "i", LOG_FORMAT_TEXT);
	for (enum log_level level = LOG_LEVEL_ERROR; level <= LOG_LEVEL_DEBUG; level++) {
		log_set_level(level);
		if (log_get_level() != level)
			_exit(1);
		log_error(log_event("e"));
		log_warn(log_event("w"));
		log_info(log_event("i"));
		log_debug(log_event("d"));
	}
}

START_TEST(a_level_hides_what_is_below_it)
{
	struct child_end end;
	size_t lines = 0;

	child_run(write_all_levels, NULL, &end);
	ck_assert_int_eq(end.status, 0);
	for (const char *c = end.output; *c != '\0'; c++)
		lines += *c == '\n' ? 1 : 0;
	ck_assert_uint_eq(lines, 1 + 2 + 3 + 4);
	ck_assert(matches(end.output, "^[^\n]+ error p e\n"));
	ck_assert(matches(end.output, " debug p d\n$"));
}
END_TEST

START_TEST(repeats_are_told_at_each_power_of_ten)
{
	uint64_t count = 0;
	uint64_t told = 0;

	for (uint64_t i = 1; i <= 100000; i++) {
		bool is_told = log_is_worth_repeating(&count);
		bool is_expected =
			i == 1 || i == 10 || i == 100 || i == 1000 || i == 10000 || i == 100000;

		ck_assert_msg(is_told == is_expected, "%llu", (unsigned long long)i);
		told += is_told ? 1 : 0;
	}
	ck_assert_uint_eq(told, 6);
	count = 0;
	ck_assert(log_is_worth_repeating(&count));
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		a_text_line_has_its_parts,
		a_json_line_has_its_parts,
		a_hostile_value_stays_in_its_line_and_field,
		a_line_that_is_too_long_loses_whole_fields,
		a_json_line_that_is_too_long_is_still_json,
		a_level_hides_what_is_below_it,
		repeats_are_told_at_each_power_of_ten,
	};

	return runner_run("log", tests, ARRAY_LENGTH(tests));
}
