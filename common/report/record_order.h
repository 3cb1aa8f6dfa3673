/*
 * record_order - what belongs to an order, and the one line of time it all stands on.
 */
#ifndef COMMON_REPORT_RECORD_ORDER_H
#define COMMON_REPORT_RECORD_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/result.h"

struct db;
struct json;

/* Adds "timeline" to root. */
MUST_USE enum result record_add_timeline(
	struct json *root, struct db *db, const char *order_no, struct error *error);
/* Adds "order", "payments", "tasks" (but the one with this id; 0: all) and "outbox". */
MUST_USE enum result record_add_order(struct json *root, struct db *db, const char *order_no,
	uint64_t but_task_id, bool is_unmasked, struct error *error);
/* Adds "why" to a root with "order", "outbox" and "alert": why the order is as it is, and who moves
 * it on.  The sentences are fixed, so that they can be said in another language. */
void record_add_why(struct json *root);
/* Adds "audit": the acts on the target, newest first. */
MUST_USE enum result record_add_audit(struct json *root, struct db *db, const char *target_type,
	const char *target_id, struct error *error);

#endif
