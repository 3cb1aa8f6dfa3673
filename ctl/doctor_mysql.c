#include "ctl/doctor_mysql.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/text.h"
#include "common/io/db.h"
#include "ctl/doctor_grants.h"
#include "ctl/doctor_schema.h"
#include "ctl/finding.h"
#include "ctl/session.h"

enum {
	VALUE_SIZE = 64,
	CLOCK_WARN_MS = 2000,
};

/* Lower bounds of what we need: CHECK, expression defaults, SKIP LOCKED. */
struct server_version {
	unsigned int major, minor, patch;
};

static const struct server_version mariadb_least = { 10, 6, 0 };
static const struct server_version mysql_least = { 8, 0, 16 };

static bool is_at_least(const struct server_version *have, const struct server_version *least)
{
	if (have->major != least->major)
		return have->major > least->major;
	if (have->minor != least->minor)
		return have->minor > least->minor;
	return have->patch >= least->patch;
}

static void check_version(const struct session *session, struct finding_list *list)
{
	const char *text = db_server_version(session->db);
	struct server_version have = { 0 };
	bool is_mariadb = db_is_mariadb(session->db);

	/* Some servers put "5.5.5-" in front, for very old clients. */
	if (is_mariadb && text_starts_with(text, "5.5.5-"))
		text += strlen("5.5.5-");
	/* NOLINTNEXTLINE(cert-err34-c): what cannot be read stays 0 and is too old */
	(void)sscanf(text, "%3u.%3u.%3u", &have.major, &have.minor, &have.patch);
	if (is_at_least(&have, is_mariadb ? &mariadb_least : &mysql_least))
		finding_ok(list, "mysql_version", "%s %s", is_mariadb ? "MariaDB" : "MySQL", text);
	else
		finding_fail(list, "mysql_version",
			"%s is too old: MySQL 8.0.16 or MariaDB 10.6 is the least", text);
}

/* One value of one row as text; false when it cannot be had. */
static bool read_value(
	const struct session *session, const char *sql, size_t column, char value[VALUE_SIZE])
{
	struct db_rows *rows = NULL;
	enum result result = db_query(session->db, sql, NULL, 0, &rows, NULL);
	bool is_there = result == RESULT_OK && db_rows_next(rows);

	value[0] = '\0';
	if (is_there)
		(void)text_copy(value, VALUE_SIZE, db_rows_text(rows, column, NULL));
	db_rows_destroy(&rows);
	return is_there;
}

/* The sessions of all programs are set up like ours, so what ours has, theirs have. */
static void check_session(const struct session *session, struct finding_list *list)
{
	char zone[VALUE_SIZE];
	char isolation[VALUE_SIZE];

	if (read_value(session, "SELECT CAST(@@session.time_zone AS CHAR)", 0, zone) &&
		text_equals(zone, "+00:00"))
		finding_ok(list, "mysql_time_zone", "sessions run in UTC");
	else
		finding_fail(list, "mysql_time_zone",
			"a session has time zone \"%s\" and not +00:00: something between us and "
			"the server (a proxy?) changes sessions",
			zone);
	/* The variable has two names. */
	if (!read_value(session,
		    "SHOW SESSION VARIABLES WHERE Variable_name IN "
		    "('transaction_isolation', 'tx_isolation')",
		    1, isolation))
		finding_warn(list, "mysql_isolation", "cannot be read");
	else if (text_equals(isolation, "READ-COMMITTED"))
		finding_ok(list, "mysql_isolation", "sessions run READ COMMITTED");
	else
		finding_fail(list, "mysql_isolation",
			"a session has %s: something between us and the server changes sessions",
			isolation);
}

static void check_binary_log(const struct session *session, struct finding_list *list)
{
	char is_on[VALUE_SIZE];
	char format[VALUE_SIZE];

	if (!read_value(session, "SELECT CAST(@@global.log_bin AS CHAR)", 0, is_on) ||
		!read_value(session, "SELECT CAST(@@global.binlog_format AS CHAR)", 0, format)) {
		finding_warn(list, "mysql_binlog", "cannot be read");
		return;
	}
	if (text_equals(is_on, "0") || text_equals(is_on, "OFF"))
		finding_ok(list, "mysql_binlog", "off");
	else if (text_equals(format, "STATEMENT"))
		finding_fail(list, "mysql_binlog",
			"binlog_format is STATEMENT, which READ COMMITTED cannot write under "
			"(error 1665): set binlog_format=ROW");
	else
		finding_ok(list, "mysql_binlog", "on, format %s", format);
}

static void check_durability(const struct session *session, struct finding_list *list)
{
	char flush[VALUE_SIZE];

	if (!read_value(session, "SELECT CAST(@@global.innodb_flush_log_at_trx_commit AS CHAR)", 0,
		    flush))
		finding_warn(list, "mysql_durability", "cannot be read");
	else if (text_equals(flush, "1"))
		finding_ok(list, "mysql_durability", "commits are on disk");
	else
		finding_warn(list, "mysql_durability",
			"innodb_flush_log_at_trx_commit is %s: a crash of the server may take back "
			"commits we have acted on; set it to 1",
			flush);
}

static void check_read_only(const struct session *session, struct finding_list *list)
{
	char value[VALUE_SIZE];

	if (!read_value(session, "SELECT CAST(@@global.read_only AS CHAR)", 0, value))
		finding_warn(list, "mysql_read_only", "cannot be read");
	else if (text_equals(value, "0") || text_equals(value, "OFF"))
		finding_ok(list, "mysql_read_only", "the server takes writes");
	else
		finding_fail(list, "mysql_read_only",
			"the server is read_only: LAPSE_MYSQL_URL must name the primary");
}

/* MySQL's clock alone decides; a difference only makes messages wait in the wrong place. */
static void check_clock(const struct session *session, struct finding_list *list)
{
	static const char sql[] = "SELECT CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS SIGNED)";
	struct db_rows *rows = NULL;
	int64_t difference_ms = 0;
	int64_t before_ms = (int64_t)clock_epoch_ms();

	if (db_query(session->db, sql, NULL, 0, &rows, NULL) != RESULT_OK || !db_rows_next(rows)) {
		finding_warn(list, "clock", "MySQL's clock cannot be read");
		goto done;
	}
	difference_ms = db_rows_int(rows, 0) - (before_ms + (int64_t)clock_epoch_ms()) / 2;
	if (difference_ms > CLOCK_WARN_MS || difference_ms < -CLOCK_WARN_MS)
		finding_warn(list, "clock",
			"MySQL's clock is %+" PRId64
			" ms from this host's: only MySQL's decides, but "
			"set both by NTP so that logs can be compared",
			difference_ms);
	else
		finding_ok(list, "clock", "MySQL's clock is %+" PRId64 " ms from this host's",
			difference_ms);
done:
	db_rows_destroy(&rows);
}

/* Gives whether the user may see triggers. */
static bool check_own_grants(const struct session *session, struct finding_list *list)
{
	struct db_rows *rows = NULL;
	struct error error = { 0 };
	bool has_all = false;
	bool can_see_triggers = false;

	if (db_query(session->db, "SHOW GRANTS", NULL, 0, &rows, &error) != RESULT_OK) {
		finding_warn(list, "mysql_grants", "cannot be read: %s", error.text);
		return false;
	}
	while (db_rows_next(rows)) {
		const char *grant = db_rows_text(rows, 0, NULL);

		has_all = has_all || strstr(grant, "ALL PRIVILEGES ON *.*") != NULL ||
			  strstr(grant, "SUPER") != NULL;
		can_see_triggers = can_see_triggers || strstr(grant, "ALL PRIVILEGES") != NULL ||
				   strstr(grant, "TRIGGER") != NULL;
	}
	if (has_all)
		finding_warn(list, "mysql_grants",
			"this user may do everything on the server: give each program a user of "
			"its own that may do only its work");
	else
		finding_ok(list, "mysql_grants", "%zu grants, none over the whole server",
			db_rows_count(rows));
	db_rows_destroy(&rows);
	return can_see_triggers;
}

void doctor_check_mysql(const struct session *session, struct finding_list *list)
{
	struct error error = { 0 };

	if (db_ensure_connected(session->db, &error) != RESULT_OK) {
		finding_fail(list, "mysql", "%s; check LAPSE_MYSQL_URL and the server", error.text);
		return;
	}
	finding_ok(list, "mysql", "connected, client library %s", db_library_version());
	check_version(session, list);
	check_session(session, list);
	check_binary_log(session, list);
	check_durability(session, list);
	check_read_only(session, list);
	check_clock(session, list);
	bool can_see_triggers = check_own_grants(session, list);
	doctor_check_grants(session, list);
	doctor_check_schema(session, can_see_triggers, list);
}
