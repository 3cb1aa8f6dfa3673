#include <stdbool.h>

#include "common/base/backoff.h"
#include "tests/support/runner.h"

START_TEST(the_limit_doubles_up_to_the_cap)
{
	static const uint64_t expected[] = { 5000, 10000, 20000, 40000, 60000, 60000 };

	for (uint32_t i = 0; i < ARRAY_LENGTH(expected); i++)
		ck_assert_uint_eq(backoff_limit_ms(i, 5000, 60000), expected[i]);
}
END_TEST

START_TEST(the_limit_never_overflows)
{
	ck_assert_uint_eq(backoff_limit_ms(UINT32_MAX, 5000, 60000), 60000);
	ck_assert(backoff_limit_ms(200, 3, UINT64_MAX) == UINT64_MAX);
	ck_assert(backoff_limit_ms(64, 1, UINT64_MAX) == UINT64_MAX);
}
END_TEST

START_TEST(the_limit_of_a_base_above_the_cap_is_the_cap)
{
	ck_assert_uint_eq(backoff_limit_ms(0, 5000, 100), 100);
}
END_TEST

START_TEST(a_delay_lies_between_one_and_the_limit)
{
	for (uint32_t attempt = 0; attempt < 5; attempt++) {
		uint64_t limit_ms = backoff_limit_ms(attempt, 10, 100);

		for (int i = 0; i < 1000; i++) {
			uint64_t delay_ms = backoff_delay_ms(attempt, 10, 100);

			ck_assert_uint_ge(delay_ms, 1);
			ck_assert_uint_le(delay_ms, limit_ms);
		}
	}
}
END_TEST

START_TEST(a_delay_takes_every_value_up_to_the_limit)
{
	bool seen[11] = { false };

	for (int i = 0; i < 5000; i++)
		seen[backoff_delay_ms(0, 10, 100)] = true;
	for (int i = 1; i <= 10; i++)
		ck_assert_msg(seen[i], "%d was never drawn", i);
}
END_TEST

START_TEST(a_delay_is_never_nothing)
{
	ck_assert_uint_eq(backoff_delay_ms(0, 0, 0), 1);
	ck_assert_uint_eq(backoff_delay_ms(3, 0, 1), 1);
	ck_assert_uint_eq(backoff_delay_ms(0, 1, 100), 1);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		the_limit_doubles_up_to_the_cap,
		the_limit_never_overflows,
		the_limit_of_a_base_above_the_cap_is_the_cap,
		a_delay_lies_between_one_and_the_limit,
		a_delay_takes_every_value_up_to_the_limit,
		a_delay_is_never_nothing,
	};

	return runner_run("backoff", tests, ARRAY_LENGTH(tests));
}
