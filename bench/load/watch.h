/*
 * watch - follows daemons at work: until their counters reach a sum, with CPU time and memory.
 */
#ifndef BENCH_LOAD_WATCH_H
#define BENCH_LOAD_WATCH_H

#include <stdint.h>
#include <sys/types.h>

#include "common/base/result.h"

enum {
	WATCH_PORT_MAX = 16,
	WATCH_PROCESS_MAX = 16,
	WATCH_NAME_SIZE = 32,
};

struct watch_process {
	char name[WATCH_NAME_SIZE];
	pid_t pid;
	uint64_t cpu_start_ms;
	uint64_t cpu_end_ms;
	uint64_t resident_early_kib; /* when a tenth of the work was done */
	uint64_t resident_last_kib;  /* when all of it was done */
	uint64_t resident_peak_kib;
};

struct watch {
	const char *metric;             /* a line of /metrics up to its value, or its beginning */
	uint16_t ports[WATCH_PORT_MAX]; /* ops ports on loopback; one may not listen yet */
	int port_count;
	uint64_t count;         /* the sum to wait for */
	uint64_t time_limit_ms; /* without any progress */
	struct watch_process processes[WATCH_PROCESS_MAX];
	int process_count;
	uint64_t start_ms; /* milliseconds since 1970; the last look at which nothing was done */
	uint64_t end_ms;   /* the first look at which all was done */
	uint64_t done;
};

/* TEMPORARY: no progress for too long; done says how far it got. */
MUST_USE enum result watch_run(struct watch *watch, struct error *error);

#endif
