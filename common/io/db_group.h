/*
 * db_group - transactions of one connection that are committed together, so that the disk is waited
 * for once.
 *
 * Between db_group_begin and db_group_end, db_begin sets a savepoint, db_commit keeps what was done
 * since then and db_rollback takes it back; others see nothing of it before db_group_end.  A lost
 * race, a broken connection or a server in trouble takes the whole group with it: from then on
 * db_begin fails with TEMPORARY, and db_group_end says so.
 */
#ifndef COMMON_IO_DB_GROUP_H
#define COMMON_IO_DB_GROUP_H

#include <stdbool.h>

#include "common/base/result.h"

struct db;

MUST_USE enum result db_group_begin(struct db *db, struct error *error);
bool db_group_is_lost(const struct db *db);
/* Commits.  CONFLICT: the group was lost and left nothing.  TEMPORARY: nobody knows whether it
 * left something, run each of its transactions again. */
MUST_USE enum result db_group_end(struct db *db, struct error *error);

#endif
