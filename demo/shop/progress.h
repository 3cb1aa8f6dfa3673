/*
 * progress - what happened so far: one line that is written over on a terminal, else a line now and
 * then; and the totals at the end.
 */
#ifndef DEMO_SHOP_PROGRESS_H
#define DEMO_SHOP_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	uint64_t wanted; /* 0: no end */
	uint64_t inserted;
	uint64_t refused; /* the product service had not enough */
	uint64_t failed;  /* the product service gave no usable answer */
	uint64_t to_pay;  /* inserted, not yet paid */
	uint64_t paid;
	uint64_t too_late;
	uint64_t start_ms;
	uint64_t next_ms; /* of the next line */
	bool has_terminal;
};

void progress_start(struct progress *progress, uint64_t wanted);
/* To standard error, when it is time. */
void progress_show(struct progress *progress);
/* The totals to standard output, one line of key=value. */
void progress_finish(struct progress *progress, const char *prefix);

#endif
