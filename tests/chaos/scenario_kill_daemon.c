/* kill -9 of every daemon at every place where that could hurt. */
#include "tests/support/fleet.h"
#include "tests/support/process.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"

static struct fleet *fleet;

static void set_up(void)
{
	fleet_create(&fleet);
}

static void tear_down(void)
{
	fleet_destroy(&fleet);
}

static const struct fleet_expectation all_is_well = { .latest_ms = FLEET_ANY_LATENESS };

/* Each finds rows of its own to be killed over; a fresh one cleans up behind them. */
static void lose_at_each(enum fleet_member member, const char *const *failpoints, size_t count)
{
	for (size_t i = 0; i < count; i++)
		fleet_lose_one(fleet, member, failpoints[i]);
}

START_TEST(a_killed_producer_loses_no_message)
{
	static const char *const failpoints[] = { "after_claim", "after_publish", "after_confirm",
		"after_commit", "after_publish:kill:3", "after_commit:kill:3" };
	char prefix[] = "P0-";

	sandbox_set(fleet_sandbox(fleet), "LAPSE_PUBLISH_WINDOW", "20");
	for (size_t i = 0; i < ARRAY_LENGTH(failpoints); i++) {
		prefix[1] = (char)('0' + i);
		fleet_feed(fleet, prefix, 100, 4000, 3000);
		fleet_lose_one(fleet, FLEET_PRODUCER, failpoints[i]);
	}
	fleet_start(fleet);
	fleet_check(fleet, &all_is_well);
}
END_TEST

START_TEST(a_killed_consumer_closes_once)
{
	static const char *const failpoints[] = { "after_claim", "before_commit", "after_commit",
		"before_commit:kill:2", "after_commit:kill:2" };

	sandbox_set(fleet_sandbox(fleet), "LAPSE_CLOSE_BATCH", "30");
	sandbox_set(fleet_sandbox(fleet), "LAPSE_PREFETCH", "60");
	fleet_feed(fleet, "C", 600, -1000, 0);
	(void)fleet_start_one(fleet, FLEET_PRODUCER);
	lose_at_each(FLEET_CONSUMER, failpoints, ARRAY_LENGTH(failpoints));
	(void)fleet_start_one(fleet, FLEET_CONSUMER);
	(void)fleet_start_one(fleet, FLEET_RETRY);
	fleet_check(fleet, &all_is_well);
}
END_TEST

START_TEST(a_killed_sweeper_closes_once)
{
	static const char *const failpoints[] = { "before_commit", "after_commit",
		"before_commit:kill:3", "after_commit:kill:3" };

	sandbox_set(fleet_sandbox(fleet), "LAPSE_SWEEP_BATCH", "25");
	fleet_feed(fleet, "S", 600, -60000, 0);
	lose_at_each(FLEET_SWEEPER, failpoints, ARRAY_LENGTH(failpoints));
	fleet_start(fleet);
	fleet_check(fleet, &all_is_well);
}
END_TEST

START_TEST(a_killed_retry_calls_with_the_same_key_and_counts)
{
	static const char *const failpoints[] = { "after_claim", "after_call", "before_commit",
		"after_commit" };

	fleet_feed(fleet, "R", 300, -60000, 0);
	(void)fleet_start_one(fleet, FLEET_PRODUCER);
	(void)fleet_start_one(fleet, FLEET_CONSUMER);
	(void)fleet_start_one(fleet, FLEET_SWEEPER);
	lose_at_each(FLEET_RETRY, failpoints, ARRAY_LENGTH(failpoints));
	(void)fleet_start_one(fleet, FLEET_RETRY);
	fleet_check(fleet, &all_is_well);
}
END_TEST

START_TEST(daemons_killed_at_random_moments_leave_nothing_behind)
{
	struct process *victims[FLEET_MEMBERS] = { NULL };

	fleet_feed(fleet, "A", 3000, 500, 8000);
	for (int round = 0; round < 12; round++) {
		enum fleet_member member = (enum fleet_member)runner_random(FLEET_MEMBERS - 1);

		if (victims[member] != NULL)
			fleet_kill_one(fleet, victims[member]);
		victims[member] = NULL;
		for (int i = 0; i < FLEET_MEMBERS; i++)
			if (victims[i] == NULL)
				victims[i] = fleet_start_one(fleet, (enum fleet_member)i);
		(void)process_wait(victims[member], runner_random(900));
	}
	fleet_check(fleet, &all_is_well);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		a_killed_producer_loses_no_message,
		a_killed_consumer_closes_once,
		a_killed_sweeper_closes_once,
		a_killed_retry_calls_with_the_same_key_and_counts,
		daemons_killed_at_random_moments_leave_nothing_behind,
	};
	const struct runner_fixture fixture = { set_up, tear_down };

	sandbox_need_servers();
	return runner_run_with("kill_daemon", &fixture, tests, ARRAY_LENGTH(tests));
}
