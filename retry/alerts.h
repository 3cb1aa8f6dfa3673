/*
 * alerts - delivers what needs a person, beside the tasks and never in their way.
 *
 * One process delivers: the one that holds the lock lapse.alerts.<schema>, which ends with its
 * connection.  Rows that arrive together and belong together are told in one message.  A message is
 * delivered when the answer says so, at least once, to each target; a target that fails is tried
 * again after 10 s, 30 s, 2 min, 10 min, then each 30 min for 12 hours.
 */
#ifndef RETRY_ALERTS_H
#define RETRY_ALERTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/result.h"

struct alerts;
struct db;
struct http;
struct retry_settings;

/* Borrows settings and http, which must live longer.  Uses one place of http per target. */
void alerts_create(
	const struct retry_settings *settings, struct http *http, struct alerts **alerts_out);
void alerts_destroy(struct alerts **alerts);

/* Settles what was answered, claims, starts sending. */
MUST_USE enum result alerts_step(struct alerts *alerts, struct db *db, struct error *error);
/* Settles what was answered and starts nothing.  NONE: nothing is under way. */
MUST_USE enum result alerts_drain(struct alerts *alerts, struct db *db, struct error *error);
/* How long a step has nothing to do unless an answer comes, at most limit_ms. */
uint64_t alerts_wait_ms(const struct alerts *alerts, uint64_t limit_ms);
/* The settings of the targets have been read again. */
void alerts_reload(struct alerts *alerts);
/* Their state, to the log. */
void alerts_dump(const struct alerts *alerts);

#endif
