#include "common/order/creation.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/failpoint.h"
#include "common/base/memory.h"
#include "common/base/random.h"
#include "common/io/db.h"
#include "common/order/creation_rows.h"

enum {
	TRY_MAX = 6,
	PAUSE_MAX_MS = 20,
	ERROR_LOCK_WAIT = 1205,
};

static enum result create_once(
	struct db *db, const struct creation *creation, bool *is_taken_out, struct error *error)
{
	enum result result = db_begin(db, error);

	if (result == RESULT_OK)
		result = creation_rows_insert_orders(db, &creation, 1, error);
	if (result == RESULT_PERMANENT && db_last_errno(db) == CREATION_ROWS_DUPLICATE) {
		*is_taken_out = true;
		return RESULT_OK;
	}
	uint64_t id = db_last_insert_id(db);
	if (result == RESULT_OK)
		result = creation_rows_insert_items(db, &creation, &id, 1, error);
	if (result == RESULT_OK)
		result = creation_rows_insert_events(db, &creation, 1, error);
	if (result == RESULT_OK)
		FAILPOINT("before_commit");
	result = result == RESULT_OK ? db_commit(db, error) : result;
	if (result == RESULT_OK)
		FAILPOINT("after_commit");
	return result;
}

static int compare_items(const void *left, const void *right)
{
	const struct creation_item *a = left;
	const struct creation_item *b = right;
	int order = strcmp(a->sku_id, b->sku_id);

	return order != 0 ? order : (a->quantity > b->quantity) - (a->quantity < b->quantity);
}

static void sort_items(struct creation_item *items, size_t count)
{
	qsort(items, count, sizeof(*items), compare_items);
}

static bool are_same_items(const struct creation *creation, struct db_rows *rows)
{
	size_t count = creation->item_count;
	struct creation_item *wanted = NULL;
	struct creation_item *stored = NULL;
	bool is_same = count == db_rows_count(rows);
	size_t i = 0;

	if (!is_same || count == 0)
		return is_same;
	wanted = memory_allocate_array(count, sizeof(*wanted));
	stored = memory_allocate_array(count, sizeof(*stored));
	memcpy(wanted, creation->items, count * sizeof(*wanted));
	for (; db_rows_next(rows); i++) {
		(void)text_copy(
			stored[i].sku_id, sizeof(stored[i].sku_id), db_rows_text(rows, 0, NULL));
		stored[i].quantity = (uint32_t)db_rows_uint(rows, 1);
	}
	sort_items(wanted, count);
	sort_items(stored, count);
	for (i = 0; i < count && is_same; i++)
		is_same = compare_items(&wanted[i], &stored[i]) == 0;
	free(wanted);
	free(stored);
	return is_same;
}

static enum result compare_stored(struct db *db, const struct creation *creation,
	enum creation_outcome *outcome_out, struct error *error)
{
	static const char order_sql[] = "SELECT id, user_id, amount_cents, currency FROM t_order "
					"WHERE order_no = ?";
	static const char items_sql[] =
		"SELECT sku_id, quantity FROM t_order_item WHERE order_id = ? LIMIT ?";
	const struct db_param order_no = db_text(creation->order_no);
	struct db_rows *order = NULL;
	struct db_rows *items = NULL;
	enum result result = db_query(db, order_sql, &order_no, 1, &order, error);

	*outcome_out = CREATION_OUTCOME_DIFFERENT;
	if (result != RESULT_OK || !db_rows_next(order))
		goto done;
	if (db_rows_uint(order, 1) != creation->user_id ||
		db_rows_int(order, 2) != creation->amount_cents ||
		!text_equals(db_rows_text(order, 3, NULL), creation->currency))
		goto done;
	const struct db_param params[] = { db_uint(db_rows_uint(order, 0)),
		db_uint(CREATION_ITEM_MAX + 1) };
	result = db_query(db, items_sql, params, ARRAY_LENGTH(params), &items, error);
	if (result == RESULT_NONE)
		result = RESULT_OK;
	if (result == RESULT_OK && are_same_items(creation, items))
		*outcome_out = CREATION_OUTCOME_SAME;
done:
	db_rows_destroy(&order);
	db_rows_destroy(&items);
	/* It was there a moment ago and is not: somebody removed it; try again. */
	return result == RESULT_NONE ? RESULT_CONFLICT : result;
}

enum result creation_run(struct db *db, const struct creation *creation,
	enum creation_outcome *outcome_out, struct error *error)
{
	enum result result = RESULT_CONFLICT;

	REQUIRE(creation->item_count <= CREATION_ITEM_MAX);
	for (int i = 0; i < TRY_MAX && result == RESULT_CONFLICT; i++) {
		bool is_taken = false;

		if (i > 0)
			clock_wait_ms(random_up_to(PAUSE_MAX_MS));
		*outcome_out = CREATION_OUTCOME_CREATED;
		result = create_once(db, creation, &is_taken, error);
		db_rollback(db); /* does nothing after a commit */
		/* It has lasted as long as the limit allows already. */
		if (result == RESULT_CONFLICT && db_last_errno(db) == ERROR_LOCK_WAIT)
			break;
		if (result == RESULT_OK && is_taken)
			result = compare_stored(db, creation, outcome_out, error);
	}
	if (result == RESULT_CONFLICT)
		result = RESULT_TEMPORARY;
	return error_context(result, error, "create order");
}
