/* What each MySQL user may do, and what it may not. */
#include <string.h>

#include "common/base/compiler.h"
#include "common/base/result.h"
#include "common/base/text.h"
#include "tests/support/operator.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/users.h"

enum {
	GRANTS_SIZE = 16384
};

static struct sandbox *sandbox;
static struct query *query;

static void set_up(void)
{
	sandbox_create(SANDBOX_NO_SCHEMA, &sandbox);
	query = sandbox_query(sandbox);
	users_create(sandbox);
	users_become(sandbox, "migrate");
	ck_assert_int_eq(operator_run(sandbox, "migrate", "grants given to"), EXIT_STATUS_OK);
}

static void tear_down(void)
{
	users_destroy();
	sandbox_destroy(&sandbox);
}

/* One that each may, for what is rare, and those that it may not. */
struct sample {
	const char *user;
	const char *sql;
};

#define RAISE                                                                    \
	"INSERT INTO t_alert (kind, ref, severity, labels, annotations) VALUES " \
	"('ORDER_STUCK', 'A1', 'critical', '{}', '{}') ON DUPLICATE KEY UPDATE " \
	"fired_count = IF(state = 'RESOLVED', fired_count + 1, fired_count), state = 'FIRING'"

static const struct sample allowed[] = {
	{ "producer", RAISE },
	{ "consumer", RAISE },
	{ "sweeper", RAISE },
	{ "retry", RAISE },
	{ "console", RAISE },
	{ "ctl", RAISE },
	{ "ctl", "SELECT COUNT(*) FROM t_operator_audit" },
	{ "console", "UPDATE t_outbox_event SET status = 'NEW', attempts = 0 WHERE id = 0" },
	{ "sweeper", "DELETE FROM t_compensation WHERE id = 0" },
	{ "sweeper", "DELETE FROM t_alert WHERE id = 0" },
	{ "shop", "INSERT INTO t_outbox_event (event_type, order_no) VALUES ('ORDER_PAID', 'A1')" },
};

static const struct sample refused[] = {
	{ "producer", "UPDATE t_order SET status = 'CLOSED'" },
	{ "producer", "DELETE FROM t_outbox_event" },
	{ "producer", "INSERT INTO t_outbox_event (event_type, order_no) VALUES ('X', 'A1')" },
	{ "producer", "SELECT * FROM t_payment" },
	{ "consumer", "UPDATE t_order SET amount_cents = 1" },
	{ "consumer", "UPDATE t_order SET pay_time = UTC_TIMESTAMP(3)" },
	{ "consumer", "UPDATE t_order SET expire_time = UTC_TIMESTAMP(3)" },
	{ "consumer", "DELETE FROM t_order" },
	{ "consumer", "UPDATE t_compensation SET status = 'DONE'" },
	{ "consumer", "SELECT * FROM t_payment" },
	{ "consumer", "DELETE FROM t_alert" },
	{ "sweeper", "DELETE FROM t_order" },
	{ "sweeper", "DELETE FROM t_payment" },
	{ "sweeper", "UPDATE t_payment SET amount_cents = 1" },
	{ "sweeper", "UPDATE t_compensation SET status = 'DONE'" },
	{ "retry", "UPDATE t_order SET status = 'CLOSED'" },
	{ "retry", "UPDATE t_payment SET amount_cents = 1" },
	{ "retry", "INSERT INTO t_compensation (kind, target, idempotency_key, order_no, payload) "
		   "VALUES ('REFUND', 'refund', 'k', 'A1', '{}')" },
	{ "retry", "DELETE FROM t_alert" },
	{ "gateway", "UPDATE t_order SET amount_cents = 1" },
	{ "gateway", "DELETE FROM t_payment" },
	{ "gateway", "UPDATE t_compensation SET status = 'DONE'" },
	{ "gateway", "UPDATE t_timeout_rule SET timeout_seconds = 1" },
	{ "events", "SELECT * FROM t_order" },
	{ "events", "UPDATE t_compensation SET status = 'DONE'" },
	{ "events", "DELETE FROM t_event_consumed" },
	{ "console", "UPDATE t_operator_audit SET actor = 'nobody'" },
	{ "console", "DELETE FROM t_operator_audit" },
	{ "console", "DELETE FROM t_compensation" },
	{ "console", "DELETE FROM t_alert" },
	{ "console", "UPDATE t_order SET amount_cents = 1" },
	{ "ctl", "UPDATE t_operator_audit SET actor = 'nobody'" },
	{ "ctl", "DELETE FROM t_operator_audit" },
	{ "ctl", "UPDATE t_payment SET amount_cents = 1" },
	{ "ctl", "UPDATE t_order SET pay_time = UTC_TIMESTAMP(3)" },
	{ "shop", "UPDATE t_order SET expire_time = NULL" },
	{ "shop", "UPDATE t_outbox_event SET status = 'SENT'" },
	{ "stock", "SELECT * FROM t_order" },
};

/* Nobody but migrate changes the schema or reads what is not Lapse's. */
static const char *const refused_to_all[] = { "CREATE TABLE t_mine (id INT)",
	"DROP TABLE t_operator_audit", "ALTER TABLE t_order ADD COLUMN mine INT",
	"UPDATE t_schema_version SET version = 1", "SELECT * FROM mysql.global_priv",
	"DROP TRIGGER trg_order_state", "CREATE USER lapse_other" };

static const char *const everybody[] = { "producer", "consumer", "sweeper", "retry", "gateway",
	"events", "console", "ctl", "shop" };

static bool may(const char *user, const char *sql)
{
	struct query *connection = NULL;

	users_connect(user, &connection);
	bool is_done = query_try(connection, "%s", sql);
	query_destroy(&connection);
	return is_done;
}

START_TEST(each_user_may_do_what_is_rare_in_its_work)
{
	for (size_t i = 0; i < ARRAY_LENGTH(allowed); i++)
		ck_assert_msg(may(allowed[i].user, allowed[i].sql), "%s may not: %s",
			allowed[i].user, allowed[i].sql);
	for (size_t i = 0; i < ARRAY_LENGTH(everybody); i++)
		ck_assert(may(everybody[i], "SELECT version FROM t_schema_version"));
}
END_TEST

START_TEST(no_user_may_do_the_work_of_another)
{
	for (size_t i = 0; i < ARRAY_LENGTH(refused); i++)
		ck_assert_msg(!may(refused[i].user, refused[i].sql), "%s may: %s", refused[i].user,
			refused[i].sql);
	for (size_t i = 0; i < ARRAY_LENGTH(everybody); i++)
		for (size_t k = 0; k < ARRAY_LENGTH(refused_to_all); k++)
			ck_assert_msg(!may(everybody[i], refused_to_all[k]), "%s may: %s",
				everybody[i], refused_to_all[k]);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_schema_version "
					     "WHERE version = 1"),
		1);
}
END_TEST

static void list_grants(char text[GRANTS_SIZE])
{
	text[0] = '\0';
	for (size_t i = 0; i < ARRAY_LENGTH(everybody); i++) {
		struct query *connection = NULL;
		size_t length = strlen(text);
		char line[QUERY_TEXT_SIZE];

		users_connect(everybody[i], &connection);
		query_text(connection, line,
			"SELECT MD5(GROUP_CONCAT(table_name, privilege_type ORDER BY 1)) "
			"FROM (SELECT table_name, privilege_type FROM "
			"information_schema.table_privileges UNION ALL SELECT "
			"CONCAT(table_name, '.', column_name), privilege_type FROM "
			"information_schema.column_privileges) AS own");
		query_destroy(&connection);
		(void)text_format(
			text + length, GRANTS_SIZE - length, "%s %s\n", everybody[i], line);
	}
}

START_TEST(granting_again_changes_nothing)
{
	char before[GRANTS_SIZE];
	char after[GRANTS_SIZE];

	list_grants(before);
	users_become(sandbox, "migrate");
	ck_assert_int_eq(operator_run(sandbox, "migrate", "nothing to do"), EXIT_STATUS_OK);
	list_grants(after);
	ck_assert_str_eq(before, after);
}
END_TEST

START_TEST(a_user_that_is_not_there_is_not_made)
{
	users_destroy();
	sandbox_unset(sandbox, "LAPSE_MYSQL_URL_FILE");
	sandbox_set(sandbox, "LAPSE_MYSQL_URL", "%s", sandbox_mysql_url(sandbox));
	/* This one may give no grants either, which is how a site with one user for all runs. */
	ck_assert_int_eq(operator_run(sandbox, "migrate --verbose", "this user may not give any"),
		EXIT_STATUS_OK);
	users_create(sandbox);
}
END_TEST

int main(void)
{
	static const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = {
		each_user_may_do_what_is_rare_in_its_work,
		no_user_may_do_the_work_of_another,
		granting_again_changes_nothing,
		a_user_that_is_not_there_is_not_made,
	};

	sandbox_need_servers();
	return runner_run_with("grants", &fixture, tests, ARRAY_LENGTH(tests));
}
