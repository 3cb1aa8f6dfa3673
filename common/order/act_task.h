/*
 * act_task - what an operator may do with a DEAD task: requeue it, or resolve it with a reason.
 */
#ifndef COMMON_ORDER_ACT_TASK_H
#define COMMON_ORDER_ACT_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/result.h"
#include "common/base/text.h"
#include "common/order/act.h"

enum {
	ACT_SELECTION_MAX = 200
};

struct act_task {
	uint64_t id;
	uint32_t shown_retries; /* the retry_count the person saw; UINT32_MAX: any */
};

/* DEAD → PENDING, five more retries, due now (after delay_ms), its alert resolved. */
MUST_USE enum result act_requeue(struct db *db, const struct act_task *task, uint64_t delay_ms,
	const struct audit_actor *actor, struct act_result *result_out, struct error *error);

/* The same for a selection, one transaction for each.  A failure ends it: done_out says how many
 * have their result. */
struct act_selection {
	const struct act_task *tasks;
	size_t count; /* at most ACT_SELECTION_MAX */
};
MUST_USE enum result act_requeue_selected(struct db *db, const struct act_selection *selection,
	const struct audit_actor *actor, struct act_result *results_out, size_t *done_out,
	struct error *error);

/* The three questions before a task is resolved; false is red. */
struct act_checks {
	char order_no[TEXT_KEY_SIZE];
	bool is_order_final;       /* PAID, CLOSED or later, or no order of ours */
	bool has_no_open_sibling;  /* no other task of it is PENDING, RUNNING or DEAD */
	bool has_refund_reference; /* a REFUND is resolved with a text behind its code */
};

struct act_resolve {
	uint64_t task_id;
	const char *code;           /* one of compensation_resolve_codes */
	const char *text;           /* ACT_REASON_MIN to ACT_REASON_MAX characters */
	const char *typed_order_no; /* with a red check; may be NULL */
};

/* code and text may be NULL: not known yet.  NONE: there is no such task. */
MUST_USE enum result act_check_resolve(struct db *db, const struct act_resolve *request,
	struct act_checks *checks_out, struct error *error);
/* DEAD → RESOLVED.  With a red check only an admin may, who has typed the order number. */
MUST_USE enum result act_resolve(struct db *db, const struct act_resolve *request,
	const struct audit_actor *actor, struct act_result *result_out, struct error *error);

#endif
