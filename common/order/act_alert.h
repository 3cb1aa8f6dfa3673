/*
 * act_alert - what may be done with alerts by hand: silence one for a while, send one again, raise
 * one to see whether it arrives.
 */
#ifndef COMMON_ORDER_ACT_ALERT_H
#define COMMON_ORDER_ACT_ALERT_H

#include <stdint.h>

#include "common/base/result.h"
#include "common/order/act.h"
#include "common/order/alert.h"

enum {
	ACT_SILENCE_MAX_S = ALERT_SILENCE_MAX_H * 3600
};

struct act_silence {
	uint64_t alert_id;
	uint64_t duration_s; /* at most ACT_SILENCE_MAX_S; 0 ends a silence */
	const char *reason;
};

/* Nothing is delivered for this row meanwhile; another alert of the same kind still rings. */
MUST_USE enum result act_silence_alert(struct db *db, const struct act_silence *request,
	const struct audit_actor *actor, struct act_result *result_out, struct error *error);

/* Tells all targets again, now, what the alert is. */
MUST_USE enum result act_resend_alert(struct db *db, uint64_t alert_id,
	const struct audit_actor *actor, struct act_result *result_out, struct error *error);

/*
 * Raises THRESHOLD LapseTest, which goes the way of every alert to every target, and is resolved by
 * itself (alert_resolve_cured) a minute later.  CONFLICT while the last one fires.
 */
MUST_USE enum result act_test_alerts(struct db *db, const struct audit_actor *actor,
	struct act_result *result_out, struct error *error);

#endif
