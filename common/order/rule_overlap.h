/*
 * rule_overlap - which of two timeout rules wins, and whether they ever meet: what a rule that is
 * added takes from others, and who takes over from one that ends.
 */
#ifndef COMMON_ORDER_RULE_OVERLAP_H
#define COMMON_ORDER_RULE_OVERLAP_H

#include <stdbool.h>
#include <stdint.h>

#include "common/order/rule.h"

#define RULE_OVERLAP_YOUNGEST UINT64_MAX

/* What decides which orders a rule gets.  Times are MySQL's milliseconds since 1970. */
struct rule_overlap {
	uint64_t id;                              /* RULE_OVERLAP_YOUNGEST: it is not there yet */
	const char *values[RULE_ATTRIBUTE_COUNT]; /* NULL: any */
	int64_t priority;
	int64_t from_ms;
	int64_t to_ms; /* not any more at this moment; INT64_MAX: for ever */
};

/* Can one order, created at one moment, match both? */
bool rule_overlap_meets(const struct rule_overlap *a, const struct rule_overlap *b);
/* Does a win where both match?  The order in which rules_find tries them. */
bool rule_overlap_is_better(const struct rule_overlap *a, const struct rule_overlap *b);
/* Does a match every order that b matches, at any moment of b? */
bool rule_overlap_covers(const struct rule_overlap *a, const struct rule_overlap *b);

#endif
