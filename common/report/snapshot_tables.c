#include "common/report/snapshot_tables.h"

#include <stdlib.h>

#include "common/base/memory.h"
#include "common/base/settings.h"
#include "common/base/text.h"
#include "common/io/db.h"
#include "common/order/backlog.h"

/* SNAPSHOT_COUNT_MAX + 1 and SNAPSHOT_CLOSE_MAX as they stand in SQL. */
#define COUNT_LIMIT     "LIMIT 1000001"
#define CLOSE_LIMIT     "LIMIT 100000"
#define AGE_MS(moment)  "TIMESTAMPDIFF(MICROSECOND, " moment ", UTC_TIMESTAMP(3)) DIV 1000"
#define OLDEST_MS(from) "COALESCE(" AGE_MS("MIN(" from ")") ", 0)"
#define OLDEST_DUE_MS   OLDEST_MS("available_at")
#define OLDEST_SINCE_MS OLDEST_MS("since")
#define LATEST_CLOSE_MS AGE_MS("MAX(close_time)")
#define LATEST_SENT_MS  AGE_MS("MAX(sent_at)")

/* NONE, no rows, is OK. */
static enum result ask(struct db *db, const char *sql, const struct db_param *params,
	size_t param_count, struct db_rows **rows_out, struct error *error)
{
	enum result result = db_query(db, sql, params, param_count, rows_out, error);

	return result == RESULT_NONE ? RESULT_OK : result;
}

/* Ages of a clock that went back are 0. */
static uint64_t read_age(const struct db_rows *rows, size_t column)
{
	int64_t age_ms = db_rows_int(rows, column);

	return age_ms > 0 ? (uint64_t)age_ms : 0;
}

static struct snapshot_pile read_pile(const struct db_rows *rows, size_t column)
{
	return (struct snapshot_pile){ db_rows_uint(rows, column), read_age(rows, column + 1) };
}

static enum result read_clock(struct db *db, struct snapshot_figures *figures, struct error *error)
{
	static const char sql[] = "SELECT CONCAT(LEFT(DATE_FORMAT(UTC_TIMESTAMP(3), "
				  "'%Y-%m-%dT%H:%i:%s.%f'), 23), 'Z')";
	struct db_rows *rows = NULL;
	enum result result = ask(db, sql, NULL, 0, &rows, error);

	if (db_rows_next(rows))
		(void)text_copy(figures->time, sizeof(figures->time), db_rows_text(rows, 0, NULL));
	db_rows_destroy(&rows);
	return result;
}

static enum result read_waiting(
	struct db *db, struct snapshot_figures *figures, struct error *error)
{
	static const char sql[] =
		"SELECT COUNT(*) FROM (SELECT 1 FROM t_order "
		"WHERE status = 'UNPAID' AND expire_time > UTC_TIMESTAMP(3) " COUNT_LIMIT ") r";
	struct db_rows *rows = NULL;
	enum result result = ask(db, sql, NULL, 0, &rows, error);

	if (db_rows_next(rows))
		figures->waiting = db_rows_uint(rows, 0);
	db_rows_destroy(&rows);
	return result;
}

static enum result read_overdue(struct db *db, const struct snapshot_limits *limits,
	struct snapshot_figures *figures, struct error *error)
{
	static const char sql[] =
		"SELECT COUNT(*), " OLDEST_SINCE_MS " FROM (SELECT expire_time AS since "
		"FROM t_order WHERE status = 'UNPAID' "
		"AND expire_time < UTC_TIMESTAMP(3) - INTERVAL ? MICROSECOND "
		"ORDER BY expire_time " COUNT_LIMIT ") r";
	const struct db_param params[] = { db_uint(limits->overdue_grace_ms * 1000) };
	struct db_rows *rows = NULL;
	enum result result = ask(db, sql, params, ARRAY_LENGTH(params), &rows, error);

	if (db_rows_next(rows))
		figures->overdue = read_pile(rows, 0);
	db_rows_destroy(&rows);
	return result;
}

/*
 * All windows in one pass over the newest closes: how many closes of each window were at most so
 * late (r15 ...) of how many (t15 ...), and the smallest lateness at which that is half of them, or
 * 99 of 100: the nearest rank.
 */
#define RUNNING(count, running, total) \
	"SUM(" count ") OVER late AS " running ", SUM(" count ") OVER () AS " total
#define WINDOW_FIGURES(running, total)                                                    \
	"CAST(MAX(" running ") AS SIGNED), "                                              \
	"MIN(CASE WHEN " total " > 0 AND " running " * 2 >= " total " THEN lag_ms END), " \
	"MIN(CASE WHEN " total " > 0 AND " running " * 100 >= " total " * 99 THEN lag_ms END)"

static const char lateness_sql[] = "SELECT " WINDOW_FIGURES("r15", "t15") ", " WINDOW_FIGURES(
	"r60", "t60") ", " WINDOW_FIGURES("r24", "t24") ", " WINDOW_FIGURES("rm",
	"tm") " FROM (SELECT lag_ms, " RUNNING("n15", "r15", "t15") ", " RUNNING("n60", "r60",
	"t60") ", " RUNNING("n24", "r24", "t24") ", " RUNNING("nm", "rm",
	"tm") " FROM ("
	      "SELECT lag_ms, SUM(age_s < 900) AS n15, SUM(age_s < 3600) AS n60, COUNT(*) AS n24, "
	      "SUM(age_s < 900 AND is_message) AS nm FROM ("
	      "SELECT TIMESTAMPDIFF(MICROSECOND, expire_time, close_time) DIV 1000 AS lag_ms, "
	      "TIMESTAMPDIFF(SECOND, close_time, UTC_TIMESTAMP(3)) AS age_s, "
	      "close_source = 'message' AS is_message FROM t_order FORCE INDEX (idx_close_time) "
	      "WHERE close_time >= UTC_TIMESTAMP(3) - INTERVAL 1 DAY AND close_reason = 'TIMEOUT' "
	      "ORDER BY close_time DESC " CLOSE_LIMIT ") closes GROUP BY lag_ms) by_lag "
	      "WINDOW late AS (ORDER BY lag_ms ROWS UNBOUNDED PRECEDING)) ranked";

static enum result read_lateness(
	struct db *db, struct snapshot_figures *figures, struct error *error)
{
	struct db_rows *rows = NULL;
	enum result result = ask(db, lateness_sql, NULL, 0, &rows, error);

	if (!db_rows_next(rows))
		goto done;
	bool is_cut = db_rows_uint(rows, (size_t)SNAPSHOT_WINDOW_24_H * 3) >= SNAPSHOT_CLOSE_MAX;
	for (size_t i = 0; i < SNAPSHOT_WINDOW_COUNT; i++) {
		struct snapshot_lateness *window = &figures->lateness[i];

		window->count = db_rows_uint(rows, i * 3);
		window->p50_ms = db_rows_int(rows, i * 3 + 1);
		window->p99_ms = db_rows_int(rows, i * 3 + 2);
		/* A short window is whole although a longer one is not. */
		window->is_cut = is_cut &&
				 (i == SNAPSHOT_WINDOW_24_H || window->count >= SNAPSHOT_CLOSE_MAX);
	}
done:
	db_rows_destroy(&rows);
	return result;
}

static enum result read_sources(
	struct db *db, struct snapshot_figures *figures, struct error *error)
{
	static const char sql[] =
		"SELECT COUNT(*), CAST(COALESCE(SUM(is_sweep), 0) AS SIGNED) FROM ("
		"SELECT close_source = 'sweep' AS is_sweep "
		"FROM t_order FORCE INDEX (idx_close_time) "
		"WHERE close_time >= UTC_TIMESTAMP(3) - INTERVAL 30 MINUTE "
		"AND close_reason = 'TIMEOUT' ORDER BY close_time DESC " CLOSE_LIMIT ") closes";
	struct db_rows *rows = NULL;
	enum result result = ask(db, sql, NULL, 0, &rows, error);

	if (db_rows_next(rows)) {
		figures->timeout_closes = db_rows_uint(rows, 0);
		figures->sweep_closes = db_rows_uint(rows, 1);
	}
	db_rows_destroy(&rows);
	return result;
}

/* A row beyond the horizon is not late: it waits for its time. */
static enum result read_outbox(struct db *db, struct snapshot_figures *figures, struct error *error)
{
	static const char sql[] =
		"SELECT (SELECT COUNT(*) FROM (SELECT 1 FROM t_outbox_event "
		"WHERE status = 'NEW' AND available_at <= UTC_TIMESTAMP(3) " COUNT_LIMIT ") n), "
		"(SELECT " OLDEST_DUE_MS " FROM t_outbox_event "
		"WHERE status = 'NEW' AND available_at <= UTC_TIMESTAMP(3)), "
		"(SELECT COUNT(*) FROM (SELECT 1 FROM t_outbox_event "
		"WHERE status = 'FAILED' " COUNT_LIMIT ") f), "
		"(SELECT " OLDEST_DUE_MS " FROM t_outbox_event WHERE status = 'FAILED')";
	struct db_rows *rows = NULL;
	enum result result = ask(db, sql, NULL, 0, &rows, error);

	if (db_rows_next(rows)) {
		figures->outbox_new = read_pile(rows, 0);
		figures->outbox_failed = read_pile(rows, 2);
	}
	db_rows_destroy(&rows);
	return result;
}

static struct snapshot_pile copy_pile(const struct backlog_pile *pile)
{
	return (struct snapshot_pile){ pile->count, pile->oldest_ms };
}

static enum result read_tasks(struct db *db, struct snapshot_figures *figures, struct error *error)
{
	struct backlog_pile tasks[BACKLOG_KINDS][BACKLOG_STATUSES];
	enum result result = backlog_read_tasks(db, tasks, error);

	for (size_t kind = 0; kind < BACKLOG_KINDS; kind++)
		for (size_t status = 0; status < BACKLOG_STATUSES; status++)
			figures->tasks[kind][status] = copy_pile(&tasks[kind][status]);
	return result;
}

static enum result read_refunds(
	struct db *db, struct snapshot_figures *figures, struct error *error)
{
	static const char sql[] =
		"SELECT CAST(outcome AS CHAR), COUNT(*), " OLDEST_SINCE_MS
		" FROM (SELECT outcome, created_at AS since FROM t_payment "
		"WHERE refund_state IN ('PENDING', 'FAILED') " COUNT_LIMIT ") open "
		"GROUP BY outcome LIMIT 100";
	struct db_rows *rows = NULL;
	enum result result = ask(db, sql, NULL, 0, &rows, error);

	for (size_t i = 0; i < SNAPSHOT_OUTCOMES; i++)
		figures->refunds[i] = (struct snapshot_pile){ .count = 0 };
	while (db_rows_next(rows)) {
		size_t outcome = text_find(payment_outcome_names, db_rows_text(rows, 0, NULL));

		if (outcome < SNAPSHOT_OUTCOMES)
			figures->refunds[outcome] = read_pile(rows, 1);
	}
	db_rows_destroy(&rows);
	return result;
}

static enum result read_alerts(struct db *db, struct snapshot_figures *figures, struct error *error)
{
	struct backlog_alerts alerts;
	enum result result = backlog_read_alerts(db, &alerts, error);

	figures->alerts_firing = alerts.firing;
	figures->alerts_silenced = alerts.silenced;
	figures->alerts_undelivered = copy_pile(&alerts.undelivered);
	return result;
}

static int64_t read_latest_age(const struct db_rows *rows, size_t column)
{
	return db_rows_is_null(rows, column) ? -1 : (int64_t)read_age(rows, column);
}

/* A sweep's close is looked for among the newest closes only. */
static enum result read_latest(struct db *db, struct snapshot_figures *figures, struct error *error)
{
	static const char sql[] =
		"SELECT (SELECT " LATEST_CLOSE_MS " FROM t_order), "
		"(SELECT " LATEST_CLOSE_MS " FROM (SELECT close_time, close_source "
		"FROM t_order FORCE INDEX (idx_close_time) WHERE close_time IS NOT NULL "
		"ORDER BY close_time DESC LIMIT 10000) closes WHERE close_source = 'sweep'), "
		"(SELECT " LATEST_SENT_MS " FROM (SELECT sent_at FROM t_outbox_event "
		"WHERE status = 'SENT' ORDER BY available_at DESC LIMIT 1000) sent)";
	struct db_rows *rows = NULL;
	enum result result = ask(db, sql, NULL, 0, &rows, error);

	if (db_rows_next(rows)) {
		figures->last_close_age_ms = read_latest_age(rows, 0);
		figures->last_sweep_close_age_ms = read_latest_age(rows, 1);
		figures->last_publish_age_ms = read_latest_age(rows, 2);
	}
	db_rows_destroy(&rows);
	return result;
}

static enum result read_invariants(struct db *db, const struct snapshot_limits *limits,
	struct snapshot_figures *figures, struct error *error)
{
	const uint64_t two_sweeps_ms = 2 * limits->sweep_interval_ms;
	const struct invariant_limits all = {
		.since_ms = HOURS(1),
		.retention_ms = limits->retention_ms,
		.overdue_ms = two_sweeps_ms,
		.stale_ms = two_sweeps_ms + limits->lease_ms,
	};
	struct invariant_report *report = memory_allocate(sizeof(*report));
	enum result result = invariant_verify(db, &all, NULL, report, error);

	for (size_t i = 0; i < INVARIANT_COUNT; i++)
		figures->violations[i] = report->findings[i].count;
	free(report);
	return result;
}

enum result snapshot_tables_read(struct db *db, enum snapshot_part part,
	const struct snapshot_limits *limits, struct snapshot_figures *figures, struct error *error)
{
	switch (part) {
	case SNAPSHOT_PART_CLOCK:
		return read_clock(db, figures, error);
	case SNAPSHOT_PART_WAITING:
		return read_waiting(db, figures, error);
	case SNAPSHOT_PART_OVERDUE:
		return read_overdue(db, limits, figures, error);
	case SNAPSHOT_PART_LATENESS:
		return read_lateness(db, figures, error);
	case SNAPSHOT_PART_SOURCES:
		return read_sources(db, figures, error);
	case SNAPSHOT_PART_OUTBOX:
		return read_outbox(db, figures, error);
	case SNAPSHOT_PART_TASKS:
		return read_tasks(db, figures, error);
	case SNAPSHOT_PART_REFUNDS:
		return read_refunds(db, figures, error);
	case SNAPSHOT_PART_ALERTS:
		return read_alerts(db, figures, error);
	case SNAPSHOT_PART_LATEST:
		return read_latest(db, figures, error);
	case SNAPSHOT_PART_INVARIANTS:
		return read_invariants(db, limits, figures, error);
	case SNAPSHOT_PART_QUEUES:
	case SNAPSHOT_PART_UNACKED:
	case SNAPSHOT_PART_COUNT:
		break;
	}
	return error_set(RESULT_PERMANENT, error, "no such part");
}
