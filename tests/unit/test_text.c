#include <inttypes.h>
#include <string.h>

#include "common/base/text.h"
#include "tests/support/runner.h"

START_TEST(a_copy_that_fits_is_whole)
{
	char target[4];

	ck_assert(text_copy(target, sizeof(target), "abc"));
	ck_assert_str_eq(target, "abc");
}
END_TEST

START_TEST(a_copy_that_does_not_fit_is_cut_and_ended)
{
	char target[4];

	ck_assert(!text_copy(target, sizeof(target), "abcd"));
	ck_assert_str_eq(target, "abc");
}
END_TEST

START_TEST(a_format_says_whether_it_fitted)
{
	char target[5];

	ck_assert(text_format(target, sizeof(target), "%d-%d", 12, 3));
	ck_assert_str_eq(target, "12-3");
	ck_assert(!text_format(target, sizeof(target), "%d-%d", 12, 34));
	ck_assert_str_eq(target, "12-3");
}
END_TEST

struct clip_case {
	const char *source;
	size_t source_size;
	size_t target_size;
	const char *expected;
};

static void check_clip(const struct clip_case *one)
{
	char target[64];
	size_t length = text_clip(target, one->target_size, one->source, one->source_size);

	ck_assert_str_eq(target, one->expected);
	ck_assert_uint_eq(length, strlen(one->expected));
}

START_TEST(a_clip_never_cuts_a_character)
{
	static const struct clip_case cases[] = {
		{ "abc", 3, 64, "abc" },
		{ "abc", 3, 4, "abc" },
		{ "abc", 3, 3, "ab" },
		{ "abc", 3, 1, "" },
		{ "", 0, 64, "" },
		{ "\xE4\xBD\xA0\xE5\xA5\xBD", 6, 7, "\xE4\xBD\xA0\xE5\xA5\xBD" },
		{ "\xE4\xBD\xA0\xE5\xA5\xBD", 6, 6, "\xE4\xBD\xA0" },
		{ "\xE4\xBD\xA0\xE5\xA5\xBD", 6, 5, "\xE4\xBD\xA0" },
		{ "\xE4\xBD\xA0\xE5\xA5\xBD", 6, 3, "" },
		{ "\xF0\x9F\x98\x80", 4, 5, "\xF0\x9F\x98\x80" },
		{ "\xF0\x9F\x98\x80", 4, 4, "" },
		{ "\xC3\xA9", 2, 3, "\xC3\xA9" },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++)
		check_clip(&cases[i]);
}
END_TEST

START_TEST(a_clip_replaces_what_is_no_utf8)
{
	static const struct clip_case cases[] = {
		{ "a\x80z", 3, 64, "a?z" },      /* a continuation without a start */
		{ "a\xC0\xAFz", 4, 64, "a??z" }, /* overlong */
		{ "a\xE0\x80\xAFz", 5, 64, "a???z" },
		{ "a\xED\xA0\x80z", 5, 64, "a???z" },      /* half of a surrogate pair */
		{ "a\xF4\x90\x80\x80z", 6, 64, "a????z" }, /* behind the last character */
		{ "a\xFFz", 3, 64, "a?z" },
		{ "a\xE4\xBD", 3, 64, "a??" }, /* cut by the sender */
		{ "a\xE4zz", 4, 64, "a?zz" },
		{ "a\xE4\xBD"
		  "z",
			4, 64, "a??z" },
		{ "a\x00z", 3, 64, "a?z" },
		{ "a\n\r\t\x1B\x7Fz", 7, 64, "a?????z" },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++)
		check_clip(&cases[i]);
}
END_TEST

START_TEST(a_clip_into_no_room_writes_nothing)
{
	char target = 'x';

	ck_assert_uint_eq(text_clip(&target, 0, "abc", 3), 0);
	ck_assert_int_eq(target, 'x');
}
END_TEST

START_TEST(a_number_is_digits_and_nothing_else)
{
	static const char *const bad[] = { "", " 1", "1 ", "+1", "-1", "1.0", "0x10", "1e3", "a",
		"18446744073709551616", "99999999999999999999999", "1\n" };
	uint64_t value = 7;

	for (size_t i = 0; i < ARRAY_LENGTH(bad); i++) {
		ck_assert_msg(!text_parse_uint(bad[i], 0, UINT64_MAX, &value), "%s", bad[i]);
		ck_assert_uint_eq(value, 7);
	}
	ck_assert(text_parse_uint("18446744073709551615", 0, UINT64_MAX, &value));
	ck_assert(value == UINT64_MAX);
	ck_assert(text_parse_uint("007", 0, 10, &value));
	ck_assert_uint_eq(value, 7);
}
END_TEST

START_TEST(a_number_stays_inside_its_bounds)
{
	uint64_t value = 0;

	ck_assert(text_parse_uint("3", 3, 5, &value));
	ck_assert(text_parse_uint("5", 3, 5, &value));
	ck_assert(!text_parse_uint("2", 3, 5, &value));
	ck_assert(!text_parse_uint("6", 3, 5, &value));
}
END_TEST

struct duration_case {
	const char *text;
	uint64_t milliseconds;
};

START_TEST(a_duration_is_a_number_with_its_unit)
{
	static const struct duration_case cases[] = { { "250ms", 250 }, { "30s", 30000 },
		{ "5m", 300000 }, { "2h", 7200000 }, { "7d", 604800000 }, { "0s", 0 }, { "0", 0 },
		{ "1500ms", 1500 } };
	static const char *const bad[] = { "", "5", "s", "5 s", " 5s", "5s ", "-5s", "1.5s", "5S",
		"5sec", "5m30s", "99999999999999999999d", "999999999999999d" };
	uint64_t value = 0;

	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		ck_assert_msg(text_parse_duration(cases[i].text, &value), "%s", cases[i].text);
		ck_assert_uint_eq(value, cases[i].milliseconds);
	}
	for (size_t i = 0; i < ARRAY_LENGTH(bad); i++)
		ck_assert_msg(!text_parse_duration(bad[i], &value), "%s", bad[i]);
}
END_TEST

START_TEST(a_duration_is_written_with_its_largest_exact_unit)
{
	static const struct duration_case cases[] = { { "0ms", 0 }, { "250ms", 250 },
		{ "1500ms", 1500 }, { "30s", 30000 }, { "90s", 90000 }, { "5m", 300000 },
		{ "2h", 7200000 }, { "36h", 129600000 }, { "7d", 604800000 } };
	char text[24];

	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		text_format_duration(text, sizeof(text), cases[i].milliseconds);
		ck_assert_str_eq(text, cases[i].text);
	}
}
END_TEST

START_TEST(a_written_duration_is_read_as_the_same)
{
	char text[24];

	for (int i = 0; i < 1000; i++) {
		uint64_t wanted = runner_random(100 * UINT64_C(86400000));
		uint64_t got = 0;

		text_format_duration(text, sizeof(text), wanted);
		ck_assert(text_parse_duration(text, &got));
		ck_assert_uint_eq(got, wanted);
	}
}
END_TEST

START_TEST(a_key_is_made_of_the_allowed_characters)
{
	static const char good[] = "ABCXYZabcxyz0129._:-";

	ck_assert(text_is_key(good, strlen(good), TEXT_KEY_MAX));
	for (int c = 0; c < 256; c++) {
		char key[3] = { 'A', (char)c, 'B' };
		bool expected = c != 0 && strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrst"
						 "uvwxyz0123456789._:-",
						  c) != NULL;

		ck_assert_msg(text_is_key(key, sizeof(key), TEXT_KEY_MAX) == expected, "%d", c);
	}
}
END_TEST

START_TEST(a_key_has_a_length)
{
	char key[TEXT_KEY_MAX + 1];

	memset(key, 'A', sizeof(key));
	ck_assert(!text_is_key(key, 0, TEXT_KEY_MAX));
	ck_assert(text_is_key(key, 1, TEXT_KEY_MAX));
	ck_assert(text_is_key(key, TEXT_KEY_MAX, TEXT_KEY_MAX));
	ck_assert(!text_is_key(key, TEXT_KEY_MAX + 1, TEXT_KEY_MAX));
}
END_TEST

START_TEST(keys_that_walk_or_end_in_a_newline_are_refused)
{
	static const char *const bad[] = { "../admin", "A1\n", "A1 ", " A1", "A/1", "A?1", "A#1",
		"A%31", "A'1", "A\"1", "A\\1", "\xC3\xA9" };

	for (size_t i = 0; i < ARRAY_LENGTH(bad); i++)
		ck_assert_msg(!text_is_key(bad[i], strlen(bad[i]), TEXT_KEY_MAX), "%s", bad[i]);
}
END_TEST

START_TEST(texts_are_compared_byte_by_byte)
{
	ck_assert(text_equals("A1", "A1"));
	ck_assert(!text_equals("A1", "a1"));
	ck_assert(!text_equals("A1", "A1 "));
	ck_assert(!text_equals("A1", "A01"));
	ck_assert(text_starts_with("LAPSE_X", "LAPSE_"));
	ck_assert(text_starts_with("LAPSE_", "LAPSE_"));
	ck_assert(text_starts_with("x", ""));
	ck_assert(!text_starts_with("LAPSE", "LAPSE_"));
}
END_TEST

START_TEST(a_distance_counts_single_changes)
{
	ck_assert_uint_eq(text_distance("", ""), 0);
	ck_assert_uint_eq(text_distance("abc", "abc"), 0);
	ck_assert_uint_eq(text_distance("", "abc"), 3);
	ck_assert_uint_eq(text_distance("abc", ""), 3);
	ck_assert_uint_eq(text_distance("kitten", "sitting"), 3);
	ck_assert_uint_eq(text_distance("LAPSE_SWEEP_BACH", "LAPSE_SWEEP_BATCH"), 1);
}
END_TEST

START_TEST(a_distance_of_very_long_texts_ends_at_a_limit)
{
	char left[301];
	char right[301];

	memset(left, 'a', sizeof(left) - 1);
	memset(right, 'b', sizeof(right) - 1);
	left[300] = '\0';
	right[300] = '\0';
	ck_assert_uint_eq(text_distance(left, right), 63);
}
END_TEST

START_TEST(bytes_become_two_digits_each)
{
	static const uint8_t bytes[] = { 0x00, 0x0F, 0xA5, 0xFF };
	char text[2 * sizeof(bytes) + 1];

	text_hex(text, bytes, sizeof(bytes));
	ck_assert_str_eq(text, "000fa5ff");
	text_hex(text, bytes, 0);
	ck_assert_str_eq(text, "");
}
END_TEST

START_TEST(a_word_has_its_place_in_a_list)
{
	static const char *const words[] = { "one", "two", "one", NULL };
	static const char *const none[] = { NULL };

	ck_assert_uint_eq(text_find(words, "one"), 0);
	ck_assert_uint_eq(text_find(words, "two"), 1);
	ck_assert_uint_eq(text_find(words, "On"), 3);
	ck_assert_uint_eq(text_find(words, NULL), 3);
	ck_assert_uint_eq(text_find(none, "one"), 0);
	ck_assert(text_is_one_of(words, "two"));
	ck_assert(!text_is_one_of(words, "three"));
	ck_assert(!text_is_one_of(words, NULL));
	ck_assert(!text_is_one_of(none, "one"));
}
END_TEST

START_TEST(a_hash_is_that_of_everybody)
{
	ck_assert_uint_eq(text_hash(TEXT_HASH_START, ""), UINT64_C(0xcbf29ce484222325));
	ck_assert_uint_eq(text_hash(TEXT_HASH_START, "a"), UINT64_C(0xaf63dc4c8601ec8c));
	ck_assert_uint_eq(
		text_hash(text_hash(TEXT_HASH_START, "foo"), "bar"), UINT64_C(0x85944171f73967e8));
}
END_TEST

START_TEST(a_time_is_read_as_it_is_written)
{
	static const struct {
		const char *text;
		int64_t epoch_ms;
	} times[] = { { "1970-01-01T00:00:00Z", 0 }, { "2026-01-31T10:21:03.120Z", 1769854863120 },
		{ "2024-02-29T23:59:59.999999Z", 1709251199999 },
		{ "9999-12-31T00:00:00.0Z", 253402214400000 } };
	static const char *const broken[] = { "", "2026", "2026-01-31", "2026-01-31T10:21:03",
		"2026-01-31 10:21:03Z", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z",
		"2026-01-31T10:21:03.120Zx", "x026-01-31T10:21:03Z" };
	int64_t epoch_ms = 7;

	for (size_t i = 0; i < ARRAY_LENGTH(times); i++) {
		ck_assert_msg(text_parse_time(times[i].text, &epoch_ms), "%s", times[i].text);
		ck_assert_int_eq(epoch_ms, times[i].epoch_ms);
	}
	for (size_t i = 0; i < ARRAY_LENGTH(broken); i++)
		ck_assert_msg(!text_parse_time(broken[i], &epoch_ms), "%s", broken[i]);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		a_word_has_its_place_in_a_list,
		a_hash_is_that_of_everybody,
		a_time_is_read_as_it_is_written,
		a_copy_that_fits_is_whole,
		a_copy_that_does_not_fit_is_cut_and_ended,
		a_format_says_whether_it_fitted,
		a_clip_never_cuts_a_character,
		a_clip_replaces_what_is_no_utf8,
		a_clip_into_no_room_writes_nothing,
		a_number_is_digits_and_nothing_else,
		a_number_stays_inside_its_bounds,
		a_duration_is_a_number_with_its_unit,
		a_duration_is_written_with_its_largest_exact_unit,
		a_written_duration_is_read_as_the_same,
		a_key_is_made_of_the_allowed_characters,
		a_key_has_a_length,
		keys_that_walk_or_end_in_a_newline_are_refused,
		texts_are_compared_byte_by_byte,
		a_distance_counts_single_changes,
		a_distance_of_very_long_texts_ends_at_a_limit,
		bytes_become_two_digits_each,
	};

	return runner_run("text", tests, ARRAY_LENGTH(tests));
}
