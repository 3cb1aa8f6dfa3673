/*
 * record_table - the tables as a record shows them: every column with its name and its type.
 */
#ifndef COMMON_REPORT_RECORD_TABLE_H
#define COMMON_REPORT_RECORD_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/result.h"
#include "common/io/db.h"

struct json;

enum {
	RECORD_ROW_MAX = 200
};

enum record_type {
	RECORD_TYPE_TEXT,   /* also times and 64-bit ids */
	RECORD_TYPE_MASKED, /* a text that is "***" unless asked for */
	RECORD_TYPE_NUMBER,
	RECORD_TYPE_BOOL,
	RECORD_TYPE_JSON, /* put into the document as it is */
};

struct record_column {
	const char *name;
	enum record_type type;
	const char *sql; /* about x, a text */
};

struct record_table {
	const char *table;
	const struct record_column *columns;
	size_t column_count;
};

extern const struct record_table record_orders;
extern const struct record_table record_items;
extern const struct record_table record_tasks;
extern const struct record_table record_outbox;
extern const struct record_table record_payments;
extern const struct record_table record_rules;
extern const struct record_table record_alerts;
extern const struct record_table record_audit;

struct record_query {
	const struct record_table *table;
	const char *where; /* a constant about x, behind WHERE, with its ORDER BY */
	const struct db_param *params;
	size_t param_count;
	bool is_unmasked;
};

/* One statement: at most RECORD_ROW_MAX rows as an array of objects, owned by the caller. */
MUST_USE enum result record_read_rows(struct db *db, const struct record_query *query,
	struct json **array_out, struct error *error);
/* The same for one row: an object; NULL when there is none. */
MUST_USE enum result record_read_row(struct db *db, const struct record_query *query,
	struct json **object_out, struct error *error);
/* Puts rows, or the one row or null, into root under name. */
MUST_USE enum result record_add_rows(struct json *root, const char *name, struct db *db,
	const struct record_query *query, struct error *error);
MUST_USE enum result record_add_row(struct json *root, const char *name, struct db *db,
	const struct record_query *query, struct error *error);

#endif
