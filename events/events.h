/*
 * events - takes domain events in batches, records them in the inbox with one webhook task for each
 * subscriber, commits, acks.
 *
 * MySQL away: keeps what it has unacked and waits; after five minutes gives everything back once
 * and subscribes again when MySQL answers.  Broker away: drops everything of the old connection.
 * It takes no event before it knows the subscribers.
 */
#ifndef EVENTS_EVENTS_H
#define EVENTS_EVENTS_H

#include "common/base/result.h"
#include "common/service/service.h"
#include "events/settings.h"

struct events;

extern const struct service_program events_program;

/* Borrows settings, which must live longer. */
void events_create(const struct events_settings *settings, struct events **events_out);
void events_destroy(struct events **events);

/* One batch, or a wait of at most a second for deliveries. */
enum result events_step(void *context, struct error *error);

#endif
