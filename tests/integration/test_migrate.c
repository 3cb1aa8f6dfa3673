/* lapsectl migrate: each migration once, from two places at once, after any death. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/compiler.h"
#include "common/base/result.h"
#include "tests/support/process.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/wait_until.h"
#include "version.h"

enum {
	STATEMENTS_MAX = 64 /* of all migrations, and some more */
};

static const char *const migrate_words[] = { "migrate", NULL };
static struct sandbox *sandbox;

static void set_up(void)
{
	sandbox_create(SANDBOX_NO_SCHEMA | SANDBOX_NO_BROKER, &sandbox);
}

static void tear_down(void)
{
	sandbox_destroy(&sandbox);
}

/* The exit status; what was written holds says (NULL: anything). */
static int migrate(const char *option, const char *says)
{
	const char *const words[] = { "migrate", option, NULL };
	char *output = NULL;
	int status = sandbox_run(sandbox, "lapsectl", words, &output);

	if (says != NULL)
		ck_assert_msg(strstr(output, says) != NULL, "%s is not in: %s", says, output);
	free(output);
	return status;
}

static int64_t count_applied(void)
{
	return query_number(sandbox_query(sandbox), "SELECT COUNT(*) FROM t_schema_version");
}

START_TEST(a_second_run_finds_nothing_to_do)
{
	ck_assert_int_eq(migrate(NULL, "applying 0001_order"), EXIT_STATUS_OK);
	ck_assert_int_eq(count_applied(), LAPSE_SCHEMA_VERSION);
	ck_assert_int_eq(migrate(NULL, "nothing to do"), EXIT_STATUS_OK);
	ck_assert_int_eq(count_applied(), LAPSE_SCHEMA_VERSION);
}
END_TEST

START_TEST(two_at_once_apply_each_migration_once)
{
	struct process *first = sandbox_start(sandbox, "lapsectl", migrate_words);
	struct process *second = sandbox_start(sandbox, "lapsectl", migrate_words);

	ck_assert_int_eq(process_wait(first, WAIT_LIMIT_MS), EXIT_STATUS_OK);
	ck_assert_int_eq(process_wait(second, WAIT_LIMIT_MS), EXIT_STATUS_OK);
	ck_assert_int_eq(count_applied(), LAPSE_SCHEMA_VERSION);
	ck_assert_uint_eq(process_count_logged(first, "applying 0001_order") +
				  process_count_logged(second, "applying 0001_order"),
		1);
}
END_TEST

static bool is_waiting_for_the_lock(void *process)
{
	return process_count_logged(process, "another migrate holds the lock") > 0;
}

START_TEST(the_second_waits_for_the_lock_of_the_first)
{
	struct query *query = sandbox_query(sandbox);

	query_run(query, "SELECT GET_LOCK('lapse.migrate.%s', 0)", sandbox_name(sandbox));
	struct process *process = sandbox_start(sandbox, "lapsectl", migrate_words);
	WAIT_UNTIL(is_waiting_for_the_lock, process);
	ck_assert(process_is_alive(process));
	query_run(query, "SELECT RELEASE_LOCK('lapse.migrate.%s')", sandbox_name(sandbox));
	ck_assert_int_eq(process_wait(process, WAIT_LIMIT_MS), EXIT_STATUS_OK);
	ck_assert_int_eq(count_applied(), LAPSE_SCHEMA_VERSION);
}
END_TEST

START_TEST(a_migration_killed_anywhere_is_finished_by_the_next_run)
{
	int kills = 0;

	for (int hit = 1; hit < STATEMENTS_MAX; hit++) {
		struct query *query = sandbox_query(sandbox);

		sandbox_set(sandbox, "FAILPOINT", "after_statement:kill:%d", hit);
		int status = migrate(NULL, NULL);
		sandbox_unset(sandbox, "FAILPOINT");
		if (status == EXIT_STATUS_OK)
			break;
		ck_assert_int_eq(status, 128 + SIGKILL);
		kills++;
		ck_assert_int_eq(migrate(NULL, NULL), EXIT_STATUS_OK);
		ck_assert_int_eq(count_applied(), LAPSE_SCHEMA_VERSION);
		query_run(query, "DROP DATABASE %s; CREATE DATABASE %s; USE %s",
			sandbox_name(sandbox), sandbox_name(sandbox), sandbox_name(sandbox));
	}
	ck_assert_int_ge(kills, LAPSE_SCHEMA_VERSION);
}
END_TEST

START_TEST(an_edited_old_migration_is_refused_by_name)
{
	struct query *query = sandbox_query(sandbox);

	ck_assert_int_eq(migrate(NULL, NULL), EXIT_STATUS_OK);
	query_run(query, "UPDATE t_schema_version SET checksum = REPEAT('0', 64) "
			 "WHERE version = 3; DELETE FROM t_schema_version WHERE version = 8");
	ck_assert_int_eq(migrate(NULL, "0003_inbox"), EXIT_STATUS_REFUSED);
	ck_assert_int_eq(count_applied(), LAPSE_SCHEMA_VERSION - 1);
	ck_assert_int_eq(migrate("--status", "changed"), EXIT_STATUS_REFUSED);
	ck_assert_int_eq(migrate("--dry-run", "0003_inbox"), EXIT_STATUS_REFUSED);
}
END_TEST

START_TEST(a_dry_run_changes_nothing)
{
	ck_assert_int_eq(migrate("--dry-run", "compensation"), EXIT_STATUS_OK);
	ck_assert_int_eq(migrate("--status", "pending"), EXIT_STATUS_OK);
	ck_assert_int_eq(query_number(sandbox_query(sandbox),
				 "SELECT COUNT(*) FROM information_schema.tables "
				 "WHERE table_schema = DATABASE()"),
		0);
}
END_TEST

START_TEST(a_migration_run_again_keeps_the_rows)
{
	struct query *query = sandbox_query(sandbox);

	ck_assert_int_eq(migrate(NULL, NULL), EXIT_STATUS_OK);
	query_run(query, "INSERT INTO t_order (order_no, amount_cents) VALUES ('A1', 100); "
			 "DELETE FROM t_schema_version");
	ck_assert_int_eq(migrate(NULL, "applying 0001_order"), EXIT_STATUS_OK);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_order"), 1);
	ck_assert_int_eq(count_applied(), LAPSE_SCHEMA_VERSION);
}
END_TEST

START_TEST(alerts_of_a_former_schema_are_kept_as_they_were)
{
	char text[QUERY_TEXT_SIZE];

	ck_assert_int_eq(migrate(NULL, NULL), EXIT_STATUS_OK);
	query_run(sandbox_query(sandbox),
		"ALTER TABLE t_alert DROP COLUMN repeat_count;"
		"DELETE FROM t_schema_version WHERE version >= 9;"
		"INSERT INTO t_alert (kind, ref, severity, labels, annotations, delivery_state, "
		"attempts, targets) VALUES ('TASK_DEAD', '7', 'info', '{}', '{}', 'PENDING', 3, "
		"'{\"ops\":{\"result\":\"http_error\",\"code\":500}}')");
	ck_assert_int_eq(migrate(NULL, "applying 0009_alert_delivery"), EXIT_STATUS_OK);
	query_text(sandbox_query(sandbox), text,
		"SELECT ref, state, delivery_state, attempts, fired_count, repeat_count, "
		"JSON_VALUE(targets, '$.ops.code') FROM t_alert");
	ck_assert_str_eq(text, "7 FIRING PENDING 3 1 0 500");
}
END_TEST

/* The table as it was before rule_id, with orders of all states. */
static void make_former_orders(struct query *query)
{
	query_run(query, "ALTER TABLE t_order DROP COLUMN rule_id, ALGORITHM=COPY;"
			 "DELETE FROM t_schema_version WHERE version >= 10");
	if (query_number(query, "SELECT COUNT(*) FROM t_order") > 0)
		return;
	query_run(query, "INSERT INTO t_order (order_no, amount_cents, expire_time) VALUES "
			 "('A1', 100, UTC_TIMESTAMP(3)), ('A2', 200, NULL), ('A3', 300, NULL);"
			 "UPDATE t_order SET status = 'PAID' WHERE order_no = 'A2'");
}

static void expect_former_orders(struct query *query)
{
	query_expect(query, "A1 UNPAID 100 NULL,A2 PAID 200 NULL,A3 UNPAID 300 NULL",
		"SELECT GROUP_CONCAT(order_no, ' ', status, ' ', amount_cents, ' ', "
		"IFNULL(rule_id, 'NULL') ORDER BY id) FROM t_order");
	query_expect(query, "rule_id bigint(20) unsigned YES 1",
		"SELECT COLUMN_NAME, IF(COLUMN_TYPE = 'bigint unsigned', 'bigint(20) unsigned', "
		"COLUMN_TYPE), IS_NULLABLE, ORDINAL_POSITION = (SELECT COUNT(*) FROM "
		"information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND "
		"TABLE_NAME = 't_order') FROM information_schema.COLUMNS WHERE "
		"TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 't_order' AND "
		"COLUMN_NAME = 'rule_id'");
}

START_TEST(orders_of_a_former_schema_are_kept_and_have_no_rule)
{
	struct query *query = sandbox_query(sandbox);

	ck_assert_int_eq(migrate(NULL, NULL), EXIT_STATUS_OK);
	make_former_orders(query);
	ck_assert_int_eq(migrate(NULL, "applying 0010_order_rule"), EXIT_STATUS_OK);
	expect_former_orders(query);
	ck_assert_int_eq(migrate(NULL, "nothing to do"), EXIT_STATUS_OK);
	/* Run twice, as after a death before it was recorded. */
	query_run(query, "DELETE FROM t_schema_version WHERE version = 10");
	ck_assert_int_eq(migrate(NULL, "applying 0010_order_rule"), EXIT_STATUS_OK);
	expect_former_orders(query);
	ck_assert_int_eq(count_applied(), LAPSE_SCHEMA_VERSION);
}
END_TEST

START_TEST(a_death_on_the_way_to_rule_ids_is_made_good)
{
	struct query *query = sandbox_query(sandbox);
	int kills = 0;

	ck_assert_int_eq(migrate(NULL, NULL), EXIT_STATUS_OK);
	for (int hit = 1; hit < STATEMENTS_MAX; hit++) {
		make_former_orders(query);
		sandbox_set(sandbox, "FAILPOINT", "after_statement:kill:%d", hit);
		int status = migrate(NULL, NULL);
		sandbox_unset(sandbox, "FAILPOINT");
		if (status == EXIT_STATUS_OK)
			break;
		ck_assert_int_eq(status, 128 + SIGKILL);
		kills++;
		ck_assert_int_eq(migrate(NULL, "applying 0010_order_rule"), EXIT_STATUS_OK);
		expect_former_orders(query);
	}
	ck_assert_int_ge(kills, 4);
}
END_TEST

START_TEST(a_newer_schema_is_left_alone)
{
	ck_assert_int_eq(migrate(NULL, NULL), EXIT_STATUS_OK);
	query_run(sandbox_query(sandbox),
		"INSERT INTO t_schema_version (version, name, checksum) VALUES (999, 'next', 'x')");
	ck_assert_int_eq(migrate(NULL, "newer release"), EXIT_STATUS_OK);
}
END_TEST

START_TEST(the_trigger_lets_no_order_leave_a_final_state)
{
	struct query *query = sandbox_query(sandbox);

	ck_assert_int_eq(migrate(NULL, NULL), EXIT_STATUS_OK);
	query_run(query, "INSERT INTO t_order (order_no, amount_cents) VALUES ('A1', 1), ('A2', 1);"
			 "UPDATE t_order SET status = 'PAID' WHERE order_no = 'A1';"
			 "UPDATE t_order SET status = 'CLOSED' WHERE order_no = 'A2'");
	ck_assert(!query_try(query, "UPDATE t_order SET status = 'UNPAID'"));
	ck_assert(!query_try(query, "UPDATE t_order SET status = 'PAID' WHERE order_no = 'A2'"));
	ck_assert(!query_try(query, "UPDATE t_order SET status = 'CLOSED' WHERE order_no = 'A1'"));
}
END_TEST

START_TEST(a_server_that_is_away_or_refuses_has_its_own_exit_status)
{
	sandbox_set(
		sandbox, "LAPSE_MYSQL_URL", "mysql://u:p@127.0.0.1:%u/lapse", sandbox_free_port());
	ck_assert_int_eq(migrate(NULL, "lapsectl: connect to"), EXIT_STATUS_UNAVAILABLE);
	sandbox_set(sandbox, "LAPSE_MYSQL_URL", "%s", "not an address");
	ck_assert_int_eq(migrate(NULL, "LAPSE_MYSQL_URL"), EXIT_STATUS_CONFIGURATION);
	ck_assert_int_eq(migrate("--no-such-option", NULL), EXIT_STATUS_USAGE);
}
END_TEST

int main(void)
{
	static const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = {
		a_second_run_finds_nothing_to_do,
		two_at_once_apply_each_migration_once,
		the_second_waits_for_the_lock_of_the_first,
		a_migration_killed_anywhere_is_finished_by_the_next_run,
		an_edited_old_migration_is_refused_by_name,
		a_dry_run_changes_nothing,
		a_migration_run_again_keeps_the_rows,
		alerts_of_a_former_schema_are_kept_as_they_were,
		orders_of_a_former_schema_are_kept_and_have_no_rule,
		a_death_on_the_way_to_rule_ids_is_made_good,
		a_newer_schema_is_left_alone,
		the_trigger_lets_no_order_leave_a_final_state,
		a_server_that_is_away_or_refuses_has_its_own_exit_status,
	};

	sandbox_need_servers();
	return runner_run_with("migrate", &fixture, tests, ARRAY_LENGTH(tests));
}
