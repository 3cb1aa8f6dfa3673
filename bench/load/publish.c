#include "bench/load/publish.h"

#include <inttypes.h>
#include <stdlib.h>

#include "bench/load/settings.h"
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/base/ulid.h"
#include "common/base/window.h"
#include "common/order/timeout_message.h"

enum {
	WAIT_MS = 10000
};

struct publish {
	const struct publish_request *request;
	struct broker *broker;
	struct topology *topology;
	struct window *window;
	uint64_t *settled;
	uint64_t start_ms;
};

static enum result publish_order(struct publish *publish, uint64_t place, struct error *error)
{
	char order_no[TEXT_KEY_SIZE];
	char body[TIMEOUT_MESSAGE_SIZE];
	char message_id[ULID_SIZE];
	int64_t remaining_ms = publish->request->remaining_ms;
	struct broker_message message = {
		.type = TIMEOUT_MESSAGE_TYPE,
		.content_type = TIMEOUT_MESSAGE_CONTENT_TYPE,
		.message_id = message_id,
		.body = body,
		.has_due = true,
		.due_ms = (int64_t)publish->start_ms + remaining_ms,
	};
	uint64_t number = 0;

	(void)text_format(order_no, sizeof(order_no), "B%09" PRIu64, place);
	ulid_generate(message_id);
	if (remaining_ms > 0)
		remaining_ms = message.due_ms - (int64_t)clock_epoch_ms();
	topology_route(publish->topology, remaining_ms, &message);
	message.body_size = timeout_message_write(body, order_no);
	enum result result = broker_publish(publish->broker, &message, &number, error);
	if (result == RESULT_OK)
		window_add(publish->window, number, place);
	return result;
}

static enum result take_confirm(struct publish *publish, struct error *error)
{
	struct broker_event event;
	enum result result = broker_next(publish->broker, WAIT_MS, &event, error);

	if (result == RESULT_NONE)
		return error_set(RESULT_TEMPORARY, error, "no confirm from the broker");
	if (result != RESULT_OK)
		return result;
	if (event.kind == BROKER_EVENT_RETURNED ||
		(event.kind == BROKER_EVENT_CONFIRM && !event.is_positive))
		return error_set(RESULT_TEMPORARY, error, "the broker did not take a message");
	if (event.kind == BROKER_EVENT_CONFIRM)
		(void)window_settle(
			publish->window, event.number, event.is_multiple, publish->settled);
	return RESULT_OK;
}

static enum result publish_all(struct publish *publish, struct error *error)
{
	enum result result = RESULT_OK;

	for (uint64_t place = 1; place <= publish->request->count && result == RESULT_OK; place++) {
		result = publish_order(publish, place, error);
		while (result == RESULT_OK && window_is_full(publish->window))
			result = take_confirm(publish, error);
	}
	while (result == RESULT_OK && window_count(publish->window) > 0)
		result = take_confirm(publish, error);
	return result;
}

enum result publish_orders(const struct load_settings *settings,
	const struct publish_request *request, struct publish_report *report, struct error *error)
{
	struct publish publish = { .request = request };

	broker_create(&settings->amqp, "bench-load publish", &publish.broker);
	topology_create(&settings->topology, &settings->amqp, &publish.topology);
	window_create(request->window, &publish.window);
	publish.settled = memory_allocate_array(request->window, sizeof(*publish.settled));
	enum result result = broker_ensure_connected(publish.broker, error);
	if (result == RESULT_OK)
		result = topology_declare(publish.topology, publish.broker, error);
	if (result == RESULT_OK)
		result = broker_enable_confirms(publish.broker, error);
	publish.start_ms = clock_epoch_ms();
	report->start_ms = publish.start_ms;
	if (result == RESULT_OK)
		result = publish_all(&publish, error);
	report->end_ms = clock_epoch_ms();
	broker_disconnect(publish.broker);
	free(publish.settled);
	window_destroy(&publish.window);
	topology_destroy(&publish.topology);
	broker_destroy(&publish.broker);
	return result;
}
