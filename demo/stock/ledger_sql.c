#include "demo/stock/ledger_sql.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/io/db.h"
#include "common/io/db_list.h"
#include "common/io/json.h"

enum {
	INSERT_ROWS_MAX = 512,
	INSERT_COLUMNS = 5,
};

const char *const ledger_sql_kind_names[] = { "restore", "reserve" };

static_assert(ARRAY_LENGTH(ledger_sql_kind_names) == LEDGER_KIND_RESERVE + 1, "one per kind");

/* In ascii_bin, so that case, leading zeros and blanks never make two keys one. */
#define KEY_TYPE(size) "VARCHAR(" size ") CHARACTER SET ascii COLLATE ascii_bin NOT NULL"
#define KEY_64         KEY_TYPE("64")
#define KEY_192        KEY_TYPE("192")

static const char create_stock[] = "CREATE TABLE IF NOT EXISTS t_stock ("
				   "sku_id " KEY_64 " PRIMARY KEY, "
				   "quantity BIGINT NOT NULL) ENGINE=InnoDB";
static const char create_ledger[] = "CREATE TABLE IF NOT EXISTS t_stock_ledger ("
				    "idempotency_key " KEY_192 " PRIMARY KEY, "
				    "sku_id " KEY_64 ", "
				    "order_no " KEY_64 ", "
				    "quantity INT UNSIGNED NOT NULL, "
				    "kind ENUM('restore','reserve') NOT NULL, "
				    "at DATETIME(3) NOT NULL DEFAULT (UTC_TIMESTAMP(3)), "
				    "KEY idx_order (order_no)) ENGINE=InnoDB";

static const char insert_head[] = "INSERT INTO t_stock_ledger(idempotency_key, sku_id, order_no, "
				  "quantity, kind) VALUES (?,?,?,?,?)";
static const char insert_row[] = ",(?,?,?,?,?)";

enum result ledger_create_tables(struct db *db, struct error *error)
{
	enum result result = db_run(db, create_stock, error);

	if (result == RESULT_OK)
		result = db_run(db, create_ledger, error);
	return result;
}

/* Parameters for a list, filled up with the last value. */
static struct db_param *list_params(const char *const *values, size_t count, size_t size)
{
	struct db_param *params = memory_allocate_array(size, sizeof(*params));

	for (size_t i = 0; i < size; i++)
		params[i] = db_text(values[i < count ? i : count - 1]);
	return params;
}

/* sql has db_list_size(count) places. */
static enum result query_list(struct db *db, const char *sql, const char *const *values,
	size_t count, struct db_rows **rows_out, struct error *error)
{
	size_t size = db_list_size(count);
	struct db_param *params = list_params(values, count, size);

	enum result result = db_query(db, sql, params, size, rows_out, error);
	free(params);
	return result;
}

enum result ledger_sql_find_keys(struct db *db, const char *const *keys, size_t count,
	struct db_rows **rows_out, struct error *error)
{
	static const char head[] = "SELECT idempotency_key, sku_id, order_no, quantity, kind "
				   "FROM t_stock_ledger WHERE idempotency_key IN ";

	return query_list(
		db, db_list_sql(db, head, "", db_list_size(count)), keys, count, rows_out, error);
}

enum result ledger_sql_lock_skus(struct db *db, const char *const *skus, size_t count,
	struct db_rows **rows_out, struct error *error)
{
	static const char head[] = "SELECT sku_id, quantity FROM t_stock WHERE sku_id IN ";
	static const char tail[] = " ORDER BY sku_id FOR UPDATE";

	return query_list(
		db, db_list_sql(db, head, tail, db_list_size(count)), skus, count, rows_out, error);
}

static char *write_insert(size_t row_count)
{
	size_t row_size = strlen(insert_row);
	char *sql = memory_allocate(sizeof(insert_head) + (row_count - 1) * row_size);
	char *end = sql + strlen(insert_head);

	memcpy(sql, insert_head, sizeof(insert_head));
	for (size_t i = 1; i < row_count; i++, end += row_size)
		memcpy(end, insert_row, row_size);
	return sql;
}

static enum result insert_rows(struct db *db, enum ledger_kind kind,
	const struct ledger_move *const *moves, size_t count, struct error *error)
{
	struct db_param *params = memory_allocate_array(count * INSERT_COLUMNS, sizeof(*params));
	char *sql = write_insert(count);
	struct db_param *param = params;

	for (size_t i = 0; i < count; i++) {
		*param++ = db_text(moves[i]->key);
		*param++ = db_text(moves[i]->sku_id);
		*param++ = db_text(moves[i]->order_no);
		*param++ = db_uint(moves[i]->quantity);
		*param++ = db_text(ledger_sql_kind_names[kind]);
	}
	enum result result = db_execute(db, sql, params, count * INSERT_COLUMNS, NULL, error);
	free(sql);
	free(params);
	return result;
}

/* In pieces of a power of two, so that any number is a few statements of a small set. */
enum result ledger_sql_insert(struct db *db, enum ledger_kind kind,
	const struct ledger_move *const *moves, size_t count, struct error *error)
{
	enum result result = RESULT_OK;
	size_t piece = INSERT_ROWS_MAX;

	while (result == RESULT_OK && count > 0) {
		while (piece > count)
			piece /= 2;
		result = insert_rows(db, kind, moves, piece, error);
		moves += piece;
		count -= piece;
	}
	return result;
}

enum result ledger_sql_move_stock(struct db *db, enum ledger_kind kind, const char *const *keys,
	size_t count, struct error *error)
{
	static const char head[] = "UPDATE t_stock AS stock JOIN (SELECT sku_id, SUM(quantity) "
				   "AS quantity FROM t_stock_ledger WHERE idempotency_key IN ";
	static const char give[] = " GROUP BY sku_id) AS moved ON moved.sku_id = stock.sku_id "
				   "SET stock.quantity = stock.quantity + moved.quantity";
	static const char take[] = " GROUP BY sku_id) AS moved ON moved.sku_id = stock.sku_id "
				   "SET stock.quantity = stock.quantity - moved.quantity";
	size_t size = db_list_size(count);
	struct db_param *params = list_params(keys, count, size);
	const char *sql = db_list_sql(db, head, kind == LEDGER_KIND_RESTORE ? give : take, size);

	enum result result = db_execute(db, sql, params, size, NULL, error);
	free(params);
	return result;
}

enum result ledger_set_stock(
	struct db *db, const char *sku_id, uint32_t quantity, struct error *error)
{
	static const char sql[] = "INSERT INTO t_stock(sku_id, quantity) VALUES (?, ?) "
				  "ON DUPLICATE KEY UPDATE quantity = ?";
	const struct db_param params[] = { db_text(sku_id), db_uint(quantity), db_uint(quantity) };

	return db_execute(db, sql, params, ARRAY_LENGTH(params), NULL, error);
}

enum result ledger_find_stock(
	struct db *db, const char *sku_id, int64_t *quantity_out, struct error *error)
{
	const struct db_param params[] = { db_text(sku_id) };
	struct db_rows *rows = NULL;

	enum result result = db_query(db, "SELECT quantity FROM t_stock WHERE sku_id = ?", params,
		ARRAY_LENGTH(params), &rows, error);
	if (result == RESULT_OK && db_rows_next(rows))
		*quantity_out = db_rows_int(rows, 0);
	db_rows_destroy(&rows);
	return result;
}

enum result ledger_list_stock(
	struct db *db, const char *after, struct json **list_out, struct error *error)
{
	static const char sql[] = "SELECT sku_id, quantity FROM t_stock WHERE sku_id > ? "
				  "ORDER BY sku_id LIMIT 1000";
	const struct db_param params[] = { db_text(after) };
	struct db_rows *rows = NULL;

	enum result result = db_query(db, sql, params, ARRAY_LENGTH(params), &rows, error);
	*list_out = json_create_array();
	while (result == RESULT_OK && db_rows_next(rows)) {
		struct json *item = json_create_object();

		json_set_text(item, "sku_id", db_rows_text(rows, 0, NULL));
		json_set_int(item, "quantity", db_rows_int(rows, 1));
		json_append_adopt(*list_out, &item);
	}
	db_rows_destroy(&rows);
	return result == RESULT_NONE ? RESULT_OK : result;
}

enum result ledger_list_moves(
	struct db *db, const char *order_no, struct json **list_out, struct error *error)
{
	static const char sql[] =
		"SELECT idempotency_key, sku_id, order_no, quantity, kind, "
		"CONCAT(LEFT(DATE_FORMAT(at, '%Y-%m-%dT%H:%i:%s.%f'), 23), 'Z') "
		"FROM t_stock_ledger WHERE order_no = ? ORDER BY at, idempotency_key LIMIT 1000";
	const struct db_param params[] = { db_text(order_no) };
	struct db_rows *rows = NULL;

	enum result result = db_query(db, sql, params, ARRAY_LENGTH(params), &rows, error);
	*list_out = json_create_array();
	while (result == RESULT_OK && db_rows_next(rows)) {
		struct json *item = json_create_object();

		json_set_text(item, "idempotency_key", db_rows_text(rows, 0, NULL));
		json_set_text(item, "sku_id", db_rows_text(rows, 1, NULL));
		json_set_text(item, "order_no", db_rows_text(rows, 2, NULL));
		json_set_int(item, "quantity", db_rows_int(rows, 3));
		json_set_text(item, "kind", db_rows_text(rows, 4, NULL));
		json_set_text(item, "at", db_rows_text(rows, 5, NULL));
		json_append_adopt(*list_out, &item);
	}
	db_rows_destroy(&rows);
	return result == RESULT_NONE ? RESULT_OK : result;
}
