#include "common/order/outbox.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/io/db.h"
#include "common/order/alert.h"
#include "common/order/id_list.h"

enum {
	PLACE_USES_MAX = 16
}; /* claims from a place, until all rows are looked at again */

static void take_row(const struct db_rows *rows, struct outbox_row *row)
{
	row->id = db_rows_uint(rows, 0);
	(void)text_copy(row->event_id, sizeof(row->event_id), db_rows_text(rows, 1, NULL));
	(void)text_copy(row->event_type, sizeof(row->event_type), db_rows_text(rows, 2, NULL));
	(void)text_copy(row->order_no, sizeof(row->order_no), db_rows_text(rows, 3, NULL));
	(void)text_copy(row->trace_parent, sizeof(row->trace_parent), db_rows_text(rows, 4, NULL));
	row->attempts = (uint32_t)db_rows_uint(rows, 5);
	row->age_ms = db_rows_int(rows, 6);
	(void)text_copy(row->created_at, sizeof(row->created_at), db_rows_text(rows, 7, NULL));
	row->payload_size = db_rows_uint(rows, 8);
	row->created_s = db_rows_uint(rows, 9);
	(void)text_copy(row->available_at, sizeof(row->available_at), db_rows_text(rows, 10, NULL));
}

static bool has_payload(const struct outbox_row *row)
{
	return row->payload_size > 0 && row->payload_size <= OUTBOX_PAYLOAD_MAX;
}

/* As many of the rows as have room for their payloads, one at least. */
static struct outbox_batch *take_batch(struct db_rows *rows, uint32_t limit)
{
	struct outbox_batch *batch = memory_allocate(sizeof(*batch));
	uint64_t bytes = 0;

	ulid_generate(batch->lease_token);
	batch->rows = memory_allocate_array(db_rows_count(rows), sizeof(*batch->rows));
	while (db_rows_next(rows)) {
		struct outbox_row *row = &batch->rows[batch->count];

		take_row(rows, row);
		bytes += has_payload(row) ? row->payload_size : 0;
		if (batch->count > 0 && bytes > OUTBOX_CLAIM_BYTES)
			break;
		batch->count++;
	}
	batch->has_more = batch->count < db_rows_count(rows) || batch->count == limit;
	return batch;
}

/* Columns 0 to 10 of both ways to choose. */
#define CHOICE                                                                        \
	"SELECT id, event_id, event_type, order_no, trace_parent, attempts, "         \
	"TIMESTAMPDIFF(MICROSECOND, created_at, UTC_TIMESTAMP(3)) DIV 1000, "         \
	"CONCAT(REPLACE(CAST(created_at AS CHAR), ' ', 'T'), 'Z'), LENGTH(payload), " \
	"GREATEST(TIMESTAMPDIFF(SECOND, '1970-01-01', created_at), 0), "              \
	"CAST(available_at AS CHAR) "                                                 \
	"FROM t_outbox_event FORCE INDEX (idx_status_available) "                     \
	"WHERE status = 'NEW' AND available_at <= UTC_TIMESTAMP(3) "                  \
	"AND (lease_until IS NULL OR lease_until <= UTC_TIMESTAMP(3)) "               \
	"AND " OUTBOX_IS_SOUND " "
#define FIRST_IN_LINE "ORDER BY available_at, id LIMIT ? FOR UPDATE SKIP LOCKED"

/*
 * A lease is a condition on the row and no change of available_at, so that claiming touches no
 * index.  The few rows that are leased at a time are passed over.
 */
static enum result choose(struct db *db, uint32_t limit, const struct outbox_place *place,
	struct db_rows **rows_out, struct error *error)
{
	static const char from_start[] = CHOICE FIRST_IN_LINE;
	static const char from_place[] =
		CHOICE "AND (available_at > ? OR (available_at = ? AND id > ?)) " FIRST_IN_LINE;
	const struct db_param first[] = { db_uint(limit) };
	const struct db_param next[] = { db_text(place->available_at), db_text(place->available_at),
		db_uint(place->id), first[0] };

	if (place->uses == 0)
		return db_query(db, from_start, first, ARRAY_LENGTH(first), rows_out, error);
	return db_query(db, from_place, next, ARRAY_LENGTH(next), rows_out, error);
}

/* Behind the last row of a batch that left more; otherwise the next claim looks at all rows. */
static void move_place(struct outbox_place *place, const struct outbox_batch *batch)
{
	if (batch == NULL || !batch->has_more || place->uses == PLACE_USES_MAX) {
		place->uses = 0;
		return;
	}
	const struct outbox_row *last = &batch->rows[batch->count - 1];
	place->uses++;
	place->id = last->id;
	(void)text_copy(place->available_at, sizeof(place->available_at), last->available_at);
}

/* Guarded by the token of the rows. */
#define IF_STILL_OURS " AND status = 'NEW' AND lease_token = ?"

static enum result lease(
	struct db *db, const struct outbox_batch *batch, uint64_t lease_ms, struct error *error)
{
	const struct db_param before[] = { db_text(batch->lease_token), db_uint(lease_ms * 1000) };
	uint64_t *ids = memory_allocate_array(batch->count, sizeof(*ids));
	const struct id_statement update = {
		.head = "UPDATE t_outbox_event FORCE INDEX (PRIMARY) SET lease_token = ?, "
			"lease_until = UTC_TIMESTAMP(3) + INTERVAL ? MICROSECOND WHERE ",
		.column = "id",
		.tail = "",
		.before = before,
		.before_count = ARRAY_LENGTH(before),
		.ids = ids,
		.count = batch->count,
	};

	for (size_t i = 0; i < batch->count; i++)
		ids[i] = batch->rows[i].id;
	enum result result = id_list_execute(db, &update, NULL, error);
	free(ids);
	return result;
}

static void set_payloads(struct outbox_batch *batch, struct db_rows *rows)
{
	while (db_rows_next(rows))
		for (size_t i = 0; i < batch->count; i++)
			if (batch->rows[i].id == db_rows_uint(rows, 0))
				batch->rows[i].payload =
					memory_copy_text(db_rows_text(rows, 1, NULL));
}

/* Most rows have none, and the statement that locks should not carry them. */
static enum result read_payloads(struct db *db, struct outbox_batch *batch, struct error *error)
{
	uint64_t *ids = memory_allocate_array(batch->count, sizeof(*ids));
	struct id_statement statement = {
		.head = "SELECT id, payload FROM t_outbox_event FORCE INDEX (PRIMARY) WHERE ",
		.column = "id",
		.tail = "",
		.ids = ids,
	};
	struct db_rows *rows = NULL;
	enum result result = RESULT_OK;

	for (size_t i = 0; i < batch->count; i++)
		if (has_payload(&batch->rows[i]))
			ids[statement.count++] = batch->rows[i].id;
	if (statement.count > 0)
		result = id_list_query(db, &statement, &rows, error);
	set_payloads(batch, rows);
	db_rows_destroy(&rows);
	free(ids);
	return result == RESULT_NONE ? RESULT_OK : result;
}

enum result outbox_claim(struct db *db, uint32_t limit, uint64_t lease_ms,
	struct outbox_place *place, struct outbox_batch **batch_out, struct error *error)
{
	struct outbox_place nowhere = { .uses = 0 };
	struct db_rows *rows = NULL;
	struct outbox_batch *batch = NULL;

	REQUIRE(limit > 0 && limit <= OUTBOX_CLAIM_MAX);
	*batch_out = NULL;
	place = place == NULL ? &nowhere : place;
	enum result result = db_begin(db, error);
	if (result == RESULT_OK)
		result = choose(db, limit, place, &rows, error);
	if (result != RESULT_OK)
		goto done;
	batch = take_batch(rows, limit);
	result = lease(db, batch, lease_ms, error);
	if (result == RESULT_OK)
		result = read_payloads(db, batch, error);
	if (result == RESULT_OK)
		result = db_commit(db, error);
	if (result == RESULT_OK) {
		*batch_out = batch;
		batch = NULL;
	}
done:
	move_place(place, *batch_out);
	db_rollback(db); /* does nothing after a commit */
	outbox_batch_destroy(&batch);
	db_rows_destroy(&rows);
	return error_context(result, error, "claim outbox rows");
}

void outbox_batch_destroy(struct outbox_batch **batch)
{
	if (*batch == NULL)
		return;
	for (size_t i = 0; i < (*batch)->count; i++)
		free((*batch)->rows[i].payload);
	free((*batch)->rows);
	free(*batch);
	*batch = NULL;
}

enum result outbox_find_free(struct db *db, const struct outbox_ids *rows, uint64_t *ids,
	size_t *count_out, struct error *error)
{
	const struct db_param token = db_text(rows->lease_token);
	const struct id_statement statement = {
		.head = "SELECT id FROM t_outbox_event FORCE INDEX (PRIMARY) WHERE ",
		.column = "id",
		.tail = IF_STILL_OURS " FOR UPDATE SKIP LOCKED",
		.ids = rows->ids,
		.count = rows->count,
		.after = &token,
		.after_count = 1,
	};
	struct db_rows *found = NULL;
	enum result result = id_list_query(db, &statement, &found, error);

	*count_out = 0;
	while (db_rows_next(found))
		ids[(*count_out)++] = db_rows_uint(found, 0);
	db_rows_destroy(&found);
	return result == RESULT_NONE ? RESULT_OK
				     : error_context(result, error, "find free outbox rows");
}

/* head with the values of before, for those of the rows that are still ours. */
static enum result update_ours(struct db *db, const struct outbox_ids *rows,
	const struct id_statement *what, uint64_t *changed_out, struct error *error)
{
	const struct db_param token = db_text(rows->lease_token);
	struct id_statement update = *what;

	update.column = "id";
	update.tail = IF_STILL_OURS;
	update.ids = rows->ids;
	update.count = rows->count;
	update.after = &token;
	update.after_count = 1;
	return id_list_execute(db, &update, changed_out, error);
}

enum result outbox_mark_sent(
	struct db *db, const struct outbox_ids *rows, size_t *lost_out, struct error *error)
{
	const struct id_statement what = {
		.head = "UPDATE t_outbox_event FORCE INDEX (PRIMARY) SET status = 'SENT', "
			"sent_at = UTC_TIMESTAMP(3), lease_token = NULL, lease_until = NULL "
			"WHERE ",
	};
	uint64_t changed = 0;
	enum result result = update_ours(db, rows, &what, &changed, error);

	*lost_out = result == RESULT_OK ? rows->count - changed : 0;
	return error_context(result, error, "mark outbox rows sent");
}

enum result outbox_put_off(struct db *db, const struct outbox_ids *rows, uint64_t delay_ms,
	const char *reason, struct error *error)
{
	char clean[OUTBOX_ERROR_SIZE];
	size_t clean_size =
		reason == NULL ? 0 : text_clip(clean, sizeof(clean), reason, strlen(reason));
	const struct db_param before[] = { db_uint(reason == NULL ? 0 : 1),
		db_uint(delay_ms * 1000),
		reason == NULL ? db_null() : db_bytes(clean, clean_size) };
	const struct id_statement what = {
		.head = "UPDATE t_outbox_event FORCE INDEX (PRIMARY) SET lease_token = NULL, "
			"lease_until = NULL, attempts = LEAST(attempts, 4294967294) + ?, "
			"available_at = UTC_TIMESTAMP(3) + INTERVAL ? MICROSECOND, "
			"last_error = COALESCE(?, last_error) WHERE ",
		.before = before,
		.before_count = ARRAY_LENGTH(before),
	};

	return error_context(
		update_ours(db, rows, &what, NULL, error), error, "put outbox rows off");
}

enum result outbox_put_off_to_horizon(
	struct db *db, const struct outbox_ids *rows, uint64_t horizon_ms, struct error *error)
{
	const struct db_param before[] = { db_uint(horizon_ms * 1000) };
	const struct id_statement what = {
		.head = "UPDATE t_outbox_event FORCE INDEX (PRIMARY) SET lease_token = NULL, "
			"lease_until = NULL, attempts = 0, "
			"available_at = COALESCE((SELECT GREATEST(o.expire_time - "
			"INTERVAL ? MICROSECOND, UTC_TIMESTAMP(3)) FROM t_order o "
			"WHERE o.order_no = t_outbox_event.order_no), available_at) WHERE ",
		.before = before,
		.before_count = ARRAY_LENGTH(before),
	};

	return error_context(update_ours(db, rows, &what, NULL, error), error,
		"put outbox rows off to the horizon");
}

static enum result fail_row(struct db *db, const char *lease_token, const struct outbox_row *row,
	const char *reason, struct error *error)
{
	static const char sql[] =
		"UPDATE t_outbox_event SET status = 'FAILED', lease_token = NULL, "
		"lease_until = NULL, last_error = ? WHERE id = ?" IF_STILL_OURS;
	char clean[OUTBOX_ERROR_SIZE];
	char ref[24];
	size_t clean_size = text_clip(clean, sizeof(clean), reason, strlen(reason));
	const struct db_param params[] = { db_bytes(clean, clean_size), db_uint(row->id),
		db_text(lease_token) };
	const struct alert_notice notice = {
		.kind = ALERT_KIND_OUTBOX_FAILED,
		.severity = ALERT_SEVERITY_WARNING,
		.ref = ref,
		.order_no = row->order_no,
		.summary = "an outbox row can never be published",
		.description = reason,
	};
	uint64_t changed = 0;

	(void)text_format(ref, sizeof(ref), "%" PRIu64, row->id);
	enum result result = db_execute(db, sql, params, ARRAY_LENGTH(params), &changed, error);
	if (result == RESULT_OK && changed == 0)
		return error_set(RESULT_CONFLICT, error, "the lease was lost");
	if (result == RESULT_OK)
		result = alert_raise(db, &notice, error);
	return result;
}

enum result outbox_mark_failed(struct db *db, const char *lease_token, const struct outbox_row *row,
	const char *reason, struct error *error)
{
	enum result result = db_begin(db, error);

	if (result == RESULT_OK)
		result = fail_row(db, lease_token, row, reason, error);
	if (result == RESULT_OK)
		result = db_commit(db, error);
	db_rollback(db); /* does nothing after a commit */
	return error_context(result, error, "mark outbox row failed");
}

enum result outbox_make_new(struct db *db, uint64_t id, struct error *error)
{
	static const char sql[] =
		"UPDATE t_outbox_event FORCE INDEX (PRIMARY) SET status = 'NEW', sent_at = NULL, "
		"available_at = UTC_TIMESTAMP(3), lease_token = NULL, lease_until = NULL, "
		"last_error = NULL WHERE id = ? AND status IN ('SENT', 'FAILED')";
	const struct db_param param = db_uint(id);

	return error_context(db_execute(db, sql, &param, 1, NULL, error), error,
		"replay outbox row %" PRIu64, id);
}
