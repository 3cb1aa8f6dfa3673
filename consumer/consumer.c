#include "consumer/consumer.h"

#include <stdlib.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/ulid.h"
#include "common/base/window.h"
#include "common/order/timeout_message.h"
#include "common/order/topology.h"
#include "common/report/close_report.h"
#include "common/service/database.h"
#include "common/service/link.h"
#include "consumer/batch.h"
#include "consumer/closing.h"
#include "consumer/settle.h"

enum {
	STEP_WAIT_MS = 250,     /* a stop request is seen only behind it */
	FULL_WAIT_MS = 100,     /* while nothing can be published */
	CONFIRM_WAIT_MS = 2,    /* the other connection is being waited for, too */
	SUSPECT_DELIVERIES = 3, /* a message delivered so often is handled alone */
	GIVE_BACK_MS = 300000,  /* without MySQL, until the messages go back */
	CONFIRM_LIMIT_MS = 10000,
};

/* A hint further away than this is nonsense: the year 6429. */
#define DUE_MAX_MS (INT64_C(1) << 47)

struct consumer {
	const struct consumer_settings *settings;
	struct database *database;
	struct topology *topology;
	struct link *link;
	struct batch *batch;
	struct window *window;
	struct settle settle;
	struct closing *closing;
	bool is_busy; /* the last batch had company */
	bool is_draining;
	uint64_t confirm_ms; /* when a confirm came last, or none was awaited */
};

enum family {
	FAMILY_INFLIGHT,
	FAMILY_COUNT,
};

static const struct metric_family consumer_metrics[] = {
	[FAMILY_INFLIGHT] = { METRIC_TYPE_GAUGE, "lapse_inflight",
		"Deliveries in hand, not yet acked.", NULL, NULL },
	[FAMILY_COUNT] = METRIC_END,
};

static void dump(void *context)
{
	const struct consumer *consumer = context;

	log_info(log_event("dump"), log_uint("mysql_away_ms", database_away_ms(consumer->database)),
		log_uint("consuming", broker_is_consuming(link_in(consumer->link))),
		log_uint("can_publish", link_can_publish(consumer->link)),
		log_uint("waiting", batch_count_state(consumer->batch, BATCH_STATE_WAITING)),
		log_uint("ready", batch_count_state(consumer->batch, BATCH_STATE_READY)),
		log_uint("to_publish", batch_count_state(consumer->batch, BATCH_STATE_TO_PUBLISH)),
		log_uint("published", batch_count_state(consumer->batch, BATCH_STATE_PUBLISHED)),
		log_uint("settled", batch_count_state(consumer->batch, BATCH_STATE_SETTLED)));
}

static enum result drain(void *context, struct error *error);

const struct service_program consumer_program = {
	.name = "lapse-consumer",
	.summary = "takes due timeouts in batches and closes the orders",
	.settings = consumer_settings_table,
	.check = consumer_check_settings,
	.metrics = consumer_metrics,
	.checks = SERVICE_CHECK_MYSQL | SERVICE_CHECK_AMQP,
	.dump = dump,
	.drain = drain,
};

static enum result declare_due(void *topology, struct broker *broker, struct error *error)
{
	return topology_declare_due(topology, broker, error);
}

static enum result declare_all(void *topology, struct broker *broker, struct error *error)
{
	return topology_declare(topology, broker, error);
}

static void create_link(struct consumer *consumer)
{
	const struct consumer_settings *settings = consumer->settings;

	topology_create(&settings->topology, &settings->amqp, &consumer->topology);
	const struct link_plan plan = {
		.name = consumer_program.name,
		.queue = topology_due_queue(consumer->topology),
		.prefetch = (uint16_t)settings->prefetch,
		.declare_in = declare_due,
		.declare_out = declare_all,
		.context = consumer->topology,
	};
	link_create(&settings->amqp, &plan, &consumer->link);
}

void consumer_create(const struct consumer_settings *settings, struct consumer **consumer_out)
{
	struct consumer *consumer = memory_allocate(sizeof(*consumer));

	consumer->settings = settings;
	database_create(&settings->mysql, &consumer->database);
	create_link(consumer);
	batch_create(settings->prefetch, &consumer->batch);
	window_create(settings->prefetch, &consumer->window);
	consumer->settle = (struct settle){
		.batch = consumer->batch,
		.link = consumer->link,
		.topology = consumer->topology,
		.window = consumer->window,
		.hold_ms = settings->hold_ms,
		.handles_room = settings->prefetch,
		.handles = memory_allocate_array(settings->prefetch, sizeof(uint64_t)),
	};
	closing_create(settings->batch, &consumer->settle, &consumer->closing);
	db_set_companion(database_db(consumer->database), link_serve, consumer->link);
	close_report_register();
	settle_register_metrics();
	*consumer_out = consumer;
}

void consumer_destroy(struct consumer **consumer)
{
	if (*consumer == NULL)
		return;
	link_destroy(&(*consumer)->link);
	topology_destroy(&(*consumer)->topology);
	database_destroy(&(*consumer)->database);
	batch_destroy(&(*consumer)->batch);
	window_destroy(&(*consumer)->window);
	free((*consumer)->settle.handles);
	closing_destroy(&(*consumer)->closing);
	free(*consumer);
	*consumer = NULL;
}

/* ---- deliveries */

/* x-due is a hint: it saves asking MySQL before the time. */
static uint64_t time_of_entry(
	const struct consumer *consumer, const struct broker_delivery *delivery)
{
	int64_t now_ms = (int64_t)clock_now_ms();
	int64_t due_ms = 0;

	if (!delivery->has_due || delivery->due_ms < 0 || delivery->due_ms > DUE_MAX_MS ||
		!database_local_time(consumer->database, delivery->due_ms, &due_ms) ||
		due_ms <= now_ms || due_ms - now_ms > (int64_t)consumer->settings->hold_ms)
		return 0;
	return (uint64_t)due_ms;
}

static enum result take_delivery(
	void *context, const struct broker_delivery *delivery, struct error *error)
{
	struct consumer *consumer = context;
	struct batch_entry *entry = batch_add(consumer->batch, delivery->tag);
	struct error reason = { .text = "" };

	settle_count_delivery(delivery->is_redelivered);
	entry->is_suspect = delivery->delivery_count >= SUSPECT_DELIVERIES;
	if (delivery->message_id[0] == '\0' ||
		!text_copy(entry->message_id, sizeof(entry->message_id), delivery->message_id))
		ulid_generate(entry->message_id);
	(void)text_copy(entry->trace_parent, sizeof(entry->trace_parent), delivery->trace_parent);
	if (delivery->is_body_cut)
		(void)error_set(RESULT_PERMANENT, &reason, "longer than 1 MiB");
	else if (timeout_message_parse(delivery->body, delivery->body_size, delivery->type,
			 entry->order_no, &reason) == RESULT_OK) {
		entry->until_ms = time_of_entry(consumer, delivery);
		return RESULT_OK;
	}
	return settle_malformed(&consumer->settle, entry, delivery, reason.text, error);
}

static bool has_room(void *context)
{
	const struct consumer *consumer = context;

	return !batch_is_full(consumer->batch);
}

/* A full batch, or what is there; waits for the first one, and for company while it is busy. */
static enum result take_deliveries(struct consumer *consumer, uint64_t wait_ms, struct error *error)
{
	const struct link_taking taking = {
		.limit = consumer->settings->batch,
		.wait_ms = wait_ms,
		.linger_ms = consumer->is_busy ? consumer->settings->linger_ms : 0,
		.has_room = has_room,
		.take = take_delivery,
		.context = consumer,
	};
	size_t taken = 0;
	enum result result = link_take(consumer->link, &taking, &taken, error);

	consumer->is_busy = taken > 1;
	return result;
}

/* MySQL's trouble is not the broker's: it is noted, and the batch stays for the next turn. */
static void close_ready(struct consumer *consumer)
{
	struct error error = { .text = "" };
	enum result result =
		closing_run(consumer->closing, database_db(consumer->database), &error);

	if (result != RESULT_OK && result != RESULT_NONE)
		database_note(consumer->database, result, &error);
}

/* ---- acks */

static enum result ack_settled(struct consumer *consumer, struct error *error)
{
	struct broker *in = link_in(consumer->link);
	uint64_t tag = 0;
	size_t count = 0;

	if (!batch_take_settled(consumer->batch, &tag, &count))
		return RESULT_OK;
	settle_count_ack(count);
	return broker_ack_up_to(in, broker_epoch(in), tag, error);
}

/* Five minutes without MySQL: everything goes back once, and comes again when MySQL answers. */
static enum result give_back(struct consumer *consumer, struct error *error)
{
	uint64_t tag = 0;
	size_t count =
		batch_find_last_tag(consumer->batch, &tag) ? batch_count(consumer->batch) : 0;
	enum result result = link_give_back(consumer->link, tag, count, error);

	batch_reset(consumer->batch);
	window_reset(consumer->window);
	return result;
}

/* Also for deliveries that were under way when the subscription ended. */
static bool is_time_to_give_back(const struct consumer *consumer)
{
	return database_away_ms(consumer->database) >= GIVE_BACK_MS &&
	       (broker_is_consuming(link_in(consumer->link)) || batch_count(consumer->batch) > 0);
}

/* ---- the step */

static enum result ensure_links(struct consumer *consumer, struct error *error)
{
	bool has_reconnected = false;
	enum result result = link_ensure_in(consumer->link, &has_reconnected, error);

	if (has_reconnected) {
		batch_reset(consumer->batch);
		window_reset(consumer->window);
	}
	if (result != RESULT_OK) {
		service_set_check(SERVICE_CHECK_AMQP, false, error->text);
		return result;
	}
	bool has_out = link_ensure_out(consumer->link, &has_reconnected);
	if (has_reconnected || !has_out)
		settle_forget_published(&consumer->settle);
	service_set_check(SERVICE_CHECK_AMQP,
		link_can_publish(consumer->link) && broker_is_consuming(link_in(consumer->link)),
		link_trouble(consumer->link));
	return RESULT_OK;
}

static void publish_and_confirm(struct consumer *consumer)
{
	uint64_t now_ms = clock_now_ms();

	/* An alarm explains silence. */
	if (window_count(consumer->window) == 0 || broker_is_blocked(link_out(consumer->link)))
		consumer->confirm_ms = now_ms;
	settle_publish(&consumer->settle);
	if (settle_take_confirms(&consumer->settle) > 0) {
		consumer->confirm_ms = now_ms;
	} else if (now_ms - consumer->confirm_ms > CONFIRM_LIMIT_MS) {
		log_warn(log_event("confirms_missing"),
			log_uint("count", window_count(consumer->window)));
		broker_drop(link_out(consumer->link));
		consumer->confirm_ms = now_ms;
	}
}

/* How long the step may wait for a delivery: not when there is other work. */
static uint64_t wait_limit(struct consumer *consumer, bool is_mysql_there)
{
	uint64_t now_ms = clock_now_ms();
	uint64_t next_ms = batch_wake(consumer->batch, now_ms);
	uint64_t wait_ms = STEP_WAIT_MS;

	if (is_mysql_there && batch_count_state(consumer->batch, BATCH_STATE_READY) > 0)
		return 0;
	if (window_count(consumer->window) > 0)
		wait_ms = CONFIRM_WAIT_MS;
	else if (batch_count_state(consumer->batch, BATCH_STATE_TO_PUBLISH) > 0)
		wait_ms = FULL_WAIT_MS; /* its time may come before it can be published */
	if (next_ms != UINT64_MAX && next_ms - now_ms < wait_ms)
		wait_ms = next_ms - now_ms;
	return wait_ms;
}

enum result consumer_step(void *context, struct error *error)
{
	struct consumer *consumer = context;
	bool is_mysql_there = database_is_there(consumer->database);

	if (is_mysql_there && !consumer->is_draining)
		link_resume(consumer->link);
	enum result result = ensure_links(consumer, error);
	if (result == RESULT_OK && is_time_to_give_back(consumer))
		result = give_back(consumer, error);
	if (result == RESULT_OK)
		result = take_deliveries(consumer, wait_limit(consumer, is_mysql_there), error);
	if (result == RESULT_OK) {
		(void)batch_wake(consumer->batch, clock_now_ms());
		if (is_mysql_there)
			close_ready(consumer);
		publish_and_confirm(consumer);
		result = ack_settled(consumer, error);
	}
	if (result == RESULT_OK)
		result = link_check_subscription(consumer->link, error);
	metrics_set(&consumer_metrics[FAMILY_INFLIGHT], 0, (double)batch_count(consumer->batch));
	return result;
}

/* Takes nothing new, closes what is in hand; what is not settled goes back by itself. */
static enum result drain(void *context, struct error *error)
{
	struct consumer *consumer = context;
	enum result result = RESULT_OK;

	consumer->is_draining = true;
	link_pause(consumer->link);
	if (broker_is_consuming(link_in(consumer->link)))
		result = broker_cancel(link_in(consumer->link), error);
	if (result == RESULT_OK && batch_count(consumer->batch) > 0)
		result = consumer_step(consumer, error);
	if (result == RESULT_OK &&
		(batch_count(consumer->batch) == 0 || !database_is_there(consumer->database)))
		result = RESULT_NONE;
	return result;
}
