/*
 * settle - outcome of an order into ack, publish again, or park.
 */
#ifndef CONSUMER_SETTLE_H
#define CONSUMER_SETTLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/result.h"
#include "consumer/batch.h"

struct link;
struct topology;
struct window;

/* What one call of lapse-consumer needs to settle deliveries. */
struct settle {
	struct batch *batch;
	struct link *link;
	struct topology *topology;
	struct window *window; /* of the out connection: confirm number → handle of the entry */
	uint64_t hold_ms;
	uint64_t handles_room; /* places in handles: the capacity of window */
	uint64_t *handles;
};

/* Puts the outcome of its order into entry: settled, held again, or to be published. */
void settle_outcome(
	const struct settle *settle, struct batch_entry *entry, const struct close_order *order);
/* A delivery that names no order: to be parked with its body as it came.  Too many of them while
 * nothing can be published go back to the queue, each by itself. */
MUST_USE enum result settle_malformed(const struct settle *settle, struct batch_entry *entry,
	const struct broker_delivery *delivery, const char *reason, struct error *error);

/* Publishes what waits for it, as far as the broker takes it; what has come so near to its time
 * meanwhile that it may be held is held instead. */
void settle_publish(const struct settle *settle);
/* Takes the confirms that have arrived and says how many; a lost out connection only means: publish
 * again. */
size_t settle_take_confirms(const struct settle *settle);
/* Everything published and not confirmed has to be published again. */
void settle_forget_published(const struct settle *settle);

/* Registers and counts the metrics of settled deliveries. */
void settle_register_metrics(void);
void settle_count_delivery(bool is_redelivered);
void settle_count_ack(uint64_t count);

#endif
