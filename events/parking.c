#include "events/parking.h"

#include <stdlib.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/base/window.h"
#include "common/order/topology.h"
#include "common/service/link.h"

enum {
	CONFIRM_LIMIT_MS = 10000
};

struct parking {
	struct batch *batch;
	struct link *link;
	const struct topology *topology;
	struct window *window; /* confirm number → place of the entry */
	uint64_t places[INBOX_BATCH_MAX];
	uint64_t since_ms; /* when the first of them was published */
};

void parking_create(struct batch *batch, struct link *link, const struct topology *topology,
	struct parking **parking_out)
{
	struct parking *parking = memory_allocate(sizeof(*parking));

	parking->batch = batch;
	parking->link = link;
	parking->topology = topology;
	window_create(INBOX_BATCH_MAX, &parking->window);
	*parking_out = parking;
}

void parking_destroy(struct parking **parking)
{
	if (*parking == NULL)
		return;
	window_destroy(&(*parking)->window);
	free(*parking);
	*parking = NULL;
}

static const char *text_or_null(const char *text)
{
	return text[0] == '\0' ? NULL : text;
}

static enum result publish(struct parking *parking, const struct batch_entry *entry,
	const struct broker_message *message, struct error *error)
{
	uint64_t number = 0;

	if (!link_can_publish(parking->link) || window_is_full(parking->window))
		return error_set(RESULT_TEMPORARY, error, "nothing can be published now");
	enum result result = broker_publish(link_out(parking->link), message, &number, error);
	if (result != RESULT_OK)
		return result;
	if (window_count(parking->window) == 0)
		parking->since_ms = clock_now_ms();
	window_add(parking->window, number, (uint64_t)(entry - parking->batch->entries));
	return RESULT_OK;
}

void parking_park(struct parking *parking, struct batch_entry *entry, const void *body,
	size_t body_size, const char *reason)
{
	struct error error = { .text = "" };
	/* It starts from nothing: no header of the received one is passed on. */
	struct broker_message message = {
		.type = text_or_null(entry->type),
		.content_type = text_or_null(entry->content_type),
		.message_id = text_or_null(entry->message_id),
		.body = body,
		.body_size = body_size,
	};

	topology_route_parked(
		parking->topology, topology_webhooks_queue(parking->topology), reason, &message);
	bool is_published = publish(parking, entry, &message, &error) == RESULT_OK;
	entry->state = is_published ? BATCH_STATE_PARKING : BATCH_STATE_GIVE_BACK;
	log_warn(log_event(is_published ? "message_parked" : "message_not_parked"),
		log_text("event_id", entry->message.event_id),
		log_text("message_id", entry->message_id), log_text("reason", reason),
		log_text("error", error.text));
}

static void take_confirm(struct parking *parking, const struct broker_event *event)
{
	size_t count =
		window_settle(parking->window, event->number, event->is_multiple, parking->places);

	for (size_t i = 0; i < count; i++) {
		struct batch_entry *entry = &parking->batch->entries[parking->places[i]];

		if (entry->state == BATCH_STATE_PARKING)
			entry->state =
				event->is_positive ? BATCH_STATE_PARKED : BATCH_STATE_GIVE_BACK;
	}
}

void parking_forget(struct parking *parking)
{
	window_reset(parking->window);
	for (size_t i = 0; i < parking->batch->count; i++)
		if (parking->batch->entries[i].state == BATCH_STATE_PARKING)
			parking->batch->entries[i].state = BATCH_STATE_GIVE_BACK;
}

/* Nobody has the message, and nobody knows which it was: ids come from outside. */
static enum result take_event(
	struct parking *parking, const struct broker_event *event, struct error *error)
{
	if (event->kind == BROKER_EVENT_CONFIRM)
		take_confirm(parking, event);
	if (event->kind == BROKER_EVENT_RETURNED) {
		/* What was deleted is declared again with the next connection. */
		broker_drop(link_out(parking->link));
		return error_set(RESULT_TEMPORARY, error, "the queue of parked messages is gone");
	}
	return RESULT_OK;
}

void parking_take_confirms(struct parking *parking, uint64_t wait_ms)
{
	struct broker *out = link_out(parking->link);
	struct broker_event event;
	struct error error = { .text = "" };
	enum result result = RESULT_OK;

	/* Without anything to wait for this serves heartbeats. */
	while (broker_is_connected(out) && result == RESULT_OK) {
		bool is_waiting = window_count(parking->window) > 0;

		result = broker_next(out, is_waiting ? wait_ms : 0, &event, &error);
		if (result == RESULT_OK)
			result = take_event(parking, &event, &error);
	}
	if (result == RESULT_NONE && window_count(parking->window) > 0 &&
		clock_now_ms() - parking->since_ms > CONFIRM_LIMIT_MS) {
		broker_drop(out);
		result = error_set(RESULT_TEMPORARY, &error, "no confirm in time");
	}
	if (result != RESULT_OK && result != RESULT_NONE)
		log_warn(log_event("publish_connection_lost"), log_text("error", error.text));
	if (!broker_is_connected(out))
		parking_forget(parking);
}
