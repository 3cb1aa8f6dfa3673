/* refusal: when a connection that is refused again and again is given up. */
#include <check.h>

#include "common/base/compiler.h"
#include "common/io/broker.h"
#include "producer/refusal.h"
#include "tests/support/runner.h"

static const struct broker_settings settings = { 0 };
static struct broker *broker;
static struct refusal refusal;

static void set_up(void)
{
	broker_create(&settings, "test", &broker);
	refusal = (struct refusal){ .renewed_ms = 0 };
}

static void tear_down(void)
{
	broker_destroy(&broker);
}

START_TEST(a_few_refusals_are_no_reason)
{
	for (uint32_t attempts = 0; attempts < REFUSAL_ATTEMPTS; attempts++)
		refusal_note(&refusal, attempts);
	refusal_renew(&refusal, broker, 0);
	ck_assert_uint_eq(refusal.renewed_ms, 0);
}
END_TEST

START_TEST(a_row_that_is_refused_again_and_again_is_a_reason)
{
	refusal_note(&refusal, REFUSAL_ATTEMPTS);
	refusal_renew(&refusal, broker, 0);
	ck_assert_uint_gt(refusal.renewed_ms, 0);
	ck_assert(!refusal.is_suspicious);
}
END_TEST

START_TEST(what_is_under_way_is_waited_for)
{
	refusal_note(&refusal, REFUSAL_ATTEMPTS);
	refusal_renew(&refusal, broker, 1);
	ck_assert_uint_eq(refusal.renewed_ms, 0);
	ck_assert(refusal.is_suspicious);
}
END_TEST

START_TEST(it_happens_now_and_then_only)
{
	refusal_note(&refusal, REFUSAL_ATTEMPTS);
	refusal_renew(&refusal, broker, 0);
	refusal_note(&refusal, REFUSAL_ATTEMPTS);
	refusal_renew(&refusal, broker, 0);
	ck_assert(refusal.is_suspicious); /* not yet again */
}
END_TEST

int main(void)
{
	static const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = {
		a_few_refusals_are_no_reason,
		a_row_that_is_refused_again_and_again_is_a_reason,
		what_is_under_way_is_waited_for,
		it_happens_now_and_then_only,
	};

	return runner_run_with("refusal", &fixture, tests, ARRAY_LENGTH(tests));
}
