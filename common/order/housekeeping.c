#include "common/order/housekeeping.h"

#include <assert.h>
#include <stdlib.h>

#include "common/base/memory.h"
#include "common/io/db.h"

/* The first condition of each choice is the one its index can use. */
struct chore {
	const char *choose;
	const char *delete_head;
};

static const struct chore chores[] = {
	[HOUSEKEEPING_OUTBOX] = { "SELECT id FROM t_outbox_event FORCE INDEX (idx_status_available) "
				  "WHERE status = 'SENT' AND available_at < UTC_TIMESTAMP(3) - INTERVAL ? MICROSECOND "
				  "AND sent_at < UTC_TIMESTAMP(3) - INTERVAL ? MICROSECOND "
				  "ORDER BY available_at LIMIT ? FOR UPDATE SKIP LOCKED",
		"DELETE FROM t_outbox_event WHERE id IN " },
	[HOUSEKEEPING_COMPENSATION] = { "SELECT id FROM t_compensation FORCE INDEX (idx_status_next) "
					"WHERE status = 'DONE' AND next_retry_at < UTC_TIMESTAMP(3) - INTERVAL ? MICROSECOND "
					"AND done_at < UTC_TIMESTAMP(3) - INTERVAL ? MICROSECOND "
					"ORDER BY next_retry_at LIMIT ? FOR UPDATE SKIP LOCKED",
		"DELETE FROM t_compensation WHERE id IN " },
};

static_assert(ARRAY_LENGTH(chores) == HOUSEKEEPING_INBOX, "the inbox has no id: see delete_inbox");

static enum result delete_chosen(struct db *db, const struct chore *chore, uint64_t retention_ms,
	size_t limit, uint64_t *deleted_out, struct error *error)
{
	const struct db_param params[] = { db_uint(retention_ms * 1000),
		db_uint(retention_ms * 1000), db_uint(limit) };
	struct db_rows *rows = NULL;
	struct db_param *ids = NULL;
	enum result result =
		db_query(db, chore->choose, params, ARRAY_LENGTH(params), &rows, error);

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

static enum result delete_inbox(struct db *db, uint64_t retention_ms, size_t limit,
	uint64_t *deleted_out, struct error *error)
{
	static const char sql[] = "DELETE FROM t_event_consumed "
				  "WHERE consumed_at < UTC_TIMESTAMP(3) - INTERVAL ? MICROSECOND "
				  "ORDER BY consumed_at LIMIT ?";
	const struct db_param params[] = { db_uint(retention_ms * 1000), db_uint(limit) };

	return db_execute(db, sql, params, ARRAY_LENGTH(params), deleted_out, error);
}

enum result housekeeping_delete(struct db *db, enum housekeeping_table table, uint64_t retention_ms,
	size_t limit, uint64_t *deleted_out, struct error *error)
{
	enum result result = db_begin(db, error);

	*deleted_out = 0;
	if (result == RESULT_OK && table == HOUSEKEEPING_INBOX)
		result = delete_inbox(db, retention_ms, limit, deleted_out, error);
	else if (result == RESULT_OK)
		result = delete_chosen(db, &chores[table], retention_ms, limit, deleted_out, error);
	if (result == RESULT_OK)
		result = db_commit(db, error);
	db_rollback(db); /* does nothing after a commit */
	return result == RESULT_NONE ? RESULT_OK : error_context(result, error, "delete old rows");
}
