/* Names to addresses, without waiting. */
#include "common/io/lookup.h"
#include "tests/support/runner.h"
#include "tests/support/wait_until.h"

struct answer {
	struct lookup *lookup;
	enum result result;
	char addresses[LOOKUP_ADDRESS_MAX][LOOKUP_ADDRESS_SIZE];
	size_t count;
	struct error error;
};

static bool is_answered(void *context)
{
	struct answer *answer = context;

	answer->result =
		lookup_take(answer->lookup, answer->addresses, &answer->count, &answer->error);
	return answer->result != RESULT_NONE;
}

START_TEST(an_address_is_its_own_answer)
{
	struct answer answer = { .count = 0 };

	lookup_start("127.0.0.1", &answer.lookup);
	WAIT_UNTIL(is_answered, &answer);
	lookup_destroy(&answer.lookup);
	ck_assert_int_eq(answer.result, RESULT_OK);
	ck_assert_uint_eq(answer.count, 1);
	ck_assert_str_eq(answer.addresses[0], "127.0.0.1");
}
END_TEST

START_TEST(what_is_no_name_is_told_with_words)
{
	struct answer answer = { .count = 0 };

	lookup_start("no such name.invalid", &answer.lookup);
	WAIT_UNTIL(is_answered, &answer);
	lookup_destroy(&answer.lookup);
	ck_assert_int_eq(answer.result, RESULT_TEMPORARY);
	ck_assert_str_ne(answer.error.text, "");
	ck_assert_ptr_null(answer.lookup);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		an_address_is_its_own_answer,
		what_is_no_name_is_told_with_words,
	};

	return runner_run("lookup", tests, ARRAY_LENGTH(tests));
}
