/*
 * close_transaction - the SQL of one close transaction; used by close.c alone.
 *
 * It does not repeat, split or explain: it either closes every winner of the list with its event
 * and tasks, or leaves nothing behind.
 */
#ifndef COMMON_ORDER_CLOSE_TRANSACTION_H
#define COMMON_ORDER_CLOSE_TRANSACTION_H

#include "common/order/close.h"
#include "common/order/close_due.h"

/*
 * Winners of the given orders become CLOSED, with id and lag_ms; the others keep their outcome.
 * orders are sorted by order_no.  winner_count_out: how many.
 */
MUST_USE enum result close_transaction_run(struct db *db, const struct close_request *request,
	struct close_order *const *orders, size_t count, size_t *winner_count_out,
	struct error *error);

/* How a sweep finds its orders, from the oldest one and from a cursor on; for tests of the plan. */
extern const char close_transaction_due_sql[];
extern const char close_transaction_due_next_sql[];

/* The same for the oldest due orders behind the cursor; fills orders.  NONE: nothing is due.  On a
 * failure after the selection count_out and orders tell which orders were tried. */
MUST_USE enum result close_transaction_run_due(struct db *db, const struct close_request *request,
	const struct close_due_request *due, struct close_order *orders, size_t *count_out,
	struct error *error);

/*
 * No transaction: says why orders did not win, by their row as it is now.  Unpaid and due means
 * LOCKED: somebody holds the row, or the deadline has come in between.
 */
MUST_USE enum result close_transaction_explain(struct db *db, const struct close_request *request,
	struct close_order *const *orders, size_t count, struct error *error);

#endif
