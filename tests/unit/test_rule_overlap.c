/* rule_overlap: which rule wins, and where two of them meet. */
#include "common/base/compiler.h"
#include "common/order/rule_overlap.h"
#include "tests/support/runner.h"

#define RULE(...)       (&(const struct rule_overlap){ .to_ms = INT64_MAX, __VA_ARGS__ })
#define SPAN(from, to)  (&(const struct rule_overlap){ .from_ms = (from), .to_ms = (to) })
#define TENANT(value)   .values[0] = (value)
#define CHANNEL(value)  .values[1] = (value)
#define ACTIVITY(value) .values[2] = (value)
#define CATEGORY(value) .values[3] = (value)

START_TEST(rules_meet_unless_an_attribute_differs)
{
	const struct {
		const struct rule_overlap *a, *b;
		bool do_meet;
	} cases[] = {
		{ RULE(.priority = 0), RULE(.priority = 0), true },
		{ RULE(.priority = 0), RULE(TENANT("t")), true },
		{ RULE(TENANT("t")), RULE(TENANT("t")), true },
		{ RULE(TENANT("t")), RULE(TENANT("u")), false },
		{ RULE(TENANT("t")), RULE(TENANT("T")), false },
		{ RULE(TENANT("t")), RULE(CHANNEL("t")), true },
		{ RULE(TENANT("t"), CHANNEL("app")), RULE(TENANT("t"), ACTIVITY("sale")), true },
		{ RULE(TENANT("t"), CHANNEL("app")), RULE(CHANNEL("web"), ACTIVITY("sale")),
			false },
		{ RULE(CATEGORY("food")), RULE(CATEGORY("foods")), false },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		ck_assert_msg(rule_overlap_meets(cases[i].a, cases[i].b) == cases[i].do_meet,
			"case %zu", i);
		ck_assert_msg(rule_overlap_meets(cases[i].b, cases[i].a) == cases[i].do_meet,
			"case %zu, the other way round", i);
	}
}
END_TEST

START_TEST(rules_meet_only_while_both_are_valid)
{
	ck_assert(rule_overlap_meets(SPAN(10, 20), SPAN(19, 30)));
	ck_assert(rule_overlap_meets(SPAN(10, 20), SPAN(0, 11)));
	ck_assert(rule_overlap_meets(SPAN(10, 20), SPAN(12, 13)));
	/* A rule is not valid any more at its end. */
	ck_assert(!rule_overlap_meets(SPAN(10, 20), SPAN(20, 30)));
	ck_assert(!rule_overlap_meets(SPAN(10, 20), SPAN(0, 10)));
	ck_assert(!rule_overlap_meets(SPAN(10, 10), SPAN(0, 10)));
	/* What is valid at no moment meets nothing. */
	ck_assert(!rule_overlap_meets(SPAN(10, 10), SPAN(0, 20)));
	ck_assert(!rule_overlap_meets(SPAN(0, 20), SPAN(15, 5)));
}
END_TEST

START_TEST(more_attributes_win_then_the_priority_then_the_younger)
{
	/* Best first. */
	const struct rule_overlap *const rules[] = {
		RULE(TENANT("t"), CHANNEL("app"), .priority = -9),
		RULE(TENANT("t"), .priority = 7, .id = 1),
		RULE(CATEGORY("food"), .priority = 3, .id = RULE_OVERLAP_YOUNGEST),
		RULE(CHANNEL("app"), .priority = 3, .id = 8),
		RULE(TENANT("u"), .priority = 3, .id = 7),
		RULE(.priority = 1000000),
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rules); i++)
		for (size_t j = 0; j < ARRAY_LENGTH(rules); j++)
			ck_assert_msg(rule_overlap_is_better(rules[i], rules[j]) == (i < j),
				"%zu and %zu", i, j);
}
END_TEST

START_TEST(a_rule_covers_what_is_as_narrow_and_as_short_or_more)
{
	ck_assert(rule_overlap_covers(RULE(.priority = 0), RULE(TENANT("t"))));
	ck_assert(rule_overlap_covers(RULE(TENANT("t")), RULE(TENANT("t"))));
	ck_assert(rule_overlap_covers(RULE(TENANT("t")), RULE(TENANT("t"), CHANNEL("app"))));
	ck_assert(!rule_overlap_covers(RULE(TENANT("t")), RULE(.priority = 0)));
	ck_assert(!rule_overlap_covers(RULE(TENANT("t")), RULE(TENANT("u"))));
	ck_assert(!rule_overlap_covers(RULE(TENANT("t")), RULE(CHANNEL("app"))));
	ck_assert(rule_overlap_covers(SPAN(10, 20), SPAN(10, 20)));
	ck_assert(rule_overlap_covers(SPAN(0, INT64_MAX), SPAN(10, 20)));
	ck_assert(!rule_overlap_covers(SPAN(11, 20), SPAN(10, 20)));
	ck_assert(!rule_overlap_covers(SPAN(10, 20), SPAN(10, INT64_MAX)));
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		rules_meet_unless_an_attribute_differs,
		rules_meet_only_while_both_are_valid,
		more_attributes_win_then_the_priority_then_the_younger,
		a_rule_covers_what_is_as_narrow_and_as_short_or_more,
	};

	return runner_run("rule_overlap", tests, ARRAY_LENGTH(tests));
}
