/*
 * payment_rows - the rows that judged notices write, for one notice or many in one statement each.
 *
 * All in the open transaction of the caller, who holds the orders.
 */
#ifndef COMMON_ORDER_PAYMENT_ROWS_H
#define COMMON_ORDER_PAYMENT_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/result.h"
#include "common/order/payment.h"

enum {
	PAYMENT_ROWS_MAX = 64, /* in one call */
	PAYMENT_ROWS_TRACE_SIZE = 64 + 1,
	PAYMENT_ROWS_DUPLICATE = 1062, /* db_last_errno: the trade is known */
};

/* A notice and what it was found to be. */
struct payment_row {
	const struct payment_notice *notice;
	enum payment_outcome outcome;
	bool is_refunded;
	char trace_parent[PAYMENT_ROWS_TRACE_SIZE]; /* of the order; "": none */
};

/*
 * The one place where an order becomes PAID: those of ids (ascending, none twice) that are UNPAID
 * and in time.  The caller has compared amount and currency.
 */
MUST_USE enum result payment_rows_pay(struct db *db, const uint64_t *ids, size_t count,
	uint64_t *changed_out, struct error *error);
/* CONFLICT with PAYMENT_ROWS_DUPLICATE: a trade is known. */
MUST_USE enum result payment_rows_insert(
	struct db *db, const struct payment_row *rows, size_t count, struct error *error);
/* One event for each row whose outcome has one. */
MUST_USE enum result payment_rows_tell(
	struct db *db, const struct payment_row *rows, size_t count, struct error *error);
/* The task that sends the money back. */
MUST_USE enum result payment_rows_refund(
	struct db *db, const struct payment_notice *notice, struct error *error);

#endif
