/* Daemons that start before their servers, before the schema, on a server that may not be written:
 * they wait, say why, cost nothing, and begin when they may. */
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "tests/support/fleet.h"
#include "tests/support/http_client.h"
#include "tests/support/orders.h"
#include "tests/support/process.h"
#include "tests/support/proxy.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/wait_until.h"

enum {
	PROBE_LIMIT_MS = 5000
};

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

static void await_all(bool is_ready)
{
	for (int member = 0; member < FLEET_MEMBERS; member++)
		fleet_await_ready(fleet, (enum fleet_member)member, is_ready);
}

struct reason {
	uint16_t port;
	const char *text;
};

static bool is_said(void *context)
{
	const struct reason *reason = context;
	char *answer = memory_allocate(HTTP_CLIENT_SIZE);
	bool is_found =
		http_client_get(reason->port, "/readyz?verbose", PROBE_LIMIT_MS, answer) == 503 &&
		strstr(answer, reason->text) != NULL;

	free(answer);
	return is_found;
}

/* Why it is not ready stands in the answer, in words, once it has tried. */
static void expect_reason(enum fleet_member member, const char *text)
{
	struct reason reason = { fleet_ops_port(fleet, member), text };

	ck_assert_msg(wait_until(is_said, &reason, WAIT_LIMIT_MS), "nobody says \"%s\"", text);
}

START_TEST(daemons_that_start_before_their_servers_wait_for_them)
{
	struct proxy *mysql = sandbox_proxy_mysql(fleet_sandbox(fleet));
	struct proxy *amqp = sandbox_proxy_amqp(fleet_sandbox(fleet));
	struct process *members[FLEET_MEMBERS];
	uint64_t cpu_ms[FLEET_MEMBERS];

	proxy_refuse(mysql, true);
	proxy_refuse(amqp, true);
	for (int i = 0; i < FLEET_MEMBERS; i++)
		members[i] = fleet_start_one(fleet, (enum fleet_member)i);
	await_all(false);
	for (int i = 0; i < FLEET_MEMBERS; i++)
		cpu_ms[i] = process_cpu_ms(members[i]);
	fleet_feed(fleet, "E", 50, 500, 500);
	query_run(fleet_query(fleet), "SELECT SLEEP(3)");
	for (int i = 0; i < FLEET_MEMBERS; i++)
		ck_assert_msg(process_cpu_ms(members[i]) - cpu_ms[i] < 1000,
			"member %d spins while it waits", i);
	proxy_refuse(mysql, false);
	fleet_await_ready(fleet, FLEET_SWEEPER, true);
	ck_assert(wait_until(orders_are_all_final, fleet_query(fleet), WAIT_LIMIT_MS));
	proxy_refuse(amqp, false);
	await_all(true);
	fleet_check(fleet, &all_is_well);
}
END_TEST

START_TEST(daemons_that_start_before_the_schema_begin_after_it)
{
	static const char *const words[] = { "migrate", NULL };
	struct query *query = fleet_query(fleet);
	char tables[QUERY_TEXT_SIZE];

	query_text(query, tables,
		"SELECT GROUP_CONCAT(table_name) FROM information_schema.tables "
		"WHERE table_schema = DATABASE()");
	query_run(query, "DROP TABLE %s", tables);
	fleet_start(fleet);
	await_all(false);
	expect_reason(FLEET_SWEEPER, "schema");
	ck_assert_int_eq(sandbox_run(fleet_sandbox(fleet), "lapsectl", words, NULL), 0);
	fleet_feed(fleet, "M", 50, 500, 500);
	await_all(true);
	fleet_check(fleet, &all_is_well);
}
END_TEST

START_TEST(a_schema_that_is_too_old_is_named_and_left_alone)
{
	static const char *const words[] = { "migrate", NULL };
	struct query *query = fleet_query(fleet);

	query_run(query, "DELETE FROM t_schema_version ORDER BY version DESC LIMIT 1");
	fleet_feed(fleet, "O", 20, -5000, 0);
	fleet_start(fleet);
	await_all(false);
	expect_reason(FLEET_CONSUMER, "schema");
	ck_assert_int_eq(orders_count(query, "CLOSED"), 0);
	ck_assert_int_eq(sandbox_run(fleet_sandbox(fleet), "lapsectl", words, NULL), 0);
	await_all(true);
	fleet_check(fleet, &all_is_well);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		daemons_that_start_before_their_servers_wait_for_them,
		daemons_that_start_before_the_schema_begin_after_it,
		a_schema_that_is_too_old_is_named_and_left_alone,
	};
	const struct runner_fixture fixture = { set_up, tear_down };

	sandbox_need_servers();
	return runner_run_with("early_start", &fixture, tests, ARRAY_LENGTH(tests));
}
