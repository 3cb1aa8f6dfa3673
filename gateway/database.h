/*
 * database - the gateway's line to MySQL: a server that is away is tried by backoff, and requests
 * are answered at once meanwhile.
 */
#ifndef GATEWAY_DATABASE_H
#define GATEWAY_DATABASE_H

#include "common/base/result.h"
#include "common/io/db.h"

struct database;

/* Borrows settings, which must live longer. */
void database_create(const struct db_settings *settings, struct database **database_out);
void database_destroy(struct database **database);

/*
 * OK: connected, the connection is in db_out.  TEMPORARY: MySQL is away; it is tried again when the
 * next try is due, in one of the calls.
 */
MUST_USE enum result database_use(
	struct database *database, struct db **db_out, struct error *error);
/* What the last use gave: TEMPORARY with a lost connection is told to /readyz and the log. */
void database_note(struct database *database, enum result result, const struct error *error);
/* Between requests: looks now and then whether MySQL is there. */
void database_watch(struct database *database);

#endif
