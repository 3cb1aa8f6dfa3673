/*
 * batch - the deliveries in hand, in the order of their tags, and what is to become of each.
 *
 * A ring.  Deliveries may be settled in any order; batch_take_settled gives the last tag of the
 * contiguous settled part at its start, which is what may be acked.
 */
#ifndef CONSUMER_BATCH_H
#define CONSUMER_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/text.h"
#include "common/io/broker.h"
#include "common/order/close.h"

enum {
	BATCH_ID_SIZE = 80,
	BATCH_TRACE_SIZE = 64,
	BATCH_ORIGINALS_MAX = 4194304 /* bytes of malformed messages that are kept at a time */
};

enum batch_state {
	BATCH_STATE_WAITING,    /* until until_ms */
	BATCH_STATE_READY,      /* to be closed */
	BATCH_STATE_TO_PUBLISH, /* wish says what has to be published before it may be acked */
	BATCH_STATE_PUBLISHED,  /* not confirmed yet */
	BATCH_STATE_SETTLED,    /* may be acked */
	BATCH_STATE_GIVEN_BACK, /* the broker has it again: its tag must not be used any more */
};

enum batch_wish {
	BATCH_WISH_REARM, /* publish the timeout again for the rest, delay_ms */
	BATCH_WISH_PARK,  /* publish into lapse.parked with a reason */
};

/* A malformed message as it came. */
struct batch_original {
	char type[BROKER_NAME_SIZE];
	char content_type[BROKER_NAME_SIZE];
	size_t body_size;
	uint8_t body[];
};

struct batch_entry {
	uint64_t tag;
	enum batch_state state;
	uint64_t until_ms; /* WAITING, REARM: its time, by clock_now_ms */
	int64_t due_ms;    /* REARM: the deadline in milliseconds since 1970; 0: unknown */
	bool is_suspect;   /* delivered often: handled alone */
	bool is_malformed; /* names no order */
	enum batch_wish wish;
	struct batch_original *original; /* malformed; NULL: only the delivery had its body */
	char order_no[TEXT_KEY_SIZE];
	char message_id[BATCH_ID_SIZE];
	char trace_parent[BATCH_TRACE_SIZE];
	char reason[CLOSE_ERROR_SIZE];
};

struct batch;

void batch_create(size_t capacity, struct batch **batch_out);
void batch_destroy(struct batch **batch);

/* Forgets everything: the connection is gone, and its tags with it. */
void batch_reset(struct batch *batch);
size_t batch_count(const struct batch *batch);
bool batch_is_full(const struct batch *batch);
size_t batch_count_state(const struct batch *batch, enum batch_state state);

/* A place for the next delivery, zeroed, in state WAITING with until_ms 0; REQUIREs room. */
struct batch_entry *batch_add(struct batch *batch, uint64_t tag);
/* The i-th delivery in hand, in the order of their tags. */
struct batch_entry *batch_at(struct batch *batch, size_t index);
/* A number that finds the entry again while it is in hand; batch_find gives NULL afterwards. */
uint64_t batch_handle(const struct batch *batch, const struct batch_entry *entry);
struct batch_entry *batch_find(struct batch *batch, uint64_t handle);
/* Keeps a copy of the delivery with the entry; false: too much is kept already. */
bool batch_keep_original(
	struct batch *batch, struct batch_entry *entry, const struct broker_delivery *delivery);
/* The one way to change a state, which keeps the counts right. */
void batch_set_state(struct batch *batch, struct batch_entry *entry, enum batch_state state);

/* WAITING → READY for all whose time has come; gives the time of the next one, UINT64_MAX: none. */
uint64_t batch_wake(struct batch *batch, uint64_t now_ms);
/* Removes the part at the start that is settled or given back; false: none of it is to be acked. */
bool batch_take_settled(struct batch *batch, uint64_t *last_tag_out, size_t *count_out);
/* The last tag that is ours to use; false when there is none. */
bool batch_find_last_tag(struct batch *batch, uint64_t *tag_out);

#endif
