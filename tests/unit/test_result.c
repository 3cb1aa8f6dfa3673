#include <string.h>

#include "common/base/result.h"
#include "tests/support/child.h"
#include "tests/support/runner.h"

START_TEST(an_error_keeps_its_text_and_gives_its_result)
{
	struct error error = { 0 };

	ck_assert_int_eq(error_set(RESULT_TEMPORARY, &error, "connect to %s: %d", "db", 7),
		RESULT_TEMPORARY);
	ck_assert_str_eq(error.text, "connect to db: 7");
}
END_TEST

START_TEST(an_error_that_is_too_long_is_cut_and_ended)
{
	struct error error = { 0 };
	char text[2 * sizeof(error.text)];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	(void)error_set(RESULT_PERMANENT, &error, "%s", text);
	ck_assert_uint_eq(strlen(error.text), sizeof(error.text) - 1);
}
END_TEST

START_TEST(an_error_nobody_wants_is_no_trouble)
{
	ck_assert_int_eq(error_set(RESULT_CONFLICT, NULL, "x"), RESULT_CONFLICT);
	ck_assert_int_eq(error_context(RESULT_CONFLICT, NULL, "x"), RESULT_CONFLICT);
}
END_TEST

START_TEST(a_context_stands_in_front_of_a_failure)
{
	static const enum result failures[] = { RESULT_CONFLICT, RESULT_TEMPORARY,
		RESULT_PERMANENT };

	for (size_t i = 0; i < ARRAY_LENGTH(failures); i++) {
		struct error error = { .text = "refused" };

		ck_assert_int_eq(error_context(failures[i], &error, "sweep %d", 3), failures[i]);
		ck_assert_str_eq(error.text, "sweep 3: refused");
	}
}
END_TEST

START_TEST(a_context_leaves_what_is_no_failure)
{
	struct error error = { .text = "old" };

	ck_assert_int_eq(error_context(RESULT_OK, &error, "sweep"), RESULT_OK);
	ck_assert_int_eq(error_context(RESULT_NONE, &error, "sweep"), RESULT_NONE);
	ck_assert_str_eq(error.text, "old");
}
END_TEST

START_TEST(a_context_never_runs_over)
{
	struct error error = { 0 };
	char text[sizeof(error.text)];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	(void)error_set(RESULT_PERMANENT, &error, "%s", text);
	(void)error_context(RESULT_PERMANENT, &error, "sweep");
	ck_assert_uint_eq(strlen(error.text), sizeof(error.text) - 1);
	ck_assert(strncmp(error.text, "sweep: xxx", 10) == 0);
	/* Words that leave no room for the reason are left out: the reason counts more. */
	(void)error_set(RESULT_PERMANENT, &error, "reason");
	(void)error_context(RESULT_PERMANENT, &error, "%s", text);
	ck_assert_str_eq(error.text, "reason");
}
END_TEST

START_TEST(each_result_has_its_word)
{
	ck_assert_str_eq(result_name(RESULT_OK), "ok");
	ck_assert_str_eq(result_name(RESULT_NONE), "none");
	ck_assert_str_eq(result_name(RESULT_CONFLICT), "conflict");
	ck_assert_str_eq(result_name(RESULT_TEMPORARY), "temporary");
	ck_assert_str_eq(result_name(RESULT_PERMANENT), "permanent");
}
END_TEST

static void require_what_does_not_hold(void *context)
{
	const int *one = context;

	REQUIRE(*one == 2);
}

START_TEST(a_requirement_that_does_not_hold_ends_the_process)
{
	int one = 1;
	struct child_end end;

	child_run(require_what_does_not_hold, &one, &end);
	ck_assert_int_eq(end.status, EXIT_STATUS_BUG);
	ck_assert(strstr(end.output, "*one == 2") != NULL);
	one = 2;
	child_run(require_what_does_not_hold, &one, &end);
	ck_assert_int_eq(end.status, 0);
	ck_assert_str_eq(end.output, "");
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		an_error_keeps_its_text_and_gives_its_result,
		an_error_that_is_too_long_is_cut_and_ended,
		an_error_nobody_wants_is_no_trouble,
		a_context_stands_in_front_of_a_failure,
		a_context_leaves_what_is_no_failure,
		a_context_never_runs_over,
		each_result_has_its_word,
		a_requirement_that_does_not_hold_ends_the_process,
	};

	return runner_run("result", tests, ARRAY_LENGTH(tests));
}
