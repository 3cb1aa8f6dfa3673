/* misbehave: which switches and values there are, and that dice fall as often as they should. */
#include <check.h>

#include "common/base/compiler.h"
#include "demo/shared/misbehave.h"
#include "tests/support/runner.h"

enum {
	THROWS = 100000,
	VALUE_SIZE = 2048,
};

struct case_of_set {
	const char *name;
	const char *value;
	bool is_valid;
};

static const struct case_of_set cases[] = {
	{ "fail-rate", "0", true },
	{ "fail-rate", "1", true },
	{ "fail-rate", "0.25", true },
	{ "error-code", ".5", true },
	{ "fail-rate", "1.1", false },
	{ "fail-rate", "-1", false },
	{ "fail-rate", "nan", false },
	{ "fail-rate", "0x1", false },
	{ "fail-rate", "1e0", false },
	{ "fail-rate", ".", false },
	{ "fail-rate", "", false },
	{ "delay", "50ms", true },
	{ "delay", "0", true },
	{ "delay", "50", false },
	{ "delay", "1d", false },
	{ "retry-after", "3", true },
	{ "retry-after", "3s", false },
	{ "fail-sku", "SKU-1=410", true },
	{ "fail-sku", "SKU-1=200", false },
	{ "fail-sku", "=410", false },
	{ "fail-sku", "SKU 1=410", false },
	{ "fail-sku", "SKU-1", false },
	{ "fail-sku", "SKU-1=410,SKU-2=503", true },
	{ "fail-sku", "SKU-1=410,", true },
	{ "fail-sku", "SKU-1=410,,", false },
	{ "fail-sku", "SKU-1=410,SKU-2", false },
	{ "fail-sku", "", true },
	{ "listen", "1", false },
	{ "", "1", false },
};

START_TEST(only_values_that_make_sense_are_taken)
{
	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		struct misbehave misbehave = { 0 };

		ck_assert_msg(misbehave_set(&misbehave, cases[i].name, cases[i].value) ==
				      cases[i].is_valid,
			"%s %s", cases[i].name, cases[i].value);
	}
}
END_TEST

static void expect_value(const struct misbehave *misbehave, const char *name, const char *value)
{
	char text[VALUE_SIZE];

	misbehave_get(misbehave, name, text, sizeof(text));
	ck_assert_str_eq(text, value);
}

START_TEST(what_is_set_is_shown)
{
	struct misbehave misbehave = { 0 };

	ck_assert(misbehave_set(&misbehave, "lose-answers", "0.1"));
	ck_assert(misbehave_set(&misbehave, "delay", "1500ms"));
	ck_assert(misbehave_set(&misbehave, "fail-sku", "A=410,B=429"));
	ck_assert(!misbehave_set(&misbehave, "fail-sku", "C=500,D=5"));
	ck_assert(misbehave_set(&misbehave, "fail-sku", "A=503"));
	expect_value(&misbehave, "lose-answers", "0.1");
	expect_value(&misbehave, "fail-rate", "0");
	expect_value(&misbehave, "delay", "1500ms");
	expect_value(&misbehave, "fail-sku", "A=503,B=429");
	ck_assert_uint_eq(misbehave_find_status(&misbehave, "A"), 503);
	ck_assert_uint_eq(misbehave_find_status(&misbehave, "C"), 0);
	ck_assert(misbehave_set(&misbehave, "fail-sku", ""));
	ck_assert_uint_eq(misbehave_find_status(&misbehave, "A"), 0);
}
END_TEST

START_TEST(there_is_room_for_a_fixed_number_of_skus)
{
	struct misbehave misbehave = { 0 };
	char value[] = "SKU-A=500";

	for (int i = 0; i < MISBEHAVE_SKU_MAX; i++) {
		value[4] = (char)('A' + i);
		ck_assert(misbehave_set(&misbehave, "fail-sku", value));
	}
	value[4] = 'z';
	ck_assert(!misbehave_set(&misbehave, "fail-sku", value));
	value[4] = 'B';
	ck_assert(misbehave_set(&misbehave, "fail-sku", value));
}
END_TEST

static unsigned int count_acts(const struct misbehave *misbehave, enum misbehave_act act)
{
	unsigned int count = 0;

	for (int i = 0; i < THROWS; i++)
		count += misbehave_choose(misbehave) == act ? 1 : 0;
	return count;
}

START_TEST(a_rate_is_the_share_of_calls)
{
	struct misbehave misbehave = { 0 };

	ck_assert_uint_eq(count_acts(&misbehave, MISBEHAVE_ACT_NONE), THROWS);
	ck_assert(misbehave_set(&misbehave, "lose-answers", "0.25"));
	unsigned int lost = count_acts(&misbehave, MISBEHAVE_ACT_LOSE);
	/* More than ten standard deviations wide. */
	ck_assert_uint_gt(lost, THROWS * 23 / 100);
	ck_assert_uint_lt(lost, THROWS * 27 / 100);
	ck_assert(misbehave_set(&misbehave, "hang", "1"));
	ck_assert_uint_eq(count_acts(&misbehave, MISBEHAVE_ACT_HANG), THROWS);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		only_values_that_make_sense_are_taken,
		what_is_set_is_shown,
		there_is_room_for_a_fixed_number_of_skus,
		a_rate_is_the_share_of_calls,
	};

	return runner_run("misbehave", tests, ARRAY_LENGTH(tests));
}
