/*
 * rule_tally - how many orders each timeout rule decided in the last 24 hours.
 *
 * One pass over the orders of that time, with the time limit of a page.  What could not be counted
 * is unknown, never 0.
 */
#ifndef COMMON_REPORT_RULE_TALLY_H
#define COMMON_REPORT_RULE_TALLY_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/result.h"

struct db;
struct rule_tally;

/* OK also when nothing could be counted in time; the caller owns it then, too.  TEMPORARY: the
 * server is away. */
MUST_USE enum result rule_tally_read(
	struct db *db, struct rule_tally **tally_out, struct error *error);
void rule_tally_destroy(struct rule_tally **tally);

/* false: unknown. */
bool rule_tally_find(const struct rule_tally *tally, uint64_t rule_id, uint64_t *count_out);

#endif
