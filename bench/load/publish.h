/*
 * publish - one confirmed timeout message for each order of a range: through our own broker module,
 * with nothing else to do.
 */
#ifndef BENCH_LOAD_PUBLISH_H
#define BENCH_LOAD_PUBLISH_H

#include <stdint.h>

#include "common/base/result.h"

struct load_settings;

struct publish_request {
	uint64_t count;
	int64_t remaining_ms; /* to the one deadline of all, from the start; 0: at once */
	uint64_t window;      /* messages without a confirm */
};

/* When it began and ended, milliseconds since 1970. */
struct publish_report {
	uint64_t start_ms;
	uint64_t end_ms;
};

/* Orders are named by their number, see bench/load/orders.sql.  OK: all are confirmed. */
MUST_USE enum result publish_orders(const struct load_settings *settings,
	const struct publish_request *request, struct publish_report *report, struct error *error);

#endif
