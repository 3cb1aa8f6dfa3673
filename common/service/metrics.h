/*
 * metrics - counters, gauges and histograms: atomics, by table, as Prometheus text (0.0.4).
 *
 * The set of series is fixed when the program starts and every series exists from then on with 0.
 * Adding is safe from any thread and never allocates.
 */
#ifndef COMMON_SERVICE_METRICS_H
#define COMMON_SERVICE_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/compiler.h"

enum metric_type {
	METRIC_TYPE_END,
	METRIC_TYPE_COUNTER,
	METRIC_TYPE_MEASURED, /* a counter kept by somebody else and set here, like CPU seconds */
	METRIC_TYPE_GAUGE,
	METRIC_TYPE_HISTOGRAM,
	/*
	 * Their series are not there until they are shown: no figure is shown when it is not known.
	 * Only of such a series may the label be written after the start: before it is shown for
	 * the first time, into the text that stands in series.
	 */
	METRIC_TYPE_KNOWN_COUNTER,
	METRIC_TYPE_KNOWN_GAUGE,
};

/*
 * One family.  series is a list of label sets as they stand between the braces, for example
 * "reason=\"timeout\",source=\"sweep\"", ended by NULL; NULL instead of a list: one series without
 * labels.  bounds of a histogram ascend and end with 0; the +Inf bucket is added.
 */
struct metric_family {
	enum metric_type type;
	const char *name;
	const char *help;
	const char *const *series;
	const double *bounds;
};

#define METRIC_END                      \
	{                               \
		.type = METRIC_TYPE_END \
	}

/* Bounds of all *_duration histograms. */
extern const double metrics_duration_bounds[];

/* Tables given here are borrowed until metrics_close; the place of a family is its address. */
void metrics_open(void);
void metrics_register(const struct metric_family *families);
void metrics_close(void);

/* series counts from 0 in the order of the family's list.  Families that were never registered are
 * ignored, so that a module can be used by a program that does not export it. */
void metrics_add(const struct metric_family *family, size_t series, uint64_t amount);
void metrics_set(const struct metric_family *family, size_t series, double value);
void metrics_observe(const struct metric_family *family, size_t series, double value);
/* A series of the last two types that is not there is there with 0 from now on; metrics_set does
 * the same with a value, while metrics_add to one that is not there is lost. */
void metrics_show(const struct metric_family *family, size_t series);
/* Takes such a series away, until it is shown again. */
void metrics_drop(const struct metric_family *family, size_t series);
/* All series of such a family. */
void metrics_drop_all(const struct metric_family *family);
/* The value of a counter, for dumps and tests. */
uint64_t metrics_count(const struct metric_family *family, size_t series);

/* name="value" for a list of series, escaped; false when it did not fit whole. */
bool metrics_write_label(char *target, size_t target_size, const char *name, const char *value);

/* All families as Prometheus text, NUL-terminated, owned by the caller. */
MUST_USE char *metrics_write(size_t *size_out);

#endif
