/*
 * alert_target - where alerts are sent, from LAPSE_ALERT_TARGETS and LAPSE_ALERT_<NAME>_*.
 *
 * Addresses may hold a credential, so they are read like secrets and never logged.
 */
#ifndef RETRY_ALERT_TARGET_H
#define RETRY_ALERT_TARGET_H

#include <stddef.h>

#include "common/base/settings.h"
#include "common/order/alert.h"

enum {
	ALERT_TARGET_MAX = 8,
	ALERT_TARGET_NAME_SIZE = 24 + 1,
};

struct alert_target {
	char name[ALERT_TARGET_NAME_SIZE]; /* "ops" */
	char *url;
	char *secret; /* NULL: not signed */
	char *token;  /* NULL: no bearer token */
	enum alert_severity min_severity;
};

/* All zero bytes is an empty list. */
struct alert_target_list {
	struct alert_target items[ALERT_TARGET_MAX];
	size_t count;
};

/* Reads and clears a struct alert_target_list as a field of settings. */
extern const struct setting_custom alert_target_setting;

/* A copy of its own; copy_out is empty before. */
void alert_target_copy(const struct alert_target_list *list, struct alert_target_list *copy_out);
void alert_target_clear(struct alert_target_list *list);

#endif
