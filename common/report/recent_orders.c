#include "common/report/recent_orders.h"

#include "common/base/clock.h"
#include "common/base/text.h"
#include "common/io/db.h"
#include "common/report/listing_time.h"

enum {
	HALVING_SQL_SIZE = 256
};

static enum result find_last(struct db *db, uint64_t *id_out, struct error *error)
{
	struct db_rows *rows = NULL;
	enum result result =
		db_query(db, "SELECT COALESCE(MAX(id), 0) FROM t_order", NULL, 0, &rows, error);

	*id_out = db_rows_next(rows) ? db_rows_uint(rows, 0) : 0;
	db_rows_destroy(&rows);
	return result;
}

/* Is the first order behind id too old? */
static enum result look_behind(
	struct db *db, uint64_t age_ms, uint64_t id, bool *is_older_out, struct error *error)
{
	const struct db_param params[] = { db_uint(age_ms * 1000), db_uint(id) };
	struct db_rows *rows = NULL;
	char sql[HALVING_SQL_SIZE];

	REQUIRE(text_format(sql, sizeof(sql),
		"%s" LISTING_TIME_SELECT "created_at < UTC_TIMESTAMP(3) - INTERVAL ? MICROSECOND "
		"FROM t_order FORCE INDEX (PRIMARY) WHERE id > ? ORDER BY id LIMIT 1",
		listing_time_start(db)));
	enum result result = db_query(db, sql, params, ARRAY_LENGTH(params), &rows, error);

	*is_older_out = db_rows_next(rows) && db_rows_uint(rows, 0) != 0;
	db_rows_destroy(&rows);
	return result == RESULT_NONE ? RESULT_OK : result;
}

enum result recent_orders_find(
	struct db *db, uint64_t age_ms, uint64_t limit_ms, uint64_t *id_out, struct error *error)
{
	uint64_t start_ms = clock_now_ms();
	uint64_t low = 0;
	uint64_t high = 0;
	enum result result = find_last(db, &high, error);

	while (result == RESULT_OK && high > low + 1) {
		uint64_t middle = low + (high - low) / 2;
		bool is_older = false;

		result = look_behind(db, age_ms, middle, &is_older, error);
		if (is_older)
			low = middle;
		else
			high = middle;
		if (result == RESULT_OK && clock_now_ms() - start_ms > limit_ms)
			result = error_set(RESULT_TEMPORARY, error, "the server is too slow");
	}
	*id_out = low;
	return error_context(result, error, "find the orders of the last hours");
}
