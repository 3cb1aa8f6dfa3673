#include <string.h>

#include "common/base/compiler.h"
#include "ctl/option.h"
#include "tests/support/runner.h"

static const uint64_t allowed = OPTION_BIT(OPTION_JSON) | OPTION_BIT(OPTION_DRY_RUN) |
				OPTION_BIT(OPTION_ACTOR) | OPTION_BIT(OPTION_SINCE) |
				OPTION_BIT(OPTION_LIMIT) | OPTION_BIT(OPTION_HEALTHCHECK);

static enum result take(
	struct option_set *set, const char *word, const char *next, int *place, struct error *error)
{
	static char first[64]; /* values point into it */
	static char second[64];
	char *const arguments[] = { first, second };

	*place = 0;
	ck_assert_uint_lt(strlen(word), sizeof(first));
	memcpy(first, word, strlen(word) + 1);
	if (next != NULL)
		memcpy(second, next, strlen(next) + 1);
	return option_take(set, allowed, arguments, next == NULL ? 1 : 2, place, error);
}

START_TEST(a_flag_is_given_by_name_or_letter)
{
	struct option_set set = { 0 };
	struct error error = { 0 };
	int place = 0;

	ck_assert(!option_is_given(&set, OPTION_JSON));
	ck_assert_int_eq(take(&set, "--json", NULL, &place, &error), RESULT_OK);
	ck_assert_int_eq(place, 1);
	ck_assert_int_eq(take(&set, "-n", NULL, &place, &error), RESULT_OK);
	ck_assert(option_is_given(&set, OPTION_JSON));
	ck_assert(option_is_given(&set, OPTION_DRY_RUN));
	ck_assert_ptr_null(option_text(&set, OPTION_JSON));
}
END_TEST

START_TEST(a_value_stands_behind_a_blank_or_an_equals_sign)
{
	static const char *const words[][2] = { { "--since", "2h" }, { "--since=2h", NULL } };

	for (size_t i = 0; i < ARRAY_LENGTH(words); i++) {
		struct option_set set = { 0 };
		struct error error = { 0 };
		int place = 0;

		ck_assert_int_eq(take(&set, words[i][0], words[i][1], &place, &error), RESULT_OK);
		ck_assert_int_eq(place, words[i][1] == NULL ? 1 : 2);
		ck_assert_uint_eq(option_number(&set, OPTION_SINCE, 7), 7200000);
	}
}
END_TEST

START_TEST(a_flag_may_carry_its_one_word)
{
	struct option_set set = { 0 };
	struct error error = { 0 };
	int place = 0;

	ck_assert_int_eq(take(&set, "--healthcheck", "status", &place, &error), RESULT_OK);
	ck_assert_int_eq(place, 1);
	ck_assert(option_is_given(&set, OPTION_HEALTHCHECK));
	ck_assert_ptr_null(option_text(&set, OPTION_HEALTHCHECK));
	ck_assert_int_eq(take(&set, "--healthcheck=live", NULL, &place, &error), RESULT_OK);
	ck_assert_str_eq(option_text(&set, OPTION_HEALTHCHECK), "live");
	ck_assert_int_eq(take(&set, "--healthcheck=dead", NULL, &place, &error), RESULT_PERMANENT);
	ck_assert_ptr_nonnull(strstr(error.text, "dead"));
}
END_TEST

START_TEST(what_is_not_given_has_the_fallback)
{
	struct option_set set = { 0 };

	ck_assert_uint_eq(option_number(&set, OPTION_SINCE, 7), 7);
	ck_assert_ptr_null(option_text(&set, OPTION_ACTOR));
}
END_TEST

START_TEST(a_wrong_option_is_refused_with_words)
{
	static const struct {
		const char *word;
		const char *next;
		const char *says;
	} cases[] = {
		{ "--jsn", NULL, "did you mean --json?" },
		{ "--nothing-like-it", NULL, "unknown option --nothing-like-it" },
		{ "-z", NULL, "unknown option -z" },
		{ "-nj", NULL, "unknown option -nj" },
		{ "--check", NULL, "unknown option --check" }, /* of another command */
		{ "--json=yes", NULL, "--json takes no value" },
		{ "--actor", NULL, "--actor needs a value" },
		{ "--since", "2 hours", "is not a duration" },
		{ "--since", "100ms", "is not a duration" },
		{ "--limit", "0", "is not a whole number from 1" },
		{ "--limit", "-5", "is not a whole number" },
		{ "--limit", "many", "is not a whole number" },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		struct option_set set = { 0 };
		struct error error = { 0 };
		int place = 0;

		ck_assert_int_eq(
			take(&set, cases[i].word, cases[i].next, &place, &error), RESULT_PERMANENT);
		ck_assert_msg(strstr(error.text, cases[i].says) != NULL, "%s", error.text);
	}
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		a_flag_is_given_by_name_or_letter,
		a_value_stands_behind_a_blank_or_an_equals_sign,
		a_flag_may_carry_its_one_word,
		what_is_not_given_has_the_fallback,
		a_wrong_option_is_refused_with_words,
	};

	return runner_run("option", tests, ARRAY_LENGTH(tests));
}
