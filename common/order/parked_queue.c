#include "common/order/parked_queue.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/base/ulid.h"
#include "common/order/topology.h"

enum {
	CONFIRM_LIMIT_MS = 10000
};

struct parked_queue {
	struct broker *broker;
	struct topology *topology;
	struct parked_message *messages;
	size_t count;
};

static void take_message(const struct broker_delivery *delivery, struct parked_message *message)
{
	message->tag = delivery->tag;
	message->body_size = delivery->body_size;
	signature_sha256_hex(message->sha256, delivery->body, delivery->body_size);
	(void)text_copy(message->reason, sizeof(message->reason), delivery->reason);
	(void)text_copy(message->origin, sizeof(message->origin), delivery->origin);
	(void)text_copy(message->type, sizeof(message->type), delivery->type);
	(void)text_copy(
		message->content_type, sizeof(message->content_type), delivery->content_type);
	(void)text_copy(message->message_id, sizeof(message->message_id), delivery->message_id);
	(void)text_clip(message->text, sizeof(message->text), delivery->body, delivery->body_size);
	if (!delivery->is_body_cut && delivery->body_size <= PARKED_BODY_MAX)
		message->body = memory_copy_bytes(delivery->body, delivery->body_size);
}

static enum result take_all(struct parked_queue *queue, size_t limit, struct error *error)
{
	const char *name = topology_parked_queue(queue->topology);
	struct broker_delivery *delivery = memory_allocate(sizeof(*delivery));
	uint32_t ready = 0;
	uint32_t consumers = 0;
	enum result result = broker_count_queue(queue->broker, name, &ready, &consumers, error);

	while (result == RESULT_OK && queue->count < limit) {
		result = broker_get(queue->broker, name, delivery, error);
		if (result == RESULT_OK)
			take_message(delivery, &queue->messages[queue->count++]);
	}
	free(delivery);
	return result == RESULT_NONE && queue->count > 0 ? RESULT_OK : result;
}

enum result parked_queue_open(const struct parked_settings *settings, size_t limit,
	struct parked_queue **queue_out, struct error *error)
{
	struct parked_queue *queue = memory_allocate(sizeof(*queue));

	REQUIRE(limit <= PARKED_LOOK_MAX);
	queue->messages = memory_allocate_array(limit, sizeof(*queue->messages));
	broker_create(settings->broker, settings->program, &queue->broker);
	topology_create(settings->topology, settings->broker, &queue->topology);
	enum result result = settings->broker->url == NULL
				     ? error_set(RESULT_PERMANENT, error,
					       "LAPSE_AMQP_URL is not set: no broker to ask")
				     : broker_ensure_connected(queue->broker, error);
	if (result == RESULT_OK)
		result = take_all(queue, limit, error);
	if (result != RESULT_OK)
		parked_queue_close(&queue);
	*queue_out = queue;
	return result;
}

/* The broker gives back by itself what is not acked when the connection ends; said first, the
 * messages are there again at once. */
static void give_back(struct parked_queue *queue)
{
	struct error error = { .text = "" };

	for (size_t i = queue->count; i > 0; i--)
		if (!queue->messages[i - 1].is_settled)
			(void)!broker_requeue(queue->broker, broker_epoch(queue->broker),
				queue->messages[i - 1].tag, &error);
}

void parked_queue_close(struct parked_queue **queue)
{
	if (*queue == NULL)
		return;
	give_back(*queue);
	broker_disconnect((*queue)->broker);
	for (size_t i = 0; i < (*queue)->count; i++)
		free((*queue)->messages[i].body);
	free((*queue)->messages);
	topology_destroy(&(*queue)->topology);
	broker_destroy(&(*queue)->broker);
	free(*queue);
	*queue = NULL;
}

size_t parked_queue_count(const struct parked_queue *queue)
{
	return queue == NULL ? 0 : queue->count;
}

struct parked_message *parked_queue_at(struct parked_queue *queue, size_t index)
{
	return &queue->messages[index];
}

struct parked_message *parked_queue_find(struct parked_queue *queue, const char *sha256)
{
	for (size_t i = 0; i < parked_queue_count(queue); i++)
		if (!queue->messages[i].is_settled &&
			text_equals(queue->messages[i].sha256, sha256))
			return &queue->messages[i];
	return NULL;
}

const char *parked_queue_target(
	const struct parked_queue *queue, const struct parked_message *message)
{
	const char *const ours[] = { topology_due_queue(queue->topology),
		topology_webhooks_queue(queue->topology) };

	for (size_t i = 0; i < ARRAY_LENGTH(ours); i++)
		if (text_equals(message->origin, ours[i]))
			return ours[i];
	return NULL;
}

static enum result await_confirm(struct parked_queue *queue, struct error *error)
{
	uint64_t end_ms = clock_now_ms() + CONFIRM_LIMIT_MS;
	struct broker_event event;

	for (uint64_t now_ms = clock_now_ms(); now_ms < end_ms; now_ms = clock_now_ms()) {
		enum result result = broker_next(queue->broker, end_ms - now_ms, &event, error);

		if (result == RESULT_NONE)
			break;
		if (result != RESULT_OK)
			return result;
		if (event.kind == BROKER_EVENT_RETURNED)
			return error_set(RESULT_TEMPORARY, error, "no queue took the message");
		if (event.kind == BROKER_EVENT_CONFIRM)
			return event.is_positive ? RESULT_OK
						 : error_set(RESULT_TEMPORARY, error,
							   "the broker refused the message");
	}
	return error_set(RESULT_TEMPORARY, error, "no confirm from the broker");
}

enum result parked_queue_publish(
	struct parked_queue *queue, const struct parked_message *message, struct error *error)
{
	char message_id[ULID_SIZE];
	const struct broker_message copy = {
		.exchange = "",
		.routing_key = parked_queue_target(queue, message),
		.is_mandatory = true,
		.type = message->type[0] == '\0' ? NULL : message->type,
		.content_type = message->content_type[0] == '\0' ? NULL : message->content_type,
		.message_id = message->message_id[0] == '\0' ? message_id : message->message_id,
		.body = message->body,
		.body_size = message->body_size,
	};
	uint64_t number = 0;

	REQUIRE(copy.routing_key != NULL && message->body != NULL);
	ulid_generate(message_id);
	enum result result = broker_enable_confirms(queue->broker, error);
	if (result == RESULT_OK)
		result = broker_publish(queue->broker, &copy, &number, error);
	return result == RESULT_OK ? await_confirm(queue, error) : result;
}

enum result parked_queue_remove(
	struct parked_queue *queue, struct parked_message *message, struct error *error)
{
	enum result result =
		broker_ack(queue->broker, broker_epoch(queue->broker), message->tag, error);

	message->is_settled = result == RESULT_OK;
	return result;
}
