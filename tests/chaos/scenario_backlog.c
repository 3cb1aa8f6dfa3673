/* After a long stop: very many overdue orders, as many messages, daemons killed on the way. */
#include "tests/support/fleet.h"
#include "tests/support/orders.h"
#include "tests/support/process.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/wait_until.h"

enum {
	ORDERS = 200000,
	ITEMS = 2 * ORDERS,
	DRAIN_LIMIT_MS = 240000,
	KILLS = 2
};

static struct fleet *fleet;

static void set_up(void)
{
	fleet_create(&fleet);
}

static void tear_down(void)
{
	fleet_destroy(&fleet);
}

/* Nobody counts a table that is being written; the sweep's own index has what is left. */
static int64_t count_left(void)
{
	return query_number(fleet_query(fleet),
		"SELECT COUNT(*) FROM t_order FORCE INDEX (idx_status_expire) "
		"WHERE status = 'UNPAID' AND expire_time < UTC_TIMESTAMP(3)");
}

static bool is_down_to(void *context)
{
	const int64_t *wanted = context;

	return count_left() <= *wanted;
}

static void await_left(int64_t wanted)
{
	ck_assert_msg(wait_until(is_down_to, &wanted, DRAIN_LIMIT_MS), "%lld orders are left",
		(long long)count_left());
}

static bool is_outbox_empty(void *context)
{
	return query_number(context, "SELECT COUNT(*) FROM t_outbox_event FORCE INDEX "
				     "(idx_status_available) WHERE status = 'NEW'") == 0;
}

static void expect_small(const struct process *process)
{
#ifndef TEST_SANITIZED
	ck_assert_uint_le(process_resident_kib(process), FLEET_RESIDENT_MAX_KIB);
#else
	(void)process;
#endif
}

START_TEST(two_hundred_thousand_orders_drain_in_bounded_memory)
{
	static const char *const verify[] = { "verify", "--no-color", NULL };
	struct query *query = fleet_query(fleet);
	struct process *consumer = NULL;
	struct process *sweeper = NULL;

	fleet_feed(fleet, "B", ORDERS, -3600000, 60000);
	struct process *producer = fleet_start_one(fleet, FLEET_PRODUCER);
	for (int i = 0; i <= KILLS; i++) {
		consumer = fleet_start_one(fleet, FLEET_CONSUMER);
		sweeper = fleet_start_one(fleet, FLEET_SWEEPER);
		await_left(i == KILLS ? 0 : ORDERS - ORDERS / (KILLS + 2) * (i + 1));
		expect_small(producer);
		expect_small(consumer);
		expect_small(sweeper);
		if (i == KILLS)
			break;
		/* A fresh order is paid at once, whatever the daemons are busy with. */
		orders_insert_one(query, i == 0 ? "FRESH0" : "FRESH1", 3600000);
		ck_assert(orders_pay(query, i == 0 ? "FRESH0" : "FRESH1"));
		fleet_kill_one(fleet, consumer);
		fleet_kill_one(fleet, sweeper);
	}
	ck_assert(wait_until(is_outbox_empty, query, DRAIN_LIMIT_MS));
	expect_small(producer);
	sandbox_set(fleet_sandbox(fleet), "LAPSE_LEASE", "15s");
	ck_assert_int_eq(sandbox_run(fleet_sandbox(fleet), "lapsectl", verify, NULL), 0);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_compensation"), ITEMS);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_outbox_event "
					     "WHERE event_type = 'ORDER_CLOSED'"),
		ORDERS);
	sandbox_expect_all_alive(fleet_sandbox(fleet));
}
END_TEST

int main(void)
{
	const TTest *const tests[] = { two_hundred_thousand_orders_drain_in_bounded_memory };
	const struct runner_fixture fixture = { set_up, tear_down };

	sandbox_need_servers();
	return runner_run_with("backlog", &fixture, tests, ARRAY_LENGTH(tests));
}
