/* A server that takes no writes: nobody ends, everybody says why, and work goes on afterwards. */
#include <string.h>

#include "common/base/text.h"
#include "common/io/db.h"
#include "tests/support/daemon.h"
#include "tests/support/direct_db.h"
#include "tests/support/orders.h"
#include "tests/support/process.h"
#include "tests/support/query.h"
#include "tests/support/rabbit.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/stack.h"
#include "tests/support/wait_until.h"

enum {
	STOP_LIMIT_MS = 10000
};

static struct sandbox *sandbox;
static struct query *query;
static struct daemon daemons[3];
static const char *const programs[] = { "lapse-sweeper", "lapse-consumer", "lapse-producer" };

static void set_read_only(bool is_on)
{
	const char *const words[] = { "mysql", "-e",
		is_on ? "SET GLOBAL read_only = 1" : "SET GLOBAL read_only = 0", NULL };

	stack_command(words);
}

static void set_up(void)
{
	sandbox_create(SANDBOX_EVERYTHING, &sandbox);
	query = sandbox_query(sandbox);
	sandbox_set(sandbox, "LAPSE_SWEEP_INTERVAL", "1s");
	sandbox_set(sandbox, "LAPSE_DELAY", "none");
}

static void tear_down(void)
{
	set_read_only(false);
	sandbox_destroy(&sandbox);
}

/* Of the three; one that has nothing to write does not notice. */
static bool they_say_why(void *count)
{
	int saying = 0;

	for (size_t i = 0; i < ARRAY_LENGTH(daemons); i++)
		if (daemon_is_not_ready(&daemons[i]) &&
			(daemon_says(&daemons[i], "read_only") ||
				daemon_says(&daemons[i], "read-only")))
			saying++;
	return saying >= *(const int *)count;
}

static bool they_are_ready(void *context)
{
	(void)context;
	for (size_t i = 0; i < ARRAY_LENGTH(daemons); i++)
		if (!daemon_is_ready(&daemons[i]))
			return false;
	return true;
}

static void stop_all(void)
{
	for (size_t i = 0; i < ARRAY_LENGTH(daemons); i++) {
		daemon_expect_well(&daemons[i]);
		daemon_stop(&daemons[i], STOP_LIMIT_MS);
	}
}

START_TEST(daemons_that_start_on_a_read_only_server_wait)
{
	int count = 3;

	orders_insert_one(query, "A1", -1000);
	set_read_only(true);
	for (size_t i = 0; i < ARRAY_LENGTH(daemons); i++)
		daemon_start(sandbox, programs[i], &daemons[i]);
	bool is_said = wait_until(they_say_why, &count, WAIT_LIMIT_MS);
	bool is_untouched = orders_is(query, "A1", "UNPAID");
	set_read_only(false);
	ck_assert(is_said);
	ck_assert(is_untouched);
	WAIT_UNTIL(orders_are_all_final, query);
	WAIT_UNTIL(they_are_ready, NULL);
	stop_all();
}
END_TEST

START_TEST(a_server_that_becomes_read_only_stops_the_work_until_it_is_over)
{
	int count = 1;

	for (size_t i = 0; i < ARRAY_LENGTH(daemons); i++)
		daemon_start(sandbox, programs[i], &daemons[i]);
	WAIT_UNTIL(they_are_ready, NULL);
	orders_insert_one(query, "A1", 700);
	orders_insert_one(query, "A2", 800);
	set_read_only(true);
	bool is_said = wait_until(they_say_why, &count, WAIT_LIMIT_MS);
	set_read_only(false);
	ck_assert(is_said);
	WAIT_UNTIL(orders_are_all_final, query);
	WAIT_UNTIL(they_are_ready, NULL);
	ck_assert_int_eq(rabbit_count(sandbox_rabbit(sandbox), "lapse.parked"), 0);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_alert"), 0);
	stop_all();
}
END_TEST

/* Behind a balancer a new session finds the server that took over; the old one would stay. */
START_TEST(a_session_on_a_read_only_server_is_given_up)
{
	struct direct_db direct;
	struct error error = { .text = "" };

	direct_db_open(&direct, sandbox, NULL, NULL);
	set_read_only(true);
	enum result result =
		db_execute(direct.db, "UPDATE t_order SET version = 1", NULL, 0, NULL, &error);
	set_read_only(false);
	ck_assert_int_eq(result, RESULT_TEMPORARY);
	ck_assert_msg(strstr(error.text, "read-only") != NULL, "%s", error.text);
	ck_assert(!db_is_connected(direct.db));
	direct_db_reconnect(&direct);
	direct_db_close(&direct);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		daemons_that_start_on_a_read_only_server_wait,
		a_server_that_becomes_read_only_stops_the_work_until_it_is_over,
		a_session_on_a_read_only_server_is_given_up,
	};
	const struct runner_fixture fixture = { set_up, tear_down };

	sandbox_need_servers();
	return runner_run_with("read_only", &fixture, tests, ARRAY_LENGTH(tests));
}
