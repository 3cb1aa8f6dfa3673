#include "common/order/extension.h"

#include <string.h>

#include "common/base/text.h"
#include "common/io/db.h"
#include "common/order/audit.h"

enum {
	JSON_SIZE = 96
};

#define ISO(value) "CONCAT(REPLACE(CAST(" value " AS CHAR), ' ', 'T'), 'Z')"

/* The order, and the new deadline beside the old one. */
#define UNTIL       "CAST(? AS DATETIME(3))"
#define BY          "CAST(expire_time + INTERVAL ? MICROSECOND AS DATETIME(3))"
#define EXPIRE_TIME ISO("expire_time")
#define LOOK_AT(moment, iso_moment)                                                             \
	"SELECT id, status, " EXPIRE_TIME ", " iso_moment ", CAST(" moment " AS CHAR), " moment \
	" > GREATEST(expire_time, UTC_TIMESTAMP(3)) "                                           \
	"FROM t_order FORCE INDEX (uk_order_no) WHERE order_no = ? FOR UPDATE"

struct run {
	struct db *db;
	const struct extension *extension;
	const struct audit_actor *actor;
	struct extension_result *result;
	uint64_t id;
	char until[EXTENSION_TIME_SIZE]; /* as the database writes it */
	bool is_later;
};

/* Locks the order and reads how it stands.  NONE: it is not there. */
static enum result lock_order(struct run *run, struct error *error)
{
	static const char until_sql[] = LOOK_AT(UNTIL, ISO(UNTIL));
	static const char by_sql[] = LOOK_AT(BY, ISO(BY));
	const struct extension *extension = run->extension;
	struct db_param value = extension->until != NULL ? db_text(extension->until)
							 : db_uint(extension->by_ms * 1000);
	const struct db_param params[] = { value, value, value, db_text(extension->order_no) };
	struct db_rows *rows = NULL;
	enum result result = db_query(run->db, extension->until != NULL ? until_sql : by_sql,
		params, ARRAY_LENGTH(params), &rows, error);

	if (db_rows_next(rows)) {
		run->id = db_rows_uint(rows, 0);
		(void)text_copy(run->result->status, sizeof(run->result->status),
			db_rows_text(rows, 1, NULL));
		(void)text_copy(run->result->before, sizeof(run->result->before),
			db_rows_text(rows, 2, NULL));
		(void)text_copy(run->result->after, sizeof(run->result->after),
			db_rows_text(rows, 3, NULL));
		(void)text_copy(run->until, sizeof(run->until), db_rows_text(rows, 4, NULL));
		run->is_later = db_rows_uint(rows, 5) != 0;
	}
	db_rows_destroy(&rows);
	if (result == RESULT_NONE)
		return error_set(RESULT_NONE, error, "there is no order %s", extension->order_no);
	return result;
}

/* NULL: nothing stands against it. */
static const char *find_objection(const struct run *run)
{
	if (!text_equals(run->result->status, "UNPAID"))
		return "the order is not UNPAID any more";
	if (run->result->before[0] == '\0')
		return "the order has no deadline: it never times out";
	if (run->result->after[0] == '\0')
		return "there is no such time";
	return run->is_later ? NULL : "the time is not later than the deadline and than now";
}

static void write_deadline(char json[JSON_SIZE], const char *time)
{
	(void)text_format(
		json, JSON_SIZE, time[0] == '\0' ? "{}" : "{\"expire_time\":\"%s\"}", time);
}

static enum result record(struct run *run, const char *objection, struct error *error)
{
	char before[JSON_SIZE];
	char after[JSON_SIZE];
	const struct audit_act act = { .action = "extend",
		.target_type = "order",
		.target_id = run->extension->order_no,
		.reason_text = run->extension->reason,
		.before_json = before,
		.after_json = objection == NULL ? after : NULL,
		.result = objection == NULL ? "ok" : "refused",
		.error = objection };

	write_deadline(before, run->result->before);
	write_deadline(after, run->result->after);
	return audit_record(run->db, run->actor, &act, error);
}

static enum result move_deadline(const struct run *run, struct error *error)
{
	static const char sql[] =
		"UPDATE t_order FORCE INDEX (PRIMARY) SET expire_time = CAST(? AS DATETIME(3)), "
		"version = version + 1 WHERE id = ? AND status = 'UNPAID' "
		"AND expire_time < CAST(? AS DATETIME(3))";
	const struct db_param params[] = { db_text(run->until), db_uint(run->id),
		db_text(run->until) };
	uint64_t changed = 0;
	enum result result =
		db_execute(run->db, sql, params, ARRAY_LENGTH(params), &changed, error);

	if (result == RESULT_OK && changed != 1)
		return error_set(RESULT_PERMANENT, error, "bug: the locked order did not change");
	return result;
}

static enum result insert_event(const struct run *run, struct error *error)
{
	static const char sql[] =
		"INSERT INTO t_outbox_event (event_type, order_no, payload, trace_parent) "
		"SELECT 'ORDER_EXTENDED', order_no, ?, trace_parent FROM t_order WHERE id = ?";
	char payload[JSON_SIZE];

	write_deadline(payload, run->result->after);
	const struct db_param params[] = { db_text(payload), db_uint(run->id) };
	return db_execute(run->db, sql, params, ARRAY_LENGTH(params), NULL, error);
}

static enum result extend(struct run *run, struct error *error)
{
	enum result result = move_deadline(run, error);

	if (result == RESULT_OK)
		result = insert_event(run, error);
	if (result == RESULT_OK)
		result = record(run, NULL, error);
	return result == RESULT_OK ? db_commit(run->db, error) : result;
}

/* The refusal is kept: its audit row is all that this transaction writes. */
static enum result refuse(struct run *run, const char *objection, struct error *error)
{
	enum result result = record(run, objection, error);

	if (result == RESULT_OK)
		result = db_commit(run->db, error);
	return result == RESULT_OK ? error_set(RESULT_CONFLICT, error, "%s", objection) : result;
}

enum result extension_run(struct db *db, const struct extension *extension,
	const struct audit_actor *actor, struct extension_result *result_out, struct error *error)
{
	struct run run = { .db = db, .extension = extension, .actor = actor, .result = result_out };
	enum result result = db_begin(db, error);

	memset(result_out, 0, sizeof(*result_out));
	if (result == RESULT_OK)
		result = lock_order(&run, error);
	/* A lost race here is a lock that somebody holds. */
	if (result == RESULT_CONFLICT)
		result = RESULT_TEMPORARY;
	if (result == RESULT_OK) {
		const char *objection = find_objection(&run);

		result = objection == NULL ? extend(&run, error) : refuse(&run, objection, error);
	}
	db_rollback(db); /* does nothing after a commit */
	return error_context(result, error, "extend order %s", extension->order_no);
}
