/*
 * invariant_query - the statements behind invariant, by table: what each walks and what it asks.
 */
#ifndef COMMON_ORDER_INVARIANT_QUERY_H
#define COMMON_ORDER_INVARIANT_QUERY_H

#include <stddef.h>

#include "common/order/invariant.h"

enum invariant_walk {
	INVARIANT_WALK_ORDERS,     /* created since; parameters: low id, high id */
	INVARIANT_WALK_OLD_CLOSES, /* created before, closed since; low time, high time, last id */
	INVARIANT_WALK_TASKS,      /* low id, high id, as the next ones */
	INVARIANT_WALK_OUTBOX,
	INVARIANT_WALK_PAYMENTS,
	INVARIANT_WALK_OPEN_TASKS, /* created before, not done; last id */
	INVARIANT_WALK_ONCE,       /* none */
};

enum {
	INVARIANT_WALK_COUNT = INVARIANT_WALK_ONCE + 1,
	INVARIANT_QUERY_ROW_MAX = 1000, /* the LIMIT of every statement */
};

/* One more parameter behind those of the walk, in microseconds. */
enum invariant_time {
	INVARIANT_TIME_NONE,
	INVARIANT_TIME_RETENTION,
	INVARIANT_TIME_OVERDUE,
	INVARIANT_TIME_STALE,
};

/*
 * The text is head, the condition of the walk, tail.  It gives the reference and the words of each
 * row that breaks the promise.
 */
struct invariant_query {
	enum invariant check;
	enum invariant_time time;
	const enum invariant_walk *walks; /* ended by INVARIANT_WALK_COUNT */
	const char *head;
	const char *tail;
};

extern const struct invariant_query invariant_queries[];
extern const size_t invariant_query_count;

/* The condition of a walk. */
const char *invariant_query_range(enum invariant_walk walk);

#endif
