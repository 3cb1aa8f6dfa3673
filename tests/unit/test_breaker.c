/* breaker: opens for a sick host only, lets one probe through, ends without a burst. */
#include "common/base/compiler.h"
#include "retry/breaker.h"
#include "tests/support/runner.h"

static bool fail_task(struct breaker *breaker, uint64_t task_id, uint64_t subject, bool is_of_host,
	uint64_t now_ms)
{
	const struct breaker_failure failure = {
		.task_id = task_id, .subject = subject, .is_of_host = is_of_host, .at_ms = now_ms
	};

	return breaker_note_failure(breaker, &failure);
}

/* Different tasks of different subjects fail until it opens. */
static void open_breaker(struct breaker *breaker, uint64_t now_ms)
{
	for (uint64_t i = 1; i < BREAKER_FAILURES; i++)
		ck_assert(!fail_task(breaker, i, i, true, now_ms));
	ck_assert(fail_task(breaker, BREAKER_FAILURES, BREAKER_FAILURES, true, now_ms));
	ck_assert_int_eq(breaker->state, BREAKER_STATE_OPEN);
}

START_TEST(it_opens_when_many_different_tasks_have_failed)
{
	struct breaker breaker = { 0 };

	open_breaker(&breaker, 1000);
	ck_assert_uint_eq(breaker_count_allowed(&breaker, 0, 1000), 0);
	ck_assert_uint_ge(breaker_wait_ms(&breaker, 1000), BREAKER_PAUSE_MS / 2);
	ck_assert_uint_le(breaker_wait_ms(&breaker, 1000), BREAKER_PAUSE_MS);
}
END_TEST

START_TEST(a_few_tasks_never_open_it)
{
	struct breaker breaker = { 0 };

	for (uint64_t i = 0; i < 100; i++)
		ck_assert(!fail_task(&breaker, i % (BREAKER_FAILURES - 1), i, true, i));
	ck_assert_int_eq(breaker.state, BREAKER_STATE_CLOSED);
}
END_TEST

START_TEST(one_sku_never_opens_it)
{
	struct breaker breaker = { 0 };

	for (uint64_t i = 0; i < 1000; i++)
		ck_assert(!fail_task(&breaker, i, 7, false, i));
	/* Not even with one stranger among them. */
	ck_assert(!fail_task(&breaker, 1000, 8, false, 1000));
	ck_assert(fail_task(&breaker, 1001, 9, false, 1001));
}
END_TEST

START_TEST(one_sku_opens_it_when_only_the_host_can_be_the_cause)
{
	struct breaker breaker = { 0 };

	for (uint64_t i = 1; i < BREAKER_FAILURES; i++)
		ck_assert(!fail_task(&breaker, i, 7, true, i));
	ck_assert(fail_task(&breaker, BREAKER_FAILURES, 7, true, 10));
}
END_TEST

START_TEST(a_success_in_between_forgets_the_failures)
{
	struct breaker breaker = { 0 };

	for (uint64_t i = 1; i < BREAKER_FAILURES; i++)
		ck_assert(!fail_task(&breaker, i, i, true, i));
	ck_assert(!breaker_note_success(&breaker, 10));
	ck_assert(!fail_task(&breaker, 100, 100, true, 10));
	ck_assert_int_eq(breaker.state, BREAKER_STATE_CLOSED);
}
END_TEST

START_TEST(old_failures_are_forgotten)
{
	struct breaker breaker = { 0 };

	for (uint64_t i = 1; i < BREAKER_FAILURES; i++)
		ck_assert(!fail_task(&breaker, i, i, true, i));
	ck_assert(!fail_task(&breaker, 100, 100, true, BREAKER_MEMORY_MS + 100));
	ck_assert_uint_eq(breaker.failure_count, 1);
}
END_TEST

START_TEST(one_probe_at_a_time_goes_through)
{
	struct breaker breaker = { 0 };
	uint64_t later_ms = 1000 + BREAKER_PAUSE_MAX_MS;

	open_breaker(&breaker, 1000);
	/* Calls begun before it opened are not the probe. */
	ck_assert_uint_eq(breaker_count_allowed(&breaker, 3, later_ms), 0);
	ck_assert_int_eq(breaker.state, BREAKER_STATE_OPEN);
	ck_assert(!fail_task(&breaker, 50, 50, true, later_ms));
	ck_assert_uint_eq(breaker_count_allowed(&breaker, 0, later_ms), 1);
	ck_assert_int_eq(breaker.state, BREAKER_STATE_PROBING);
	ck_assert_uint_eq(breaker_count_allowed(&breaker, 1, later_ms), 0);
}
END_TEST

START_TEST(pauses_double_up_to_a_limit)
{
	struct breaker breaker = { 0 };
	uint64_t now_ms = 1000;
	uint64_t limit_ms = BREAKER_PAUSE_MS;

	open_breaker(&breaker, now_ms);
	for (int i = 0; i < 10; i++) {
		uint64_t wait_ms = breaker_wait_ms(&breaker, now_ms);

		ck_assert_uint_ge(wait_ms, limit_ms / 2);
		ck_assert_uint_le(wait_ms, limit_ms);
		now_ms += wait_ms;
		ck_assert_uint_eq(breaker_count_allowed(&breaker, 0, now_ms), 1);
		ck_assert(fail_task(&breaker, 1, 1, true, now_ms));
		limit_ms =
			limit_ms * 2 < BREAKER_PAUSE_MAX_MS ? limit_ms * 2 : BREAKER_PAUSE_MAX_MS;
	}
}
END_TEST

START_TEST(a_probe_that_works_closes_it)
{
	struct breaker breaker = { 0 };

	open_breaker(&breaker, 1000);
	ck_assert_uint_eq(breaker_count_allowed(&breaker, 0, 99000), 1);
	ck_assert(breaker_note_success(&breaker, 99000));
	ck_assert_int_eq(breaker.state, BREAKER_STATE_CLOSED);
	ck_assert_uint_eq(breaker_count_allowed(&breaker, 0, 99000), BREAKER_NEXT_CALLS);
	/* And the next outage begins with a short pause again. */
	open_breaker(&breaker, 100000);
	ck_assert_uint_le(breaker_wait_ms(&breaker, 100000), BREAKER_PAUSE_MS);
}
END_TEST

START_TEST(a_late_success_only_shortens_the_pause)
{
	struct breaker breaker = { 0 };

	open_breaker(&breaker, 1000);
	ck_assert(!breaker_note_success(&breaker, 1001));
	ck_assert_int_eq(breaker.state, BREAKER_STATE_OPEN);
	ck_assert_uint_eq(breaker_wait_ms(&breaker, 1001), 0);
	ck_assert_uint_eq(breaker_count_allowed(&breaker, 0, 1001), 1);
}
END_TEST

START_TEST(calls_at_a_time_grow_with_each_success)
{
	struct breaker breaker = { 0 };

	ck_assert_uint_eq(breaker_count_allowed(&breaker, 0, 0), BREAKER_FIRST_CALLS);
	ck_assert_uint_eq(breaker_count_allowed(&breaker, BREAKER_FIRST_CALLS, 0), 0);
	for (uint64_t i = 1; i <= 100; i++)
		ck_assert(!breaker_note_success(&breaker, i));
	ck_assert_uint_eq(breaker_count_allowed(&breaker, 8, 100), BREAKER_FIRST_CALLS + 100 - 8);
}
END_TEST

START_TEST(a_failed_probe_leaves_its_subject_when_the_host_is_not_to_blame)
{
	struct breaker breaker = { 0 };

	open_breaker(&breaker, 1000);
	ck_assert_uint_eq(breaker_count_allowed(&breaker, 0, 50000), 1);
	ck_assert(fail_task(&breaker, 1, 77, false, 50000));
	ck_assert_uint_eq(breaker.failed_subject, 77);
	ck_assert_uint_eq(breaker_count_allowed(&breaker, 0, 99000), 1);
	ck_assert(fail_task(&breaker, 2, 78, true, 99000));
	ck_assert_uint_eq(breaker.failed_subject, 0);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		it_opens_when_many_different_tasks_have_failed,
		a_few_tasks_never_open_it,
		one_sku_never_opens_it,
		one_sku_opens_it_when_only_the_host_can_be_the_cause,
		a_success_in_between_forgets_the_failures,
		old_failures_are_forgotten,
		one_probe_at_a_time_goes_through,
		pauses_double_up_to_a_limit,
		a_probe_that_works_closes_it,
		a_late_success_only_shortens_the_pause,
		calls_at_a_time_grow_with_each_success,
		a_failed_probe_leaves_its_subject_when_the_host_is_not_to_blame,
	};

	return runner_run("breaker", tests, ARRAY_LENGTH(tests));
}
