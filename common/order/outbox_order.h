/*
 * outbox_order - events of one order leave in the order in which they were written.
 *
 * Rows of one order may become due in any order: one that the broker did not take waits, and
 * another process may have one under way.  So an event waits while an older one of its order is
 * open.
 */
#ifndef COMMON_ORDER_OUTBOX_ORDER_H
#define COMMON_ORDER_OUTBOX_ORDER_H

#include <stdbool.h>
#include <stddef.h>

#include "common/order/outbox.h"

/*
 * One or two statements, none when the batch has timeouts only: takes the events out of the batch
 * that have to wait, gives their leases back and puts them off for a moment.  is_created_told:
 * ORDER_CREATED is an event too, else it is a timeout that nobody waits for.  A row that sleeps
 * until its horizon has been told and holds nobody up.  The batch may be empty afterwards.
 */
MUST_USE enum result outbox_order_hold_back(struct db *db, struct outbox_batch *batch,
	bool is_created_told, size_t *held_out, struct error *error);

#endif
