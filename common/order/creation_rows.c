#include "common/order/creation_rows.h"

#include <stdlib.h>

#include "common/base/memory.h"
#include "common/io/db.h"
#include "common/io/db_insert.h"

enum {
	ORDER_COLUMNS = 7,
	ITEM_COLUMNS = 3,
	EVENT_COLUMNS = 2,
};

enum result creation_rows_insert_orders(
	struct db *db, const struct creation *const *creations, size_t count, struct error *error)
{
	struct db_param params[CREATION_ROWS_MAX * ORDER_COLUMNS];
	struct db_param *param = params;
	const struct db_insertion insertion = {
		.head = "INSERT INTO t_order (order_no, user_id, amount_cents, currency, "
			"trace_parent, expire_time, rule_id) VALUES ",
		.row = "(?,?,?,?,?,UTC_TIMESTAMP(3) + INTERVAL ? MICROSECOND,?)",
		.columns = ORDER_COLUMNS,
		.count = count,
		.params = params,
	};

	REQUIRE(count <= CREATION_ROWS_MAX);
	for (size_t i = 0; i < count; i++) {
		const struct creation *creation = creations[i];

		*param++ = db_text(creation->order_no);
		*param++ = db_uint(creation->user_id);
		*param++ = db_int(creation->amount_cents);
		*param++ = db_text(creation->currency);
		*param++ = db_optional_text(creation->trace_parent);
		/* NULL makes the sum, and so the deadline, NULL: never. */
		*param++ = creation->has_timeout ? db_uint(creation->timeout_ms * 1000) : db_null();
		*param++ = creation->rule_id == 0 ? db_null() : db_uint(creation->rule_id);
	}
	return db_insert(db, &insertion, error);
}

static size_t count_items(const struct creation *const *creations, size_t count)
{
	size_t items = 0;

	for (size_t i = 0; i < count; i++)
		items += creations[i]->item_count;
	return items;
}

enum result creation_rows_insert_items(struct db *db, const struct creation *const *creations,
	const uint64_t *ids, size_t count, struct error *error)
{
	size_t items = count_items(creations, count);

	if (items == 0)
		return RESULT_OK;
	struct db_param *params = memory_allocate_array(items * ITEM_COLUMNS, sizeof(*params));
	struct db_param *param = params;
	const struct db_insertion insertion = {
		.head = "INSERT INTO t_order_item (order_id, sku_id, quantity) VALUES ",
		.row = "(?,?,?)",
		.columns = ITEM_COLUMNS,
		.count = items,
		.params = params,
	};

	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < creations[i]->item_count; j++) {
			*param++ = db_uint(ids[i]);
			*param++ = db_text(creations[i]->items[j].sku_id);
			*param++ = db_uint(creations[i]->items[j].quantity);
		}
	}
	enum result result = db_insert(db, &insertion, error);
	free(params);
	return result;
}

enum result creation_rows_insert_events(
	struct db *db, const struct creation *const *creations, size_t count, struct error *error)
{
	struct db_param params[CREATION_ROWS_MAX * EVENT_COLUMNS];
	struct db_param *param = params;
	const struct db_insertion insertion = {
		.head = "INSERT INTO t_outbox_event (event_type, order_no, trace_parent) VALUES ",
		.row = "('ORDER_CREATED',?,?)",
		.columns = EVENT_COLUMNS,
		.count = count,
		.params = params,
	};

	REQUIRE(count <= CREATION_ROWS_MAX);
	for (size_t i = 0; i < count; i++) {
		*param++ = db_text(creations[i]->order_no);
		*param++ = db_optional_text(creations[i]->trace_parent);
	}
	return db_insert(db, &insertion, error);
}
