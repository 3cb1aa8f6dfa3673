#include "common/io/db_insert.h"

#include "common/io/db_list.h"

enum {
	FEW = 8, /* rows that are always one statement */
};

/* The largest power of two that is not more. */
static size_t take(size_t count)
{
	size_t size = FEW;

	if (count <= FEW)
		return count;
	while (size * 2 <= count && size * 2 <= DB_LIST_MAX)
		size *= 2;
	return size;
}

enum result db_insert(struct db *db, const struct db_insertion *insertion, struct error *error)
{
	enum result result = RESULT_OK;
	size_t done = 0;

	while (done < insertion->count && result == RESULT_OK) {
		size_t size = take(insertion->count - done);

		result = db_execute(db, db_rows_sql(db, insertion->head, insertion->row, size),
			insertion->params + done * insertion->columns, size * insertion->columns,
			NULL, error);
		done += size;
	}
	return result;
}
