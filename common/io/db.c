#include "common/io/db.h"

#include <stdlib.h>
#include <string.h>

#include <mysqld_error.h>

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/base/url.h"
#include "common/io/db_internal.h"
#include "version.h"

enum {
	CONNECT_LIMIT_S = 5,
	STATEMENT_LIMIT_S = 8, /* below the time limit of the socket, above the lock wait */
	IDLE_TRANSACTION_LIMIT_S = 10,
	IDLE_SESSION_LIMIT_S = 60, /* every daemon says something more often */
	SQL_SIZE = 512,
};

const struct setting db_settings_table[] = {
	SETTING_SECRET(struct db_settings, url, "LAPSE_MYSQL_URL", true,
		"mysql://user:pass@host:3306/lapse?tls=off|require|verify[&ca=FILE]"),
	SETTING_DURATION(struct db_settings, lock_wait_ms, "LAPSE_LOCK_WAIT", "2s", SECONDS(1),
		SECONDS(7), "how long a statement waits for a row lock"),
	SETTING_END,
};

void db_check_settings(const struct db_settings *settings, struct settings_report *report)
{
	struct url url;
	char tls[16] = "off";

	if (settings->url == NULL)
		return; /* reported as missing already */
	if (!url_parse(settings->url, &url) || !text_equals(url.scheme, "mysql") ||
		url.path[0] == '\0' || url.user[0] == '\0') {
		settings_report_add(
			report, "LAPSE_MYSQL_URL: is not mysql://user:pass@host:port/schema");
		return;
	}
	(void)url_find_query(&url, "tls", tls, sizeof(tls));
	if (!text_equals(tls, "off") && !text_equals(tls, "require") && !text_equals(tls, "verify"))
		settings_report_add(report, "LAPSE_MYSQL_URL: tls is not off, require or verify");
	memory_wipe(&url, sizeof(url));
}

void db_create(const struct db_settings *settings, struct db **db_out)
{
	struct db *db = memory_allocate(sizeof(*db));

	db->settings = settings;
	db->time_limit_s = DB_TIME_LIMIT_S;
	*db_out = db;
}

void db_destroy(struct db **db)
{
	if (*db == NULL)
		return;
	db_disconnect(*db);
	for (size_t i = 0; i < (*db)->list_count; i++)
		free((*db)->lists[i].sql);
	free((*db)->lists);
	free((*db)->binds);
	free(*db);
	*db = NULL;
}

void db_skip_schema_check(struct db *db)
{
	db->skips_schema_check = true;
}

void db_set_time_limit(struct db *db, unsigned int seconds)
{
	db->time_limit_s = seconds;
}

void db_set_companion(struct db *db, void (*serve)(void *context), void *context)
{
	db->serve_companion = serve;
	db->companion = context;
}

void db_serve_companion(struct db *db)
{
	if (db->serve_companion == NULL)
		return;
	uint64_t now_ms = clock_now_ms();
	if (now_ms - db->served_ms < DB_COMPANION_MS)
		return;
	db->served_ms = now_ms;
	db->serve_companion(db->companion);
}

void db_disconnect(struct db *db)
{
	if (db->mysql == NULL)
		return;
	db_forget_statements(db);
	mysql_close(db->mysql);
	db->mysql = NULL;
	db->is_in_transaction = false;
	db_group_lose(db);
}

bool db_is_connected(const struct db *db)
{
	return db->mysql != NULL;
}

uint64_t db_epoch(const struct db *db)
{
	return db->epoch;
}

bool db_is_mariadb(const struct db *db)
{
	return db->is_mariadb;
}

const char *db_server_version(const struct db *db)
{
	return db->mysql == NULL ? "" : mysql_get_server_info(db->mysql);
}

uint64_t db_last_insert_id(const struct db *db)
{
	return db->last_insert_id;
}

const char *db_library_version(void)
{
	return mysql_get_client_info();
}

unsigned int db_last_errno(const struct db *db)
{
	return db->last_errno;
}

static enum result fail_connection(struct db *db, struct error *error)
{
	return db_fail(db, mysql_errno(db->mysql), mysql_error(db->mysql), error);
}

/* tls=off|require|verify: the libraries have different options and different defaults. */
static void set_tls(MYSQL *mysql, const struct url *url)
{
	char tls[16] = "off";
	char ca[URL_PART_SIZE] = "";

	(void)url_find_query(url, "tls", tls, sizeof(tls));
	if (url_find_query(url, "ca", ca, sizeof(ca)))
		(void)mysql_options(mysql, MYSQL_OPT_SSL_CA, ca);
#if defined(LIBMARIADB) || defined(MARIADB_BASE_VERSION)
	db_bool enforced = text_equals(tls, "off") ? 0 : 1;
	db_bool verified = text_equals(tls, "verify") ? 1 : 0;

	(void)mysql_options(mysql, MYSQL_OPT_SSL_ENFORCE, &enforced);
	(void)mysql_options(mysql, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &verified);
#else
	unsigned int mode = text_equals(tls, "off")       ? SSL_MODE_DISABLED
			    : text_equals(tls, "require") ? SSL_MODE_REQUIRED
							  : SSL_MODE_VERIFY_IDENTITY;
	bool wants_key = mode == SSL_MODE_DISABLED;

	(void)mysql_options(mysql, MYSQL_OPT_SSL_MODE, &mode);
	(void)mysql_options(mysql, MYSQL_OPT_GET_SERVER_PUBLIC_KEY, &wants_key);
#endif
}

static enum result open_connection(struct db *db, const struct url *url, struct error *error)
{
	unsigned int connect_limit = CONNECT_LIMIT_S;
	char found_rows[8] = "off";
	unsigned int port = url->port == 0 ? 3306 : url->port;

	db->mysql = mysql_init(NULL);
	REQUIRE(db->mysql != NULL);
	(void)mysql_options(db->mysql, MYSQL_OPT_CONNECT_TIMEOUT, &connect_limit);
	(void)mysql_options(db->mysql, MYSQL_OPT_READ_TIMEOUT, &db->time_limit_s);
	(void)mysql_options(db->mysql, MYSQL_OPT_WRITE_TIMEOUT, &db->time_limit_s);
	(void)mysql_options(db->mysql, MYSQL_SET_CHARSET_NAME, "utf8mb4");
	set_tls(db->mysql, url);
	/* found_rows=on exists so that tests can show that nothing depends on the flag. */
	(void)url_find_query(url, "found_rows", found_rows, sizeof(found_rows));
	unsigned long flags = text_equals(found_rows, "on") ? CLIENT_FOUND_ROWS : 0;
	if (mysql_real_connect(db->mysql, url->host, url->user, url->password, url->path, port,
		    NULL, flags) == NULL) {
		enum result result = fail_connection(db, error);

		db_disconnect(db);
		return error_context(result == RESULT_PERMANENT ? RESULT_TEMPORARY : result, error,
			"connect to %s:%u", url->host, port);
	}
	db->epoch++;
	db->is_mariadb = strstr(mysql_get_server_info(db->mysql), "MariaDB") != NULL;
	return RESULT_OK;
}

static enum result set_session(struct db *db, struct error *error)
{
	char sql[SQL_SIZE];
	unsigned long long lock_wait_s = (db->settings->lock_wait_ms + 999) / 1000;

	(void)text_format(sql, sizeof(sql),
		"SET time_zone = '+00:00', autocommit = 1, innodb_lock_wait_timeout = %llu, "
		"sql_mode = 'STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,"
		"NO_ENGINE_SUBSTITUTION'",
		lock_wait_s == 0 ? 1 : lock_wait_s);
	enum result result = db_run(db, sql, error);
	if (result == RESULT_OK)
		result =
			db_run(db, "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED", error);
	if (result != RESULT_OK || db->time_limit_s != DB_TIME_LIMIT_S)
		return result;
	/* A process that is frozen in the middle of a transaction must not keep its rows for ever:
	 * the server ends the session, which rolls back. */
	if (db->is_mariadb)
		(void)text_format(sql, sizeof(sql),
			"SET max_statement_time = %d, idle_transaction_timeout = %d",
			(int)STATEMENT_LIMIT_S, (int)IDLE_TRANSACTION_LIMIT_S);
	else
		(void)text_format(sql, sizeof(sql),
			"SET max_execution_time = %d, wait_timeout = %d", STATEMENT_LIMIT_S * 1000,
			(int)IDLE_SESSION_LIMIT_S);
	return db_run(db, sql, error);
}

static enum result check_schema(struct db *db, struct error *error)
{
	struct db_rows *rows = NULL;
	enum result result = db_query(db,
		"SELECT COALESCE(MAX(version), 0), @@global.read_only FROM t_schema_version", NULL,
		0, &rows, error);

	if (result == RESULT_OK && db_rows_next(rows)) {
		if (db_rows_uint(rows, 0) < LAPSE_SCHEMA_VERSION)
			result = error_set(RESULT_TEMPORARY, error,
				"schema version is %llu, %d is needed: run lapsectl migrate",
				(unsigned long long)db_rows_uint(rows, 0), LAPSE_SCHEMA_VERSION);
		else if (db_rows_uint(rows, 1) != 0)
			result = error_set(RESULT_TEMPORARY, error, "the server is read_only");
	} else if (db->last_errno == ER_NO_SUCH_TABLE) {
		result = error_set(
			RESULT_TEMPORARY, error, "the schema is not there: run lapsectl migrate");
	}
	db_rows_destroy(&rows);
	return result;
}

enum result db_ensure_connected(struct db *db, struct error *error)
{
	struct url url;
	enum result result = RESULT_OK;

	if (db->mysql != NULL)
		return RESULT_OK;
	db->last_errno = 0;
	if (db->settings->url == NULL || !url_parse(db->settings->url, &url))
		return error_set(RESULT_PERMANENT, error, "LAPSE_MYSQL_URL cannot be understood");
	result = open_connection(db, &url, error);
	memory_wipe(&url, sizeof(url));
	if (result == RESULT_OK)
		result = set_session(db, error);
	if (result == RESULT_OK && !db->skips_schema_check)
		result = check_schema(db, error);
	if (result != RESULT_OK)
		db_disconnect(db);
	return result;
}

enum result db_ping(struct db *db, struct error *error)
{
	if (db->mysql == NULL)
		return error_set(RESULT_TEMPORARY, error, "mysql: not connected");
	return mysql_ping(db->mysql) == 0 ? RESULT_OK : fail_connection(db, error);
}

enum result db_run(struct db *db, const char *sql, struct error *error)
{
	if (db->mysql == NULL)
		return error_set(RESULT_TEMPORARY, error, "mysql: not connected");
	db_serve_companion(db);
	if (mysql_real_query(db->mysql, sql, (unsigned long)strlen(sql)) != 0)
		return fail_connection(db, error);
	MYSQL_RES *rows = mysql_store_result(db->mysql);
	if (rows != NULL)
		mysql_free_result(rows);
	return RESULT_OK;
}
