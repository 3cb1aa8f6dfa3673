/*
 * table - rows of texts with named columns, printed for people, for scripts or as JSON.
 */
#ifndef CTL_TABLE_H
#define CTL_TABLE_H

#include <stddef.h>
#include <stdio.h>

#include "common/base/compiler.h"
#include "ctl/output.h"

struct json;
struct table;

enum {
	TABLE_COLUMN_MAX = 20
};

enum table_kind {
	TABLE_KIND_TEXT,   /* also 64-bit ids: strings in JSON */
	TABLE_KIND_NUMBER, /* a whole number */
	TABLE_KIND_BOOL,   /* "yes" is true */
	TABLE_KIND_JSON,   /* JSON text, put into the document as it is */
};

struct table_column {
	const char *name;
	enum table_kind kind;
};

/* Borrows columns, at most TABLE_COLUMN_MAX. */
MUST_USE struct table *table_create(const struct table_column *columns, size_t column_count);
void table_destroy(struct table **table);
/* Copies one value for each column; NULL is "-" and the JSON null. */
void table_add(struct table *table, const char *const *values);
size_t table_column_count(const struct table *table);
/* Of rows. */
size_t table_count(const struct table *table);
/* Text, tabs or a JSON array, as output says. */
void table_print(const struct table *table, const struct output *output, FILE *file);
/* The first row, for people one line for each value; else as table_print would. */
void table_print_record(const struct table *table, const struct output *output, FILE *file);
/* The rows as a JSON array of objects, owned by the caller. */
MUST_USE struct json *table_to_json(const struct table *table);
/* Row number row as a JSON object, owned by the caller. */
MUST_USE struct json *table_row_to_json(const struct table *table, size_t row);

#endif
