/*
 * act_outbox - what an operator may do with an outbox row: have it published again.
 */
#ifndef COMMON_ORDER_ACT_OUTBOX_H
#define COMMON_ORDER_ACT_OUTBOX_H

#include <stdint.h>

#include "common/base/result.h"
#include "common/order/act.h"

/* SENT or FAILED → NEW, due now; event_id stays, so that receivers recognise it; the alert of a
 * FAILED row is resolved.  reason may be NULL. */
MUST_USE enum result act_replay_outbox(struct db *db, uint64_t outbox_id, const char *reason,
	const struct audit_actor *actor, struct act_result *result_out, struct error *error);

#endif
