/*
 * consumer - takes due timeouts in batches and closes the orders; commits before it acks.
 *
 * MySQL away: keeps what it has unacked and waits; after five minutes gives everything back once
 * and subscribes again when MySQL answers.  Broker away: drops everything of the old connection.
 */
#ifndef CONSUMER_CONSUMER_H
#define CONSUMER_CONSUMER_H

#include "common/base/result.h"
#include "common/service/service.h"
#include "consumer/settings.h"

struct consumer;

extern const struct service_program consumer_program;

/* Borrows settings, which must live longer. */
void consumer_create(const struct consumer_settings *settings, struct consumer **consumer_out);
void consumer_destroy(struct consumer **consumer);

/* One batch, or a wait of at most a second for deliveries. */
enum result consumer_step(void *context, struct error *error);

#endif
