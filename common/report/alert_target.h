/*
 * alert_target - where alerts are sent, from LAPSE_ALERT_TARGETS and LAPSE_ALERT_<NAME>_*.
 *
 * Addresses may hold a credential, so they are read like secrets and never logged.
 */
#ifndef COMMON_REPORT_ALERT_TARGET_H
#define COMMON_REPORT_ALERT_TARGET_H

#include <stddef.h>

#include "common/base/settings.h"
#include "common/order/alert.h"

enum {
	ALERT_TARGET_MAX = 8,
	ALERT_TARGET_NAME_SIZE = 24 + 1,
	ALERT_ADDRESS_SIZE = 320,
	ALERT_MENTION_MAX = 256,
	ALERT_KEYWORD_MAX = 64,
	ALERT_TOKEN_MAX = 4000,
};

enum alert_type {
	ALERT_TYPE_GENERIC,
	ALERT_TYPE_ALERTMANAGER,
	ALERT_TYPE_DINGTALK,
	ALERT_TYPE_FEISHU,
	ALERT_TYPE_WECOM,
	ALERT_TYPE_SLACK,
};

/* The words of LAPSE_ALERT_<NAME>_TYPE, ended by NULL. */
extern const char *const alert_type_names[];

struct alert_target {
	char name[ALERT_TARGET_NAME_SIZE]; /* "ops" */
	enum alert_type type;
	char *url;
	char *secret;  /* NULL: not signed, as the next ones */
	char *token;   /* bearer */
	char *keyword; /* what a robot wants to find in each message */
	char *mention; /* who is called by name: "all", or names with commas between */
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

/* NULL when there is none of that name. */
const struct alert_target *alert_target_find(
	const struct alert_target_list *list, const char *name);
/* The address for people, with *** for what may be a credential:
 * "https://oapi.dingtalk.com/robot/send?access_token=***". */
void alert_target_format_address(
	const struct alert_target *target, char address[ALERT_ADDRESS_SIZE]);
/* Overwrites with * what text says of the credentials of the target. */
void alert_target_hide(const struct alert_target *target, char *text);

#endif
