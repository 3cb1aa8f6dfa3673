/*
 * alert_group - one message about alerts that belong together, and what each target said to it.
 */
#ifndef RETRY_ALERT_GROUP_H
#define RETRY_ALERT_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/order/alert.h"
#include "retry/alert_target.h"

enum {
	ALERT_GROUP_ROWS_MAX = 100,
	ALERT_GROUP_TRIES_MAX = 28, /* about 12 hours */
};

enum alert_group_state {
	ALERT_GROUP_UNWANTED, /* not severe enough, or delivered by an earlier try */
	ALERT_GROUP_WAITING,
	ALERT_GROUP_SENDING,
	ALERT_GROUP_DELIVERED,
	ALERT_GROUP_FAILED,
};

struct alert_group_target {
	enum alert_group_state state;
	bool was_delivered; /* UNWANTED: by an earlier try */
	const char *result; /* of the answer: ok, http_error, ... */
	long status;
};

struct alert_group {
	const struct alert_row *rows[ALERT_GROUP_ROWS_MAX]; /* borrowed from a batch */
	size_t count;
	struct alert_group_target targets[ALERT_TARGET_MAX];
	uint64_t retry_after_ms; /* the longest that was asked for */
	char reason[ALERT_TEXT_SIZE];
	bool is_settled;
};

/* The groups of a batch; count_out of them, owned by the caller. */
MUST_USE struct alert_group *alert_group_list(const struct alert_batch *batch,
	const struct alert_target_list *targets, size_t *count_out);

/* No target is waited for any more. */
bool alert_group_is_over(const struct alert_group *group, size_t target_count);
bool alert_group_has_failed(const struct alert_group *group, size_t target_count);
/* Until the next try; 0: there is none. */
uint64_t alert_group_delay_ms(const struct alert_group *group);
/* For the column targets; owned by the caller. */
MUST_USE char *alert_group_write_targets(
	const struct alert_group *group, const struct alert_target_list *targets);

#endif
