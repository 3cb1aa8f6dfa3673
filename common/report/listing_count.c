#include "common/report/listing_count.h"

#include "common/base/text.h"
#include "common/io/db.h"
#include "common/report/listing_place.h"
#include "common/report/listing_time.h"

enum {
	COUNT_SQL_SIZE = 8192
};

static const char head[] =
	LISTING_TIME_SELECT "COUNT(*), COALESCE(MAX(k.id), 0), " LISTING_TIME("UTC_TIMESTAMP(3)");

enum result listing_count(struct db *db, const struct listing_kind *kind,
	const struct listing_request *request, uint64_t bound, struct listing_count *count_out,
	struct error *error)
{
	struct db_param params[LISTING_PARAM_MAX];
	struct listing_query query;
	struct db_rows *rows = NULL;
	char choice[LISTING_CHOICE_SIZE];
	char sql[COUNT_SQL_SIZE];
	enum result result = listing_query_read(kind, request, &query, error);

	*count_out = (struct listing_count){ .count = 0 };
	if (result != RESULT_OK)
		return result;
	if (query.stage_count != 1)
		return error_set(RESULT_PERMANENT, error,
			"%s are counted by a filter that names one state", kind->name);
	size_t count = listing_place_choose(&query, 0, choice, params);
	params[count++] = db_uint(bound + 1);
	REQUIRE(text_format(
		sql, sizeof(sql), "%s%s FROM (%s) k", listing_time_start(db), head, choice));
	result = listing_time_explain(
		db, db_query(db, sql, params, count, &rows, error), kind->name, error);
	if (db_rows_next(rows)) {
		count_out->is_more = db_rows_uint(rows, 0) > bound;
		count_out->count = count_out->is_more ? bound : db_rows_uint(rows, 0);
		count_out->highest_id = db_rows_uint(rows, 1);
		(void)text_copy(count_out->at, sizeof(count_out->at), db_rows_text(rows, 2, NULL));
	}
	db_rows_destroy(&rows);
	return result;
}
