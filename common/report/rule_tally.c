#include "common/report/rule_tally.h"

#include <stdlib.h>

#include "common/base/memory.h"
#include "common/base/settings.h"
#include "common/base/text.h"
#include "common/io/db.h"
#include "common/report/listing_time.h"
#include "common/report/recent_orders.h"

enum {
	FIND_LIMIT_MS = 1000,
	COUNT_MAX = 20000, /* rules that decided anything in a day */
	TALLY_SQL_SIZE = 512,
};

struct rule_count {
	uint64_t rule_id;
	uint64_t count;
};

struct rule_tally {
	struct rule_count *counts; /* by rule_id */
	size_t count;
	bool is_known;
};

static enum result count(struct db *db, uint64_t first, struct db_rows **rows, struct error *error)
{
	const struct db_param params[] = { db_uint(first), db_uint(DAYS(1) * 1000),
		db_uint(COUNT_MAX + 1) };
	char sql[TALLY_SQL_SIZE];

	REQUIRE(text_format(sql, sizeof(sql),
		"%s" LISTING_TIME_SELECT "rule_id, COUNT(*) FROM t_order FORCE INDEX (PRIMARY) "
		"WHERE id > ? AND created_at >= UTC_TIMESTAMP(3) - INTERVAL ? MICROSECOND "
		"AND rule_id IS NOT NULL GROUP BY rule_id ORDER BY rule_id LIMIT ?",
		listing_time_start(db)));
	enum result result = db_query(db, sql, params, ARRAY_LENGTH(params), rows, error);

	return result == RESULT_NONE ? RESULT_OK : result;
}

static void take(struct rule_tally *tally, struct db_rows *rows)
{
	tally->is_known = db_rows_count(rows) <= COUNT_MAX;
	tally->counts = memory_allocate_array(db_rows_count(rows), sizeof(*tally->counts));
	while (db_rows_next(rows))
		tally->counts[tally->count++] =
			(struct rule_count){ db_rows_uint(rows, 0), db_rows_uint(rows, 1) };
}

enum result rule_tally_read(struct db *db, struct rule_tally **tally_out, struct error *error)
{
	struct rule_tally *tally = memory_allocate(sizeof(*tally));
	struct db_rows *rows = NULL;
	uint64_t first = 0;
	enum result result = recent_orders_find(db, DAYS(1), FIND_LIMIT_MS, &first, error);

	if (result == RESULT_OK)
		result = count(db, first, &rows, error);
	if (result == RESULT_OK)
		take(tally, rows);
	db_rows_destroy(&rows);
	/* As long as the server is there, the rest of a page can be shown. */
	if (result != RESULT_OK && db_is_connected(db))
		result = RESULT_OK;
	if (result != RESULT_OK)
		rule_tally_destroy(&tally);
	*tally_out = tally;
	return result;
}

void rule_tally_destroy(struct rule_tally **tally)
{
	if (*tally == NULL)
		return;
	free((*tally)->counts);
	free(*tally);
	*tally = NULL;
}

static int compare(const void *key, const void *element)
{
	const uint64_t *rule_id = key;
	const struct rule_count *entry = element;

	return (*rule_id > entry->rule_id) - (*rule_id < entry->rule_id);
}

bool rule_tally_find(const struct rule_tally *tally, uint64_t rule_id, uint64_t *count_out)
{
	const struct rule_count *found = NULL;

	if (tally->count > 0)
		found = bsearch(
			&rule_id, tally->counts, tally->count, sizeof(*tally->counts), compare);
	*count_out = found == NULL ? 0 : found->count;
	return tally->is_known;
}
