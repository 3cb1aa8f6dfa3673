/*
 * rule_change - what an operator does to timeout rules: add one, end one.  A rule in force is never
 * edited; what an order was told when it was created stays true.
 */
#ifndef COMMON_ORDER_RULE_CHANGE_H
#define COMMON_ORDER_RULE_CHANGE_H

#include <stdint.h>

#include "common/base/result.h"
#include "common/order/rule.h"

struct audit_actor;
struct db;

enum {
	RULE_CHANGE_CHARACTERS_MAX = 64, /* of an attribute */
	RULE_CHANGE_PRIORITY_MAX = 1000000
};

/* Times are "2026-01-31 10:00:00.000" in UTC. */
struct rule_definition {
	const char *values[RULE_ATTRIBUTE_COUNT]; /* NULL: any */
	int64_t priority;       /* at most RULE_CHANGE_PRIORITY_MAX on either side of 0 */
	uint64_t timeout_s;     /* 0: never */
	const char *valid_from; /* NULL: now */
	const char *valid_to;   /* NULL: for ever */
};

/* PERMANENT with words: what rule_add takes from nobody.  Asks nobody, knows nothing of times. */
MUST_USE enum result rule_check(const struct rule_definition *definition, struct error *error);

/*
 * One transaction with its audit row.  PERMANENT with words: an attribute is empty or too long, the
 * timeout is too long, or it would end before it begins.
 */
MUST_USE enum result rule_add(struct db *db, const struct rule_definition *definition,
	const char *reason, const struct audit_actor *actor, uint64_t *id_out, struct error *error);

/*
 * One transaction with its audit row: the rule is valid until end (NULL: now) and no longer.  NONE:
 * there is no such rule.  CONFLICT with words: it ends before that already, or end is in the past;
 * the audit row says refused.
 */
MUST_USE enum result rule_end(struct db *db, uint64_t id, const char *end, const char *reason,
	const struct audit_actor *actor, struct error *error);

#endif
