#include "common/io/db_rows.h"

#include <stdlib.h>

#include "common/io/db_internal.h"

bool db_rows_next(struct db_rows *rows)
{
	if (rows == NULL || rows->next >= rows->row_count)
		return false;
	rows->next++;
	return true;
}

size_t db_rows_count(const struct db_rows *rows)
{
	return rows == NULL ? 0 : rows->row_count;
}

static const struct db_cell *current_cell(const struct db_rows *rows, size_t column)
{
	REQUIRE(rows->next > 0 && column < rows->column_count);
	return &rows->cells[(rows->next - 1) * rows->column_count + column];
}

bool db_rows_is_null(const struct db_rows *rows, size_t column)
{
	return current_cell(rows, column)->is_null;
}

uint64_t db_rows_uint(const struct db_rows *rows, size_t column)
{
	const struct db_cell *cell = current_cell(rows, column);

	if (cell->is_null)
		return 0;
	return cell->is_number ? cell->number : strtoull(rows->texts + cell->offset, NULL, 10);
}

int64_t db_rows_int(const struct db_rows *rows, size_t column)
{
	const struct db_cell *cell = current_cell(rows, column);

	if (cell->is_null)
		return 0;
	return cell->is_number ? (int64_t)cell->number
			       : strtoll(rows->texts + cell->offset, NULL, 10);
}

const char *db_rows_text(const struct db_rows *rows, size_t column, size_t *size_out)
{
	const struct db_cell *cell = current_cell(rows, column);
	bool is_text = !cell->is_null && !cell->is_number;

	if (size_out != NULL)
		*size_out = is_text ? cell->size : 0;
	return is_text ? rows->texts + cell->offset : "";
}

void db_rows_destroy(struct db_rows **rows)
{
	if (*rows == NULL)
		return;
	free((*rows)->cells);
	free((*rows)->texts);
	free(*rows);
	*rows = NULL;
}
