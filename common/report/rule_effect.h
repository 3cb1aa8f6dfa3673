/*
 * rule_effect - what a timeout rule would change, before it is added or ended: which rules decide
 * other orders from then on, and how many orders each of them decided in the last 24 hours.
 *
 * Only orders that are created later; a deadline that is written stays.  A rule that could get its
 * orders only where another of the list gets them all is left out.
 */
#ifndef COMMON_REPORT_RULE_EFFECT_H
#define COMMON_REPORT_RULE_EFFECT_H

#include <stdint.h>

#include "common/base/result.h"

struct db;
struct json;
struct rule_definition;

enum {
	RULE_EFFECT_MAX = 50 /* rules of one list; is_cut says that there are more */
};

/*
 * {"rule": {...}, "loses_to": [...], "takes_from": [...], "takes_unmatched": bool,
 *  "decides_nothing": bool, "is_cut": bool, "rule_set": "..."}
 *
 * rule: as it would be added; the others as in the list of rules, best first.  takes_from: those
 * whose orders the new one can get; takes_unmatched: also orders that no rule matches without it;
 * decides_nothing: a rule of loses_to gets every order that it matches.  rule_set: what was looked
 * at, for act_add_rule.  orders_24h is null where it is unknown.
 *
 * The caller owns *json_out.  PERMANENT with words: the definition cannot be, as rule_add says.
 */
MUST_USE enum result rule_effect_of_adding(struct db *db, const struct rule_definition *definition,
	struct json **json_out, struct error *error);

/*
 * {"rule": {...}, "taken_over_by": [...], "leaves_unmatched": bool, "decides_nothing": bool,
 *  "is_cut": bool, "rule_set": "..."}
 *
 * What ends at end ("2026-01-31 10:00:00.000" in UTC; NULL: now): those that get its orders then,
 * best first; leaves_unmatched: some may find no rule.  NONE: there is no such rule.
 */
MUST_USE enum result rule_effect_of_ending(
	struct db *db, uint64_t id, const char *end, struct json **json_out, struct error *error);

#endif
