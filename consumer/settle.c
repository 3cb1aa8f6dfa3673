#include "consumer/settle.h"

#include <string.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/window.h"
#include "common/io/broker.h"
#include "common/order/timeout_message.h"
#include "common/order/topology.h"
#include "common/service/link.h"
#include "common/service/metrics.h"

enum {
	LOCKED_DELAY_MS = 1000
}; /* a moment, until a locked order is looked at again */

enum family {
	FAMILY_DELIVERIES,
	FAMILY_SETTLED,
	FAMILY_COUNT,
};

enum settled_series {
	SETTLED_ACK,
	SETTLED_REPUBLISHED,
	SETTLED_PARKED,
	SETTLED_REQUEUED,
};

#define DUE_QUEUE "queue=\"lapse.timeout.due\","

static const char *const delivery_series[] = { DUE_QUEUE "redelivered=\"false\"",
	DUE_QUEUE "redelivered=\"true\"", NULL };
static const char *const settled_series[] = { DUE_QUEUE "outcome=\"ack\"",
	DUE_QUEUE "outcome=\"republished\"", DUE_QUEUE "outcome=\"parked\"",
	DUE_QUEUE "outcome=\"requeued\"", NULL };

static const struct metric_family families[] = {
	[FAMILY_DELIVERIES] = { METRIC_TYPE_COUNTER, "lapse_amqp_deliveries_total",
		"Messages delivered to this process.", delivery_series, NULL },
	[FAMILY_SETTLED] = { METRIC_TYPE_COUNTER, "lapse_amqp_settled_total",
		"Messages settled, by what was done with them.", settled_series, NULL },
	[FAMILY_COUNT] = METRIC_END,
};

void settle_register_metrics(void)
{
	metrics_register(families);
}

void settle_count_delivery(bool is_redelivered)
{
	metrics_add(&families[FAMILY_DELIVERIES], is_redelivered ? 1 : 0, 1);
}

void settle_count_ack(uint64_t count)
{
	metrics_add(&families[FAMILY_SETTLED], SETTLED_ACK, count);
}

static void wish_to_publish(
	const struct settle *settle, struct batch_entry *entry, enum batch_wish wish)
{
	entry->wish = wish;
	batch_set_state(settle->batch, entry, BATCH_STATE_TO_PUBLISH);
}

static void park(const struct settle *settle, struct batch_entry *entry, const char *reason)
{
	(void)text_copy(entry->reason, sizeof(entry->reason), reason);
	wish_to_publish(settle, entry, BATCH_WISH_PARK);
	log_warn(log_event("message_parked"), log_text("order_no", entry->order_no),
		log_text("event_id", entry->message_id), log_text("reason", reason));
}

/* Early: held for the last moment, else published again for the rest. */
static void wait_for_deadline(
	const struct settle *settle, struct batch_entry *entry, uint64_t wait_ms)
{
	entry->until_ms = clock_now_ms() + wait_ms;
	if (wait_ms <= settle->hold_ms) {
		batch_set_state(settle->batch, entry, BATCH_STATE_WAITING);
	} else if (topology_mode(settle->topology) == TOPOLOGY_MODE_NONE) {
		/* Nothing can be delayed: the sweep closes it. */
		batch_set_state(settle->batch, entry, BATCH_STATE_SETTLED);
	} else {
		wish_to_publish(settle, entry, BATCH_WISH_REARM);
	}
}

void settle_outcome(
	const struct settle *settle, struct batch_entry *entry, const struct close_order *order)
{
	switch (order->outcome) {
	case CLOSE_OUTCOME_CLOSED:
	case CLOSE_OUTCOME_ALREADY_PAID:
	case CLOSE_OUTCOME_ALREADY_CLOSED:
		batch_set_state(settle->batch, entry, BATCH_STATE_SETTLED);
		return;
	case CLOSE_OUTCOME_NOT_DUE:
		if (order->wait_ms < 0) /* the deadline was taken away */
			batch_set_state(settle->batch, entry, BATCH_STATE_SETTLED);
		else
			wait_for_deadline(settle, entry, (uint64_t)order->wait_ms);
		entry->due_ms = order->due_ms;
		return;
	case CLOSE_OUTCOME_LOCKED:
		entry->due_ms = 0;
		wait_for_deadline(settle, entry,
			settle->hold_ms < LOCKED_DELAY_MS ? LOCKED_DELAY_MS : settle->hold_ms + 1);
		return;
	case CLOSE_OUTCOME_NOT_FOUND:
		park(settle, entry, "unknown order");
		return;
	case CLOSE_OUTCOME_FAILED:
		park(settle, entry, order->error);
		return;
	}
}

/* How long until the time of the entry, now. */
static uint64_t remaining_ms(const struct batch_entry *entry)
{
	uint64_t now_ms = clock_now_ms();

	return entry->until_ms > now_ms ? entry->until_ms - now_ms : 0;
}

/* Every message starts from nothing: no header of a received one is ever passed on. */
static void write_message(const struct settle *settle, const struct batch_entry *entry,
	struct broker_message *message)
{
	message->type = TIMEOUT_MESSAGE_TYPE;
	message->content_type = TIMEOUT_MESSAGE_CONTENT_TYPE;
	message->message_id = entry->message_id;
	message->trace_parent = entry->trace_parent[0] == '\0' ? NULL : entry->trace_parent;
	if (entry->wish == BATCH_WISH_REARM) {
		topology_route(settle->topology, (int64_t)remaining_ms(entry), message);
		message->has_due = entry->due_ms != 0;
		message->due_ms = entry->due_ms;
		return;
	}
	topology_route_parked(
		settle->topology, topology_due_queue(settle->topology), entry->reason, message);
}

static enum result publish(const struct settle *settle, struct batch_entry *entry,
	const struct broker_message *message, struct error *error)
{
	uint64_t number = 0;
	enum result result = broker_publish(link_out(settle->link), message, &number, error);

	if (result != RESULT_OK)
		return result;
	window_add(settle->window, number, batch_handle(settle->batch, entry));
	batch_set_state(settle->batch, entry, BATCH_STATE_PUBLISHED);
	metrics_add(&families[FAMILY_SETTLED],
		entry->wish == BATCH_WISH_REARM ? SETTLED_REPUBLISHED : SETTLED_PARKED, 1);
	return RESULT_OK;
}

static void set_original(struct broker_message *message, const char *type, const char *content_type)
{
	message->type = type[0] == '\0' ? NULL : type;
	message->content_type = content_type[0] == '\0' ? NULL : content_type;
}

static enum result publish_entry(
	const struct settle *settle, struct batch_entry *entry, struct error *error)
{
	struct broker_message message = { .exchange = "" };
	char body[TIMEOUT_MESSAGE_SIZE];

	write_message(settle, entry, &message);
	if (entry->original != NULL) {
		set_original(&message, entry->original->type, entry->original->content_type);
		message.body = entry->original->body;
		message.body_size = entry->original->body_size;
	} else {
		message.body = body;
		message.body_size = timeout_message_write(body, entry->order_no);
	}
	return publish(settle, entry, &message, error);
}

/* It waited so long to be published that its time is near. */
static bool may_be_held(const struct settle *settle, const struct batch_entry *entry)
{
	return entry->wish == BATCH_WISH_REARM && remaining_ms(entry) <= settle->hold_ms;
}

void settle_publish(const struct settle *settle)
{
	size_t left = batch_count_state(settle->batch, BATCH_STATE_TO_PUBLISH);
	struct error error = { .text = "" };

	for (size_t i = 0; left > 0 && i < batch_count(settle->batch); i++) {
		struct batch_entry *entry = batch_at(settle->batch, i);

		if (entry->state != BATCH_STATE_TO_PUBLISH)
			continue;
		left--;
		if (may_be_held(settle, entry)) {
			batch_set_state(settle->batch, entry, BATCH_STATE_WAITING);
			continue;
		}
		if (!link_can_publish(settle->link) || window_is_full(settle->window))
			continue;
		if (publish_entry(settle, entry, &error) != RESULT_OK) {
			log_warn(log_event("publish_failed"), log_text("order_no", entry->order_no),
				log_text("error", error.text));
			return;
		}
	}
}

/* Only this one delivery goes back; after its delivery limit the broker parks it itself. */
static enum result give_back(
	const struct settle *settle, struct batch_entry *entry, struct error *error)
{
	struct broker *in = link_in(settle->link);

	metrics_add(&families[FAMILY_SETTLED], SETTLED_REQUEUED, 1);
	batch_set_state(settle->batch, entry, BATCH_STATE_GIVEN_BACK);
	return broker_requeue(in, broker_epoch(in), entry->tag, error);
}

/* No copy can be kept, so it is published while the delivery is there, or not at all. */
static enum result publish_delivery(const struct settle *settle, struct batch_entry *entry,
	const struct broker_delivery *delivery, struct error *error)
{
	struct broker_message message = { .exchange = "" };

	write_message(settle, entry, &message);
	set_original(&message, delivery->type, delivery->content_type);
	message.body = delivery->body;
	message.body_size = delivery->body_size;
	if (link_can_publish(settle->link) && !window_is_full(settle->window) &&
		publish(settle, entry, &message, error) == RESULT_OK)
		return RESULT_OK;
	return give_back(settle, entry, error);
}

enum result settle_malformed(const struct settle *settle, struct batch_entry *entry,
	const struct broker_delivery *delivery, const char *reason, struct error *error)
{
	entry->is_malformed = true;
	park(settle, entry, reason);
	if (batch_keep_original(settle->batch, entry, delivery))
		return RESULT_OK;
	return publish_delivery(settle, entry, delivery, error);
}

/* It was published, but not for good. */
static void publish_again(const struct settle *settle, struct batch_entry *entry)
{
	struct error error = { .text = "" };

	if (!entry->is_malformed || entry->original != NULL)
		batch_set_state(settle->batch, entry, BATCH_STATE_TO_PUBLISH);
	else if (give_back(settle, entry, &error) != RESULT_OK)
		log_warn(log_event("give_back_failed"), log_text("error", error.text));
}

static size_t take_confirm(const struct settle *settle, const struct broker_event *event)
{
	size_t count =
		window_settle(settle->window, event->number, event->is_multiple, settle->handles);

	for (size_t i = 0; i < count; i++) {
		struct batch_entry *entry = batch_find(settle->batch, settle->handles[i]);

		if (entry == NULL || entry->state != BATCH_STATE_PUBLISHED)
			continue;
		if (event->is_positive)
			batch_set_state(settle->batch, entry, BATCH_STATE_SETTLED);
		else
			publish_again(settle, entry);
	}
	return count;
}

/* Its confirm follows and is positive, but nobody has the message. */
static void take_return(const struct settle *settle, const struct broker_event *event)
{
	for (size_t i = 0; i < batch_count(settle->batch); i++) {
		struct batch_entry *entry = batch_at(settle->batch, i);

		if (entry->state == BATCH_STATE_PUBLISHED &&
			text_equals(entry->message_id, event->delivery.message_id))
			publish_again(settle, entry);
	}
	log_warn(log_event("message_returned"), log_text("event_id", event->delivery.message_id));
	/* Whatever was deleted is declared again with the next connection. */
	broker_drop(link_out(settle->link));
}

size_t settle_take_confirms(const struct settle *settle)
{
	struct broker_event event;
	struct error error = { .text = "" };
	enum result result = RESULT_OK;
	size_t taken = 0;

	while (broker_is_connected(link_out(settle->link)) && result == RESULT_OK) {
		result = broker_next(link_out(settle->link), 0, &event, &error);
		if (result == RESULT_OK && event.kind == BROKER_EVENT_CONFIRM)
			taken += take_confirm(settle, &event);
		else if (result == RESULT_OK && event.kind == BROKER_EVENT_RETURNED)
			take_return(settle, &event);
	}
	if (result != RESULT_OK && result != RESULT_NONE)
		log_warn(log_event("publish_connection_lost"), log_text("error", error.text));
	return taken;
}

void settle_forget_published(const struct settle *settle)
{
	window_reset(settle->window);
	for (size_t i = 0; i < batch_count(settle->batch); i++) {
		struct batch_entry *entry = batch_at(settle->batch, i);

		if (entry->state == BATCH_STATE_PUBLISHED)
			publish_again(settle, entry);
	}
}
