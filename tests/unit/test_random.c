#include <stdbool.h>
#include <string.h>

#include "common/base/random.h"
#include "tests/support/runner.h"

START_TEST(two_draws_of_bytes_differ)
{
	uint8_t left[32];
	uint8_t right[32];

	random_bytes(left, sizeof(left));
	random_bytes(right, sizeof(right));
	ck_assert_mem_ne(left, right, sizeof(left));
}
END_TEST

START_TEST(more_bytes_than_one_call_of_the_system_gives_are_all_filled)
{
	static uint8_t bytes[1000000];
	size_t zeros = 0;

	random_bytes(bytes, sizeof(bytes));
	for (size_t i = sizeof(bytes) - 1000; i < sizeof(bytes); i++)
		zeros += bytes[i] == 0 ? 1 : 0;
	ck_assert_uint_lt(zeros, 100);
}
END_TEST

START_TEST(both_ends_are_drawn)
{
	bool seen[4] = { false };

	for (int i = 0; i < 1000; i++) {
		uint64_t value = random_up_to(3);

		ck_assert_uint_le(value, 3);
		seen[value] = true;
	}
	for (int i = 0; i < 4; i++)
		ck_assert(seen[i]);
	ck_assert_uint_eq(random_up_to(0), 0);
	(void)random_up_to(UINT64_MAX);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		two_draws_of_bytes_differ,
		more_bytes_than_one_call_of_the_system_gives_are_all_filled,
		both_ends_are_drawn,
	};

	return runner_run("random", tests, ARRAY_LENGTH(tests));
}
