/*
 * close_due - the sweep's way into close: due orders found by the table itself, oldest first.
 */
#ifndef COMMON_ORDER_CLOSE_DUE_H
#define COMMON_ORDER_CLOSE_DUE_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/result.h"
#include "common/order/close.h"

/* How far a pass over the due orders has come; all zero bytes: at the oldest. */
struct close_cursor {
	char expire_time[32];
	uint64_t id;
};

/* Which due orders a sweep takes. */
struct close_due_request {
	size_t limit;
	uint64_t overdue_ms; /* past the deadline by at least so much: messages go first */
	struct close_cursor *cursor;
};

/*
 * What close_orders does, for the oldest due orders behind the cursor that nobody has locked: at
 * most limit of them.  orders has room for limit; count_out says how many were looked at, each with
 * its outcome, and the cursor stands behind the last of them.  NONE: nothing is due there.  report
 * is never NULL.
 */
MUST_USE enum result close_due_orders(struct db *db, const struct close_due_request *due,
	struct close_order *orders, size_t *count_out, struct close_report *report,
	struct error *error);

#endif
