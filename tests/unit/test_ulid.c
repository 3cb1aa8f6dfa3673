#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/text.h"
#include "common/base/ulid.h"
#include "tests/support/runner.h"

static const char digits[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

static uint64_t read_time_ms(const char *id)
{
	uint64_t time_ms = 0;

	for (int i = 0; i < 10; i++)
		time_ms = time_ms * 32 + (uint64_t)(strchr(digits, id[i]) - digits);
	return time_ms;
}

START_TEST(an_id_has_26_characters_of_the_alphabet)
{
	char id[ULID_SIZE];

	for (int i = 0; i < 1000; i++) {
		ulid_generate(id);
		ck_assert_uint_eq(strlen(id), ULID_SIZE - 1);
		ck_assert_uint_eq(strspn(id, digits), ULID_SIZE - 1);
		ck_assert(text_is_key(id, strlen(id), TEXT_KEY_MAX));
	}
}
END_TEST

START_TEST(an_id_begins_with_its_time)
{
	char id[ULID_SIZE];
	uint64_t before_ms = clock_epoch_ms();

	ulid_generate(id);
	ck_assert_uint_ge(read_time_ms(id), before_ms);
	ck_assert_uint_le(read_time_ms(id), clock_epoch_ms());
}
END_TEST

START_TEST(ids_of_the_same_moment_differ)
{
	char ids[500][ULID_SIZE];

	for (size_t i = 0; i < ARRAY_LENGTH(ids); i++) {
		ulid_generate(ids[i]);
		for (size_t j = 0; j < i; j++)
			ck_assert_str_ne(ids[i], ids[j]);
	}
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		an_id_has_26_characters_of_the_alphabet,
		an_id_begins_with_its_time,
		ids_of_the_same_moment_differ,
	};

	return runner_run("ulid", tests, ARRAY_LENGTH(tests));
}
