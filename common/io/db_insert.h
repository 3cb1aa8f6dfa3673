/*
 * db_insert - many rows in few statements, of which there are few different ones.
 */
#ifndef COMMON_IO_DB_INSERT_H
#define COMMON_IO_DB_INSERT_H

#include <stddef.h>

#include "common/base/result.h"
#include "common/io/db.h"

struct db_insertion {
	const char *head; /* "INSERT INTO t (a, b) VALUES ", a constant, as row: */
	const char *row;  /* "(?,?)" */
	size_t columns;   /* values in row */
	size_t count;     /* of rows; 0 does nothing */
	const struct db_param *params;
};

/* Inside a transaction of the caller: a failure may come behind a part of the rows. */
MUST_USE enum result db_insert(
	struct db *db, const struct db_insertion *insertion, struct error *error);

#endif
