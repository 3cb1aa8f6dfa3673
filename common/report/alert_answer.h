/*
 * alert_answer - what a target's answer means: status and body together, since robots refuse inside
 * a body.  Its words are ours; nothing of the body is repeated, because it may hold a credential.
 */
#ifndef COMMON_REPORT_ALERT_ANSWER_H
#define COMMON_REPORT_ALERT_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/report/alert_target.h"

struct http_answer;

enum alert_result {
	ALERT_RESULT_OK,
	ALERT_RESULT_HTTP_ERROR, /* another status, no connection, a broken answer */
	ALERT_RESULT_BODY_ERROR, /* the body says no */
	ALERT_RESULT_TIMEOUT,
	ALERT_RESULT_RATE_LIMITED, /* by status or by body */
};

/* The words of metrics and of the column targets, ended by NULL. */
extern const char *const alert_result_names[];

enum {
	ALERT_REASON_SIZE = 240
};

struct alert_verdict {
	enum alert_result result;
	int64_t code; /* in the body, or the status; 0: none */
	uint64_t retry_after_ms;
	bool is_gone; /* nothing more until the settings are read again */
	char reason[ALERT_REASON_SIZE];
};

void alert_answer_judge(const struct alert_target *target, const struct http_answer *answer,
	struct alert_verdict *verdict);

#endif
