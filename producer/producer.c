#include "producer/producer.h"

#include <stdlib.h>

#include "common/base/clock.h"
#include "common/base/failpoint.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/order/outbox_order.h"
#include "producer/counts.h"
#include "producer/publisher.h"

enum {
	STEP_WAIT_MS = 250,   /* a stop request is seen only behind it */
	CONFIRM_WAIT_MS = 20, /* while confirms are awaited */
};

struct producer {
	const struct producer_settings *settings;
	struct db *db;
	struct publisher *publisher;
	struct outbox_place place;
	uint64_t next_claim_ms;
	bool is_draining;
};

static void dump(void *context)
{
	const struct producer *producer = context;

	log_info(log_event("dump"), log_uint("mysql", db_is_connected(producer->db)),
		log_uint("amqp", publisher_is_connected(producer->publisher)),
		log_uint("blocked", publisher_is_blocked(producer->publisher)),
		log_uint("inflight", publisher_count_open(producer->publisher)));
}

static enum result drain(void *context, struct error *error);

const struct service_program producer_program = {
	.name = "lapse-producer",
	.summary = "publishes new outbox rows: timeouts with a delay, events at once",
	.settings = producer_settings_table,
	.check = producer_check_settings,
	.metrics = counts_metrics,
	.checks = SERVICE_CHECK_MYSQL | SERVICE_CHECK_AMQP,
	.dump = dump,
	.drain = drain,
	.take_argument = producer_take_argument,
	.usage = "  publish ORDER_NO...        arm the timeouts of orders that exist, then leave\n"
		 "  publish --stdin            the same, one order number or JSON object a line\n",
};

/* A slow MySQL must not cost the broker connection its heartbeats. */
static void serve_publisher(void *context)
{
	service_note_turn();
	publisher_keep_alive(context);
}

void producer_create(const struct producer_settings *settings, struct producer **producer_out)
{
	struct producer *producer = memory_allocate(sizeof(*producer));

	producer->settings = settings;
	db_create(&settings->mysql, &producer->db);
	publisher_create(settings, &producer->publisher);
	db_set_companion(producer->db, serve_publisher, producer->publisher);
	*producer_out = producer;
}

void producer_destroy(struct producer **producer)
{
	if (*producer == NULL)
		return;
	publisher_destroy(&(*producer)->publisher);
	db_destroy(&(*producer)->db);
	free(*producer);
	*producer = NULL;
}

/* Flights of which all is known; a failure leaves them for the next turn. */
static enum result settle_flights(struct producer *producer, struct error *error)
{
	struct flight *flight = publisher_find_done(producer->publisher);
	enum result result = RESULT_OK;

	while (flight != NULL && result == RESULT_OK) {
		size_t lost = 0;

		result = flight_settle(flight, producer->db,
			publisher_horizon_ms(producer->publisher), &lost, error);
		if (lost > 0)
			log_warn(log_event("leases_lost"), log_uint("rows", lost));
		if (result == RESULT_OK)
			flight_end(flight);
		flight = publisher_find_done(producer->publisher);
	}
	return result;
}

/* Events whose order has an older one under way or waiting go when that one has gone. */
static enum result hold_back(
	struct producer *producer, struct outbox_batch *batch, struct error *error)
{
	size_t held = 0;
	enum result result = outbox_order_hold_back(
		producer->db, batch, producer->settings->created_event != 0, &held, error);

	if (held > 0)
		log_debug(log_event("events_held_back"), log_uint("rows", held));
	return result;
}

/* At once again while there is more; else after the interval. */
static enum result claim_and_publish(struct producer *producer, struct error *error)
{
	size_t room = publisher_room(producer->publisher);
	struct outbox_batch *batch = NULL;
	uint64_t now_ms = clock_now_ms();

	if (producer->is_draining || room == 0 || now_ms < producer->next_claim_ms ||
		publisher_is_blocked(producer->publisher))
		return RESULT_OK;
	bool had_place = producer->place.uses > 0;
	enum result result = outbox_claim(producer->db, (uint32_t)room,
		producer->settings->lease_ms, &producer->place, &batch, error);
	/* Behind a place nothing more says little: all rows are looked at next. */
	producer->next_claim_ms = had_place ? 0 : now_ms + producer->settings->interval_ms;
	if (result == RESULT_NONE)
		return RESULT_OK;
	if (result != RESULT_OK)
		return result;
	FAILPOINT("after_claim");
	if (batch->has_more)
		producer->next_claim_ms = 0;
	result = hold_back(producer, batch, error);
	if (result == RESULT_OK && batch->count > 0)
		return publisher_publish(producer->publisher, producer->db, batch, error);
	outbox_batch_destroy(&batch); /* after a failure their lease runs out */
	return result;
}

/* Until the next claim is due or a confirm comes. */
static uint64_t wait_limit(const struct producer *producer)
{
	uint64_t now_ms = clock_now_ms();
	uint64_t wait_ms = STEP_WAIT_MS;

	if (publisher_count_open(producer->publisher) > 0)
		wait_ms = CONFIRM_WAIT_MS;
	if (publisher_is_blocked(producer->publisher) || publisher_room(producer->publisher) == 0 ||
		producer->is_draining)
		return wait_ms;
	if (producer->next_claim_ms <= now_ms)
		return 0;
	return producer->next_claim_ms - now_ms < wait_ms ? producer->next_claim_ms - now_ms
							  : wait_ms;
}

static enum result use_mysql(struct producer *producer, struct error *error)
{
	enum result result = db_ensure_connected(producer->db, error);

	if (result == RESULT_OK)
		result = settle_flights(producer, error);
	return result;
}

static void note_checks(
	enum result mysql, enum result amqp, bool is_blocked, const struct error *error)
{
	/* A lost race is no trouble of MySQL's. */
	service_set_check(
		SERVICE_CHECK_MYSQL, mysql == RESULT_OK || mysql == RESULT_CONFLICT, error->text);
	if (mysql == RESULT_OK)
		service_set_check(SERVICE_CHECK_AMQP, amqp == RESULT_OK && !is_blocked,
			is_blocked ? "the broker takes no messages: memory or disk alarm"
				   : error->text);
}

enum result producer_step(void *context, struct error *error)
{
	struct producer *producer = context;
	enum result amqp = RESULT_OK;
	enum result mysql = use_mysql(producer, error);

	if (mysql == RESULT_OK)
		amqp = publisher_ensure(producer->publisher, error);
	else
		publisher_keep_alive(producer->publisher);
	note_checks(mysql, amqp, publisher_is_blocked(producer->publisher), error);
	if (mysql != RESULT_OK || amqp != RESULT_OK)
		return mysql != RESULT_OK ? mysql : amqp;
	enum result result = claim_and_publish(producer, error);
	if (result == RESULT_OK)
		result = publisher_take_confirms(producer->publisher, wait_limit(producer), error);
	if (result == RESULT_OK)
		result = settle_flights(producer, error);
	counts_set_inflight(publisher_count_open(producer->publisher));
	return result;
}

/* Claims nothing new, waits for the confirms under way, settles. */
static enum result drain(void *context, struct error *error)
{
	struct producer *producer = context;

	producer->is_draining = true;
	enum result result = producer_step(producer, error);
	if (result == RESULT_OK && publisher_count_open(producer->publisher) == 0)
		result = RESULT_NONE;
	return result;
}
