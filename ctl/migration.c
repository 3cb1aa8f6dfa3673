#include "ctl/migration.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/base/failpoint.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/db.h"
#include "ctl/script.h"

enum {
	ERROR_NO_TABLE = 1146,
	ERROR_BINLOG_CREATE_ROUTINE = 1419,
};

const char *const migration_state_names[] = { "pending", "applied", "changed", NULL };

enum result migration_lock(struct db *db, uint32_t wait_s, struct error *error)
{
	return db_take_lock(db, "lapse.migrate", wait_s, error);
}

enum result migration_prepare(struct db *db, struct error *error)
{
	static const char sql[] =
		"CREATE TABLE IF NOT EXISTS t_schema_version ("
		"version INT UNSIGNED NOT NULL, "
		"name VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL, "
		"checksum CHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL, "
		"applied_at DATETIME(3) NOT NULL DEFAULT (UTC_TIMESTAMP(3)), "
		"PRIMARY KEY (version)"
		") ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin";

	return error_context(db_run(db, sql, error), error, "create t_schema_version");
}

static void note_applied(const struct migration *files, size_t count, const struct db_rows *rows,
	struct migration_status *statuses)
{
	for (size_t i = 0; i < count; i++) {
		struct migration_status *status = &statuses[i];

		if (files[i].version != db_rows_uint(rows, 0))
			continue;
		(void)text_copy(
			status->checksum, sizeof(status->checksum), db_rows_text(rows, 1, NULL));
		(void)text_copy(status->applied_at, sizeof(status->applied_at),
			db_rows_text(rows, 2, NULL));
		status->state = text_equals(status->checksum, files[i].checksum)
					? MIGRATION_STATE_APPLIED
					: MIGRATION_STATE_CHANGED;
	}
}

enum result migration_list(struct db *db, const struct migration *files, size_t count,
	struct migration_status *statuses, uint32_t *newest_out, struct error *error)
{
	static const char sql[] =
		"SELECT version, checksum, DATE_FORMAT(applied_at, '%Y-%m-%dT%H:%i:%sZ') "
		"FROM t_schema_version ORDER BY version LIMIT 1000";
	struct db_rows *rows = NULL;

	*newest_out = 0;
	for (size_t i = 0; i < count; i++)
		statuses[i] = (struct migration_status){ .state = MIGRATION_STATE_PENDING };
	enum result result = db_query(db, sql, NULL, 0, &rows, error);
	if (result == RESULT_NONE || (result != RESULT_OK && db_last_errno(db) == ERROR_NO_TABLE))
		return RESULT_OK; /* a fresh schema */
	while (result == RESULT_OK && db_rows_next(rows)) {
		note_applied(files, count, rows, statuses);
		*newest_out = (uint32_t)db_rows_uint(rows, 0);
	}
	db_rows_destroy(&rows);
	return error_context(result, error, "read t_schema_version");
}

static enum result run_statement(
	struct db *db, const char *statement, size_t size, struct error *error)
{
	char *sql = memory_copy_bytes(statement, size);
	enum result result = db_run(db, sql, error);

	free(sql);
	if (result != RESULT_OK && db_last_errno(db) == ERROR_BINLOG_CREATE_ROUTINE)
		return error_set(result, error,
			"the server writes a binary log and lets this user create no trigger: "
			"start it with log_bin_trust_function_creators=1, or set it while it runs "
			"(SET GLOBAL log_bin_trust_function_creators=1), then run migrate again");
	return result;
}

static enum result record(struct db *db, const struct migration *file, struct error *error)
{
	static const char sql[] =
		"INSERT INTO t_schema_version (version, name, checksum) VALUES (?, ?, ?)";
	const struct db_param params[] = { db_uint(file->version), db_text(file->name),
		db_text(file->checksum) };

	return error_context(
		db_execute(db, sql, params, ARRAY_LENGTH(params), NULL, error), error, "record it");
}

enum result migration_apply(struct db *db, const struct migration *file, struct error *error)
{
	struct script script;
	const char *statement = NULL;
	size_t size = 0;
	enum result result = RESULT_OK;
	size_t number = 0;

	script_begin(&script, (const char *)file->sql, file->sql_size);
	while (result == RESULT_OK && script_next(&script, &statement, &size)) {
		number++;
		result = error_context(
			run_statement(db, statement, size, error), error, "statement %zu", number);
		FAILPOINT("after_statement");
	}
	if (result == RESULT_OK)
		result = record(db, file, error);
	return error_context(
		result, error, "migration %04" PRIu32 "_%s", file->version, file->name);
}
