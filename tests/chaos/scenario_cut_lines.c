/* Lines to the servers are cut: at COMMIT, in the middle of a message, all the time. */
#include "tests/support/fleet.h"
#include "tests/support/orders.h"
#include "tests/support/proxy.h"
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

static void tear_down(void)
{
	fleet_destroy(&fleet);
}

struct cuts {
	const struct proxy *proxy;
	uint64_t wanted;
};

static bool are_cut(void *context)
{
	const struct cuts *cuts = context;

	return proxy_count_cuts(cuts->proxy) >= cuts->wanted;
}

static void await_cuts(const struct proxy *proxy, uint64_t wanted)
{
	struct cuts cuts = { proxy, wanted };

	WAIT_UNTIL(are_cut, &cuts);
}

/* The answer to a COMMIT is lost: whether it happened is for the daemon to find out. */
static void cut_commits(enum proxy_place place, const char *prefix)
{
	struct proxy *mysql = sandbox_proxy_mysql(fleet_sandbox(fleet));

	sandbox_set(fleet_sandbox(fleet), "LAPSE_CLOSE_BATCH", "50");
	sandbox_set(fleet_sandbox(fleet), "LAPSE_SWEEP_BATCH", "50");
	fleet_feed(fleet, prefix, 800, 500, 3000);
	proxy_cut_at(mysql, PROXY_COMMIT, place, 25);
	fleet_start(fleet);
	await_cuts(mysql, 25);
	fleet_check(fleet, &all_is_well);
}

START_TEST(a_commit_that_never_arrived_is_run_again)
{
	cut_commits(PROXY_BEFORE, "CB");
}
END_TEST

START_TEST(a_commit_whose_answer_was_lost_is_not_done_twice)
{
	cut_commits(PROXY_AFTER, "CA");
}
END_TEST

START_TEST(a_line_cut_in_the_middle_of_a_message_loses_none)
{
	struct proxy *amqp = sandbox_proxy_amqp(fleet_sandbox(fleet));
	size_t mark = stack_mark_broker_log();

	fleet_start(fleet);
	for (uint64_t i = 1; i <= 15; i++) {
		char prefix[8] = "M";

		prefix[1] = (char)('a' + i);
		proxy_cut_after(amqp, 300 + runner_random(20000));
		fleet_feed(fleet, prefix, 100, 1500, 1000);
		await_cuts(amqp, i);
	}
	proxy_cut_after(amqp, 0);
	fleet_check(fleet, &all_is_well);
	/* A client that says good-bye into half a frame would be told so here. */
	ck_assert_uint_eq(stack_count_in_broker_log(mark, "unexpected_frame"), 0);
	ck_assert_uint_eq(stack_count_in_broker_log(mark, "PRECONDITION_FAILED"), 0);
}
END_TEST

START_TEST(lines_that_are_cut_all_the_time_still_carry_the_work)
{
	struct proxy *mysql = sandbox_proxy_mysql(fleet_sandbox(fleet));
	struct proxy *amqp = sandbox_proxy_amqp(fleet_sandbox(fleet));

	fleet_start(fleet);
	fleet_feed(fleet, "T", 2000, 500, 8000);
	for (int64_t i = 1; i <= 10; i++) {
		struct query *query = fleet_query(fleet);
		int64_t before = orders_count(query, "CLOSED");

		proxy_cut(runner_random(1) == 0 ? mysql : amqp);
		if (before == 2000)
			break;
		for (int wait = 0; wait < 200 && orders_count(query, "CLOSED") == before; wait++)
			(void)query_number(query, "SELECT SLEEP(0.01)");
	}
	fleet_check(fleet, &all_is_well);
}
END_TEST

START_TEST(a_slow_database_is_slow_and_no_reason_to_leave_the_broker)
{
	struct proxy *mysql = sandbox_proxy_mysql(fleet_sandbox(fleet));

	sandbox_set(fleet_sandbox(fleet), "LAPSE_AMQP_HEARTBEAT", "2s");
	fleet_start(fleet);
	fleet_await_ready(fleet, FLEET_CONSUMER, true);
	proxy_slow(mysql, 700);
	fleet_feed(fleet, "S", 40, 500, 500);
	ck_assert(
		wait_until(orders_are_all_final, fleet_query(fleet), UINT64_C(2) * WAIT_LIMIT_MS));
	proxy_slow(mysql, 0);
	fleet_check(fleet, &all_is_well);
}
END_TEST

/* Delays go on after every reconnect, by message: there is no sweeper. */
static void close_connections(const char *mode)
{
	const char *const words[] = { "close-connections", sandbox_name(fleet_sandbox(fleet)),
		NULL };

	sandbox_set(fleet_sandbox(fleet), "LAPSE_DELAY", "%s", mode);
	(void)fleet_start_one(fleet, FLEET_PRODUCER);
	(void)fleet_start_one(fleet, FLEET_CONSUMER);
	(void)fleet_start_one(fleet, FLEET_RETRY);
	for (int i = 0; i < 5; i++) {
		char prefix[] = "C0-";

		fleet_await_ready(fleet, FLEET_CONSUMER, true);
		fleet_await_ready(fleet, FLEET_PRODUCER, true);
		stack_command(words);
		prefix[1] = (char)('0' + i);
		fleet_feed(fleet, prefix, 10, 1500, 1000);
	}
	fleet_settle(fleet);
	ck_assert_int_eq(fleet_count_closed(fleet, "", "message"), 50);
	fleet_check(fleet, &all_is_well);
}

START_TEST(closed_connections_stop_no_delay_through_the_levels)
{
	close_connections("levels");
}
END_TEST

START_TEST(closed_connections_stop_no_delay_through_the_plugin)
{
	close_connections("plugin");
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		a_commit_that_never_arrived_is_run_again,
		a_commit_whose_answer_was_lost_is_not_done_twice,
		a_line_cut_in_the_middle_of_a_message_loses_none,
		lines_that_are_cut_all_the_time_still_carry_the_work,
		a_slow_database_is_slow_and_no_reason_to_leave_the_broker,
		closed_connections_stop_no_delay_through_the_levels,
		closed_connections_stop_no_delay_through_the_plugin,
	};
	const struct runner_fixture fixture = { set_up, tear_down };

	sandbox_need_servers();
	return runner_run_with("cut_lines", &fixture, tests, ARRAY_LENGTH(tests));
}
