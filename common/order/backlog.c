#include "common/order/backlog.h"

#include <string.h>

#include "common/base/text.h"
#include "common/io/db.h"

/* BACKLOG_COUNT_MAX + 1 as it stands in SQL. */
#define COUNT_LIMIT "LIMIT 1000001"
#define OLDEST_MS   "COALESCE(TIMESTAMPDIFF(MICROSECOND, MIN(since), UTC_TIMESTAMP(3)) DIV 1000, 0)"

/* Ages of a clock that went back are 0. */
static struct backlog_pile read_pile(const struct db_rows *rows, size_t column)
{
	int64_t age_ms = db_rows_int(rows, column + 1);

	return (struct backlog_pile){ db_rows_uint(rows, column),
		age_ms > 0 ? (uint64_t)age_ms : 0 };
}

enum result backlog_read_tasks(struct db *db,
	struct backlog_pile tasks_out[BACKLOG_KINDS][BACKLOG_STATUSES], struct error *error)
{
	/* next_retry_at of a DEAD one is when it died. */
	static const char sql[] =
		"SELECT CAST(kind AS CHAR), CAST(status AS CHAR), COUNT(*), " OLDEST_MS
		" FROM (SELECT kind, status, "
		"IF(status = 'DEAD', next_retry_at, created_at) AS since FROM t_compensation "
		"WHERE status IN ('PENDING', 'RUNNING', 'DEAD') " COUNT_LIMIT ") open "
		"GROUP BY kind, status LIMIT 100";
	struct db_rows *rows = NULL;
	enum result result = db_query(db, sql, NULL, 0, &rows, error);

	memset(tasks_out, 0, sizeof(*tasks_out) * BACKLOG_KINDS);
	while (result == RESULT_OK && db_rows_next(rows)) {
		size_t kind = text_find(compensation_kind_names, db_rows_text(rows, 0, NULL));
		size_t status = text_find(compensation_status_names, db_rows_text(rows, 1, NULL));

		/* A newer schema may know more. */
		if (kind < BACKLOG_KINDS && status < BACKLOG_STATUSES)
			tasks_out[kind][status] = read_pile(rows, 2);
	}
	db_rows_destroy(&rows);
	return result == RESULT_NONE ? RESULT_OK : result;
}

#define SILENCED    "COALESCE(silenced_until > UTC_TIMESTAMP(3), 0)"
#define UNDELIVERED "delivery_state <> 'SENT' AND NOT " SILENCED

enum result backlog_read_alerts(
	struct db *db, struct backlog_alerts *alerts_out, struct error *error)
{
	static const char sql[] =
		"SELECT CAST(COALESCE(SUM(is_firing), 0) AS SIGNED), "
		"CAST(COALESCE(SUM(is_firing AND is_silenced), 0) AS SIGNED), "
		"CAST(COALESCE(SUM(is_given_up), 0) AS SIGNED), "
		"CAST(COALESCE(SUM(is_undelivered), 0) AS SIGNED), " OLDEST_MS
		" FROM (SELECT state = 'FIRING' AS is_firing, " SILENCED " AS is_silenced, "
		"delivery_state = 'FAILED' AS is_given_up, " UNDELIVERED " AS is_undelivered, "
		"IF(" UNDELIVERED ", COALESCE(resolved_at, fired_at), NULL) AS since FROM t_alert "
		"WHERE state = 'FIRING' OR delivery_state <> 'SENT' " COUNT_LIMIT ") open";
	struct db_rows *rows = NULL;
	enum result result = db_query(db, sql, NULL, 0, &rows, error);

	*alerts_out = (struct backlog_alerts){ .firing = 0 };
	if (result == RESULT_OK && db_rows_next(rows)) {
		alerts_out->firing = db_rows_uint(rows, 0);
		alerts_out->silenced = db_rows_uint(rows, 1);
		alerts_out->given_up = db_rows_uint(rows, 2);
		alerts_out->undelivered = read_pile(rows, 3);
	}
	db_rows_destroy(&rows);
	return result == RESULT_NONE ? RESULT_OK : result;
}
