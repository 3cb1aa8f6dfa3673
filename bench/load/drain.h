/*
 * drain - a consumer that only acks: what the broker can deliver on this machine at all.
 */
#ifndef BENCH_LOAD_DRAIN_H
#define BENCH_LOAD_DRAIN_H

#include <stdint.h>

#include "common/base/result.h"

struct load_settings;

struct drain_report {
	uint64_t start_ms; /* of the first delivery, milliseconds since 1970 */
	uint64_t end_ms;   /* of the last ack */
	uint64_t count;
};

struct drain_request {
	uint16_t prefetch;
	uint64_t ack_every;
};

/* Until nothing has come for a second.  Acks as lapse-consumer does, after each batch. */
MUST_USE enum result drain_queue(const struct load_settings *settings,
	const struct drain_request *request, struct drain_report *report, struct error *error);

#endif
