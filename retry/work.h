/*
 * work - the tasks that are claimed and not yet settled: their queues, their calls, their verdicts.
 *
 * A little more is claimed than there are free places, as much as was called in the last tenth of a
 * second, so that the calls go on while the table is written.  What waits too long for its call, or
 * whose breaker opens, is given back uncounted.
 */
#ifndef RETRY_WORK_H
#define RETRY_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/result.h"

struct db;
struct http;
struct retry_settings;
struct work;

/* Borrows settings and http, which must live longer. */
void work_create(const struct retry_settings *settings, struct http *http, struct work **work_out);
/* What was not settled is forgotten: its lease runs out. */
void work_destroy(struct work **work);

/* Tasks claimed and not settled, those waiting for their call included. */
size_t work_count_open(const struct work *work);
/* The subscribers' file is to be read again; what it says no more is not called any more. */
void work_reload(struct work *work);
/* The same when it could not be read before, now and then. */
void work_load(struct work *work);
/* Words about targets that have no address, "" when all have one. */
const char *work_missing_targets(const struct work *work);

/* Writes down what became of calls, when enough of it is there or it has waited long enough. */
MUST_USE enum result work_settle(struct work *work, struct db *db, struct error *error);
/* Claims tasks for the targets that have places and are due for a look; NONE: took nothing. */
MUST_USE enum result work_claim(struct work *work, struct db *db, struct error *error);
/* Starts calls for the free places. */
void work_start_calls(struct work *work);
/* Nothing more is called: what waits for its call is given back with the next settle. */
void work_give_back(struct work *work);
/* How long nothing of all this is due, at most limit_ms. */
uint64_t work_wait_ms(struct work *work, uint64_t limit_ms);
/* Stores gauges. */
void work_note_metrics(const struct work *work);
/* Its state, to the log. */
void work_dump(const struct work *work);

#endif
