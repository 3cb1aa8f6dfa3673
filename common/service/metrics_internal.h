/*
 * metrics_internal - what the two halves of metrics share: counting (metrics.c) and the page
 * (metrics_text.c).
 */
#ifndef COMMON_SERVICE_METRICS_INTERNAL_H
#define COMMON_SERVICE_METRICS_INTERNAL_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "common/service/metrics.h"

/*
 * The cells of one family, series after series.  A counter has one cell with a whole number, a
 * gauge one with the bits of a double, a histogram one per bucket (not cumulated), one for the
 * bucket +Inf, and the bits of the sum.
 */
struct metric_place {
	const struct metric_family *family;
	size_t series_count;
	size_t bound_count;
	size_t cells_per_series;
	_Atomic uint64_t *cells;
};

/* Stands in the cell of a series that is not there: a NaN that nobody computes. */
#define METRIC_ABSENT_BITS UINT64_C(0x7ff8ab5e47000000)

static inline bool metric_is_optional(const struct metric_family *family)
{
	return family->type == METRIC_TYPE_KNOWN_COUNTER || family->type == METRIC_TYPE_KNOWN_GAUGE;
}

/* In the order in which they were registered; fixed while the program serves its page. */
const struct metric_place *metrics_places(size_t *count_out);

static inline uint64_t metric_to_bits(double value)
{
	uint64_t bits = 0;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static inline double metric_from_bits(uint64_t bits)
{
	double value = 0;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static inline uint64_t metric_read_cell(const _Atomic uint64_t *cell)
{
	return atomic_load_explicit(cell, memory_order_acquire);
}

#endif
