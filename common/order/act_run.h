/*
 * act_run - how every act by hand runs: the role, the earlier answer to the same request, the
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
	const char *target_id;
	/*
	 * One whole transaction that writes its audit row in any case, but for NONE (no such
	 * thing).  CONFLICT also when the row says refused or conflict, or when a lock was lost: the
	 * audit row is what counts.
	 */
	enum result (*carry_out)(void *context, struct error *error);
	void *context;
};

/* Asks for the answer to this request; else the role; else carries out, a few times when a lock is
 * lost; and reads the answer.  result_out has been set to all zero or holds made_id. */
MUST_USE enum result act_run(
	const struct act_run *run, struct act_result *result_out, struct error *error);

/* The answers that need no server: INVALID with words; and one with an audit row of its own. */
MUST_USE enum result act_answer_invalid(struct act_result *result_out, const char *words);
MUST_USE enum result act_answer_noted(const struct act_run *run, enum act_outcome outcome,
	const char *words, struct act_result *result_out, struct error *error);

#endif
