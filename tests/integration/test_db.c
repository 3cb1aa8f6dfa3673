/* db on a real server: the session, the sorting of errors, values of every kind. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/db.h"
#include "tests/support/direct_db.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"

enum {
	LONG_SIZE = 3000000,
	MANY_STATEMENTS = 450
};

static struct sandbox *sandbox;
static struct query *query;
static struct query *other;
static struct direct_db direct;
static struct error error;

static void set_up(void)
{
	sandbox_create(SANDBOX_NO_BROKER, &sandbox);
	query = sandbox_query(sandbox);
	query_create(sandbox_mysql_url(sandbox), &other);
	direct_db_open(&direct, sandbox, NULL, NULL);
	query_run(query, "CREATE TABLE t (id BIGINT PRIMARY KEY, u BIGINT UNSIGNED, s VARCHAR(20), "
			 "d DATETIME(3), x LONGTEXT) ENGINE=InnoDB");
	query_run(query, "INSERT INTO t(id, u) VALUES (1, 1), (2, 2)");
}

static void tear_down(void)
{
	direct_db_close(&direct);
	query_destroy(&other);
	sandbox_destroy(&sandbox);
}

static void expect(enum result result, enum result expected)
{
	ck_assert_msg(result == expected, "%s: %s", result_name(result), error.text);
}

static enum result execute(const char *sql)
{
	return db_execute(direct.db, sql, NULL, 0, NULL, &error);
}

/* The first column of the first row. */
static void ask(const char *sql, const char *expected)
{
	struct db_rows *rows = NULL;
	char number[32];

	expect(db_query(direct.db, sql, NULL, 0, &rows, &error), RESULT_OK);
	ck_assert(db_rows_next(rows));
	const char *text = db_rows_text(rows, 0, NULL);
	(void)text_format(number, sizeof(number), "%" PRId64, db_rows_int(rows, 0));
	ck_assert_str_eq(text[0] == '\0' ? number : text, expected);
	db_rows_destroy(&rows);
}

/* ---- the session */

static void expect_session(void)
{
	ask("SELECT @@session.time_zone", "+00:00");
	ask("SELECT @@session.autocommit", "1");
	ask("SELECT @@session.innodb_lock_wait_timeout", "1");
	ask("SELECT @@session.character_set_client", "utf8mb4");
	ask("SELECT @@session.character_set_results", "utf8mb4");
	ask("SELECT @@session.sql_mode LIKE '%STRICT_TRANS_TABLES%'", "1");
	ask(db_is_mariadb(direct.db) ? "SELECT @@session.tx_isolation"
				     : "SELECT @@session.transaction_isolation",
		"READ-COMMITTED");
}

static void kill_session(void)
{
	char text[QUERY_TEXT_SIZE];

	query_text(query, text,
		"SELECT id FROM information_schema.processlist WHERE db = "
		"DATABASE() AND id NOT IN (CONNECTION_ID(), %lu) LIMIT 1",
		query_connection_id(other));
	query_run(query, "KILL %s", text);
}

START_TEST(a_session_is_set_up_again_after_each_connect)
{
	uint64_t epoch = db_epoch(direct.db);

	expect_session();
	ck_assert(strstr(db_server_version(direct.db), ".") != NULL);
	kill_session();
	expect(db_ping(direct.db, &error), RESULT_TEMPORARY);
	ck_assert(!db_is_connected(direct.db));
	expect(execute("SELECT 1"), RESULT_TEMPORARY);
	expect(db_ensure_connected(direct.db, &error), RESULT_OK);
	ck_assert_uint_eq(db_epoch(direct.db), epoch + 1);
	expect_session();
	db_disconnect(direct.db);
	expect(db_ping(direct.db, &error), RESULT_TEMPORARY);
	expect(db_ensure_connected(direct.db, &error), RESULT_OK);
	expect_session();
}
END_TEST

START_TEST(a_session_the_server_tired_of_is_built_again)
{
	expect(db_run(direct.db, "SET SESSION wait_timeout = 1", &error), RESULT_OK);
	query_run(query, "DO SLEEP(2.2)");
	expect(execute("UPDATE t SET u = 3"), RESULT_TEMPORARY);
	ck_assert(!db_is_connected(direct.db));
	direct_db_reconnect(&direct);
	expect(execute("UPDATE t SET u = 3"), RESULT_OK);
}
END_TEST

START_TEST(a_schema_that_is_missing_or_old_is_waited_for)
{
	query_run(query, "DELETE FROM t_schema_version ORDER BY version DESC LIMIT 1");
	db_disconnect(direct.db);
	expect(db_ensure_connected(direct.db, &error), RESULT_TEMPORARY);
	ck_assert(strstr(error.text, "lapsectl migrate") != NULL);
	ck_assert(!db_is_connected(direct.db));
	query_run(query, "DROP TABLE t_schema_version");
	expect(db_ensure_connected(direct.db, &error), RESULT_TEMPORARY);
	ck_assert(strstr(error.text, "lapsectl migrate") != NULL);
	db_skip_schema_check(direct.db);
	expect(db_ensure_connected(direct.db, &error), RESULT_OK);
}
END_TEST

START_TEST(wrong_addresses_and_passwords_are_temporary)
{
	static const char *const urls[] = { "mysql://u:p@127.0.0.1:1/lapse",
		"mysql://u:p@no-such-host.invalid:3306/lapse" };
	char url[DIRECT_DB_URL_SIZE];
	struct db_settings settings = { url, 1000 };
	struct db *db = NULL;

	db_create(&settings, &db);
	for (size_t i = 0; i < ARRAY_LENGTH(urls); i++) {
		(void)text_copy(url, sizeof(url), urls[i]);
		expect(db_ensure_connected(db, &error), RESULT_TEMPORARY);
	}
	/* The right server, another password: "lapse:" ends in front of it. */
	(void)text_copy(url, sizeof(url), direct.url);
	strstr(url, "lapse:")[strlen("lapse:")] ^= 1;
	expect(db_ensure_connected(db, &error), RESULT_TEMPORARY);
	ck_assert(strstr(error.text, "1045") != NULL);
	ck_assert(strstr(error.text, "lapse:") == NULL);
	(void)text_copy(url, sizeof(url), "nonsense");
	expect(db_ensure_connected(db, &error), RESULT_PERMANENT);
	db_destroy(&db);
	db_destroy(&db);
}
END_TEST

/* ---- errors */

START_TEST(errors_are_sorted_by_what_to_do_next)
{
	static const struct {
		const char *sql;
		enum result result;
	} cases[] = {
		{ "INSERT INTO t(id) VALUES (1)", RESULT_PERMANENT },
		{ "INSERT INTO t(id, s) VALUES (9, REPEAT('x', 21))", RESULT_PERMANENT },
		{ "INSERT INTO t(id, d) VALUES (9, 'never')", RESULT_PERMANENT },
		{ "INSERT INTO t_order(order_no, amount_cents) VALUES ('a b', 1)",
			RESULT_PERMANENT },
		{ "SELEC nonsense", RESULT_PERMANENT },
		{ "SELECT * FROM not_migrated_yet", RESULT_TEMPORARY },
		{ "SELECT not_migrated_yet FROM t", RESULT_TEMPORARY },
		{ "SELECT id FROM t FORCE INDEX (not_migrated_yet)", RESULT_TEMPORARY },
		{ "SELECT id FROM mysql.global_priv", RESULT_TEMPORARY },
		{ "KILL QUERY 4294967294", RESULT_PERMANENT },
		{ "SIGNAL SQLSTATE '42000' SET MYSQL_ERRNO = 1711", RESULT_TEMPORARY },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		enum result result = execute(cases[i].sql);

		ck_assert_msg(result == cases[i].result, "%s: %s %s", cases[i].sql,
			result_name(result), error.text);
		ck_assert(db_is_connected(direct.db));
		ck_assert_uint_gt(db_last_errno(direct.db), 0);
	}
	expect(execute("UPDATE t SET u = 5"), RESULT_OK);
}
END_TEST

START_TEST(a_failure_in_a_transaction_leaves_nothing_of_it)
{
	expect(db_begin(direct.db, &error), RESULT_OK);
	expect(execute("INSERT INTO t(id) VALUES (10)"), RESULT_OK);
	expect(execute("INSERT INTO t(id) VALUES (1)"), RESULT_PERMANENT);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t"), 2);
	/* What follows is not in the transaction that is over. */
	expect(execute("INSERT INTO t(id) VALUES (11)"), RESULT_OK);
	db_rollback(direct.db);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t"), 3);
	expect(db_begin(direct.db, &error), RESULT_OK);
	expect(execute("INSERT INTO t(id) VALUES (12)"), RESULT_OK);
	db_rollback(direct.db);
	db_rollback(direct.db);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t"), 3);
	expect(db_begin(direct.db, &error), RESULT_OK);
	expect(execute("INSERT INTO t(id) VALUES (13)"), RESULT_OK);
	expect(db_commit(direct.db, &error), RESULT_OK);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t"), 4);
}
END_TEST

START_TEST(a_lock_held_too_long_is_a_lost_race)
{
	query_run(other, "START TRANSACTION");
	query_run(other, "UPDATE t SET u = 9 WHERE id = 1");
	expect(db_begin(direct.db, &error), RESULT_OK);
	expect(execute("UPDATE t SET u = 8 WHERE id = 2"), RESULT_OK);
	expect(execute("UPDATE t SET u = 8 WHERE id = 1"), RESULT_CONFLICT);
	ck_assert_uint_eq(db_last_errno(direct.db), 1205);
	ck_assert(db_is_connected(direct.db));
	/* The whole transaction is gone, not only the statement. */
	ck_assert_int_eq(query_number(query, "SELECT u FROM t WHERE id = 2"), 2);
	query_run(query, "UPDATE t SET u = 7 WHERE id = 2");
	query_run(other, "ROLLBACK");
}
END_TEST

START_TEST(a_session_killed_in_a_transaction_is_dropped)
{
	expect(db_begin(direct.db, &error), RESULT_OK);
	expect(execute("INSERT INTO t(id) VALUES (20)"), RESULT_OK);
	kill_session();
	expect(execute("INSERT INTO t(id) VALUES (21)"), RESULT_TEMPORARY);
	ck_assert(!db_is_connected(direct.db));
	expect(db_commit(direct.db, &error), RESULT_TEMPORARY);
	direct_db_reconnect(&direct);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t"), 2);
	expect(execute("INSERT INTO t(id) VALUES (21)"), RESULT_OK);
}
END_TEST

START_TEST(a_statement_that_takes_too_long_is_stopped)
{
	struct db_rows *rows = NULL;

	if (!db_is_mariadb(direct.db))
		return; /* MySQL stops only SELECT, and reports it in another way */
	expect(db_run(direct.db, "SET max_statement_time = 0.2", &error), RESULT_OK);
	expect(db_query(direct.db,
		       "SELECT COUNT(*) FROM information_schema.columns a, "
		       "information_schema.columns b, information_schema.columns c",
		       NULL, 0, &rows, &error),
		RESULT_TEMPORARY);
	ck_assert(db_is_connected(direct.db));
	expect(execute("UPDATE t SET u = 4"), RESULT_OK);
}
END_TEST

/* ---- statements and values */

START_TEST(more_statements_than_are_kept_still_work)
{
	char sql[64];
	struct db_rows *rows = NULL;

	for (int round = 0; round < 2; round++)
		for (int i = 0; i < MANY_STATEMENTS; i++) {
			(void)text_format(sql, sizeof(sql), "SELECT %d + ?", i);
			const struct db_param param = db_int(i);

			expect(db_query(direct.db, sql, &param, 1, &rows, &error), RESULT_OK);
			ck_assert(db_rows_next(rows));
			ck_assert_int_eq(db_rows_int(rows, 0), i + i);
			db_rows_destroy(&rows);
		}
}
END_TEST

START_TEST(a_table_that_changes_does_not_break_its_statements)
{
	for (int i = 0; i < 3; i++) {
		ask("SELECT COUNT(*) FROM t", "2");
		expect(execute("UPDATE t SET u = u + 1"), RESULT_OK);
		query_run(query, "ALTER TABLE t ADD COLUMN c%d INT", i);
	}
}
END_TEST

START_TEST(values_of_every_kind_come_back_as_they_went)
{
	static const char sql[] = "INSERT INTO t(id, u, s, d, x) VALUES (?, ?, ?, ?, ?)";
	char *longest = memory_allocate(LONG_SIZE + 1);
	struct db_rows *rows = NULL;
	size_t size = 0;
	uint64_t changed = 0;

	memset(longest, 'y', LONG_SIZE);
	const struct db_param full[] = { db_int(INT64_MIN), db_uint(UINT64_MAX),
		db_bytes("a\0b\xc3\xa9", 5), db_text("2026-01-31 00:00:00.000"),
		db_bytes(longest, LONG_SIZE) };
	const struct db_param empty[] = { db_int(INT64_MAX), db_null(), db_text(NULL), db_null(),
		db_text("") };
	expect(db_execute(direct.db, sql, full, ARRAY_LENGTH(full), &changed, &error), RESULT_OK);
	ck_assert_uint_eq(changed, 1);
	expect(db_execute(direct.db, sql, empty, ARRAY_LENGTH(empty), &changed, &error), RESULT_OK);
	expect(db_query(direct.db,
		       "SELECT id, u, s, d, x FROM t WHERE id NOT IN (1, 2) ORDER BY id", NULL, 0,
		       &rows, &error),
		RESULT_OK);
	ck_assert_uint_eq(db_rows_count(rows), 2);
	ck_assert(db_rows_next(rows));
	ck_assert_int_eq(db_rows_int(rows, 0), INT64_MIN);
	ck_assert_uint_eq(db_rows_uint(rows, 1), UINT64_MAX);
	ck_assert_mem_eq(db_rows_text(rows, 2, &size), "a\0b\xc3\xa9", 5);
	ck_assert_uint_eq(size, 5);
	ck_assert(text_starts_with(db_rows_text(rows, 3, NULL), "2026-01-31 00:00:00"));
	ck_assert_mem_eq(db_rows_text(rows, 4, &size), longest, LONG_SIZE);
	ck_assert_uint_eq(size, LONG_SIZE);
	ck_assert(db_rows_next(rows));
	ck_assert_int_eq(db_rows_int(rows, 0), INT64_MAX);
	for (size_t i = 1; i < 4; i++) {
		ck_assert(db_rows_is_null(rows, i));
		ck_assert_uint_eq(db_rows_uint(rows, i), 0);
		ck_assert_int_eq(db_rows_int(rows, i), 0);
		ck_assert_str_eq(db_rows_text(rows, i, &size), "");
		ck_assert_uint_eq(size, 0);
	}
	ck_assert(!db_rows_is_null(rows, 4));
	ck_assert_str_eq(db_rows_text(rows, 4, NULL), "");
	ck_assert(!db_rows_next(rows));
	db_rows_destroy(&rows);
	expect(db_query(direct.db, "SELECT id FROM t WHERE id = 77", NULL, 0, &rows, &error),
		RESULT_NONE);
	ck_assert_ptr_null(rows);
	ck_assert(!db_rows_next(rows));
	ck_assert_uint_eq(db_rows_count(rows), 0);
	free(longest);
}
END_TEST

START_TEST(changed_rows_are_counted_and_not_matched_ones)
{
	uint64_t changed = 0;

	expect(db_execute(direct.db, "UPDATE t SET u = 2", NULL, 0, &changed, &error), RESULT_OK);
	ck_assert_uint_eq(changed, 1);
}
END_TEST

/* ---- the companion */

static void count_call(void *context)
{
	++*(int *)context;
}

START_TEST(a_companion_is_served_between_slow_statements)
{
	int calls = 0;

	db_set_companion(direct.db, count_call, &calls);
	for (int i = 0; i < 4; i++)
		expect(execute("DO SLEEP(0.4)"), RESULT_OK);
	ck_assert_int_ge(calls, 2);
	ck_assert_int_le(calls, 4);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		a_session_is_set_up_again_after_each_connect,
		a_session_the_server_tired_of_is_built_again,
		a_schema_that_is_missing_or_old_is_waited_for,
		wrong_addresses_and_passwords_are_temporary,
		errors_are_sorted_by_what_to_do_next,
		a_failure_in_a_transaction_leaves_nothing_of_it,
		a_lock_held_too_long_is_a_lost_race,
		a_session_killed_in_a_transaction_is_dropped,
		a_statement_that_takes_too_long_is_stopped,
		more_statements_than_are_kept_still_work,
		a_table_that_changes_does_not_break_its_statements,
		values_of_every_kind_come_back_as_they_went,
		changed_rows_are_counted_and_not_matched_ones,
		a_companion_is_served_between_slow_statements,
	};
	const struct runner_fixture fixture = { set_up, tear_down };

	sandbox_need_servers();
	return runner_run_with("db", &fixture, tests, ARRAY_LENGTH(tests));
}
