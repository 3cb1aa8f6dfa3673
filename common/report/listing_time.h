/*
 * listing_time - a limit in the server for the time of one statement that reads for people.
 */
#ifndef COMMON_REPORT_LISTING_TIME_H
#define COMMON_REPORT_LISTING_TIME_H

#include "common/base/result.h"

struct db;

/* What begins the statement: MySQL knows the hint, which MariaDB takes for a comment; MariaDB wants
 * words in front of it. */
#define LISTING_TIME_SELECT "SELECT /*+ MAX_EXECUTION_TIME(3000) */ "
const char *listing_time_start(const struct db *db);

/* Says in words that the time was up, if that is what result means. */
MUST_USE enum result listing_time_explain(
	const struct db *db, enum result result, const char *what, struct error *error);

#endif
