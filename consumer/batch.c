#include "consumer/batch.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"

enum {
	STATE_COUNT = BATCH_STATE_GIVEN_BACK + 1
};

struct batch {
	struct batch_entry *entries;
	size_t capacity;
	uint64_t first; /* handles count up for ever; the place is handle % capacity */
	uint64_t next;
	size_t state_counts[STATE_COUNT];
	size_t original_bytes;
};

void batch_create(size_t capacity, struct batch **batch_out)
{
	struct batch *batch = memory_allocate(sizeof(*batch));

	batch->entries = memory_allocate_array(capacity, sizeof(*batch->entries));
	batch->capacity = capacity;
	*batch_out = batch;
}

size_t batch_count(const struct batch *batch)
{
	return (size_t)(batch->next - batch->first);
}

struct batch_entry *batch_at(struct batch *batch, size_t index)
{
	return &batch->entries[(batch->first + index) % batch->capacity];
}

static void drop_original(struct batch *batch, struct batch_entry *entry)
{
	if (entry->original == NULL)
		return;
	batch->original_bytes -= sizeof(*entry->original) + entry->original->body_size;
	free(entry->original);
	entry->original = NULL;
}

void batch_reset(struct batch *batch)
{
	for (size_t i = 0; i < batch_count(batch); i++)
		drop_original(batch, batch_at(batch, i));
	/* Handles are not given out twice, so that a late confirm finds nothing. */
	batch->first = batch->next;
	memset(batch->state_counts, 0, sizeof(batch->state_counts));
}

void batch_destroy(struct batch **batch)
{
	if (*batch == NULL)
		return;
	batch_reset(*batch);
	free((*batch)->entries);
	free(*batch);
	*batch = NULL;
}

bool batch_is_full(const struct batch *batch)
{
	return batch_count(batch) == batch->capacity;
}

size_t batch_count_state(const struct batch *batch, enum batch_state state)
{
	return batch->state_counts[state];
}

struct batch_entry *batch_add(struct batch *batch, uint64_t tag)
{
	REQUIRE(!batch_is_full(batch));
	struct batch_entry *entry = &batch->entries[batch->next % batch->capacity];

	memset(entry, 0, sizeof(*entry));
	entry->tag = tag;
	batch->next++;
	batch->state_counts[BATCH_STATE_WAITING]++;
	return entry;
}

uint64_t batch_handle(const struct batch *batch, const struct batch_entry *entry)
{
	uint64_t place = (uint64_t)(entry - batch->entries);
	uint64_t first_place = batch->first % batch->capacity;

	return batch->first + (place + batch->capacity - first_place) % batch->capacity;
}

struct batch_entry *batch_find(struct batch *batch, uint64_t handle)
{
	if (handle < batch->first || handle >= batch->next)
		return NULL;
	return &batch->entries[handle % batch->capacity];
}

bool batch_keep_original(
	struct batch *batch, struct batch_entry *entry, const struct broker_delivery *delivery)
{
	size_t size = sizeof(*entry->original) + delivery->body_size;

	if (size > BATCH_ORIGINALS_MAX - batch->original_bytes)
		return false;
	entry->original = memory_allocate(size);
	batch->original_bytes += size;
	(void)text_copy(entry->original->type, sizeof(entry->original->type), delivery->type);
	(void)text_copy(entry->original->content_type, sizeof(entry->original->content_type),
		delivery->content_type);
	entry->original->body_size = delivery->body_size;
	if (delivery->body_size > 0)
		memcpy(entry->original->body, delivery->body, delivery->body_size);
	return true;
}

void batch_set_state(struct batch *batch, struct batch_entry *entry, enum batch_state state)
{
	batch->state_counts[entry->state]--;
	entry->state = state;
	batch->state_counts[state]++;
}

uint64_t batch_wake(struct batch *batch, uint64_t now_ms)
{
	uint64_t next_ms = UINT64_MAX;
	size_t left = batch->state_counts[BATCH_STATE_WAITING];

	for (size_t i = 0; left > 0 && i < batch_count(batch); i++) {
		struct batch_entry *entry = batch_at(batch, i);

		if (entry->state != BATCH_STATE_WAITING)
			continue;
		left--;
		if (entry->until_ms <= now_ms)
			batch_set_state(batch, entry, BATCH_STATE_READY);
		else if (entry->until_ms < next_ms)
			next_ms = entry->until_ms;
	}
	return next_ms;
}

bool batch_take_settled(struct batch *batch, uint64_t *last_tag_out, size_t *count_out)
{
	*count_out = 0;
	while (batch->first < batch->next) {
		struct batch_entry *entry = batch_at(batch, 0);

		if (entry->state != BATCH_STATE_SETTLED && entry->state != BATCH_STATE_GIVEN_BACK)
			break;
		if (entry->state == BATCH_STATE_SETTLED) {
			*last_tag_out = entry->tag;
			*count_out += 1;
		}
		drop_original(batch, entry);
		batch->state_counts[entry->state]--;
		batch->first++;
	}
	return *count_out > 0;
}

bool batch_find_last_tag(struct batch *batch, uint64_t *tag_out)
{
	for (size_t i = batch_count(batch); i > 0; i--) {
		const struct batch_entry *entry = batch_at(batch, i - 1);

		if (entry->state == BATCH_STATE_GIVEN_BACK)
			continue;
		*tag_out = entry->tag;
		return true;
	}
	return false;
}
