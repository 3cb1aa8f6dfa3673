/*
 * api - calls a gateway over many kept connections: as fast as it answers, or at a given rate.
 *
 * Client i has the token bench-<i>, so that the rate limit of one caller does not count.  At a rate
 * the time of a call runs from the moment it should have begun, so that calls which had to wait for
 * a slow one are not forgotten.
 */
#ifndef BENCH_LOAD_API_H
#define BENCH_LOAD_API_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/result.h"

enum {
	API_CLIENT_MAX = 64,
	API_COUNT_MAX = 2000000
};

struct api_plan {
	uint16_t port;
	bool pays;          /* else it creates orders */
	const char *secret; /* of the notices */
	const char *prefix; /* of the orders, which are <prefix>000000001 and on */
	uint64_t count;
	uint64_t rate; /* a second; 0: as fast as it answers */
	int clients;   /* at most API_CLIENT_MAX */
};

struct api_report {
	uint64_t start_ms; /* since 1970, as end_ms */
	uint64_t end_ms;
	uint64_t good;   /* answered 200 or 201 */
	uint32_t *times; /* of all calls in microseconds, ascending; the caller's */
};

/* TEMPORARY: a connection broke. */
MUST_USE enum result api_run(
	const struct api_plan *plan, struct api_report *report, struct error *error);

#endif
