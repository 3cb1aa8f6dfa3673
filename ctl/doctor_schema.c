#include "ctl/doctor_schema.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/db.h"
#include "ctl/doctor_rows.h"
#include "ctl/finding.h"
#include "ctl/migration.h"
#include "ctl/session.h"
#include "version.h"

static void check_migrations(const struct session *session, struct finding_list *list)
{
	struct migration_status *statuses =
		memory_allocate_array(migration_file_count, sizeof(*statuses));
	struct error error = { 0 };
	uint32_t newest = 0;
	enum result result = migration_list(
		session->db, migration_files, migration_file_count, statuses, &newest, &error);

	for (size_t i = 0; result == RESULT_OK && i < migration_file_count; i++)
		if (statuses[i].state == MIGRATION_STATE_CHANGED)
			finding_fail(list, "schema_changed",
				"migration %04" PRIu32 "_%s was applied from another file: this "
				"program and the schema are not of the same line of releases",
				migration_files[i].version, migration_files[i].name);
	if (result != RESULT_OK)
		finding_fail(list, "schema", "%s", error.text);
	else if (newest < LAPSE_SCHEMA_VERSION)
		finding_fail(list, "schema",
			"version %" PRIu32 ", %d is needed: run lapsectl migrate", newest,
			LAPSE_SCHEMA_VERSION);
	else if (newest > LAPSE_SCHEMA_VERSION)
		finding_warn(list, "schema",
			"version %" PRIu32 " of a newer release: this program knows %d", newest,
			LAPSE_SCHEMA_VERSION);
	else
		finding_ok(list, "schema", "version %" PRIu32, newest);
	free(statuses);
}

static void check_trigger(
	const struct session *session, bool can_see_triggers, struct finding_list *list)
{
	static const char sql[] = "SELECT definer FROM information_schema.triggers "
				  "WHERE trigger_schema = DATABASE() "
				  "AND trigger_name = 'trg_order_state' LIMIT 1";
	struct db_rows *rows = NULL;
	struct error error = { 0 };
	enum result result = db_query(session->db, sql, NULL, 0, &rows, &error);

	if (result == RESULT_OK && db_rows_next(rows))
		finding_ok(list, "trigger", "trg_order_state guards the states of orders");
	else if (result == RESULT_NONE && can_see_triggers)
		finding_fail(list, "trigger",
			"trg_order_state is not there: final orders are not guarded against other "
			"programs; run the statement at the end of schema/0001_order.sql");
	else if (result == RESULT_NONE)
		finding_warn(list, "trigger",
			"trg_order_state cannot be seen by this user, who lacks TRIGGER: look with "
			"the user that runs lapsectl migrate");
	else
		finding_warn(list, "trigger", "cannot be read: %s", error.text);
	db_rows_destroy(&rows);
}

/* Without these the programs read whole tables, or refuse to work. */
static const struct {
	const char *table;
	const char *index;
	const char *first_column;
} wanted_indexes[] = {
	{ "t_order", "idx_status_expire", "status" },
	{ "t_order", "idx_close_time", "close_time" },
	{ "t_order", "uk_order_no", "order_no" },
	{ "t_outbox_event", "idx_status_available", "status" },
	{ "t_compensation", "idx_status_next", "status" },
	{ "t_compensation", "uk_idempotency_key", "idempotency_key" },
	{ "t_alert", "uk_kind_ref", "kind" },
};

static void check_indexes(const struct session *session, struct finding_list *list)
{
	static const char sql[] =
		"SELECT 1 FROM information_schema.statistics "
		"WHERE table_schema = DATABASE() AND table_name = ? "
		"AND index_name = ? AND column_name = ? AND seq_in_index = 1 LIMIT 1";
	size_t missing = 0;

	for (size_t i = 0; i < ARRAY_LENGTH(wanted_indexes); i++) {
		const struct db_param params[] = { db_text(wanted_indexes[i].table),
			db_text(wanted_indexes[i].index), db_text(wanted_indexes[i].first_column) };
		struct db_rows *rows = NULL;
		enum result result =
			db_query(session->db, sql, params, ARRAY_LENGTH(params), &rows, NULL);

		db_rows_destroy(&rows);
		if (result == RESULT_OK)
			continue;
		missing++;
		finding_fail(list, "index",
			"%s of %s is not there: create it as the files of schema/ say",
			wanted_indexes[i].index, wanted_indexes[i].table);
	}
	if (missing == 0)
		finding_ok(
			list, "indexes", "%zu indexes are as wanted", ARRAY_LENGTH(wanted_indexes));
}

/* The choice a sweep makes, as close does it. */
static void check_sweep_plan(const struct session *session, struct finding_list *list)
{
	static const char sql[] = "EXPLAIN FORMAT=TRADITIONAL SELECT id, order_no FROM t_order "
				  "FORCE INDEX (idx_status_expire) WHERE status = 'UNPAID' "
				  "AND expire_time <= UTC_TIMESTAMP(3) "
				  "ORDER BY expire_time LIMIT 500 FOR UPDATE SKIP LOCKED";
	/* MySQL shows one column more in front of it. */
	size_t column = db_is_mariadb(session->db) ? 5 : 6;
	struct db_rows *rows = NULL;
	struct error error = { 0 };
	enum result result = db_query(session->db, sql, NULL, 0, &rows, &error);

	if (result != RESULT_OK || !db_rows_next(rows))
		finding_warn(list, "sweep_plan", "cannot be read: %s", error.text);
	else if (text_equals(db_rows_text(rows, column, NULL), "idx_status_expire"))
		finding_ok(list, "sweep_plan", "a sweep reads idx_status_expire");
	else
		finding_fail(list, "sweep_plan",
			"a sweep reads \"%s\" instead of idx_status_expire: see the index above",
			db_rows_text(rows, column, NULL));
	db_rows_destroy(&rows);
}

void doctor_check_schema(
	const struct session *session, bool can_see_triggers, struct finding_list *list)
{
	uint32_t version = 0;

	check_migrations(session, list);
	if (session_read_schema(session, &version, NULL) != RESULT_OK || version == 0)
		return;
	check_trigger(session, can_see_triggers, list);
	check_indexes(session, list);
	check_sweep_plan(session, list);
	doctor_check_changed_rows(session, list);
}
