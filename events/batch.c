#include "events/batch.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/text.h"

enum {
	SUSPECT_DELIVERIES = 3 /* a message delivered so often is recorded alone */
};

void batch_create(struct batch **batch_out)
{
	*batch_out = memory_allocate(sizeof(**batch_out));
}

void batch_destroy(struct batch **batch)
{
	if (*batch == NULL)
		return;
	batch_reset(*batch);
	free(*batch);
	*batch = NULL;
}

void batch_reset(struct batch *batch)
{
	for (size_t i = 0; i < batch->count; i++)
		free(batch->entries[i].body);
	batch->count = 0;
	batch->body_bytes = 0;
	batch->is_closed = false;
}

bool batch_has_room(const struct batch *batch)
{
	return !batch->is_closed && batch->count < INBOX_BATCH_MAX &&
	       batch->body_bytes + EVENT_MESSAGE_MAX <= INBOX_DOCUMENTS_MAX;
}

struct batch_entry *batch_add(struct batch *batch, const struct broker_delivery *delivery)
{
	REQUIRE(batch_has_room(batch));
	struct batch_entry *entry = &batch->entries[batch->count++];

	memset(entry, 0, sizeof(*entry));
	entry->tag = delivery->tag;
	entry->is_suspect = delivery->delivery_count >= SUSPECT_DELIVERIES;
	(void)text_copy(entry->message_id, sizeof(entry->message_id), delivery->message_id);
	(void)text_copy(entry->type, sizeof(entry->type), delivery->type);
	(void)text_copy(entry->content_type, sizeof(entry->content_type), delivery->content_type);
	return entry;
}

void batch_keep_body(
	struct batch *batch, struct batch_entry *entry, const void *body, size_t body_size)
{
	entry->body = memory_copy_bytes(body, body_size);
	entry->body_size = body_size;
	batch->body_bytes += body_size;
}

size_t batch_count_state(const struct batch *batch, enum batch_state state)
{
	size_t count = 0;

	for (size_t i = 0; i < batch->count; i++)
		count += batch->entries[i].state == state ? 1 : 0;
	return count;
}
