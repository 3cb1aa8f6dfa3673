#include "common/order/order.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/io/db.h"
#include "common/io/db_list.h"

/* Both structs start with their order_no, so that one lookup serves both. */
struct place {
	const char *order_no;
	size_t index;
};

struct lookup {
	struct place *places; /* sorted by order_no */
	struct db_param *params;
	size_t count;
	size_t list_size;
};

static int compare_places(const void *left, const void *right)
{
	const struct place *a = left;
	const struct place *b = right;

	return strcmp(a->order_no, b->order_no);
}

static void open_lookup(struct lookup *lookup, const void *orders, size_t item_size, size_t count)
{
	REQUIRE(count > 0 && count <= ORDER_LIST_MAX);
	lookup->count = count;
	lookup->list_size = db_list_size(count);
	lookup->places = memory_allocate_array(count, sizeof(*lookup->places));
	lookup->params = memory_allocate_array(lookup->list_size, sizeof(*lookup->params));
	for (size_t i = 0; i < count; i++)
		lookup->places[i] = (struct place){ (const char *)orders + i * item_size, i };
	for (size_t i = 0; i < lookup->list_size; i++)
		lookup->params[i] = db_text(lookup->places[i < count ? i : count - 1].order_no);
	qsort(lookup->places, count, sizeof(*lookup->places), compare_places);
}

static void close_lookup(struct lookup *lookup)
{
	free(lookup->places);
	free(lookup->params);
}

/* The first place with this number; equal ones stand behind it.  count when there is none. */
static size_t find_first(const struct lookup *lookup, const char *order_no)
{
	size_t low = 0;
	size_t high = lookup->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(lookup->places[middle].order_no, order_no) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* How a row becomes an order of one of the two kinds. */
struct reading {
	const char *head;
	size_t item_size;
	void (*take)(const struct db_rows *rows, void *order);
};

/* orders are count items of item_size that start with their order_no. */
static enum result read_orders(struct db *db, const struct reading *reading, void *orders,
	size_t count, struct error *error)
{
	struct lookup lookup = { .places = NULL };
	struct db_rows *rows = NULL;

	open_lookup(&lookup, orders, reading->item_size, count);
	enum result result = db_query(db, db_list_sql(db, reading->head, "", lookup.list_size),
		lookup.params, lookup.list_size, &rows, error);
	while (db_rows_next(rows)) {
		const char *order_no = db_rows_text(rows, 0, NULL);

		for (size_t i = find_first(&lookup, order_no);
			i < count && text_equals(lookup.places[i].order_no, order_no); i++)
			reading->take(
				rows, (char *)orders + lookup.places[i].index * reading->item_size);
	}
	db_rows_destroy(&rows);
	close_lookup(&lookup);
	return result == RESULT_NONE ? RESULT_OK : error_context(result, error, "read orders");
}

static void take_deadline(const struct db_rows *rows, void *item)
{
	struct order_deadline *order = item;

	order->state = text_equals(db_rows_text(rows, 1, NULL), "UNPAID") ? ORDER_STATE_UNPAID
									  : ORDER_STATE_FINAL;
	order->has_deadline = !db_rows_is_null(rows, 2);
	order->remaining_ms = db_rows_int(rows, 2);
	order->due_ms = db_rows_int(rows, 3);
}

enum result order_read_deadlines(
	struct db *db, struct order_deadline *orders, size_t count, struct error *error)
{
	static const struct reading reading = {
		.head = "SELECT order_no, status, "
			"CEILING("
			"TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(3), expire_time) / 1000), "
			"TIMESTAMPDIFF(MICROSECOND, '1970-01-01', expire_time) DIV 1000 "
			"FROM t_order FORCE INDEX (uk_order_no) WHERE order_no IN ",
		.item_size = sizeof(*orders),
		.take = take_deadline,
	};

	for (size_t i = 0; i < count; i++)
		orders[i].state = ORDER_STATE_ABSENT;
	return read_orders(db, &reading, orders, count, error);
}

static void copy_column(const struct db_rows *rows, size_t column, char *target, size_t target_size)
{
	(void)text_copy(target, target_size, db_rows_text(rows, column, NULL));
}

static void take_detail(const struct db_rows *rows, void *item)
{
	struct order_detail *order = item;

	order->is_present = true;
	order->amount_cents = db_rows_int(rows, 1);
	copy_column(rows, 2, order->currency, sizeof(order->currency));
	copy_column(rows, 3, order->status, sizeof(order->status));
	copy_column(rows, 4, order->close_reason, sizeof(order->close_reason));
	copy_column(rows, 5, order->close_source, sizeof(order->close_source));
	copy_column(rows, 6, order->expire_time, sizeof(order->expire_time));
	copy_column(rows, 7, order->pay_time, sizeof(order->pay_time));
	copy_column(rows, 8, order->close_time, sizeof(order->close_time));
}

enum result order_read_details(
	struct db *db, struct order_detail *orders, size_t count, struct error *error)
{
	static const struct reading reading = {
		.head = "SELECT order_no, amount_cents, currency, status, close_reason, "
			"close_source, CONCAT(REPLACE(CAST(expire_time AS CHAR), ' ', 'T'), 'Z'), "
			"CONCAT(REPLACE(CAST(pay_time AS CHAR), ' ', 'T'), 'Z'), "
			"CONCAT(REPLACE(CAST(close_time AS CHAR), ' ', 'T'), 'Z') "
			"FROM t_order FORCE INDEX (uk_order_no) WHERE order_no IN ",
		.item_size = sizeof(*orders),
		.take = take_detail,
	};

	for (size_t i = 0; i < count; i++)
		orders[i].is_present = false;
	return read_orders(db, &reading, orders, count, error);
}
