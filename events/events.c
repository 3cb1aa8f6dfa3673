#include "events/events.h"

#include <stdlib.h>

#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/order/event_message.h"
#include "common/order/subscriber.h"
#include "common/order/topology.h"
#include "common/service/database.h"
#include "common/service/link.h"
#include "events/batch.h"
#include "events/parking.h"
#include "events/recording.h"

enum {
	STEP_WAIT_MS = 1000,
	GIVE_BACK_MS = 300000, /* without MySQL, until the messages go back */
};

struct events {
	const struct events_settings *settings;
	struct subscriber_list subscribers;
	struct topology_settings topology_settings; /* nothing is delayed */
	struct topology *topology;
	struct database *database;
	struct link *link;
	struct batch *batch;
	struct parking *parking;
	struct recording *recording;
	bool is_draining;
};

enum family {
	FAMILY_INFLIGHT,
	FAMILY_DELIVERIES,
	FAMILY_SETTLED,
	FAMILY_COUNT,
};

enum settled_series {
	SETTLED_ACK,
	SETTLED_REPUBLISHED, /* never: an event has no time to wait for */
	SETTLED_PARKED,
	SETTLED_REQUEUED,
	SETTLED_COUNT,
};

#define WEBHOOKS_QUEUE "queue=\"lapse.events.webhooks\","

static const char *const delivery_series[] = { WEBHOOKS_QUEUE "redelivered=\"false\"",
	WEBHOOKS_QUEUE "redelivered=\"true\"", NULL };
static const char *const settled_series[] = { WEBHOOKS_QUEUE "outcome=\"ack\"",
	WEBHOOKS_QUEUE "outcome=\"republished\"", WEBHOOKS_QUEUE "outcome=\"parked\"",
	WEBHOOKS_QUEUE "outcome=\"requeued\"", NULL };

static const struct metric_family events_metrics[] = {
	[FAMILY_INFLIGHT] = { METRIC_TYPE_GAUGE, "lapse_inflight",
		"Deliveries in hand, not yet acked.", NULL, NULL },
	[FAMILY_DELIVERIES] = { METRIC_TYPE_COUNTER, "lapse_amqp_deliveries_total",
		"Messages delivered to this process.", delivery_series, NULL },
	[FAMILY_SETTLED] = { METRIC_TYPE_COUNTER, "lapse_amqp_settled_total",
		"Messages settled, by what was done with them.", settled_series, NULL },
	[FAMILY_COUNT] = METRIC_END,
};

static void dump(void *context)
{
	const struct events *events = context;

	log_info(log_event("dump"), log_uint("mysql_away_ms", database_away_ms(events->database)),
		log_uint("consuming", broker_is_consuming(link_in(events->link))),
		log_uint("can_publish", link_can_publish(events->link)),
		log_uint("subscribers", events->subscribers.count),
		log_uint("in_hand", events->batch->count),
		log_uint("open", batch_count_state(events->batch, BATCH_STATE_OPEN)),
		log_uint("parking", batch_count_state(events->batch, BATCH_STATE_PARKING)));
}

static void note_subscribers(const struct events *events)
{
	log_info(log_event("subscribers_read"), log_uint("count", events->subscribers.count));
	for (size_t i = 0; i < events->subscribers.count; i++)
		log_debug(log_event("subscriber"),
			log_text("name", events->subscribers.items[i].name));
}

/* A file that is there and wrong has been told by the check of the settings. */
static void reload(void *context)
{
	struct events *events = context;
	struct error error = { .text = "" };
	enum result result = subscriber_list_reload(
		events->settings->webhooks_file, &events->subscribers, &error);

	if (result == RESULT_OK)
		note_subscribers(events);
	else if (result == RESULT_NONE)
		log_error(log_event("subscribers_unread"), log_text("error", error.text));
}

static enum result drain(void *context, struct error *error);

const struct service_program events_program = {
	.name = "lapse-events",
	.summary = "takes domain events and writes a task for each webhook",
	.settings = events_settings_table,
	.check = events_check_settings,
	.metrics = events_metrics,
	.checks = SERVICE_CHECK_MYSQL | SERVICE_CHECK_AMQP,
	.dump = dump,
	.reload = reload,
	.drain = drain,
};

static enum result declare(void *topology, struct broker *broker, struct error *error)
{
	return topology_declare_events(topology, broker, error);
}

void events_create(const struct events_settings *settings, struct events **events_out)
{
	struct events *events = memory_allocate(sizeof(*events));

	events->settings = settings;
	topology_create(&events->topology_settings, &settings->amqp, &events->topology);
	const struct link_plan plan = {
		.name = events_program.name,
		.queue = topology_webhooks_queue(events->topology),
		.prefetch = (uint16_t)settings->prefetch,
		.declare_in = declare,
		.declare_out = declare,
		.context = events->topology,
	};
	link_create(&settings->amqp, &plan, &events->link);
	link_pause(events->link);
	database_create(&settings->mysql, &events->database);
	db_set_companion(database_db(events->database), link_serve, events->link);
	batch_create(&events->batch);
	parking_create(events->batch, events->link, events->topology, &events->parking);
	recording_create(events->batch, events->parking, &events->recording);
	recording_register_metrics();
	*events_out = events;
}

void events_destroy(struct events **events)
{
	if (*events == NULL)
		return;
	link_destroy(&(*events)->link);
	topology_destroy(&(*events)->topology);
	database_destroy(&(*events)->database);
	recording_destroy(&(*events)->recording);
	parking_destroy(&(*events)->parking);
	batch_destroy(&(*events)->batch);
	subscriber_list_clear(&(*events)->subscribers);
	free(*events);
	*events = NULL;
}

/* ---- deliveries */

static bool has_room(void *context)
{
	const struct events *events = context;

	return batch_has_room(events->batch);
}

static enum result take_delivery(
	void *context, const struct broker_delivery *delivery, struct error *error)
{
	struct events *events = context;
	struct batch_entry *entry = batch_add(events->batch, delivery);
	struct error reason = { .text = "" };

	(void)error;
	metrics_add(&events_metrics[FAMILY_DELIVERIES], delivery->is_redelivered ? 1 : 0, 1);
	if (event_message_parse(delivery->body, delivery->body_size, &entry->message, &reason) ==
		RESULT_OK) {
		batch_keep_body(events->batch, entry, delivery->body, delivery->body_size);
		return RESULT_OK;
	}
	recording_count_malformed();
	parking_park(events->parking, entry, delivery->body, delivery->body_size, reason.text);
	return RESULT_OK;
}

static enum result take_deliveries(struct events *events, struct error *error)
{
	const struct link_taking taking = {
		.limit = INBOX_BATCH_MAX,
		.wait_ms = STEP_WAIT_MS,
		.has_room = has_room,
		.take = take_delivery,
		.context = events,
	};
	size_t taken = 0;
	enum result result = link_take(events->link, &taking, &taken, error);

	events->batch->is_closed = events->batch->count > 0;
	return result;
}

/* MySQL's trouble is not the broker's: it is noted, and the batch stays for the next turn. */
static void record(struct events *events)
{
	struct error error = { .text = "" };
	enum result result = recording_run(
		events->recording, database_db(events->database), &events->subscribers, &error);

	if (result != RESULT_OK)
		database_note(events->database, result, &error);
}

/* ---- acks */

/* A tag that was given back cannot be acked any more, not even as the end of many. */
static enum result ack(struct events *events, struct error *error)
{
	struct broker *in = link_in(events->link);
	const struct batch_entry *last = NULL;
	enum result result = RESULT_OK;
	uint64_t counts[SETTLED_COUNT] = { 0 };

	for (size_t i = 0; i < events->batch->count && result == RESULT_OK; i++) {
		const struct batch_entry *entry = &events->batch->entries[i];

		if (entry->state == BATCH_STATE_GIVE_BACK) {
			result = broker_requeue(in, broker_epoch(in), entry->tag, error);
			counts[SETTLED_REQUEUED]++;
			continue;
		}
		last = entry;
		counts[entry->state == BATCH_STATE_PARKED ? SETTLED_PARKED : SETTLED_ACK]++;
	}
	if (result == RESULT_OK && last != NULL)
		result = broker_ack_up_to(in, broker_epoch(in), last->tag, error);
	for (size_t i = 0; i < SETTLED_COUNT; i++)
		metrics_add(&events_metrics[FAMILY_SETTLED], i, counts[i]);
	batch_reset(events->batch);
	return result;
}

static bool is_settled(const struct events *events)
{
	const struct batch *batch = events->batch;

	return batch->count > 0 && batch_count_state(batch, BATCH_STATE_OPEN) == 0 &&
	       batch_count_state(batch, BATCH_STATE_PARKING) == 0;
}

/* Five minutes without MySQL: everything goes back once, and comes again when MySQL answers. */
static enum result give_back(struct events *events, struct error *error)
{
	const struct batch *batch = events->batch;
	uint64_t last_tag = batch->count == 0 ? 0 : batch->entries[batch->count - 1].tag;
	enum result result = link_give_back(events->link, last_tag, batch->count, error);

	parking_forget(events->parking);
	batch_reset(events->batch);
	return result;
}

/* ---- the step */

static enum result ensure_subscribers(struct events *events, struct error *error)
{
	if (events->subscribers.is_loaded)
		return RESULT_OK;
	if (subscriber_list_reload(events->settings->webhooks_file, &events->subscribers, error) !=
		RESULT_OK)
		return error_context(RESULT_TEMPORARY, error, "LAPSE_WEBHOOKS_FILE");
	note_subscribers(events);
	return RESULT_OK;
}

static enum result ensure_links(struct events *events, struct error *error)
{
	bool has_reconnected = false;
	enum result result = link_ensure_in(events->link, &has_reconnected, error);

	if (has_reconnected) {
		parking_forget(events->parking);
		batch_reset(events->batch);
	}
	if (result != RESULT_OK) {
		service_set_check(SERVICE_CHECK_AMQP, false, error->text);
		return result;
	}
	bool can_publish = link_ensure_out(events->link, &has_reconnected);
	if (has_reconnected || !can_publish)
		parking_forget(events->parking);
	service_set_check(SERVICE_CHECK_AMQP,
		can_publish && broker_is_consuming(link_in(events->link)),
		can_publish ? "not subscribed" : link_trouble(events->link));
	return RESULT_OK;
}

static enum result work(struct events *events, bool is_mysql_there, struct error *error)
{
	enum result result = RESULT_OK;

	if (database_away_ms(events->database) >= GIVE_BACK_MS &&
		broker_is_consuming(link_in(events->link)))
		result = give_back(events, error);
	if (result == RESULT_OK)
		result = take_deliveries(events, error);
	if (result != RESULT_OK)
		return result;
	if (is_mysql_there && events->batch->count > 0)
		record(events);
	parking_take_confirms(events->parking, STEP_WAIT_MS);
	return is_settled(events) ? ack(events, error) : RESULT_OK;
}

enum result events_step(void *context, struct error *error)
{
	struct events *events = context;
	bool is_mysql_there = database_is_there(events->database);
	enum result result = ensure_subscribers(events, error);

	if (result != RESULT_OK)
		return result;
	if (is_mysql_there && !events->is_draining)
		link_resume(events->link);
	result = ensure_links(events, error);
	if (result == RESULT_OK)
		result = work(events, is_mysql_there, error);
	if (result == RESULT_OK)
		result = link_check_subscription(events->link, error);
	metrics_set(&events_metrics[FAMILY_INFLIGHT], 0, (double)events->batch->count);
	return result;
}

/* Takes nothing new, records what is in hand; what is not settled goes back by itself. */
static enum result drain(void *context, struct error *error)
{
	struct events *events = context;
	enum result result = RESULT_OK;

	events->is_draining = true;
	link_pause(events->link);
	if (broker_is_consuming(link_in(events->link)))
		result = broker_cancel(link_in(events->link), error);
	events->batch->is_closed = true;
	if (result == RESULT_OK && events->batch->count > 0)
		result = work(events, database_is_there(events->database), error);
	if (result == RESULT_OK &&
		(events->batch->count == 0 || !database_is_there(events->database)))
		result = RESULT_NONE;
	return result;
}
