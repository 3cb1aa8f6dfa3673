/*
 * sweeper - finds due orders that nobody closed, oldest first, and closes them.
 *
 * Needs MySQL and nothing else.  A pass goes through all due orders in batches; while passes find
 * misses the next one follows after a second, else after the interval.  A locked or bad order is
 * passed over and met again in the next pass.  Between passes old rows are deleted.
 */
#ifndef SWEEPER_SWEEPER_H
#define SWEEPER_SWEEPER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/result.h"
#include "common/io/db.h"
#include "common/service/service.h"

struct sweeper;

struct sweeper_settings {
	struct service_settings service;
	struct db_settings mysql;
	uint64_t interval_ms;
	uint64_t batch;
	uint64_t budget_ms;
	uint64_t retention_ms;
	uint64_t unknown_grace_ms;
	bool runs_once; /* --once */
};

struct sweeper_progress {
	uint64_t closed;
	uint64_t failed;   /* orders that cannot be closed */
	bool is_pass_over; /* nothing is left behind the cursor */
};

extern const struct service_program sweeper_program;

/* Borrows settings, which must live longer. */
void sweeper_create(const struct sweeper_settings *settings, struct sweeper **sweeper_out);
void sweeper_destroy(struct sweeper **sweeper);

/* One batch, or a wait of at most a second. */
enum result sweeper_step(void *context, struct error *error);

/* The next batch is the oldest one again. */
void sweeper_start_pass(struct sweeper *sweeper);
/* One batch of a pass at once; adds to progress. */
MUST_USE enum result sweeper_sweep_batch(
	struct sweeper *sweeper, struct sweeper_progress *progress, struct error *error);
/* How many orders are due now, counted up to limit: for an estimate. */
MUST_USE enum result sweeper_count_due(
	struct sweeper *sweeper, uint64_t limit, uint64_t *count_out, struct error *error);

#endif
