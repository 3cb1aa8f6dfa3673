#include "common/order/outbox_order.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/io/db.h"
#include "common/io/db_list.h"

enum {
	HOLD_MS = 100
};

/* Nothing can stand in front of the first row of an order. */
static bool is_first(const struct outbox_row *row)
{
	return text_equals(row->event_type, "ORDER_CREATED");
}

/* Orders of the batch's events; each at most as often as it has events there. */
static size_t list_orders(const struct outbox_batch *batch, struct db_param *params)
{
	size_t count = 0;

	for (size_t i = 0; i < batch->count; i++)
		if (!is_first(&batch->rows[i]))
			params[count++] = db_text(batch->rows[i].order_no);
	return count;
}

/* The oldest open event of each order. */
static enum result find_oldest(struct db *db, const struct outbox_batch *batch,
	bool is_created_told, struct db_rows **rows_out, struct error *error)
{
	static const char head[] =
		"SELECT order_no, MIN(id) FROM t_outbox_event FORCE INDEX (idx_order_no) "
		"WHERE order_no IN ";
	/* A timeout that sleeps until its horizon never failed, is not leased and is not due. */
	static const char tail[] =
		" AND status = 'NEW' AND " OUTBOX_IS_SOUND
		" AND (event_type <> 'ORDER_CREATED' OR (? AND (attempts > 0 OR "
		"lease_until > UTC_TIMESTAMP(3) OR available_at <= UTC_TIMESTAMP(3)))) "
		"GROUP BY order_no";
	struct db_param *params =
		memory_allocate_array(db_list_size(batch->count) + 1, sizeof(*params));
	size_t count = list_orders(batch, params);
	size_t size = db_list_size(count);
	enum result result = RESULT_NONE;

	for (size_t i = count; i < size && count > 0; i++)
		params[i] = params[count - 1];
	params[size] = db_uint(is_created_told ? 1 : 0);
	if (count > 0)
		result = db_query(
			db, db_list_sql(db, head, tail, size), params, size + 1, rows_out, error);
	free(params);
	return result;
}

struct oldest {
	const char *order_no; /* borrowed from rows */
	uint64_t id;
};

static int compare_orders(const void *left, const void *right)
{
	const struct oldest *one = left;
	const struct oldest *other = right;

	return strcmp(one->order_no, other->order_no);
}

/* By order number. */
static struct oldest *list_oldest(struct db_rows *rows)
{
	struct oldest *list = memory_allocate_array(db_rows_count(rows), sizeof(*list));
	size_t count = 0;

	while (db_rows_next(rows)) {
		list[count].order_no = db_rows_text(rows, 0, NULL);
		list[count++].id = db_rows_uint(rows, 1);
	}
	qsort(list, count, sizeof(*list), compare_orders);
	return list;
}

/* Moves the rows that go on to the front and frees the others; their ids go into ids. */
static size_t divide(
	struct outbox_batch *batch, const struct oldest *list, size_t list_count, uint64_t *ids)
{
	size_t kept = 0;
	size_t held = 0;

	for (size_t i = 0; i < batch->count; i++) {
		struct outbox_row *row = &batch->rows[i];
		const struct oldest wanted = { .order_no = row->order_no };
		const struct oldest *oldest =
			bsearch(&wanted, list, list_count, sizeof(*list), compare_orders);

		if (!is_first(row) && oldest != NULL && oldest->id < row->id) {
			ids[held++] = row->id;
			free(row->payload);
			continue;
		}
		if (kept != i)
			batch->rows[kept] = *row;
		kept++;
	}
	batch->count = kept;
	return held;
}

enum result outbox_order_hold_back(struct db *db, struct outbox_batch *batch, bool is_created_told,
	size_t *held_out, struct error *error)
{
	struct db_rows *rows = NULL;
	enum result result = find_oldest(db, batch, is_created_told, &rows, error);

	*held_out = 0;
	if (result != RESULT_OK)
		return result == RESULT_NONE ? RESULT_OK
					     : error_context(result, error, "find older events");
	uint64_t *ids = memory_allocate_array(batch->count, sizeof(*ids));
	struct oldest *list = list_oldest(rows);
	const struct outbox_ids held = { batch->lease_token, ids,
		divide(batch, list, db_rows_count(rows), ids) };
	if (held.count > 0)
		result = outbox_put_off(db, &held, HOLD_MS, NULL, error);
	*held_out = held.count;
	free(list);
	free(ids);
	db_rows_destroy(&rows);
	return result;
}
