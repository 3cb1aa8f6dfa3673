/*
 * listing_place - where a page begins and in which order its rows come.
 *
 * A place is the key of the last row of the page before: "12", "2026-01-31T10:00:00.000Z_12" or
 * "A1"; in the second part of a list with "2:" before it.
 */
#ifndef COMMON_REPORT_LISTING_PLACE_H
#define COMMON_REPORT_LISTING_PLACE_H

#include "common/report/listing_query.h"

enum {
	LISTING_SORT_SIZE = 128,
	LISTING_CHOICE_SIZE = LISTING_CONDITION_SIZE + 1024,
};

/* Reads request->after into query, whose stages are known.  PERMANENT: it is no place. */
MUST_USE enum result listing_place_read(
	struct listing_query *query, const char *after, struct error *error);
/* The place of a row that was read in this stage. */
void listing_place_write(const struct listing_query *query, size_t stage, const char *key,
	const char *id, char place[LISTING_CURSOR_SIZE]);

/* " ORDER BY alias.column ..." */
void listing_place_sort(
	const struct listing_order *order, const char *alias, char sql[LISTING_SORT_SIZE]);
/* The statement that chooses the ids of one stage, ended by "LIMIT ?"; returns the number of its
 * parameters but for the limit, which the caller adds. */
size_t listing_place_choose(const struct listing_query *query, size_t stage,
	char sql[LISTING_CHOICE_SIZE], struct db_param *params);

#endif
