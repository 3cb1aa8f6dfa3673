/*
 * producer - takes new outbox rows and publishes them with publisher confirms: timeouts with a
 * delay, events at once.
 *
 * Claim, publish, confirm, mark: a crash anywhere means a second message, never a missing one.
 */
#ifndef PRODUCER_PRODUCER_H
#define PRODUCER_PRODUCER_H

#include "common/base/result.h"
#include "common/service/service.h"
#include "producer/settings.h"

struct producer;

extern const struct service_program producer_program;

/* Borrows settings, which must live longer. */
void producer_create(const struct producer_settings *settings, struct producer **producer_out);
void producer_destroy(struct producer **producer);

/* Claims and publishes up to one batch, takes confirms, settles; waits at most a second. */
enum result producer_step(void *context, struct error *error);

#endif
