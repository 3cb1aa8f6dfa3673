/*
 * payment_set - notices that came together and have nothing special about them, in four statements
 * for all of them instead of four for each.
 */
#ifndef COMMON_ORDER_PAYMENT_SET_H
#define COMMON_ORDER_PAYMENT_SET_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/result.h"
#include "common/order/payment.h"
#include "common/order/payment_rows.h"

enum {
	PAYMENT_SET_MAX = PAYMENT_ROWS_MAX
};

struct payment_entry {
	const struct payment_notice *notice;
	bool is_applied; /* the outcome is APPLIED */
};

/*
 * One transaction that applies those of count entries (at most PAYMENT_SET_MAX) whose order nobody
 * holds, is unpaid and in time and wants just this money; of several for one order the first.  The
 * others it leaves as they are, is_applied false: they are for payment_apply.
 *
 * Anything but OK: no entry is applied, and each may be given to payment_apply.
 */
MUST_USE enum result payment_set_apply(
	struct db *db, struct payment_entry *entries, size_t count, struct error *error);

#endif
