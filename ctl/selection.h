/*
 * selection - the tasks an act is about: given by id, or found by a filter and then frozen.
 */
#ifndef CTL_SELECTION_H
#define CTL_SELECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/result.h"
#include "common/report/listing.h"
#include "ctl/list.h"

struct session;

enum {
	SELECTION_MAX = 5000
};

struct selected_task {
	uint64_t id;
	bool is_there;
	char kind[24];
	char order_no[65];
	char status[16];
	uint32_t retry_count; /* as it was shown */
};

struct selection {
	struct selected_task *tasks;
	size_t count;
	bool is_cut; /* the filter matches more than the limit */
};

/* By id, in the order given.  PERMANENT with words: not a number, twice, or too many. */
MUST_USE enum result selection_read_ids(
	const struct session *session, struct selection *selection, struct error *error);
/* One statement for each task: fills in the rest. */
MUST_USE enum result selection_look_up(
	const struct session *session, const struct selection *selection, struct error *error);

/* What is meant by the filters among the options: DEAD tasks, whatever else they say. */
struct selection_filter {
	struct listing_value values[LIST_VALUE_MAX + 1];
	struct listing_request request;
	char words[LISTING_WORDS_SIZE]; /* after selection_find */
};

/* NONE: no filter is given.  PERMANENT with words: a value that cannot be. */
MUST_USE enum result selection_read_filter(
	const struct session *session, struct selection_filter *filter, struct error *error);
/* The tasks of the filter, oldest first, at most limit. */
MUST_USE enum result selection_find(const struct session *session, struct selection_filter *filter,
	uint64_t limit, struct selection *selection, struct error *error);
void selection_clear(struct selection *selection);

#endif
