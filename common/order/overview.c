#include "common/order/overview.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/db.h"

/* OVERVIEW_COUNT_MAX + 1 and OVERVIEW_CLOSE_MAX + 1 as they stand in SQL. */
#define COUNT_LIMIT "1000001"
#define CLOSE_LIMIT "100001"

/* How many rows there are, without looking at more than the limit. */
#define BOUNDED_COUNT(rows) "SELECT COUNT(*) FROM (SELECT 1 FROM " rows " LIMIT " COUNT_LIMIT ") r"
#define AGE_MS(column)      "TIMESTAMPDIFF(MICROSECOND, " column ", UTC_TIMESTAMP(3)) DIV 1000"

static const char waiting_sql[] =
	BOUNDED_COUNT("t_order WHERE status = 'UNPAID' AND expire_time > UTC_TIMESTAMP(3)");
static const char overdue_sql[] =
	BOUNDED_COUNT("t_order WHERE status = 'UNPAID' "
		      "AND expire_time < UTC_TIMESTAMP(3) - INTERVAL ? MICROSECOND");
static const char overdue_oldest_sql[] = "SELECT " AGE_MS(
	"expire_time") " FROM t_order WHERE status = 'UNPAID' "
		       "AND expire_time < UTC_TIMESTAMP(3) - INTERVAL ? MICROSECOND "
		       "ORDER BY expire_time LIMIT 1";
static const char outbox_due_sql[] =
	BOUNDED_COUNT("t_outbox_event WHERE status = 'NEW' AND available_at <= UTC_TIMESTAMP(3)");
static const char outbox_oldest_sql[] =
	"SELECT " AGE_MS("available_at") " FROM t_outbox_event WHERE status = 'NEW' "
					 "AND available_at <= UTC_TIMESTAMP(3) "
					 "ORDER BY available_at LIMIT 1";
static const char outbox_waiting_sql[] =
	BOUNDED_COUNT("t_outbox_event WHERE status = 'NEW' AND available_at > UTC_TIMESTAMP(3)");
static const char outbox_failed_sql[] = BOUNDED_COUNT("t_outbox_event WHERE status = 'FAILED'");

static enum result read_number(struct db *db, const char *sql, const uint64_t *param_us,
	uint64_t *number_out, struct error *error)
{
	const struct db_param param = db_uint(param_us == NULL ? 0 : *param_us);
	struct db_rows *rows = NULL;
	enum result result = db_query(db, sql, &param, param_us == NULL ? 0 : 1, &rows, error);

	*number_out = 0;
	if (result == RESULT_OK && db_rows_next(rows) && db_rows_int(rows, 0) > 0)
		*number_out = db_rows_uint(rows, 0);
	db_rows_destroy(&rows);
	return result == RESULT_NONE ? RESULT_OK : result;
}

static enum result read_time(struct db *db, struct overview *overview, struct error *error)
{
	struct db_rows *rows = NULL;
	enum result result = db_query(db,
		"SELECT CONCAT(LEFT(DATE_FORMAT(UTC_TIMESTAMP(3), "
		"'%Y-%m-%dT%H:%i:%s.%f'), 23), 'Z')",
		NULL, 0, &rows, error);

	if (result == RESULT_OK && db_rows_next(rows))
		(void)text_copy(
			overview->time, sizeof(overview->time), db_rows_text(rows, 0, NULL));
	db_rows_destroy(&rows);
	return result;
}

static enum result read_numbers(struct db *db, const struct overview_limits *limits,
	struct overview *overview, struct error *error)
{
	const uint64_t grace_us = limits->overdue_grace_ms * 1000;
	const struct {
		const char *sql;
		const uint64_t *param_us;
		uint64_t *number;
	} figures[] = {
		{ waiting_sql, NULL, &overview->orders_waiting },
		{ overdue_sql, &grace_us, &overview->orders_overdue },
		{ overdue_oldest_sql, &grace_us, &overview->overdue_oldest_ms },
		{ outbox_due_sql, NULL, &overview->outbox_due },
		{ outbox_oldest_sql, NULL, &overview->outbox_oldest_ms },
		{ outbox_waiting_sql, NULL, &overview->outbox_waiting },
		{ outbox_failed_sql, NULL, &overview->outbox_failed },
	};
	enum result result = RESULT_OK;

	for (size_t i = 0; result == RESULT_OK && i < ARRAY_LENGTH(figures); i++)
		result = read_number(
			db, figures[i].sql, figures[i].param_us, figures[i].number, error);
	return result;
}

static int compare_numbers(const void *left, const void *right)
{
	const int64_t *first = left;
	const int64_t *second = right;

	return (*first > *second) - (*first < *second);
}

/* Nearest rank: the smallest value that at least percent of all values do not exceed. */
static int64_t find_percentile(const int64_t *sorted, size_t count, size_t percent)
{
	return count == 0 ? 0 : sorted[(count * percent + 99) / 100 - 1];
}

static void add_closes(struct overview *overview, struct db_rows *rows)
{
	size_t count = db_rows_count(rows);
	size_t filled = 0;

	overview->is_close_cut = count > OVERVIEW_CLOSE_MAX;
	if (overview->is_close_cut)
		count = OVERVIEW_CLOSE_MAX;
	int64_t *lags = memory_allocate_array(count, sizeof(*lags));
	while (filled < count && db_rows_next(rows)) {
		lags[filled++] = db_rows_int(rows, 0);
		overview->closes_swept += db_rows_uint(rows, 1);
	}
	qsort(lags, filled, sizeof(*lags), compare_numbers);
	overview->closes = filled;
	overview->lag_p50_ms = find_percentile(lags, filled, 50);
	overview->lag_p99_ms = find_percentile(lags, filled, 99);
	free(lags);
}

static enum result read_closes(struct db *db, const struct overview_limits *limits,
	struct overview *overview, struct error *error)
{
	static const char sql[] =
		"SELECT TIMESTAMPDIFF(MICROSECOND, expire_time, close_time) DIV 1000, "
		"close_source = 'sweep' FROM t_order FORCE INDEX (idx_close_time) "
		"WHERE close_time >= UTC_TIMESTAMP(3) - INTERVAL ? MICROSECOND "
		"AND close_reason = 'TIMEOUT' "
		"ORDER BY close_time DESC LIMIT " CLOSE_LIMIT;
	const struct db_param params[] = { db_uint(limits->close_window_ms * 1000) };
	struct db_rows *rows = NULL;
	enum result result = db_query(db, sql, params, ARRAY_LENGTH(params), &rows, error);

	if (result == RESULT_OK)
		add_closes(overview, rows);
	db_rows_destroy(&rows);
	return result == RESULT_NONE ? RESULT_OK : result;
}

enum result overview_read(struct db *db, const struct overview_limits *limits,
	struct overview *overview, struct error *error)
{
	*overview = (struct overview){ .time = "" };
	enum result result = read_time(db, overview, error);

	if (result == RESULT_OK)
		result = read_numbers(db, limits, overview, error);
	if (result == RESULT_OK)
		result = read_closes(db, limits, overview, error);
	if (result == RESULT_OK)
		result = backlog_read_tasks(db, overview->tasks, error);
	if (result == RESULT_OK)
		result = backlog_read_alerts(db, &overview->alerts, error);
	return error_context(result, error, "overview");
}
