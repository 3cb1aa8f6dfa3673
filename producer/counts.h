/*
 * counts - the metrics of lapse-producer.
 */
#ifndef PRODUCER_COUNTS_H
#define PRODUCER_COUNTS_H

#include <stddef.h>
#include <stdint.h>

#include "common/order/topology.h"
#include "common/service/metrics.h"

enum counts_what {
	COUNTS_WHAT_TIMEOUT,
	COUNTS_WHAT_EVENT,
};

enum counts_published {
	COUNTS_PUBLISHED_CONFIRMED,
	COUNTS_PUBLISHED_NACKED,
	COUNTS_PUBLISHED_TIMEOUT,
	COUNTS_PUBLISHED_ERROR,
};

enum counts_skipped {
	COUNTS_SKIPPED_FINAL,
	COUNTS_SKIPPED_NO_DEADLINE,
	COUNTS_SKIPPED_HORIZON,
	COUNTS_SKIPPED_NO_DELAY,
};

extern const struct metric_family counts_metrics[];

void counts_add_published(enum counts_what what, enum counts_published how);
void counts_add_skipped(enum counts_skipped why);
/* Row created until its confirm. */
void counts_observe_lag(enum counts_what what, uint64_t lag_ms);
void counts_set_mode(enum topology_mode mode);
void counts_set_inflight(size_t count);

#endif
