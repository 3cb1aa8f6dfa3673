#include "producer/publisher.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/failpoint.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/window.h"
#include "common/order/order.h"
#include "common/order/timeout_message.h"
#include "producer/counts.h"
#include "producer/envelope.h"
#include "producer/line.h"
#include "producer/refusal.h"

enum {
	CONFIRM_LIMIT_MS = 10000,
	ROW_BITS = 32,        /* a window value is the flight's place and the row's */
	MESSAGES_PER_ROW = 2, /* at most: order.created and the timeout */
	WINDOW_FACTOR = 4,    /* places, so that one late confirm does not hold up the others */
};

struct publisher {
	const struct producer_settings *settings;
	struct line *line;
	struct window *window;
	uint64_t *confirmed; /* values of one confirm */
	struct refusal refusal;
	struct flight flights[PUBLISHER_FLIGHT_MAX];
	uint64_t unblocked_ms; /* since when silence is no alarm's doing */
};

void publisher_create(const struct producer_settings *settings, struct publisher **publisher_out)
{
	struct publisher *publisher = memory_allocate(sizeof(*publisher));

	publisher->settings = settings;
	line_create(settings, &publisher->line);
	window_create(WINDOW_FACTOR * settings->window, &publisher->window);
	publisher->confirmed =
		memory_allocate_array(WINDOW_FACTOR * settings->window, sizeof(uint64_t));
	*publisher_out = publisher;
}

void publisher_destroy(struct publisher **publisher)
{
	if (*publisher == NULL)
		return;
	for (size_t i = 0; i < PUBLISHER_FLIGHT_MAX; i++)
		flight_end(&(*publisher)->flights[i]);
	line_destroy(&(*publisher)->line);
	window_destroy(&(*publisher)->window);
	free((*publisher)->confirmed);
	free(*publisher);
	*publisher = NULL;
}

bool publisher_is_connected(const struct publisher *publisher)
{
	return broker_is_connected(line_broker(publisher->line));
}

bool publisher_is_blocked(const struct publisher *publisher)
{
	return broker_is_blocked(line_broker(publisher->line));
}

size_t publisher_count_open(const struct publisher *publisher)
{
	return window_count(publisher->window);
}

static void lose_flights(struct publisher *publisher, const char *reason)
{
	for (size_t i = 0; i < PUBLISHER_FLIGHT_MAX; i++)
		flight_lose(&publisher->flights[i], reason);
	window_reset(publisher->window);
}

enum result publisher_ensure(struct publisher *publisher, struct error *error)
{
	bool has_reconnected = false;

	refusal_renew(
		&publisher->refusal, line_broker(publisher->line), publisher_count_open(publisher));
	enum result result = line_ensure(publisher->line, &has_reconnected, error);
	if (has_reconnected)
		lose_flights(publisher, "the connection was lost before the confirm");
	if (result == RESULT_OK)
		counts_set_mode(topology_mode(line_topology(publisher->line)));
	return result;
}

static bool is_timeout(const struct outbox_row *row)
{
	return text_equals(row->event_type, "ORDER_CREATED");
}

static enum counts_what what_of(const struct outbox_row *row)
{
	return is_timeout(row) ? COUNTS_WHAT_TIMEOUT : COUNTS_WHAT_EVENT;
}

static enum result publish(struct publisher *publisher, size_t place, size_t row,
	const struct broker_message *message, struct error *error)
{
	struct flight *flight = &publisher->flights[place];
	uint64_t number = 0;
	enum result result = broker_publish(line_broker(publisher->line), message, &number, error);

	if (result == RESULT_OK) {
		window_add(publisher->window, number, (uint64_t)place << ROW_BITS | row);
		flight_open_message(flight, row);
		return RESULT_OK;
	}
	counts_add_published(what_of(&flight->batch->rows[row]), COUNTS_PUBLISHED_ERROR);
	flight_set_fate(flight, row,
		result == RESULT_PERMANENT ? FLIGHT_FATE_NEVER : FLIGHT_FATE_AGAIN, error->text);
	return result == RESULT_PERMANENT ? RESULT_OK : result;
}

/* The event first, the timeout second: order.created goes before anything a timeout causes. */
static enum result publish_event(struct publisher *publisher, size_t place, size_t row,
	const struct order_detail *order, struct error *error)
{
	struct flight *flight = &publisher->flights[place];
	const struct outbox_row *outbox_row = &flight->batch->rows[row];
	struct broker_message message = { .exchange = "" };
	char *body = NULL;
	enum result result = envelope_write_event(
		outbox_row, order, publisher->settings->env_label, &body, error);

	if (result != RESULT_OK) {
		flight_set_fate(flight, row, FLIGHT_FATE_NEVER, error->text);
		return RESULT_OK;
	}
	envelope_fill_event(
		outbox_row, topology_events_exchange(line_topology(publisher->line)), &message);
	message.body = body;
	message.body_size = strlen(body);
	result = publish(publisher, place, row, &message, error);
	free(body);
	return result;
}

uint64_t publisher_horizon_ms(const struct publisher *publisher)
{
	uint64_t longest_ms = topology_delay_max_ms(line_topology(publisher->line));
	uint64_t wanted_ms = publisher->settings->topology.horizon_ms;

	return wanted_ms < longest_ms ? wanted_ms : longest_ms;
}

static enum result publish_timeout(struct publisher *publisher, size_t place, size_t row,
	const struct order_deadline *order, struct error *error)
{
	const struct outbox_row *outbox_row = &publisher->flights[place].batch->rows[row];
	struct broker_message message = {
		.type = TIMEOUT_MESSAGE_TYPE,
		.content_type = TIMEOUT_MESSAGE_CONTENT_TYPE,
		.message_id = outbox_row->event_id,
		.trace_parent =
			outbox_row->trace_parent[0] == '\0' ? NULL : outbox_row->trace_parent,
		.has_due = true,
		.due_ms = order->due_ms,
	};
	char body[TIMEOUT_MESSAGE_SIZE];

	topology_route(line_topology(publisher->line), order->remaining_ms, &message);
	message.body = body;
	message.body_size = timeout_message_write(body, outbox_row->order_no);
	return publish(publisher, place, row, &message, error);
}

/* A timeout that is due later, and of an order that still waits for it; else there is nothing to
 * publish and the row is done. */
static enum result arm(struct publisher *publisher, size_t place, size_t row,
	const struct order_deadline *order, struct error *error)
{
	struct flight *flight = &publisher->flights[place];

	if (!text_is_key(order->order_no, strlen(order->order_no), TEXT_KEY_MAX))
		flight_set_fate(flight, row, FLIGHT_FATE_NEVER, "order_no is no key");
	else if (order->state == ORDER_STATE_ABSENT)
		flight_set_fate(flight, row, FLIGHT_FATE_NEVER, "there is no such order");
	else if (order->state == ORDER_STATE_FINAL)
		counts_add_skipped(COUNTS_SKIPPED_FINAL);
	else if (!order->has_deadline)
		counts_add_skipped(COUNTS_SKIPPED_NO_DEADLINE);
	else if (topology_mode(line_topology(publisher->line)) == TOPOLOGY_MODE_NONE)
		counts_add_skipped(COUNTS_SKIPPED_NO_DELAY);
	else if (order->remaining_ms > (int64_t)publisher_horizon_ms(publisher)) {
		counts_add_skipped(COUNTS_SKIPPED_HORIZON);
		flight_set_fate(flight, row, FLIGHT_FATE_HORIZON, NULL);
	} else {
		return publish_timeout(publisher, place, row, order, error);
	}
	return RESULT_OK;
}

/* What the orders of a batch are, in the places of its rows. */
struct orders {
	struct order_deadline *deadlines;
	struct order_detail *details;
	bool needs_details;
};

static enum result read_orders(const struct publisher *publisher, struct db *db,
	const struct outbox_batch *batch, struct orders *orders, struct error *error)
{
	orders->deadlines = memory_allocate_array(batch->count, sizeof(*orders->deadlines));
	for (size_t i = 0; i < batch->count; i++) {
		(void)text_copy(orders->deadlines[i].order_no,
			sizeof(orders->deadlines[i].order_no), batch->rows[i].order_no);
		if (!is_timeout(&batch->rows[i]) || publisher->settings->created_event != 0)
			orders->needs_details = true;
	}
	enum result result = order_read_deadlines(db, orders->deadlines, batch->count, error);
	if (result != RESULT_OK || !orders->needs_details)
		return result;
	orders->details = memory_allocate_array(batch->count, sizeof(*orders->details));
	for (size_t i = 0; i < batch->count; i++)
		(void)text_copy(orders->details[i].order_no, sizeof(orders->details[i].order_no),
			batch->rows[i].order_no);
	return order_read_details(db, orders->details, batch->count, error);
}

static enum result publish_row(struct publisher *publisher, size_t place, size_t row,
	const struct orders *orders, struct error *error)
{
	struct outbox_row *outbox_row = &publisher->flights[place].batch->rows[row];
	bool arms = is_timeout(outbox_row);
	enum result result = RESULT_OK;

	if (!arms || publisher->settings->created_event != 0)
		result = publish_event(publisher, place, row, &orders->details[row], error);
	/* Published or not: a second try reads it again. */
	free(outbox_row->payload);
	outbox_row->payload = NULL;
	if (result == RESULT_OK && arms)
		result = arm(publisher, place, row, &orders->deadlines[row], error);
	return result;
}

static size_t find_free_place(const struct publisher *publisher)
{
	size_t place = 0;

	while (place < PUBLISHER_FLIGHT_MAX && publisher->flights[place].batch != NULL)
		place++;
	return place;
}

/* Half a window at a time: one half is on its way while the other is claimed. */
size_t publisher_room(const struct publisher *publisher)
{
	size_t chunk = (publisher->settings->window + 1) / 2;
	size_t open = window_count(publisher->window);

	if (find_free_place(publisher) == PUBLISHER_FLIGHT_MAX ||
		open + chunk > publisher->settings->window ||
		MESSAGES_PER_ROW * chunk > window_room(publisher->window))
		return 0;
	return chunk;
}

enum result publisher_publish(struct publisher *publisher, struct db *db,
	struct outbox_batch *batch_adopt, struct error *error)
{
	size_t place = find_free_place(publisher);
	struct orders orders = { .deadlines = NULL };

	REQUIRE(place < PUBLISHER_FLIGHT_MAX);
	struct flight *flight = &publisher->flights[place];
	flight_start(flight, batch_adopt, clock_now_ms());
	enum result result = read_orders(publisher, db, batch_adopt, &orders, error);
	size_t row = 0;
	while (row < batch_adopt->count && result == RESULT_OK) {
		result = publish_row(publisher, place, row, &orders, error);
		row += result == RESULT_OK ? 1 : 0;
	}
	for (; row < batch_adopt->count; row++)
		flight_set_fate(flight, row, FLIGHT_FATE_AGAIN, error->text);
	if (publisher_is_connected(publisher) && result == RESULT_OK)
		result = broker_flush(line_broker(publisher->line), error);
	FAILPOINT("after_publish");
	free(orders.deadlines);
	free(orders.details);
	return result;
}

static void note_confirm(struct publisher *publisher, uint64_t value, bool is_positive)
{
	struct flight *flight = &publisher->flights[value >> ROW_BITS];
	size_t row = (size_t)(value & UINT32_MAX);
	const struct outbox_row *outbox_row = &flight->batch->rows[row];

	counts_add_published(what_of(outbox_row),
		is_positive ? COUNTS_PUBLISHED_CONFIRMED : COUNTS_PUBLISHED_NACKED);
	refusal_note(&publisher->refusal, is_positive ? 0 : outbox_row->attempts);
	if (is_positive)
		counts_observe_lag(what_of(outbox_row),
			(uint64_t)(outbox_row->age_ms < 0 ? 0 : outbox_row->age_ms) +
				clock_now_ms() - flight->start_ms);
	flight_close_message(flight, row, is_positive, "the broker refused the message");
}

/* A queue or binding of ours is gone: the next connection declares it again. */
static enum result note_return(
	struct publisher *publisher, const struct broker_event *event, struct error *error)
{
	broker_drop(line_broker(publisher->line));
	return error_set(RESULT_TEMPORARY, error, "message %s came back: no queue took it",
		event->delivery.message_id);
}

static enum result note_event(
	struct publisher *publisher, const struct broker_event *event, struct error *error)
{
	switch (event->kind) {
	case BROKER_EVENT_CONFIRM: {
		size_t count = window_settle(
			publisher->window, event->number, event->is_multiple, publisher->confirmed);

		for (size_t i = 0; i < count; i++)
			note_confirm(publisher, publisher->confirmed[i], event->is_positive);
		return RESULT_OK;
	}
	case BROKER_EVENT_RETURNED:
		return note_return(publisher, event, error);
	case BROKER_EVENT_BLOCKED:
		log_warn(log_event("broker_blocked"));
		break;
	case BROKER_EVENT_UNBLOCKED:
		publisher->unblocked_ms = clock_now_ms();
		log_info(log_event("broker_unblocked"));
		return RESULT_OK;
	case BROKER_EVENT_DELIVERY:
	case BROKER_EVENT_CANCELLED:
		break; /* we do not consume */
	}
	return RESULT_OK;
}

/* A confirm that does not come is a connection that does not work; an alarm explains silence. */
static enum result check_confirm_limit(struct publisher *publisher, struct error *error)
{
	uint64_t now_ms = clock_now_ms();

	if (publisher_is_blocked(publisher) || now_ms - publisher->unblocked_ms < CONFIRM_LIMIT_MS)
		return RESULT_OK;
	for (size_t i = 0; i < PUBLISHER_FLIGHT_MAX; i++) {
		const struct flight *flight = &publisher->flights[i];

		if (flight->batch == NULL || flight->open == 0 ||
			now_ms - flight->start_ms < CONFIRM_LIMIT_MS)
			continue;
		counts_add_published(what_of(flight->batch->rows), COUNTS_PUBLISHED_TIMEOUT);
		broker_drop(line_broker(publisher->line));
		return error_set(
			RESULT_TEMPORARY, error, "no confirm within %d ms", (int)CONFIRM_LIMIT_MS);
	}
	return RESULT_OK;
}

enum result publisher_take_confirms(
	struct publisher *publisher, uint64_t wait_ms, struct error *error)
{
	struct broker_event event;
	enum result result = broker_next(line_broker(publisher->line), wait_ms, &event, error);

	while (result == RESULT_OK) {
		result = note_event(publisher, &event, error);
		if (result == RESULT_OK)
			result = broker_next(line_broker(publisher->line), 0, &event, error);
	}
	if (result == RESULT_NONE)
		result = check_confirm_limit(publisher, error);
	if (result != RESULT_OK && !publisher_is_connected(publisher))
		lose_flights(publisher, error->text);
	return result;
}

void publisher_keep_alive(struct publisher *publisher)
{
	line_keep_alive(publisher->line);
}

struct flight *publisher_find_done(struct publisher *publisher)
{
	for (size_t i = 0; i < PUBLISHER_FLIGHT_MAX; i++)
		if (publisher->flights[i].batch != NULL && publisher->flights[i].open == 0)
			return &publisher->flights[i];
	return NULL;
}
