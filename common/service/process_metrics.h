/*
 * process_metrics - the usual process_* families, read from /proc when somebody asks.
 */
#ifndef COMMON_SERVICE_PROCESS_METRICS_H
#define COMMON_SERVICE_PROCESS_METRICS_H

#include "common/service/metrics.h"

extern const struct metric_family process_metrics_families[];

/* Reads /proc and stores what it says; from any thread.  What cannot be read keeps its value. */
void process_metrics_update(void);

#endif
