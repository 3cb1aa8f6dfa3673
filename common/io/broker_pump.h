/*
 * broker_pump - reads frames until an event is complete, serving heartbeats on the way.
 *
 * A part of broker.  The broker is connected; what cannot go on drops the connection.
 */
#ifndef COMMON_IO_BROKER_PUMP_H
#define COMMON_IO_BROKER_PUMP_H

#include <stdint.h>

#include "common/io/broker_link.h"

/* Writes what was gathered, then waits at most wait_ms.  NONE: nothing came. */
MUST_USE enum result broker_pump(struct broker *broker, uint64_t wait_ms,
	struct broker_event *event_out, struct error *error);
/* Keeps a copy of event for broker_next. */
MUST_USE enum result broker_pump_keep(
	struct broker *broker, const struct broker_event *event, struct error *error);

#endif
