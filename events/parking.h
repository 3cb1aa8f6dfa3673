/*
 * parking - puts deliveries that can never be recorded into lapse.parked, with the reason.
 *
 * The copy is confirmed before the delivery is acked.  When that is not possible only this delivery
 * goes back to the queue; after its delivery limit the broker parks it itself.
 */
#ifndef EVENTS_PARKING_H
#define EVENTS_PARKING_H

#include <stddef.h>
#include <stdint.h>

#include "events/batch.h"

struct link;
struct parking;
struct topology;

/* Borrows all three, which must live longer. */
void parking_create(struct batch *batch, struct link *link, const struct topology *topology,
	struct parking **parking_out);
void parking_destroy(struct parking **parking);

/* Publishes the copy: the entry is PARKING, or GIVE_BACK when that was not possible. */
void parking_park(struct parking *parking, struct batch_entry *entry, const void *body,
	size_t body_size, const char *reason);
/* Takes confirms, waiting up to wait_ms while some are missing: PARKED, or GIVE_BACK. */
void parking_take_confirms(struct parking *parking, uint64_t wait_ms);
/* What is not confirmed now goes back: the out connection is gone. */
void parking_forget(struct parking *parking);

#endif
