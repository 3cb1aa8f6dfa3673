/*
 * breaker - circuit breaker of one target: keeps a dead service from using up everybody's retries.
 *
 * It opens when BREAKER_FAILURES different tasks have failed in a row, no call of the target having
 * worked in between, and at least BREAKER_STRANGERS of them have nothing to do with the others: one
 * SKU that fails alone, or a few tasks, never open it and come to their end by themselves.
 * A failure that only the host can have caused (no connection, no answer in time, 502 to 504) is a
 * stranger to all others.  While it is open nothing is called.  After a pause of 1 s, doubling to
 * 15 s, with jitter, one call at a time is let through; the first one that works closes it.
 *
 * The number of calls at a time starts small and grows with each call that works, so that neither
 * a start in the middle of an outage nor the end of one is a burst.
 */
#ifndef RETRY_BREAKER_H
#define RETRY_BREAKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	BREAKER_FAILURES = 10,
	BREAKER_STRANGERS = 2,
	BREAKER_PAUSE_MS = 1000,
	BREAKER_PAUSE_MAX_MS = 15000,
	BREAKER_MEMORY_MS = 300000, /* failures longer ago are forgotten */
	BREAKER_FIRST_CALLS = 8,    /* at a time, after a start */
	BREAKER_NEXT_CALLS = 2,     /* at a time, after it was open */
};

enum breaker_state {
	BREAKER_STATE_CLOSED,
	BREAKER_STATE_OPEN,
	BREAKER_STATE_PROBING, /* one call at a time */
};

struct breaker_failure {
	uint64_t task_id;
	uint64_t subject; /* failures with the same one may have the same cause */
	bool is_of_host;  /* only the host can have caused it */
	uint64_t at_ms;
};

/* All zero bytes is a closed breaker.  Times are of clock_now_ms. */
struct breaker {
	enum breaker_state state;
	struct breaker_failure failures[BREAKER_FAILURES]; /* the last ones, of different tasks */
	size_t failure_count;
	uint64_t open_until_ms;
	uint32_t openings;       /* in a row */
	size_t call_limit;       /* at a time; 0: BREAKER_FIRST_CALLS */
	uint64_t failed_subject; /* of the last probe that failed, 0: none */
};

/* How many more calls may be started while running are under way; ends an open pause. */
size_t breaker_count_allowed(struct breaker *breaker, size_t running, uint64_t now_ms);
/* Milliseconds until a call may be allowed again; 0 when it is not open. */
uint64_t breaker_wait_ms(const struct breaker *breaker, uint64_t now_ms);

/* Both say whether the state has changed. */
bool breaker_note_success(struct breaker *breaker, uint64_t now_ms);
bool breaker_note_failure(struct breaker *breaker, const struct breaker_failure *failure);

#endif
