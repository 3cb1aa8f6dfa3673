/*
 * rule_set - all timeout rules as they are at one moment, in a short text: whoever decides on what
 * was shown carries it along, and what changed meanwhile is noticed.
 */
#ifndef COMMON_ORDER_RULE_SET_H
#define COMMON_ORDER_RULE_SET_H

#include <stdbool.h>

#include "common/base/result.h"

struct db;

enum {
	RULE_SET_SIZE = 64 + 1
};

/* Digits and "-"; another text after each rule that is added or ended. */
MUST_USE enum result rule_set_read(struct db *db, char set_out[RULE_SET_SIZE], struct error *error);

/*
 * Keeps others away who hold it, too, until rule_set_release.  is_same_out: the rules are still as
 * shown, which may be NULL: then anything is.  TEMPORARY also: somebody else holds it for long.
 */
MUST_USE enum result rule_set_hold(
	struct db *db, const char *shown, bool *is_same_out, struct error *error);
void rule_set_release(struct db *db);

#endif
