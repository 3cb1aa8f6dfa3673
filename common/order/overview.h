/*
 * overview - the figures an operator looks at first, read from the tables.
 *
 * Every statement is bounded: a count ends at OVERVIEW_COUNT_MAX, a percentile looks at the newest
 * OVERVIEW_CLOSE_MAX closes.  Ages are computed by MySQL's clock.
 */
#ifndef COMMON_ORDER_OVERVIEW_H
#define COMMON_ORDER_OVERVIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/result.h"
#include "common/order/backlog.h"

struct db;

enum {
	OVERVIEW_COUNT_MAX = 1000000, /* a count that reads more stands for "or more" */
	OVERVIEW_CLOSE_MAX = 100000,
	OVERVIEW_TIME_SIZE = 32,
};

struct overview_limits {
	uint64_t overdue_grace_ms; /* an order later than this is overdue */
	uint64_t close_window_ms;  /* closes of this last while */
};

struct overview {
	char time[OVERVIEW_TIME_SIZE]; /* ISO 8601 with Z, by the server's clock */

	uint64_t orders_waiting; /* unpaid, deadline ahead */
	uint64_t orders_overdue;
	uint64_t overdue_oldest_ms; /* 0: none is overdue, as below */

	uint64_t closes;       /* by timeout */
	uint64_t closes_swept; /* of them: found by a sweep */
	bool is_close_cut;     /* only the newest were looked at */
	int64_t lag_p50_ms;    /* close_time - expire_time, nearest rank */
	int64_t lag_p99_ms;

	uint64_t outbox_due;
	uint64_t outbox_oldest_ms; /* since it was due */
	uint64_t outbox_waiting;   /* available later: deadline beyond the horizon, or put off */
	uint64_t outbox_failed;

	/* Of PENDING, RUNNING and DEAD only. */
	struct backlog_pile tasks[BACKLOG_KINDS][BACKLOG_STATUSES];
	struct backlog_alerts alerts;
};

/* Several statements, not one moment.  Fills all of overview, or fails. */
MUST_USE enum result overview_read(struct db *db, const struct overview_limits *limits,
	struct overview *overview, struct error *error);

#endif
