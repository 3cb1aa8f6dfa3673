/*
 * database - a consumer's line to MySQL: tried again by backoff beside the broker, whose heartbeats
 * go on meanwhile, and the offset to MySQL's clock.
 */
#ifndef COMMON_SERVICE_DATABASE_H
#define COMMON_SERVICE_DATABASE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/result.h"
#include "common/io/db.h"

struct database;

/* Borrows settings, which must live longer. */
void database_create(const struct db_settings *settings, struct database **database_out);
void database_destroy(struct database **database);

/* Connects when its next try is due and looks at the clock now and then.  false: MySQL is away, and
 * nothing is closed at the moment. */
bool database_is_there(struct database *database);
/* What the last use of the connection gave; a failure starts the backoff. */
void database_note(struct database *database, enum result result, const struct error *error);
/* Since when MySQL is away, in milliseconds; 0: it is there. */
uint64_t database_away_ms(const struct database *database);

/* Why it is away; "" when it is there.  Borrowed until the next note. */
const char *database_trouble(const struct database *database);

struct db *database_db(struct database *database);
/* By clock_now_ms, the moment that MySQL calls epoch_ms; false: the offset is not known. */
bool database_local_time(const struct database *database, int64_t epoch_ms, int64_t *local_ms_out);

#endif
