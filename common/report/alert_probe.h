/*
 * alert_probe - one test message to one target, now, and what the target says to it; because "none
 * arrived" must be explainable.
 */
#ifndef COMMON_REPORT_ALERT_PROBE_H
#define COMMON_REPORT_ALERT_PROBE_H

#include <stdint.h>

#include "common/report/alert_answer.h"
#include "common/report/alert_origin.h"

enum {
	ALERT_PROBE_BODY_SIZE = 2048
};

struct alert_probe {
	struct alert_verdict verdict;
	long status;                      /* 0: no answer */
	char body[ALERT_PROBE_BODY_SIZE]; /* clipped; credentials of the target are *** */
	uint64_t duration_ms;
};

/* Sends it and waits for the answer, at most ALERT_TIME_LIMIT_MS: not for a loop that serves. */
void alert_probe_send(const struct alert_target *target, const struct alert_origin *origin,
	struct alert_probe *probe);

#endif
