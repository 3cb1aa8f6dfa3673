/*
 * listing_query - a request as SQL: names and values from outside become conditions and parameters.
 */
#ifndef COMMON_REPORT_LISTING_QUERY_H
#define COMMON_REPORT_LISTING_QUERY_H

#include "common/io/db.h"
#include "common/report/listing_kind.h"

enum {
	LISTING_PARAM_MAX = LISTING_FILTER_MAX * 2 + 4,
	LISTING_CONDITION_SIZE = 2048,
	LISTING_TEXT_MAX = 128, /* bytes of a value */
	LISTING_PARAM_SIZE = LISTING_TEXT_MAX * 2 + 2,
};

/* Plain data that must not be moved: params point into values. */
struct listing_query {
	const struct listing_kind *kind;
	char condition[LISTING_CONDITION_SIZE]; /* " AND ..." about t */
	struct db_param params[LISTING_PARAM_MAX];
	char values[LISTING_PARAM_MAX][LISTING_PARAM_SIZE];
	size_t param_count;
	char words[LISTING_WORDS_SIZE];
	struct listing_stage stages[LISTING_STAGE_MAX];
	size_t stage_count;
	bool has_place; /* in the first stage that is read: the key, and the id */
	size_t first_stage;
	char place[LISTING_CURSOR_SIZE];
	uint64_t place_id;
	uint32_t limit;
};

/* PERMANENT with words, as listing_check. */
MUST_USE enum result listing_query_read(const struct listing_kind *kind,
	const struct listing_request *request, struct listing_query *query, struct error *error);

#endif
