#include "common/io/broker_pump.h"

#include "common/base/clock.h"

static void note_event(struct broker *broker, struct broker_event *event)
{
	switch (event->kind) {
	case BROKER_EVENT_DELIVERY:
		event->delivery.epoch = broker->epoch;
		break;
	case BROKER_EVENT_BLOCKED:
		broker->is_blocked = true;
		break;
	case BROKER_EVENT_UNBLOCKED:
		broker->is_blocked = false;
		break;
	case BROKER_EVENT_CANCELLED:
		broker->is_consuming = false;
		break;
	case BROKER_EVENT_CONFIRM:
	case BROKER_EVENT_RETURNED:
		break;
	}
}

/* One frame.  OK: event_out is filled.  NONE: nothing came before the end, or no whole event yet;
 * is_frame_out tells which. */
static enum result read_frame(struct broker *broker, uint64_t wait_ms,
	struct broker_event *event_out, bool *is_frame_out, struct error *error)
{
	const struct timeval limit = {
		.tv_sec = (time_t)(wait_ms / 1000),
		.tv_usec = (suseconds_t)(wait_ms % 1000) * 1000,
	};
	amqp_frame_t frame;

	*is_frame_out = false;
	amqp_maybe_release_buffers(broker->connection);
	int status = amqp_simple_wait_frame_noblock(broker->connection, &frame, &limit);
	if (status == AMQP_STATUS_TIMEOUT)
		return RESULT_NONE;
	if (status != AMQP_STATUS_OK)
		return broker_link_fail(broker, status, "read from the broker", error);
	*is_frame_out = true;
	enum result result = broker_reader_add(&broker->reader, &frame, event_out, error);
	if (result == RESULT_OK)
		note_event(broker, event_out);
	if (result != RESULT_OK && result != RESULT_NONE) {
		if (broker->reader.close_code != 0)
			broker_link_set_refusal(
				broker, broker->reader.close_code, broker->reader.close_text);
		broker_link_drop(broker);
	}
	return result;
}

enum result broker_pump(struct broker *broker, uint64_t wait_ms, struct broker_event *event_out,
	struct error *error)
{
	uint64_t end_ms = wait_ms == 0 ? 0 : clock_now_ms() + wait_ms;
	bool is_frame = true;

	enum result result = broker_flush(broker, error);
	if (result != RESULT_OK)
		return result;
	do {
		result = read_frame(broker, wait_ms, event_out, &is_frame, error);
		if (is_frame && end_ms != 0) {
			uint64_t now_ms = clock_now_ms();
			wait_ms = now_ms < end_ms ? end_ms - now_ms : 0;
		}
	} while (result == RESULT_NONE && is_frame);
	return result;
}

enum result broker_pump_keep(
	struct broker *broker, const struct broker_event *event, struct error *error)
{
	enum result result = broker_reader_keep(&broker->reader, event, error);

	if (result != RESULT_OK)
		broker_link_drop(broker);
	return result;
}
