/* doctor_clock: which difference of the broker's clock is worth a warning. */
#include <stdlib.h>
#include <string.h>

#include "common/base/text.h"
#include "ctl/doctor_clock.h"
#include "ctl/finding.h"
#include "tests/support/runner.h"

/* 2026-01-31T10:21:03.120Z, and 30 ms later */
#define BEFORE_MS UINT64_C(1769854863120)
#define AFTER_MS  (BEFORE_MS + 30)
#define NOW_S     (BEFORE_MS / 1000)

static bool warns(uint64_t broker_s)
{
	struct finding_list *list = finding_list_create();

	doctor_judge_broker_clock(broker_s, BEFORE_MS, AFTER_MS, list);
	bool is_warned = finding_list_has_warned(list);
	ck_assert(!finding_list_has_failed(list));
	finding_list_destroy(&list);
	return is_warned;
}

START_TEST(whole_seconds_are_no_difference)
{
	ck_assert(!warns(NOW_S));
	ck_assert(!warns(NOW_S + 2));
	ck_assert(!warns(NOW_S - 2));
}
END_TEST

START_TEST(a_clock_that_is_off_is_named_in_either_direction)
{
	ck_assert(warns(NOW_S + 3));
	ck_assert(warns(NOW_S - 3));
	ck_assert(warns(NOW_S + 86400));
	ck_assert(warns(1));
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		whole_seconds_are_no_difference,
		a_clock_that_is_off_is_named_in_either_direction,
	};

	return runner_run("doctor_clock", tests, ARRAY_LENGTH(tests));
}
