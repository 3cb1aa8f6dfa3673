/*
 * act_parked - what an operator does with a parked message: replay it to where it came from, or
 * throw it away.  The audit keeps its text and its SHA-256 before the message is gone.
 */
#ifndef COMMON_ORDER_ACT_PARKED_H
#define COMMON_ORDER_ACT_PARKED_H

#include "common/base/result.h"
#include "common/order/act.h"
#include "common/order/parked_queue.h"

struct act_parked {
	struct parked_queue *queue; /* one look; may be NULL: nothing is parked */
	const char *sha256;
	bool is_replay;     /* else discard, for an admin, with a reason */
	const char *reason; /* of a discard */
};

/* NULL, or why a message cannot be replayed; may be borrowed from error. */
const char *act_parked_objection(const struct parked_queue *queue,
	const struct parked_message *message, struct error *error);

/*
 * One message by its SHA-256.  The audit row is committed after the confirm of a replay and before
 * the message is taken away: dying between them leaves a message that is replayed twice, which is
 * harmless, and never an act that nobody wrote down.
 */
MUST_USE enum result act_on_parked(struct db *db, const struct act_parked *request,
	const struct audit_actor *actor, struct act_result *result_out, struct error *error);

#endif
