/*
 * act_order - what an operator may do with an UNPAID order: close it, or move its deadline later.
 */
#ifndef COMMON_ORDER_ACT_ORDER_H
#define COMMON_ORDER_ACT_ORDER_H

#include "common/base/result.h"
#include "common/order/act.h"
#include "common/order/close.h"

struct extension;
struct extension_result;

enum {
	ACT_CONFIRM_CHARACTERS = 4 /* of the order number, typed to close it */
};

struct act_close {
	const char *order_no;
	const char *typed; /* the last characters of the order number, or all of it */
	const char *reason;
};

/* What close_orders did, for the metrics of the caller.  was_tried: it was called. */
struct act_close_effect {
	bool was_tried;
	struct close_request request;
	struct close_report report;
	struct close_order order;
};

/* UNPAID → CLOSED by OPERATOR through close_orders.  PAID and CLOSED are REFUSED. */
MUST_USE enum result act_close_order(struct db *db, const struct act_close *request,
	const struct audit_actor *actor, struct act_close_effect *effect_out,
	struct act_result *result_out, struct error *error);

/* Moves the deadline of an UNPAID order later, as extension_run. */
MUST_USE enum result act_extend(struct db *db, const struct extension *extension,
	const struct audit_actor *actor, struct extension_result *extended_out,
	struct act_result *result_out, struct error *error);

#endif
