/*
 * ledger - stock and its movements: each idempotency key moves stock once.
 *
 * Two tables of its own, made when they are missing: t_stock (what there is) and t_stock_ledger
 * (every movement by its key).  A movement and its ledger row commit together.
 */
#ifndef DEMO_STOCK_LEDGER_H
#define DEMO_STOCK_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/result.h"
#include "common/base/text.h"

struct db;
struct json;

enum {
	LEDGER_MOVE_MAX = 5000, /* in one transaction */
	LEDGER_LIST_MAX = 1000, /* rows of a list */
};

enum ledger_kind {
	LEDGER_KIND_RESTORE,
	LEDGER_KIND_RESERVE,
};

enum ledger_outcome {
	LEDGER_OUTCOME_OPEN, /* not decided yet */
	LEDGER_OUTCOME_APPLIED,
	LEDGER_OUTCOME_REPEATED,    /* the same key with the same content was applied before */
	LEDGER_OUTCOME_SHORT,       /* there is not enough to reserve; nothing is remembered */
	LEDGER_OUTCOME_UNKNOWN_SKU, /* nothing is remembered */
	LEDGER_OUTCOME_REUSED,      /* the key stands for another movement */
};

struct ledger_move {
	char key[TEXT_IDEMPOTENCY_KEY_SIZE];
	char order_no[TEXT_KEY_SIZE];
	char sku_id[TEXT_KEY_SIZE];
	uint32_t quantity;
	enum ledger_outcome outcome;
};

MUST_USE enum result ledger_create_tables(struct db *db, struct error *error);

/*
 * One transaction for all of them, run again a few times when a race is lost; count is 1 to
 * LEDGER_MOVE_MAX.  OK: every outcome is set, nothing else is left OPEN.  Otherwise nothing
 * happened, or, when the connection broke, nobody knows: the same keys may be sent again.
 */
MUST_USE enum result ledger_apply(struct db *db, enum ledger_kind kind, struct ledger_move *moves,
	size_t count, struct error *error);

MUST_USE enum result ledger_set_stock(
	struct db *db, const char *sku_id, uint32_t quantity, struct error *error);
/* NONE: no such SKU. */
MUST_USE enum result ledger_find_stock(
	struct db *db, const char *sku_id, int64_t *quantity_out, struct error *error);
/* An array in list_out, owned by the caller: SKUs behind after ("": from the start). */
MUST_USE enum result ledger_list_stock(
	struct db *db, const char *after, struct json **list_out, struct error *error);
/* The movements of one order, the oldest first. */
MUST_USE enum result ledger_list_moves(
	struct db *db, const char *order_no, struct json **list_out, struct error *error);

#endif
