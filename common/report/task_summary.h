/*
 * task_summary - a selection of tasks in a few words, before somebody acts on it: how many of which
 * kind, and how old the oldest is.
 */
#ifndef COMMON_REPORT_TASK_SUMMARY_H
#define COMMON_REPORT_TASK_SUMMARY_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/result.h"

struct db;

enum {
	TASK_SUMMARY_KINDS_SIZE = 128,
	TASK_SUMMARY_TIME_SIZE = 32,
};

struct task_summary {
	char kinds[TASK_SUMMARY_KINDS_SIZE];    /* "REFUND 1, STOCK_RESTORE 2"; "": none is there */
	char oldest_at[TASK_SUMMARY_TIME_SIZE]; /* ISO 8601 with Z */
	uint64_t oldest_age_s;                  /* by MySQL's clock */
};

/* One statement; ids: at least one. */
MUST_USE enum result task_summary_read(struct db *db, const uint64_t *ids, size_t count,
	struct task_summary *summary_out, struct error *error);

#endif
