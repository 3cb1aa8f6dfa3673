/*
 * backlog - tasks that are open and alerts that fire or are not delivered: how many, and how old.
 *
 * lapsectl, the console and the metrics show the same, because they all ask here.
 */
#ifndef COMMON_ORDER_BACKLOG_H
#define COMMON_ORDER_BACKLOG_H

#include <stdint.h>

#include "common/base/result.h"
#include "common/order/compensation.h"

struct db;

enum {
	BACKLOG_COUNT_MAX = 1000000, /* of rows looked at; a count that reads more: "or more" */
	BACKLOG_KINDS = COMPENSATION_KIND_WEBHOOK + 1,
	BACKLOG_STATUSES = COMPENSATION_STATUS_RESOLVED + 1,
};

struct backlog_pile {
	uint64_t count;
	uint64_t oldest_ms; /* 0: there is none */
};

struct backlog_alerts {
	uint64_t firing; /* silenced ones, too */
	uint64_t silenced;
	uint64_t given_up; /* messages */
	struct backlog_pile
		undelivered; /* not silenced; those given up, too; since it last changed */
};

/* One statement: PENDING and RUNNING since created, DEAD since it died; all others are 0. */
MUST_USE enum result backlog_read_tasks(struct db *db,
	struct backlog_pile tasks_out[BACKLOG_KINDS][BACKLOG_STATUSES], struct error *error);
/* One statement. */
MUST_USE enum result backlog_read_alerts(
	struct db *db, struct backlog_alerts *alerts_out, struct error *error);

#endif
