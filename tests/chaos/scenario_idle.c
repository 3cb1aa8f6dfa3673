/* A fleet with nothing to do: it sees what comes, and no transaction stays open meanwhile. */
#include <limits.h>
#include <stdlib.h>

#include "common/base/clock.h"
#include "common/base/text.h"
#include "tests/support/fleet.h"
#include "tests/support/gateway.h"
#include "tests/support/orders.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/scratch.h"
#include "tests/support/wait_until.h"

enum {
	IDLE_MS = 15000, /* many intervals of every program, and more than AGE_MAX_S */
	AGE_MAX_S = 10,
	LATEST_MS = 2 * FLEET_SWEEP_MS + 1000, /* a busy machine may need a moment */
};

static struct fleet *fleet;
static struct sandbox *sandbox;
static struct query *query;
static struct gateway_run gateway;

static const struct fleet_expectation all_is_well = { .latest_ms = LATEST_MS };

static void set_up(void)
{
	char path[PATH_MAX];

	fleet_create(&fleet);
	sandbox = fleet_sandbox(fleet);
	query = fleet_query(fleet);
	scratch_write("webhooks", "", path);
	sandbox_set(sandbox, "LAPSE_WEBHOOKS_FILE", "%s", path);
}

static void tear_down(void)
{
	gateway_leave(&gateway);
	fleet_destroy(&fleet);
}

/* Only root may see the transactions of others. */
static void expect_no_old_transaction(void)
{
	char sql[768];
	char script[PATH_MAX];
	char *output = NULL;
	const char *const words[] = { "--name", getenv("STACK_NAME"), "mysql", "-N", "-B", "-e",
		sql, NULL };

	(void)text_format(script, sizeof(script), "%s/../../scripts/stack", getenv("STACK_FOLDER"));
	(void)text_format(sql, sizeof(sql),
		"SELECT TIMESTAMPDIFF(SECOND, trx_started, NOW()), 's', p.id, p.host, p.command, "
		"p.state, p.info, trx_state, trx_query, trx_rows_locked, trx_rows_modified "
		"FROM information_schema.innodb_trx JOIN information_schema.processlist p "
		"ON p.id = trx_mysql_thread_id WHERE p.db = '%s' ORDER BY trx_started LIMIT 1",
		sandbox_name(sandbox));
	ck_assert_int_eq(sandbox_run(sandbox, script, words, &output), 0);
	ck_assert_msg(strtol(output, NULL, 10) < AGE_MAX_S, "an old transaction: %s", output);
	free(output);
}

static bool is_closed(void *context)
{
	(void)context;
	return orders_is(query, "A1", "CLOSED");
}

START_TEST(an_idle_fleet_keeps_no_transaction_open_and_sees_what_comes)
{
	fleet_start(fleet);
	gateway_start(&gateway, sandbox);
	(void)sandbox_start(sandbox, "lapse-events", NULL);
	uint64_t end_ms = clock_now_ms() + IDLE_MS;
	while (clock_now_ms() < end_ms)
		expect_no_old_transaction();
	orders_insert(query,
		&(struct order_plan){ .order_no = "A1", .due_in_ms = 0, .has_no_event = true });
	WAIT_UNTIL(is_closed, NULL);
	fleet_check(fleet, &all_is_well);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		an_idle_fleet_keeps_no_transaction_open_and_sees_what_comes,
	};
	const struct runner_fixture fixture = { set_up, tear_down };

	sandbox_need_servers();
	return runner_run_with("idle", &fixture, tests, ARRAY_LENGTH(tests));
}
