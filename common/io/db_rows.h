/*
 * db_rows - the result of a query, whole in memory, read row by row.
 */
#ifndef COMMON_IO_DB_ROWS_H
#define COMMON_IO_DB_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct db_rows;

/* Moves to the next row (before the first one at the start); false behind the last. */
bool db_rows_next(struct db_rows *rows);
size_t db_rows_count(const struct db_rows *rows);
/* Values of the row moved to.  Texts are NUL-terminated and live as long as rows. */
bool db_rows_is_null(const struct db_rows *rows, size_t column);
/* 0 for NULL. */
uint64_t db_rows_uint(const struct db_rows *rows, size_t column);
int64_t db_rows_int(const struct db_rows *rows, size_t column);
/* "" for NULL; size_out may be NULL. */
const char *db_rows_text(const struct db_rows *rows, size_t column, size_t *size_out);
void db_rows_destroy(struct db_rows **rows);

#endif
