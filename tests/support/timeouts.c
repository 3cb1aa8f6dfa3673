#include "tests/support/timeouts.h"

#include <inttypes.h>
#include <string.h>

#include <check.h>

#include "common/base/clock.h"
#include "common/base/text.h"
#include "common/io/broker.h"
#include "common/order/timeout_message.h"
#include "common/order/topology.h"
#include "tests/support/connection.h"

enum {
	ID_SIZE = 32
};

void timeouts_send(struct timeouts *timeouts, struct connection *connection,
	struct topology *topology, int64_t remaining_ms)
{
	char body[TIMEOUT_MESSAGE_SIZE];
	char id[ID_SIZE];
	struct broker_message message = { .type = TIMEOUT_MESSAGE_TYPE,
		.content_type = TIMEOUT_MESSAGE_CONTENT_TYPE,
		.message_id = id,
		.body = body };
	uint64_t number;

	ck_assert_uint_lt(timeouts->count, TIMEOUTS_MAX);
	ck_assert(text_format(id, sizeof(id), "%zu", timeouts->count));
	message.body_size = timeout_message_write(body, id);
	topology_route(topology, remaining_ms, &message);
	connection_expect(connection,
		broker_publish(connection->broker, &message, &number, &connection->error),
		RESULT_OK);
	connection_expect(
		connection, broker_flush(connection->broker, &connection->error), RESULT_OK);
	timeouts->entries[timeouts->count++] =
		(struct timeouts_entry){ .remaining_ms = remaining_ms,
			.sent_ms = (int64_t)clock_now_ms() };
}

/* Each queue confirms in its own time, so single numbers overtake those that come as a range. */
void timeouts_await_confirms(const struct timeouts *timeouts, struct connection *connection)
{
	bool is_confirmed[TIMEOUTS_MAX + 1] = { false };
	size_t count = 0;

	while (count < timeouts->count) {
		connection_expect_event(connection, BROKER_EVENT_CONFIRM);
		const struct broker_event *event = &connection->event;

		ck_assert(event->is_positive);
		ck_assert_uint_le(event->number, timeouts->count);
		for (uint64_t i = event->is_multiple ? 1 : event->number; i <= event->number; i++) {
			count += is_confirmed[i] ? 0 : 1;
			is_confirmed[i] = true;
		}
	}
}

static void note_arrival(struct timeouts *timeouts, const struct broker_delivery *delivery)
{
	struct error error = { 0 };
	char order_no[TEXT_KEY_SIZE] = "";
	uint64_t place;

	ck_assert_msg(timeout_message_parse(delivery->body, delivery->body_size, delivery->type,
			      order_no, &error) == RESULT_OK,
		"%s", error.text);
	ck_assert_str_eq(order_no, delivery->message_id);
	ck_assert(text_parse_uint(order_no, 0, timeouts->count - 1, &place));
	struct timeouts_entry *entry = &timeouts->entries[place];
	entry->early_ms = entry->sent_ms + entry->remaining_ms - (int64_t)clock_now_ms();
	entry->came_count++;
	ck_assert_msg(entry->came_count == 1, "%s came again", order_no);
}

void timeouts_receive(struct timeouts *timeouts, struct connection *connection, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct broker_delivery *delivery = &connection->event.delivery;

		connection_expect_event(connection, BROKER_EVENT_DELIVERY);
		note_arrival(timeouts, delivery);
		connection_expect(connection,
			broker_ack_up_to(connection->broker, delivery->epoch, delivery->tag,
				&connection->error),
			RESULT_OK);
	}
}
