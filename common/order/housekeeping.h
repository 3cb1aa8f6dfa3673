/*
 * housekeeping - deletes what is over and old: DONE tasks, SENT outbox rows, consumed event ids,
 * RESOLVED alerts.
 */
#ifndef COMMON_ORDER_HOUSEKEEPING_H
#define COMMON_ORDER_HOUSEKEEPING_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/result.h"

struct db;

enum housekeeping_table {
	HOUSEKEEPING_OUTBOX,
	HOUSEKEEPING_COMPENSATION,
	HOUSEKEEPING_INBOX,
	HOUSEKEEPING_ALERT, /* not one whose message was given up: somebody should see it */
	HOUSEKEEPING_TABLE_COUNT,
};

/*
 * One transaction: deletes at most limit rows of the table that ended more than retention_ms ago
 * and that nobody holds; deleted_out says how many.
 */
MUST_USE enum result housekeeping_delete(struct db *db, enum housekeeping_table table,
	uint64_t retention_ms, size_t limit, uint64_t *deleted_out, struct error *error);

#endif
