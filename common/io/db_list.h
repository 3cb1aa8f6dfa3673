/*
 * db_list - texts of statements with a list of values: one text for each of a few sizes, kept.
 */
#ifndef COMMON_IO_DB_LIST_H
#define COMMON_IO_DB_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/result.h"

struct db;
struct db_param;
struct db_rows;

enum {
	DB_LIST_MAX = 5000
};

/* The placeholders for count values (at most DB_LIST_MAX): rounded up to one of a few sizes, so
 * that few different statements are prepared.  The caller repeats the last value in the rest. */
size_t db_list_size(size_t count);
/* "head(?,?,...)tail" with size placeholders.  Borrowed and constant: the same text for the same
 * head, tail and size. */
const char *db_list_sql(struct db *db, const char *head, const char *tail, size_t size);

/* A query with a list: head, tail and the values of both head and list. */
struct db_list_query {
	const char *head; /* a constant, as tail; ends with "IN " */
	const char *tail;
	struct db_param *params; /* before of head, then count; with room for
				    before + db_list_size(count) */
	size_t before;
	size_t count; /* 1 to DB_LIST_MAX */
};
/* Repeats the last value in the rest of params.  NONE: no rows. */
MUST_USE enum result db_query_list(struct db *db, const struct db_list_query *query,
	struct db_rows **rows_out, struct error *error);

/* The same for a column: "head column IN (?,?,...) tail", or "head (column BETWEEN ? AND ? OR ...)
 * tail" with size ranges.  The parts are constants. */
struct db_condition {
	const char *head; /* ends with a blank */
	const char *column;
	const char *tail;
	bool is_ranges;
};
const char *db_condition_sql(struct db *db, const struct db_condition *condition, size_t size);

/* "head row,row" with size rows, see db_insert; size is not rounded up. */
const char *db_rows_sql(struct db *db, const char *head, const char *row, size_t size);

#endif
