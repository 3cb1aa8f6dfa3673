/*
 * compensation_internal - what the parts of compensation share: what goes along, in the same
 * transaction, when a task comes to its end.
 */
#ifndef COMMON_ORDER_COMPENSATION_INTERNAL_H
#define COMMON_ORDER_COMPENSATION_INTERNAL_H

#include "common/order/compensation_claim.h"

/* Raises the alert of a task that has become DEAD; its error text says why. */
MUST_USE enum result compensation_raise_alert(
	struct db *db, const struct compensation_task *task, struct error *error);
/* refund_state of the payment that a REFUND task gives back; does nothing for other kinds and for a
 * payload that names no payment. */
MUST_USE enum result compensation_set_refund_state(struct db *db, enum compensation_kind kind,
	const char *payload, size_t payload_size, const char *refund_state, struct error *error);

#endif
