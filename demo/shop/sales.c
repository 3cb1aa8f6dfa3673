#include "demo/shop/sales.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/io/db.h"

enum {
	ROWS_MAX = 128, /* of one statement */
	COLUMNS_MAX = 5,
};

/* A statement for many rows: head, row, separator, row, ... */
struct rows_sql {
	const char *head;
	const char *row;
	const char *separator;
	size_t column_count; /* values of one row */
};

static const struct rows_sql order_sql = {
	.head = "INSERT INTO t_order(order_no, user_id, amount_cents, expire_time) VALUES ",
	.row = "(?, ?, ?, UTC_TIMESTAMP(3) + INTERVAL ? MICROSECOND)",
	.separator = ", ",
	.column_count = 4,
};

/* The id of the order is whatever its row has got. */
static const struct rows_sql item_sql = {
	.head = "INSERT INTO t_order_item(order_id, sku_id, quantity) ",
	.row = "SELECT id, ?, ? FROM t_order WHERE order_no = ?",
	.separator = " UNION ALL ",
	.column_count = 3,
};

static const struct rows_sql event_sql = {
	.head = "INSERT INTO t_outbox_event(event_type, order_no) VALUES ",
	.row = "('ORDER_CREATED', ?)",
	.separator = ", ",
	.column_count = 1,
};

static char *write_sql(const struct rows_sql *rows, size_t row_count)
{
	size_t size =
		strlen(rows->head) + row_count * (strlen(rows->row) + strlen(rows->separator)) + 1;
	char *sql = memory_allocate(size);
	size_t used = 0;

	(void)text_copy(sql, size, rows->head);
	for (size_t i = 0; i < row_count; i++) {
		used += strlen(sql + used);
		(void)text_format(
			sql + used, size - used, "%s%s", i == 0 ? "" : rows->separator, rows->row);
	}
	return sql;
}

/* In pieces of a power of two, so that any number is a few statements of a small set. */
static enum result insert_rows(struct db *db, const struct rows_sql *rows,
	const struct db_param *params, size_t row_count, struct error *error)
{
	enum result result = RESULT_OK;
	size_t piece = ROWS_MAX;

	while (result == RESULT_OK && row_count > 0) {
		while (piece > row_count)
			piece /= 2;
		char *sql = write_sql(rows, piece);
		result = db_execute(db, sql, params, piece * rows->column_count, NULL, error);
		free(sql);
		params += piece * rows->column_count;
		row_count -= piece;
	}
	return result;
}

static enum result insert_orders(struct db *db, const struct plan_order *orders, size_t count,
	struct db_param *params, struct error *error)
{
	struct db_param *param = params;

	for (size_t i = 0; i < count; i++) {
		*param++ = db_text(orders[i].order_no);
		*param++ = db_uint(orders[i].user_id);
		*param++ = db_int(orders[i].amount_cents);
		*param++ = db_uint(orders[i].timeout_ms * 1000);
	}
	return error_context(
		insert_rows(db, &order_sql, params, count, error), error, "insert orders");
}

static enum result insert_items(struct db *db, const struct plan_order *orders, size_t count,
	struct db_param *params, struct error *error)
{
	struct db_param *param = params;
	size_t item_count = 0;

	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < orders[i].item_count; j++) {
			*param++ = db_text(orders[i].items[j].sku_id);
			*param++ = db_uint(orders[i].items[j].quantity);
			*param++ = db_text(orders[i].order_no);
			item_count++;
		}
	}
	return error_context(
		insert_rows(db, &item_sql, params, item_count, error), error, "insert items");
}

static enum result insert_events(struct db *db, const struct plan_order *orders, size_t count,
	struct db_param *params, struct error *error)
{
	for (size_t i = 0; i < count; i++)
		params[i] = db_text(orders[i].order_no);
	return error_context(
		insert_rows(db, &event_sql, params, count, error), error, "insert events");
}

enum result sales_insert(
	struct db *db, const struct plan_order *orders, size_t count, struct error *error)
{
	struct db_param *params =
		memory_allocate_array(count * SHOP_ITEM_MAX * COLUMNS_MAX, sizeof(*params));
	enum result result = db_begin(db, error);

	if (result == RESULT_OK)
		result = insert_orders(db, orders, count, params, error);
	if (result == RESULT_OK)
		result = insert_items(db, orders, count, params, error);
	if (result == RESULT_OK)
		result = insert_events(db, orders, count, params, error);
	if (result == RESULT_OK)
		result = db_commit(db, error);
	db_rollback(db); /* does nothing after a commit */
	free(params);
	return result;
}

enum result sales_find(struct db *db, const char *order_no, struct error *error)
{
	const struct db_param params[] = { db_text(order_no) };
	struct db_rows *rows = NULL;
	enum result result = db_query(db, "SELECT 1 FROM t_order WHERE order_no = ?", params,
		ARRAY_LENGTH(params), &rows, error);

	db_rows_destroy(&rows);
	return result;
}

/* Nobody else pays these orders, so PAID means that we did, in a run whose end we did not see. */
static enum result find_out_why(struct db *db, struct sales_payment *payment, struct error *error)
{
	const struct db_param params[] = { db_text(payment->order_no) };
	struct db_rows *rows = NULL;
	enum result result =
		db_query(db, "SELECT 1 FROM t_order WHERE order_no = ? AND status = 'PAID'", params,
			ARRAY_LENGTH(params), &rows, error);

	payment->is_paid = result == RESULT_OK;
	db_rows_destroy(&rows);
	return result == RESULT_NONE ? RESULT_OK : result;
}

/* The deadline stands in the WHERE, and the row count is the answer: this is the whole guard. */
static enum result pay_order(struct db *db, struct sales_payment *payment, struct error *error)
{
	static const char sql[] =
		"UPDATE t_order SET status = 'PAID', pay_time = UTC_TIMESTAMP(3), "
		"version = version + 1 WHERE order_no = ? AND status = 'UNPAID' "
		"AND (expire_time IS NULL OR expire_time > UTC_TIMESTAMP(3))";
	static const char paid_event_sql[] =
		"INSERT INTO t_outbox_event(event_type, order_no) VALUES ('ORDER_PAID', ?)";
	const struct db_param params[] = { db_text(payment->order_no) };
	uint64_t changed = 0;
	enum result result = db_execute(db, sql, params, ARRAY_LENGTH(params), &changed, error);

	payment->is_paid = changed == 1;
	if (result == RESULT_OK && changed == 0)
		return find_out_why(db, payment, error);
	if (result == RESULT_OK)
		result = db_execute(db, paid_event_sql, params, ARRAY_LENGTH(params), NULL, error);
	return result;
}

enum result sales_pay(
	struct db *db, struct sales_payment *payments, size_t count, struct error *error)
{
	enum result result = db_begin(db, error);

	for (size_t i = 0; i < count && result == RESULT_OK; i++)
		result = pay_order(db, &payments[i], error);
	if (result == RESULT_OK)
		result = db_commit(db, error);
	db_rollback(db); /* does nothing after a commit */
	return error_context(result, error, "pay orders");
}
