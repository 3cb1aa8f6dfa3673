/*
 * ledger_sql - the statements of the ledger, each one statement or a few of the same kind.
 */
#ifndef DEMO_STOCK_LEDGER_SQL_H
#define DEMO_STOCK_LEDGER_SQL_H

#include <stddef.h>

#include "common/base/result.h"
#include "demo/stock/ledger.h"

struct db;
struct db_rows;

/* As they stand in the column kind, in the order of enum ledger_kind. */
extern const char *const ledger_sql_kind_names[];

/* idempotency_key, sku_id, order_no, quantity, kind of the keys that are there; NONE: none is. */
MUST_USE enum result ledger_sql_find_keys(struct db *db, const char *const *keys, size_t count,
	struct db_rows **rows_out, struct error *error);
/* sku_id and quantity of those that are there, locked; NONE: none is. */
MUST_USE enum result ledger_sql_lock_skus(struct db *db, const char *const *skus, size_t count,
	struct db_rows **rows_out, struct error *error);
MUST_USE enum result ledger_sql_insert(struct db *db, enum ledger_kind kind,
	const struct ledger_move *const *moves, size_t count, struct error *error);
/* Adds to the stock what the ledger rows with these keys say, or takes it. */
MUST_USE enum result ledger_sql_move_stock(struct db *db, enum ledger_kind kind,
	const char *const *keys, size_t count, struct error *error);

#endif
