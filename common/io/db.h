/*
 * db - one connection to MySQL or MariaDB: set-up, transactions, prepared statements, row counts.
 *
 * After each connect the session has time_zone '+00:00', utf8mb4, READ COMMITTED, autocommit and
 * our lock wait limit, and every call has a time limit.  A connection that failed once is dropped;
 * the next db_ensure_connected builds a new one.  Statements are prepared once per connection and
 * kept by their text, so the text must come from a fixed set.  Values never stand in the text.
 *
 * Errors: 1213, 1205 and 1020 give RESULT_CONFLICT after the transaction has been rolled back;
 * 2002, 2003, 2006, 2013 and the like, a server that is read-only, shutting down or out of
 * connections, and a missing table or column give RESULT_TEMPORARY; all else is RESULT_PERMANENT.
 * A failing statement inside a transaction has always been rolled back when the call returns.
 */
#ifndef COMMON_IO_DB_H
#define COMMON_IO_DB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/result.h"
#include "common/base/settings.h"
#include "common/io/db_rows.h"

struct db;

enum {
	DB_TIME_LIMIT_S = 10
}; /* of one read or write on the socket */

struct db_settings {
	char *url;             /* mysql://user:pass@host:port/schema?tls=off|require|verify */
	uint64_t lock_wait_ms; /* how long a statement waits for a row lock */
};

/* LAPSE_MYSQL_URL, LAPSE_LOCK_WAIT. */
extern const struct setting db_settings_table[];

/* Adds a line to report when the URL cannot be understood. */
void db_check_settings(const struct db_settings *settings, struct settings_report *report);

/* Allocates only.  Borrows settings, which must live longer; the URL is read at each connect. */
void db_create(const struct db_settings *settings, struct db **db_out);
void db_destroy(struct db **db);

/* OK at once when connected.  Also checks that the schema is there and new enough (TEMPORARY with
 * words when not), see db_skip_schema_check. */
MUST_USE enum result db_ensure_connected(struct db *db, struct error *error);
void db_disconnect(struct db *db);
bool db_is_connected(const struct db *db);
/* Says something small to a connected server that has been idle; TEMPORARY drops the connection. */
MUST_USE enum result db_ping(struct db *db, struct error *error);
/* For programs that make the schema: connect without looking at it. */
void db_skip_schema_check(struct db *db);
/* Seconds one call may take, for migrations and reports; DB_TIME_LIMIT_S when never called.  Counts
 * from the next connect. */
void db_set_time_limit(struct db *db, unsigned int seconds);
/*
 * serve is called with context between statements, at most every DB_COMPANION_MS: for a connection
 * that wants to be served while a slow server makes a transaction long.  It must not use db.
 */
enum {
	DB_COMPANION_MS = 500
};
void db_set_companion(struct db *db, void (*serve)(void *context), void *context);
/* Counts up with each new connection. */
uint64_t db_epoch(const struct db *db);
/* Is it MariaDB rather than MySQL?  Known after a connect. */
bool db_is_mariadb(const struct db *db);
/* "10.11.6-MariaDB"; borrowed until the next connect. */
const char *db_server_version(const struct db *db);
/* "3.3.14", of the client library. */
const char *db_library_version(void);

enum db_param_kind {
	DB_PARAM_NULL,
	DB_PARAM_UINT,
	DB_PARAM_INT,
	DB_PARAM_TEXT,
};

struct db_param {
	enum db_param_kind kind;
	uint64_t uint;
	int64_t sint;
	const char *text; /* not NUL-terminated, borrowed for the call */
	size_t size;
};

struct db_param db_null(void);
struct db_param db_uint(uint64_t value);
struct db_param db_int(int64_t value);
/* NULL becomes the SQL NULL, and with optional "" too. */
struct db_param db_text(const char *text);
struct db_param db_optional_text(const char *text);
struct db_param db_bytes(const char *bytes, size_t size);

MUST_USE enum result db_begin(struct db *db, struct error *error);
/* After RESULT_TEMPORARY nobody knows whether the commit happened: run the whole again. */
MUST_USE enum result db_commit(struct db *db, struct error *error);
/* Never fails: when the server does not answer, the connection is dropped, which rolls back too. */
void db_rollback(struct db *db);

/* The lock "<name>.<schema>" ends with the connection.  NONE: another one held it for wait_s. */
MUST_USE enum result db_take_lock(
	struct db *db, const char *name, uint32_t wait_s, struct error *error);
/* One statement; changed_out (may be NULL) is the number of rows changed, not matched. */
MUST_USE enum result db_execute(struct db *db, const char *sql, const struct db_param *params,
	size_t param_count, uint64_t *changed_out, struct error *error);
/* The whole result in memory, so the statement carries a LIMIT.  NONE: no rows, rows_out NULL. */
MUST_USE enum result db_query(struct db *db, const char *sql, const struct db_param *params,
	size_t param_count, struct db_rows **rows_out, struct error *error);
/* Text protocol, no parameters, result thrown away: for DDL and session statements. */
MUST_USE enum result db_run(struct db *db, const char *sql, struct error *error);
/* The AUTO_INCREMENT value of the last db_execute that made one. */
uint64_t db_last_insert_id(const struct db *db);
/* The error number the server gave to the last failing call of this connection. */
unsigned int db_last_errno(const struct db *db);

#endif
