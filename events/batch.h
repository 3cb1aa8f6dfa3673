/*
 * batch - the deliveries in hand, in the order of their tags.
 *
 * They are recorded together and acked together: nothing new is taken until all of them are done.
 */
#ifndef EVENTS_BATCH_H
#define EVENTS_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/io/broker.h"
#include "common/order/event_message.h"
#include "common/order/inbox.h"

enum batch_state {
	BATCH_STATE_OPEN,      /* to be recorded */
	BATCH_STATE_PARKING,   /* published into lapse.parked, not confirmed yet */
	BATCH_STATE_GIVE_BACK, /* goes back into the queue */
	BATCH_STATE_PARKED,    /* its copy is confirmed: may be acked */
	BATCH_STATE_DONE,      /* recorded: may be acked */
};

struct batch_entry {
	uint64_t tag;
	enum batch_state state;
	bool is_suspect; /* delivered often: recorded alone */
	struct event_message message;
	char message_id[BROKER_NAME_SIZE];
	char type[BROKER_NAME_SIZE]; /* the two properties, as they came */
	char content_type[BROKER_NAME_SIZE];
	char *body; /* of one that is OPEN */
	size_t body_size;
};

struct batch {
	struct batch_entry entries[INBOX_BATCH_MAX];
	size_t count;
	size_t body_bytes;
	bool is_closed; /* takes no more */
};

void batch_create(struct batch **batch_out);
void batch_destroy(struct batch **batch);
/* Forgets everything. */
void batch_reset(struct batch *batch);

bool batch_has_room(const struct batch *batch);
/* REQUIREs room.  The entry is OPEN and has no body yet. */
struct batch_entry *batch_add(struct batch *batch, const struct broker_delivery *delivery);
void batch_keep_body(
	struct batch *batch, struct batch_entry *entry, const void *body, size_t body_size);
size_t batch_count_state(const struct batch *batch, enum batch_state state);

#endif
