/*
 * listing_count - how many rows a filter matches, up to a bound, and the highest id among them:
 * what is frozen before many rows are acted on at once.
 */
#ifndef COMMON_REPORT_LISTING_COUNT_H
#define COMMON_REPORT_LISTING_COUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/result.h"

struct db;
struct listing_kind;
struct listing_request;

struct listing_count {
	uint64_t count;      /* at most the bound */
	bool is_more;        /* there are more than the bound */
	uint64_t highest_id; /* 0: none; as filter "up_to" it leaves out later rows */
	char at[32]; /* by MySQL's clock, ISO 8601 with Z; as filter "unchanged_since" it leaves out
		      * what has changed */
};

/* One statement; for kinds with the filter "up_to" (tasks).  Results as listing_read. */
MUST_USE enum result listing_count(struct db *db, const struct listing_kind *kind,
	const struct listing_request *request, uint64_t bound, struct listing_count *count_out,
	struct error *error);

#endif
