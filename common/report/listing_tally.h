/*
 * listing_tally - a column of a list that is counted for all its rows together: once for a page,
 * once for a whole file.
 */
#ifndef COMMON_REPORT_LISTING_TALLY_H
#define COMMON_REPORT_LISTING_TALLY_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/result.h"
#include "common/report/listing.h"

struct listing_tally {
	const char *column; /* whose sql is "NULL"; it stays NULL where the count is unknown */
	enum result (*read)(struct db *db, void **counts_out, struct error *error);
	bool (*find)(const void *counts, uint64_t id, uint64_t *count_out);
	void (*destroy)(void **counts);
};

#endif
