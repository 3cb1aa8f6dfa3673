/* The database is killed, frozen, read-only: nobody leaves, nothing is lost. */
#include "tests/support/fleet.h"
#include "tests/support/orders.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/stack.h"
#include "tests/support/wait_until.h"

static struct fleet *fleet;

static const struct fleet_expectation all_is_well = { .latest_ms = FLEET_ANY_LATENESS };

static void set_up(void)
{
	fleet_create(&fleet);
}

/* Nothing may stay broken for the tests behind this one. */
static void tear_down(void)
{
	static const char *const writable[] = { "mysql", "-e", "SET GLOBAL read_only = 0", NULL };

	stack_do("start-db");
	stack_do("thaw-db");
	stack_command(writable);
	query_await(fleet_query(fleet));
	fleet_destroy(&fleet);
}

static bool are_some_closed(void *context)
{
	const int64_t *wanted = context;

	return orders_count(fleet_query(fleet), "CLOSED") >= *wanted;
}

static void await_closed(int64_t count)
{
	ck_assert_msg(wait_until(are_some_closed, &count, WAIT_LIMIT_MS), "closed: %lld, not %lld",
		(long long)orders_count(fleet_query(fleet), "CLOSED"), (long long)count);
}

static void await_all_unready(void)
{
	for (int member = 0; member < FLEET_MEMBERS; member++)
		fleet_await_ready(fleet, (enum fleet_member)member, false);
}

START_TEST(a_killed_database_costs_time_and_nothing_else)
{
	fleet_start(fleet);
	fleet_feed(fleet, "K", 1000, 500, 6000);
	for (int64_t i = 0; i < 3; i++) {
		await_closed(100 * (i + 1));
		stack_do("kill-db");
		if (i == 0)
			await_all_unready();
		stack_do("start-db");
		query_await(fleet_query(fleet));
	}
	fleet_check(fleet, &all_is_well);
}
END_TEST

START_TEST(a_frozen_database_keeps_its_messages_in_hand)
{
	fleet_start(fleet);
	fleet_feed(fleet, "F", 400, 2000, 1000);
	await_closed(20);
	stack_do("freeze-db");
	await_all_unready();
	stack_do("thaw-db");
	await_closed(400);
	fleet_check(fleet, &all_is_well);
}
END_TEST

/* A server that may only be read is a server in trouble, and its return is noticed. */
START_TEST(a_read_only_database_is_waited_for)
{
	static const char *const on[] = { "mysql", "-e", "SET GLOBAL read_only = 1", NULL };
	static const char *const off[] = { "mysql", "-e", "SET GLOBAL read_only = 0", NULL };

	fleet_start(fleet);
	fleet_await_ready(fleet, FLEET_SWEEPER, true);
	fleet_feed(fleet, "R", 100, 8000, 0);
	stack_command(on);
	fleet_await_ready(fleet, FLEET_SWEEPER, false);
	fleet_await_ready(fleet, FLEET_CONSUMER, false);
	stack_command(off);
	await_closed(100);
	fleet_check(fleet, &all_is_well);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		a_killed_database_costs_time_and_nothing_else,
		a_frozen_database_keeps_its_messages_in_hand,
		a_read_only_database_is_waited_for,
	};
	const struct runner_fixture fixture = { set_up, tear_down };

	sandbox_need_servers();
	return runner_run_with("database_away", &fixture, tests, ARRAY_LENGTH(tests));
}
