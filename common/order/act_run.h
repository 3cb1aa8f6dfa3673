/*
 * act_run - how every act by hand runs: the earlier answer to the same request, the role, the
 * transaction, the answer in the audit row.  For the modules act_*.
 */
#ifndef COMMON_ORDER_ACT_RUN_H
#define COMMON_ORDER_ACT_RUN_H

#include "common/base/result.h"
#include "common/order/act.h"

enum {
	ACT_ID_SIZE = 24
};

struct act_run {
	struct db *db;
	const struct audit_actor *actor;
	const char *action;
	const char *target_type;
	const char *target_id; /* NULL: it is made by the act, and becomes made_id */
	/*
	 * One whole transaction that leaves its audit row, but for NONE (no such thing).  CONFLICT
	 * means that the audit row says why not, or that a lock was lost: then there is none.
	 */
	enum result (*carry_out)(void *context, struct error *error);
	void *context;
};

/* OK: result_out says what came of it. */
MUST_USE enum result act_run(
	const struct act_run *run, struct act_result *result_out, struct error *error);

/* For carry_out: leaves the audit row of a refusal and gives CONFLICT. */
MUST_USE enum result act_refuse(const struct act_run *run, enum act_outcome outcome,
	const char *words, struct error *error);

/* What the audit row of an act says besides who and what; each may be NULL. */
struct act_trace {
	const char *reason;
	const char *before_json;
	const char *after_json;
};

/* For carry_out, which commits behind it: leaves the audit row of what was done. */
MUST_USE enum result act_record(
	const struct act_run *run, const struct act_trace *trace, struct error *error);
/* For carry_out: leaves the audit row that says, in words, why it is not done; commits, and gives
 * CONFLICT. */
MUST_USE enum result act_record_conflict(const struct act_run *run, const struct act_trace *trace,
	const char *words, struct error *error);

/* The answer to a reason that is none; nothing is asked, nothing is written.  Always OK. */
MUST_USE enum result act_answer_reason(struct act_result *result_out);
/* The answer to what cannot be; nothing is asked, nothing is written.  Always OK. */
MUST_USE enum result act_answer_invalid(struct act_result *result_out, const char *format, ...)
	PRINTF_LIKE(2, 3);

#endif
