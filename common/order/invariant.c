#include "common/order/invariant.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/db.h"
#include "common/order/invariant_query.h"

enum {
	SQL_SIZE = 2048,
	TIME_SIZE = 32,
	PARAM_MAX = 4,
	SMALL_TABLE = 100000,    /* so few ids are looked at whatever their age */
	CLOCK_SLACK_MS = 3600000 /* ids and creation times are not in quite the same order */
};

/* Ids or closes of one statement; the text of the offset must agree. */
#define BATCH_OFFSET "19999"

struct range {
	uint64_t first; /* the id behind which the walk starts */
	uint64_t last;
};

/* What one call knows. */
struct check {
	struct db *db;
	const struct invariant_limits *limits;
	const struct invariant_progress *progress;
	struct invariant_report *report;
	struct range orders;
	struct range tasks;
	char since[TIME_SIZE]; /* by the server's clock */
	char until[TIME_SIZE];
};

static void tell(const struct check *check, const char *table, uint64_t done, uint64_t all)
{
	if (check->progress != NULL)
		check->progress->tell(check->progress->context, table,
			all == 0 ? 100 : (unsigned int)(done * 100 / all));
}

static void add_finding(struct invariant_finding *finding, const struct db_rows *rows)
{
	const char *detail = NULL;
	size_t size = 0;

	finding->count++;
	if (finding->example_count == INVARIANT_EXAMPLE_MAX)
		return;
	struct invariant_example *example = &finding->examples[finding->example_count++];
	(void)text_copy(example->ref, sizeof(example->ref), db_rows_text(rows, 0, NULL));
	detail = db_rows_text(rows, 1, &size);
	(void)text_clip(example->detail, sizeof(example->detail), detail, size);
}

static bool find_time(
	const struct check *check, const struct invariant_query *query, uint64_t *ms_out)
{
	switch (query->time) {
	case INVARIANT_TIME_NONE:
		return false;
	case INVARIANT_TIME_RETENTION:
		*ms_out = check->limits->retention_ms;
		return true;
	case INVARIANT_TIME_OVERDUE:
		*ms_out = check->limits->overdue_ms;
		return true;
	case INVARIANT_TIME_STALE:
		*ms_out = check->limits->stale_ms;
		return true;
	}
	return false;
}

static enum result ask(const struct check *check, const struct invariant_query *query,
	enum invariant_walk walk, struct db_param *params, size_t param_count, struct error *error)
{
	struct invariant_finding *finding = &check->report->findings[query->check];
	char sql[SQL_SIZE];
	struct db_rows *rows = NULL;
	uint64_t ms = 0;

	REQUIRE(text_format(
		sql, sizeof(sql), "%s%s%s", query->head, invariant_query_range(walk), query->tail));
	if (find_time(check, query, &ms))
		params[param_count++] = db_uint(ms * 1000);
	enum result result = db_query(check->db, sql, params, param_count, &rows, error);
	if (result == RESULT_NONE)
		return RESULT_OK;
	finding->is_more = finding->is_more || db_rows_count(rows) == INVARIANT_QUERY_ROW_MAX;
	while (db_rows_next(rows))
		add_finding(finding, rows);
	db_rows_destroy(&rows);
	return error_context(result, error, "%s", invariant_infos[query->check].name);
}

static bool has_walk(const struct invariant_query *query, enum invariant_walk walk)
{
	for (const enum invariant_walk *one = query->walks;
		*one != (enum invariant_walk)INVARIANT_WALK_COUNT; one++)
		if (*one == walk)
			return true;
	return false;
}

/* Every statement of the walk over the same range. */
static enum result ask_all(const struct check *check, enum invariant_walk walk,
	const struct db_param *range, size_t range_count, struct error *error)
{
	enum result result = RESULT_OK;

	for (size_t i = 0; result == RESULT_OK && i < invariant_query_count; i++) {
		struct db_param params[PARAM_MAX];

		if (!has_walk(&invariant_queries[i], walk))
			continue;
		for (size_t place = 0; place < range_count; place++)
			params[place] = range[place];
		result = ask(check, &invariant_queries[i], walk, params, range_count, error);
	}
	return result;
}

/* One row of numbers; NONE gives zeros. */
static enum result read_numbers(struct db *db, const char *sql, const struct db_param *params,
	size_t param_count, uint64_t numbers[2], struct error *error)
{
	struct db_rows *rows = NULL;
	enum result result = db_query(db, sql, params, param_count, &rows, error);

	numbers[0] = 0;
	numbers[1] = 0;
	if (result == RESULT_OK && db_rows_next(rows)) {
		numbers[0] = db_rows_uint(rows, 0);
		numbers[1] = db_rows_uint(rows, 1);
	}
	db_rows_destroy(&rows);
	return result == RESULT_NONE ? RESULT_OK : result;
}

/* The last id whose row, or the one behind it, is older than the limit, by halving. */
static enum result find_first(
	const struct check *check, const char *table, struct range *range, struct error *error)
{
	char sql[SQL_SIZE];
	uint64_t low = range->first;
	uint64_t high = range->last;
	enum result result = RESULT_OK;

	(void)text_format(sql, sizeof(sql),
		"SELECT id, created_at < UTC_TIMESTAMP(3) - INTERVAL ? MICROSECOND "
		"FROM %s WHERE id > ? ORDER BY id LIMIT 1",
		table);
	while (result == RESULT_OK && high - low > 1) {
		uint64_t middle = low + (high - low) / 2;
		const struct db_param params[] = {
			db_uint((check->limits->since_ms + CLOCK_SLACK_MS) * 1000), db_uint(middle)
		};
		uint64_t found[2];

		result = read_numbers(check->db, sql, params, ARRAY_LENGTH(params), found, error);
		if (found[1] != 0)
			low = middle;
		else
			high = middle;
	}
	range->first = low;
	return result;
}

static enum result find_range(
	const struct check *check, const char *table, struct range *range, struct error *error)
{
	char sql[SQL_SIZE];
	uint64_t numbers[2];

	(void)text_format(sql, sizeof(sql),
		"SELECT COALESCE(MIN(id), 0), COALESCE(MAX(id), 0) FROM %s", table);
	enum result result = read_numbers(check->db, sql, NULL, 0, numbers, error);
	*range =
		(struct range){ .first = numbers[0] == 0 ? 0 : numbers[0] - 1, .last = numbers[1] };
	if (result == RESULT_OK && range->last - range->first > SMALL_TABLE)
		result = find_first(check, table, range, error);
	return error_context(result, error, "%s", table);
}

static enum result walk_ids(const struct check *check, enum invariant_walk walk, const char *table,
	const struct range *range, struct error *error)
{
	char sql[SQL_SIZE];
	uint64_t low = range->first;
	enum result result = RESULT_OK;

	(void)text_format(sql, sizeof(sql),
		"SELECT id, 0 FROM %s WHERE id > ? ORDER BY id LIMIT 1 OFFSET " BATCH_OFFSET,
		table);
	while (result == RESULT_OK && low < range->last) {
		const struct db_param from[] = { db_uint(low) };
		uint64_t high[2];

		tell(check, table, low - range->first, range->last - range->first);
		result = read_numbers(check->db, sql, from, ARRAY_LENGTH(from), high, error);
		if (high[0] == 0 || high[0] > range->last)
			high[0] = range->last;
		const struct db_param params[] = { db_uint(low), db_uint(high[0]) };
		if (result == RESULT_OK)
			result = ask_all(check, walk, params, ARRAY_LENGTH(params), error);
		check->report->rows += high[0] - low;
		low = high[0];
	}
	return result;
}

/* The close time some thousand closes later; until when there are not so many. */
static enum result find_next_close(
	const struct check *check, const char *low, char high[TIME_SIZE], struct error *error)
{
	static const char sql[] = "SELECT CAST(close_time AS CHAR) FROM t_order "
				  "WHERE close_time > ? AND close_time <= ? "
				  "ORDER BY close_time LIMIT 1 OFFSET " BATCH_OFFSET;
	const struct db_param params[] = { db_text(low), db_text(check->until) };
	struct db_rows *rows = NULL;
	enum result result = db_query(check->db, sql, params, ARRAY_LENGTH(params), &rows, error);

	(void)text_copy(high, TIME_SIZE, check->until);
	if (result == RESULT_OK && db_rows_next(rows))
		(void)text_copy(high, TIME_SIZE, db_rows_text(rows, 0, NULL));
	db_rows_destroy(&rows);
	return result == RESULT_NONE ? RESULT_OK : result;
}

static enum result walk_old_closes(const struct check *check, struct error *error)
{
	char low[TIME_SIZE];
	char high[TIME_SIZE] = "";
	enum result result = RESULT_OK;

	if (check->orders.first == 0)
		return RESULT_OK; /* all orders were walked */
	(void)text_copy(low, sizeof(low), check->since);
	while (result == RESULT_OK && !text_equals(low, check->until)) {
		tell(check, "t_order by close_time", 0, 1);
		result = find_next_close(check, low, high, error);
		const struct db_param params[] = { db_text(low), db_text(high),
			db_uint(check->orders.first) };
		if (result == RESULT_OK)
			result = ask_all(check, INVARIANT_WALK_OLD_CLOSES, params,
				ARRAY_LENGTH(params), error);
		(void)text_copy(low, sizeof(low), high);
	}
	return result;
}

static enum result read_clock(struct check *check, struct error *error)
{
	static const char sql[] = "SELECT CAST(UTC_TIMESTAMP(3) - INTERVAL ? MICROSECOND AS CHAR), "
				  "CAST(UTC_TIMESTAMP(3) AS CHAR)";
	const struct db_param params[] = { db_uint(check->limits->since_ms * 1000) };
	struct db_rows *rows = NULL;
	enum result result = db_query(check->db, sql, params, ARRAY_LENGTH(params), &rows, error);

	if (result == RESULT_OK && db_rows_next(rows)) {
		(void)text_copy(check->since, sizeof(check->since), db_rows_text(rows, 0, NULL));
		(void)text_copy(check->until, sizeof(check->until), db_rows_text(rows, 1, NULL));
	}
	db_rows_destroy(&rows);
	return result;
}

static enum result walk_table(const struct check *check, enum invariant_walk walk,
	const char *table, struct range *range, struct error *error)
{
	enum result result = find_range(check, table, range, error);

	return result == RESULT_OK ? walk_ids(check, walk, table, range, error) : result;
}

enum result invariant_verify(struct db *db, const struct invariant_limits *limits,
	const struct invariant_progress *progress, struct invariant_report *report,
	struct error *error)
{
	struct check check = { .db = db, .limits = limits, .progress = progress, .report = report };
	struct range range;
	enum result result = read_clock(&check, error);

	if (result == RESULT_OK)
		result = ask_all(&check, INVARIANT_WALK_ONCE, NULL, 0, error);
	if (result == RESULT_OK)
		result = walk_table(&check, INVARIANT_WALK_ORDERS, "t_order", &check.orders, error);
	if (result == RESULT_OK)
		result = walk_old_closes(&check, error);
	if (result == RESULT_OK)
		result = walk_table(
			&check, INVARIANT_WALK_TASKS, "t_compensation", &check.tasks, error);
	const struct db_param last_task[] = { db_uint(check.tasks.first) };
	if (result == RESULT_OK && check.tasks.first > 0)
		result = ask_all(&check, INVARIANT_WALK_OPEN_TASKS, last_task,
			ARRAY_LENGTH(last_task), error);
	if (result == RESULT_OK)
		result = walk_table(&check, INVARIANT_WALK_OUTBOX, "t_outbox_event", &range, error);
	if (result == RESULT_OK)
		result = walk_table(&check, INVARIANT_WALK_PAYMENTS, "t_payment", &range, error);
	return result;
}
