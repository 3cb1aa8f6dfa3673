/*
 * act_rule - what an admin may do with timeout rules: add one, end one.
 */
#ifndef COMMON_ORDER_ACT_RULE_H
#define COMMON_ORDER_ACT_RULE_H

#include <stdint.h>

#include "common/base/result.h"
#include "common/order/act.h"

struct rule_definition;

/* shown in both: the rule set (rule_set.h) that was looked at; CONFLICT when it is another one by
 * now.  NULL: nobody looked, and nothing is compared.  reason may be NULL. */
struct act_rule_add {
	const struct rule_definition *definition;
	const char *shown;
	const char *reason;
};
/* made_id of the result is the new rule. */
MUST_USE enum result act_add_rule(struct db *db, const struct act_rule_add *request,
	const struct audit_actor *actor, struct act_result *result_out, struct error *error);

struct act_rule_end {
	uint64_t rule_id;
	const char *end; /* "2026-01-31 10:00:00.000" in UTC; NULL: now */
	const char *shown;
	const char *reason;
};
MUST_USE enum result act_end_rule(struct db *db, const struct act_rule_end *request,
	const struct audit_actor *actor, struct act_result *result_out, struct error *error);

#endif
