/*
 * id_list - one statement for a list of ids: head, "(?,?,...)", tail, with the values of each part.
 *
 * With a column, ids that follow each other are written as ranges, which the server reads in one
 * go; a list that is scattered is still written one by one.  Both name exactly the ids given.
 */
#ifndef COMMON_ORDER_ID_LIST_H
#define COMMON_ORDER_ID_LIST_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/result.h"
#include "common/io/db.h"

struct id_statement {
	const char *head;   /* a constant, as column and tail; ends with "IN ", */
	const char *column; /* or with "WHERE " when the column is given here */
	const char *tail;
	const struct db_param *before; /* values in head */
	size_t before_count;
	const uint64_t *ids;          /* with a column: ascending, no id twice */
	size_t count;                 /* 1 to DB_LIST_MAX */
	const struct db_param *after; /* values in tail */
	size_t after_count;
};

/* changed_out may be NULL. */
MUST_USE enum result id_list_execute(struct db *db, const struct id_statement *statement,
	uint64_t *changed_out, struct error *error);

/* NONE: no rows. */
MUST_USE enum result id_list_query(struct db *db, const struct id_statement *statement,
	struct db_rows **rows_out, struct error *error);

#endif
