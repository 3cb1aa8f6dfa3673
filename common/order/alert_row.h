/*
 * alert_row - one row of t_alert as delivery, console and lapsectl read it.
 */
#ifndef COMMON_ORDER_ALERT_ROW_H
#define COMMON_ORDER_ALERT_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/order/alert.h"

struct db_rows;

enum {
	ALERT_REF_SIZE = 128 + 1,
	ALERT_TASK_KIND_SIZE = 24,
	ALERT_TARGETS_SIZE = 2048,
	ALERT_TIME_SIZE = 32,
	ALERT_ORDER_SIZE = 65,
};

struct alert_row {
	uint64_t id;
	enum alert_kind kind;
	enum alert_severity severity;
	enum alert_delivery_state delivery;
	bool is_resolved;
	bool is_silenced; /* now, and firing */
	char ref[ALERT_REF_SIZE];
	char order_no[ALERT_ORDER_SIZE];
	char task_kind[ALERT_TASK_KIND_SIZE];
	char summary[ALERT_TEXT_SIZE];
	char description[ALERT_TEXT_SIZE];
	char fired_at[ALERT_TIME_SIZE];       /* ISO 8601 with Z, as all times */
	char resolved_at[ALERT_TIME_SIZE];    /* "" when not */
	char silenced_until[ALERT_TIME_SIZE]; /* "" when never */
	uint64_t age_s;                       /* since it fired, or how long it did */
	uint32_t fired_count;                 /* how often the row was opened */
	uint32_t repeat_count;                /* raised again since the last message was begun */
	uint32_t calls;
	uint32_t attempts;                /* messages begun since it fired or was resolved */
	char targets[ALERT_TARGETS_SIZE]; /* JSON, "" when there is none */
};

/*
 * Of rows that we know what to make of and that any statement can change.  A session that checks
 * nothing can write others; they are passed over, so that they keep nobody else's alerts.
 */
#define ALERT_IS_SOUND                                                                       \
	"(kind <> '' AND severity <> '' AND JSON_VALID(labels) AND JSON_VALID(annotations) " \
	"AND (targets IS NULL OR JSON_VALID(targets)))"

/* The columns of a SELECT from t_alert, in the order alert_row_read knows; more may follow. */
#define ALERT_ROW_COLUMNS                                                            \
	"id, kind, severity, delivery_state, state = 'RESOLVED', "                   \
	"state = 'FIRING' AND COALESCE(silenced_until > UTC_TIMESTAMP(3), 0), ref, " \
	"IF(LENGTH(labels) > 8192, NULL, labels), "                                  \
	"IF(LENGTH(annotations) > 8192, NULL, annotations), "                        \
	"DATE_FORMAT(fired_at, '%Y-%m-%dT%H:%i:%s.%f'), "                            \
	"DATE_FORMAT(resolved_at, '%Y-%m-%dT%H:%i:%s.%f'), "                         \
	"DATE_FORMAT(silenced_until, '%Y-%m-%dT%H:%i:%s.%f'), "                      \
	"GREATEST(TIMESTAMPDIFF(SECOND, fired_at, IF(state = 'RESOLVED', "           \
	"COALESCE(resolved_at, fired_at), UTC_TIMESTAMP(3))), 0), "                  \
	"fired_count, repeat_count, attempts, "                                      \
	"IF(LENGTH(targets) > 2047, NULL, targets) "
enum {
	ALERT_ROW_COLUMN_COUNT = 17
};
/* "2026-01-31T10:21:03.120000" of a column into "2026-01-31T10:21:03.120Z"; "" for NULL. */
void alert_row_copy_time(const struct db_rows *rows, size_t column, char time[ALERT_TIME_SIZE]);
/* Labels and annotations were written by whoever raised it: what is missing stays "". */
void alert_row_read(const struct db_rows *rows, struct alert_row *row);

#endif
