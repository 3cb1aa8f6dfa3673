/*
 * invariant - the promises, checked by SQL: what must never be found in the tables.
 *
 * Every check is one statement per range of ids, so that it sees one state of the tables and none
 * is long.  Nothing is changed.
 */
#ifndef COMMON_ORDER_INVARIANT_H
#define COMMON_ORDER_INVARIANT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/result.h"

struct db;

enum invariant {
	INVARIANT_CLOSED_EARLY,
	INVARIANT_PAID_LATE,
	INVARIANT_OVERDUE,
	INVARIANT_CLOSE_EVENT,
	INVARIANT_RESTORE_TASK,
	INVARIANT_TOO_MANY_CALLS,
	INVARIANT_DEAD_WITHOUT_ALERT,
	INVARIANT_REFUND_TASK,
	INVARIANT_LEASE_STUCK,
	INVARIANT_OUTBOX_STALE,
};

enum {
	INVARIANT_COUNT = INVARIANT_OUTBOX_STALE + 1,
	INVARIANT_EXAMPLE_MAX = 20,
	INVARIANT_REF_SIZE = 128,
	INVARIANT_DETAIL_SIZE = 256,
};

struct invariant_info {
	const char *name;    /* "closed_early" */
	const char *promise; /* "P1" */
	const char *help;    /* what holds when nothing is found */
};

/* In the order of the enum. */
extern const struct invariant_info invariant_infos[INVARIANT_COUNT];

struct invariant_limits {
	uint64_t since_ms;     /* how far back; what is still open is looked at whatever its age */
	uint64_t retention_ms; /* housekeeping may have taken what is settled longer than this */
	uint64_t overdue_ms;   /* how long an unpaid order may stay past its deadline */
	uint64_t stale_ms;     /* how long a lease may be over, or a row wait, untouched */
};

struct invariant_example {
	char ref[INVARIANT_REF_SIZE]; /* order number, task id or outbox id */
	char detail[INVARIANT_DETAIL_SIZE];
};

struct invariant_finding {
	uint64_t count;
	bool is_more; /* there are more than count */
	size_t example_count;
	struct invariant_example examples[INVARIANT_EXAMPLE_MAX];
};

struct invariant_report {
	struct invariant_finding findings[INVARIANT_COUNT];
	uint64_t rows; /* ids that were in the ranges looked at, of all tables */
};

/* Told before each statement: table is what is walked, share is 0 to 100 of its ids. */
struct invariant_progress {
	void (*tell)(void *context, const char *table, unsigned int share);
	void *context;
};

/*
 * Adds what it finds to report, which is all zero before.  progress may be NULL.  A failure leaves
 * the report incomplete.
 */
MUST_USE enum result invariant_verify(struct db *db, const struct invariant_limits *limits,
	const struct invariant_progress *progress, struct invariant_report *report,
	struct error *error);

#endif
