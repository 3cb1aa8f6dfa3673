#include "common/order/housekeeping.h"

#include <assert.h>
#include <stdlib.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/db.h"
#include "common/io/db_list.h"

enum {
	TARGET_SIZE = 64 + 1
};

/* The first conditions of each choice are those its index can use. */
#define IS_OLD " < UTC_TIMESTAMP(3) - INTERVAL ? MICROSECOND "
#define CHOOSE_OUTBOX                                                        \
	"SELECT id FROM t_outbox_event FORCE INDEX (idx_status_available) "  \
	"WHERE status = 'SENT' AND available_at" IS_OLD "AND sent_at" IS_OLD \
	"ORDER BY available_at LIMIT ? FOR UPDATE SKIP LOCKED"
#define CHOOSE_COMPENSATION                                                                  \
	"SELECT id FROM t_compensation FORCE INDEX (idx_status_next) "                       \
	"WHERE status = 'DONE' AND target = ? AND next_retry_at" IS_OLD "AND done_at" IS_OLD \
	"ORDER BY next_retry_at LIMIT ? FOR UPDATE SKIP LOCKED"
/* Nothing is owed about it: neither a message nor, to a delivery under way, an answer. */
#define CHOOSE_ALERT                                                            \
	"SELECT id FROM t_alert FORCE INDEX (idx_state) "                       \
	"WHERE state = 'RESOLVED' AND fired_at" IS_OLD "AND resolved_at" IS_OLD \
	"AND delivery_state = 'SENT' AND lease_until IS NULL "                  \
	"ORDER BY fired_at LIMIT ? FOR UPDATE SKIP LOCKED"

struct chore {
	const char *choose;
	const char *delete_head;
};

static const struct chore chores[] = {
	[HOUSEKEEPING_OUTBOX] = { CHOOSE_OUTBOX, "DELETE FROM t_outbox_event WHERE id IN " },
	[HOUSEKEEPING_COMPENSATION] = { CHOOSE_COMPENSATION,
		"DELETE FROM t_compensation WHERE id IN " },
	/* The inbox has no id: see delete_inbox. */
	[HOUSEKEEPING_ALERT] = { CHOOSE_ALERT, "DELETE FROM t_alert WHERE id IN " },
};

static_assert(ARRAY_LENGTH(chores) == HOUSEKEEPING_TABLE_COUNT, "chores");

static enum result delete_chosen(struct db *db, const struct chore *chore,
	const struct db_param *params, size_t param_count, uint64_t *deleted_out,
	struct error *error)
{
	struct db_rows *rows = NULL;
	struct db_param *ids = NULL;
	enum result result = db_query(db, chore->choose, params, param_count, &rows, error);

	if (result != RESULT_OK)
		goto done;
	size_t size = db_list_size(db_rows_count(rows));
	size_t count = 0;
	ids = memory_allocate_array(size, sizeof(*ids));
	while (db_rows_next(rows))
		ids[count++] = db_uint(db_rows_uint(rows, 0));
	for (size_t i = count; i < size; i++)
		ids[i] = ids[count - 1];
	result = db_execute(
		db, db_list_sql(db, chore->delete_head, "", size), ids, size, deleted_out, error);
done:
	free(ids);
	db_rows_destroy(&rows);
	return result;
}

/* The index has the tasks of one target side by side, so each target is looked at by itself. */
static enum result delete_tasks(struct db *db, uint64_t retention_ms, size_t limit,
	uint64_t *deleted_out, struct error *error)
{
	static const char next_target_sql[] =
		"SELECT MIN(target) FROM t_compensation FORCE INDEX (idx_status_next) "
		"WHERE status = 'DONE' AND target > ?";
	char target[TARGET_SIZE] = "";
	enum result result = RESULT_OK;

	while ((result == RESULT_OK || result == RESULT_NONE) && *deleted_out < limit) {
		const struct db_param last = db_text(target);
		struct db_rows *rows = NULL;
		uint64_t deleted = 0;

		result = db_query(db, next_target_sql, &last, 1, &rows, error);
		bool is_last =
			result != RESULT_OK || !db_rows_next(rows) || db_rows_is_null(rows, 0);
		if (!is_last)
			(void)text_copy(target, sizeof(target), db_rows_text(rows, 0, NULL));
		db_rows_destroy(&rows);
		if (is_last)
			break;
		const struct db_param params[] = { db_text(target), db_uint(retention_ms * 1000),
			db_uint(retention_ms * 1000), db_uint(limit - *deleted_out) };
		result = delete_chosen(db, &chores[HOUSEKEEPING_COMPENSATION], params,
			ARRAY_LENGTH(params), &deleted, error);
		*deleted_out += deleted;
	}
	return result == RESULT_NONE ? RESULT_OK : result;
}

static enum result delete_inbox(struct db *db, uint64_t retention_ms, size_t limit,
	uint64_t *deleted_out, struct error *error)
{
	static const char sql[] = "DELETE FROM t_event_consumed WHERE consumed_at" IS_OLD
				  "ORDER BY consumed_at LIMIT ?";
	const struct db_param params[] = { db_uint(retention_ms * 1000), db_uint(limit) };

	return db_execute(db, sql, params, ARRAY_LENGTH(params), deleted_out, error);
}

enum result housekeeping_delete(struct db *db, enum housekeeping_table table, uint64_t retention_ms,
	size_t limit, uint64_t *deleted_out, struct error *error)
{
	const struct db_param params[] = { db_uint(retention_ms * 1000),
		db_uint(retention_ms * 1000), db_uint(limit) };
	enum result result = db_begin(db, error);

	*deleted_out = 0;
	if (result == RESULT_OK && table == HOUSEKEEPING_INBOX)
		result = delete_inbox(db, retention_ms, limit, deleted_out, error);
	else if (result == RESULT_OK && table == HOUSEKEEPING_COMPENSATION)
		result = delete_tasks(db, retention_ms, limit, deleted_out, error);
	else if (result == RESULT_OK)
		result = delete_chosen(
			db, &chores[table], params, ARRAY_LENGTH(params), deleted_out, error);
	if (result == RESULT_OK)
		result = db_commit(db, error);
	db_rollback(db); /* does nothing after a commit */
	return result == RESULT_NONE ? RESULT_OK : error_context(result, error, "delete old rows");
}
