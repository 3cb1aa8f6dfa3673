/*
 * retry_metrics - the metric families of lapse-retry and the places of their series.
 */
#ifndef RETRY_RETRY_METRICS_H
#define RETRY_RETRY_METRICS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/order/compensation.h"
#include "common/report/alert_answer.h"
#include "common/service/metrics.h"

struct retry_settings;

enum retry_call_result {
	RETRY_CALL_OK,
	RETRY_CALL_RETRY,
	RETRY_CALL_DEAD,
	RETRY_CALL_LEASE_LOST,
	RETRY_CALL_RESULT_COUNT,
};

/* Alerts that got no message of their own. */
enum retry_suppressed {
	RETRY_SUPPRESSED_SILENCE, /* an operator has silenced it */
	RETRY_SUPPRESSED_GROUP,   /* told in the message of another */
	RETRY_SUPPRESSED_REPEAT,  /* raised again while it was firing */
};

extern const struct metric_family retry_metric_families[];

/* The labels that come from settings; before the families are registered, and again after a reload:
 * new names get places, old ones keep theirs. */
void retry_metrics_name_series(const struct retry_settings *settings);
/* Every series of a known name is there, with 0 at first; after the families are registered. */
void retry_metrics_show_alerts(void);

void retry_metrics_count_task(enum compensation_kind kind, enum retry_call_result result);
void retry_metrics_note_call(enum compensation_kind kind, uint64_t duration_ms);
/* host as http_format_target writes it; targets behind one host share its gauge.  Shown by
 * retry_metrics_show_circuits, which takes away those that were not noted since. */
void retry_metrics_note_circuit(const char *host, bool is_open);
void retry_metrics_show_circuits(void);
void retry_metrics_count_alert(const char *target, enum alert_result result);
void retry_metrics_count_suppressed(enum retry_suppressed reason, uint64_t count);
void retry_metrics_set_inflight(uint64_t count);

#endif
