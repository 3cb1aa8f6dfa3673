#include "common/order/id_list.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/io/db_list.h"

enum {
	RANGE_MAX = 16 /* more ranges are not cheaper than the ids one by one */
};

static void copy_params(struct db_param *target, const struct db_param *source, size_t count)
{
	if (count > 0)
		memcpy(target, source, count * sizeof(*source));
}

/* How many runs of ids that follow each other there are; RANGE_MAX + 1 stands for too many. */
static size_t count_ranges(const struct id_statement *statement)
{
	size_t ranges = 1;

	for (size_t i = 1; i < statement->count && ranges <= RANGE_MAX; i++)
		if (statement->ids[i] != statement->ids[i - 1] + 1)
			ranges++;
	return ranges;
}

/* First and last id of each run; the list is padded with its last run. */
static void list_ranges(const struct id_statement *statement, struct db_param *params, size_t size)
{
	const uint64_t *ids = statement->ids;
	size_t first = 0;
	size_t used = 0;

	for (size_t i = 0; i < statement->count; i++) {
		if (i + 1 < statement->count && ids[i + 1] == ids[i] + 1)
			continue;
		params[used++] = db_uint(ids[first]);
		params[used++] = db_uint(ids[i]);
		first = i + 1;
	}
	for (; used < 2 * size; used++)
		params[used] = params[used - 2];
}

/* The list is padded with its last id. */
static void list_ids(const struct id_statement *statement, struct db_param *params, size_t size)
{
	for (size_t i = 0; i < size; i++)
		params[i] =
			db_uint(statement->ids[i < statement->count ? i : statement->count - 1]);
}

/* The text of the statement, and its values, which the caller frees. */
static const char *write_statement(struct db *db, const struct id_statement *statement,
	struct db_param **params_out, size_t *count_out)
{
	size_t before = statement->before_count;
	size_t range_count = statement->column == NULL ? RANGE_MAX + 1 : count_ranges(statement);
	bool is_ranges = range_count <= RANGE_MAX;
	const struct db_condition condition = { statement->head,
		statement->column == NULL ? "" : statement->column, statement->tail, is_ranges };
	size_t size = db_list_size(is_ranges ? range_count : statement->count);
	size_t middle = is_ranges ? 2 * size : size;
	size_t count = before + middle + statement->after_count;
	struct db_param *params = memory_allocate_array(count, sizeof(*params));

	REQUIRE(statement->count > 0);
	copy_params(params, statement->before, before);
	if (is_ranges)
		list_ranges(statement, params + before, size);
	else
		list_ids(statement, params + before, size);
	copy_params(params + before + middle, statement->after, statement->after_count);
	*params_out = params;
	*count_out = count;
	return db_condition_sql(db, &condition, size);
}

enum result id_list_execute(struct db *db, const struct id_statement *statement,
	uint64_t *changed_out, struct error *error)
{
	struct db_param *params = NULL;
	size_t count = 0;
	const char *sql = write_statement(db, statement, &params, &count);
	enum result result = db_execute(db, sql, params, count, changed_out, error);

	free(params);
	return result;
}

enum result id_list_query(struct db *db, const struct id_statement *statement,
	struct db_rows **rows_out, struct error *error)
{
	struct db_param *params = NULL;
	size_t count = 0;
	const char *sql = write_statement(db, statement, &params, &count);
	enum result result = db_query(db, sql, params, count, rows_out, error);

	free(params);
	return result;
}
