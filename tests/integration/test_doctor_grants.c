/* lapsectl doctor and the rights of the MySQL users: what is missing and what is too much. */
#include <string.h>

#include "common/base/compiler.h"
#include "common/base/result.h"
#include "common/base/text.h"
#include "tests/support/operator.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/stack.h"
#include "tests/support/users.h"

static struct sandbox *sandbox;
static struct query *migrate; /* gives and takes rights */

static void set_up(void)
{
	sandbox_create(SANDBOX_NO_SCHEMA, &sandbox);
	users_create(sandbox);
	users_become(sandbox, "migrate");
	operator_expect(sandbox, EXIT_STATUS_OK, "migrate", "grants given to");
	users_connect("migrate", &migrate);
	users_become(sandbox, "ctl");
	sandbox_set(sandbox, "LAPSE_DELAY", "%s", "none");
}

static void tear_down(void)
{
	query_destroy(&migrate);
	users_destroy();
	sandbox_destroy(&sandbox);
}

static void expect(const char *says)
{
	(void)operator_run(sandbox, "doctor --plain", says);
}

static void run_as_root(const char *sql)
{
	const char *const words[] = { "mysql", "-e", sql, NULL };

	stack_command(words);
}

START_TEST(a_user_sees_itself_and_that_it_is_well)
{
	expect("grants\tok\tmay do their work and nothing else: 'lapse_ctl'@'%'\n");
	operator_expect(sandbox, EXIT_STATUS_OK, "doctor", NULL);
	users_become(sandbox, "migrate");
	expect("grants\tok\tcannot tell");
}
END_TEST

START_TEST(what_is_missing_is_named)
{
	query_run(migrate, "REVOKE SELECT ON t_event_consumed FROM 'lapse_ctl'@'%%'");
	expect("grants\tfail\t'lapse_ctl'@'%' lacks SELECT on t_event_consumed, which");
	operator_expect(sandbox, EXIT_STATUS_FAILED, "doctor", NULL);
	query_run(migrate, "REVOKE UPDATE (close_time, expire_time) ON t_order "
			   "FROM 'lapse_ctl'@'%%'");
	expect("lacks UPDATE (close_time) on t_order, ");
	expect(", UPDATE (expire_time) on t_order, which");
	/* More than the columns is enough, and too much. */
	query_run(migrate, "GRANT SELECT ON t_event_consumed TO 'lapse_ctl'@'%%';"
			   "GRANT UPDATE ON t_order TO 'lapse_ctl'@'%%'");
	expect("grants\twarn\t'lapse_ctl'@'%' has UPDATE on t_order, which");
	operator_expect(sandbox, EXIT_STATUS_OK, "doctor", NULL);
}
END_TEST

START_TEST(what_is_too_much_is_named)
{
	query_run(migrate, "GRANT DELETE ON t_order TO 'lapse_ctl'@'%%'");
	expect("grants\twarn\t'lapse_ctl'@'%' has DELETE on t_order, which");
	query_run(migrate, "GRANT UPDATE (amount_cents) ON t_payment TO 'lapse_ctl'@'%%'");
	expect("has DELETE on t_order, UPDATE (amount_cents) on t_payment, which");
	query_run(migrate, "REVOKE DELETE ON t_order FROM 'lapse_ctl'@'%%';"
			   "REVOKE UPDATE (amount_cents) ON t_payment FROM 'lapse_ctl'@'%%';"
			   "GRANT SELECT ON t_order TO 'lapse_ctl'@'%%' WITH GRANT OPTION");
	expect("SELECT on t_order with grant option");
	query_run(migrate, "REVOKE GRANT OPTION ON t_order FROM 'lapse_ctl'@'%%'");
	/* Who may read each table may as well read the schema. */
	run_as_root("GRANT SELECT ON `lapse%`.* TO 'lapse_ctl'@'%'");
	expect("grants\tok\tmay do");
	run_as_root("GRANT DELETE, SELECT ON `lapse%`.* TO 'lapse_ctl'@'%'");
	expect("has DELETE on the whole schema, which");
	run_as_root("GRANT PROCESS ON *.* TO 'lapse_ctl'@'%'");
	expect("has PROCESS on the whole server, DELETE on the whole schema, which");
}
END_TEST

START_TEST(who_may_look_sees_everybody)
{
	query_run(migrate, "REVOKE SELECT ON t_order FROM 'lapse_retry'@'%%'");
	query_run(migrate, "GRANT SELECT ON t_payment TO 'lapse_events'@'%%'");
	expect("grants\tok\tmay do their work and nothing else: 'lapse_ctl'@'%'\n");
	run_as_root("GRANT SELECT ON mysql.* TO 'lapse_ctl'@'%'");
	expect("grants\tfail\t'lapse_retry'@'%' lacks SELECT on t_order, which");
	expect("grants\twarn\t'lapse_events'@'%' has SELECT on t_payment, which");
	expect("else: 'lapse_console'@'%', 'lapse_consumer'@'%', 'lapse_ctl'@'%', "
	       "'lapse_gateway'@'%', 'lapse_producer'@'%', 'lapse_shop'@'%', "
	       "'lapse_sweeper'@'%'\n");
}
END_TEST

START_TEST(a_role_may_give_what_is_missing)
{
	query_run(migrate, "REVOKE SELECT ON t_event_consumed FROM 'lapse_ctl'@'%%'");
	run_as_root("CREATE OR REPLACE ROLE lapse_test_role; "
		    "GRANT lapse_test_role TO 'lapse_ctl'@'%'");
	expect("grants\twarn\t'lapse_ctl'@'%' lacks SELECT on t_event_consumed, unless a role");
	run_as_root("DROP ROLE lapse_test_role");
}
END_TEST

int main(void)
{
	static const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = {
		a_user_sees_itself_and_that_it_is_well,
		what_is_missing_is_named,
		what_is_too_much_is_named,
		who_may_look_sees_everybody,
		a_role_may_give_what_is_missing,
	};

	sandbox_need_servers();
	return runner_run_with("doctor_grants", &fixture, tests, ARRAY_LENGTH(tests));
}
