/*
 * pulse - closes by timeout of the last hour, minute by minute: how many and how late.
 *
 * Whole minutes by MySQL's clock.  Each minute is read once, when it is over; the first call reads
 * the hour.  Every statement is bounded.
 */
#ifndef COMMON_REPORT_PULSE_H
#define COMMON_REPORT_PULSE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/result.h"

struct db;
struct pulse;

enum {
	PULSE_MINUTES = 60,
	PULSE_CLOSE_MAX = 100000, /* so many of the newest closes are looked at in one call */
};

struct pulse_minute {
	uint64_t closes;
	int64_t lag_mean_ms;
	int64_t lag_max_ms;
};

void pulse_create(struct pulse **pulse_out);
void pulse_destroy(struct pulse **pulse);

/* When a minute is over since the last call: one statement. */
MUST_USE enum result pulse_update(struct pulse *pulse, struct db *db, struct error *error);
/* false: nothing is known yet.  The oldest first. */
bool pulse_read(const struct pulse *pulse, struct pulse_minute minutes_out[PULSE_MINUTES]);

#endif
