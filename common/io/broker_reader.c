#include "common/io/broker_reader.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/io/broker_content.h"

enum {
	KEPT_FIRST_CAPACITY = 16
};

/* Empties the texts without touching their whole length: this happens for every delivery. */
static void begin_event(struct broker_event *event, enum broker_event_kind kind)
{
	struct broker_delivery *delivery = &event->delivery;

	event->kind = kind;
	event->number = 0;
	event->is_multiple = false;
	event->is_positive = false;
	delivery->tag = 0;
	delivery->epoch = 0;
	delivery->is_redelivered = false;
	delivery->delivery_count = 0;
	delivery->has_due = false;
	delivery->due_ms = 0;
	delivery->message_id[0] = '\0';
	delivery->type[0] = '\0';
	delivery->content_type[0] = '\0';
	delivery->trace_parent[0] = '\0';
	delivery->reason[0] = '\0';
	delivery->origin[0] = '\0';
	delivery->body = NULL;
	delivery->body_size = 0;
	delivery->is_body_cut = false;
	delivery->message_count = 0;
}

static struct broker_event *begin_content(
	struct broker_reader *reader, enum broker_event_kind kind, bool is_get)
{
	begin_event(&reader->event, kind);
	reader->is_in_content = true;
	reader->has_header = false;
	reader->is_get = is_get;
	return &reader->event;
}

static enum result finish_content(struct broker_reader *reader, struct broker_event *event_out)
{
	reader->is_in_content = false;
	reader->get = reader->is_get ? BROKER_READER_GET_MESSAGE : BROKER_READER_GET_NONE;
	reader->event.delivery.body = reader->body;
	*event_out = reader->event;
	return RESULT_OK;
}

static enum result confirm(
	struct broker_event *event_out, uint64_t number, bool is_multiple, bool is_positive)
{
	begin_event(event_out, BROKER_EVENT_CONFIRM);
	event_out->number = number;
	event_out->is_multiple = is_multiple;
	event_out->is_positive = is_positive;
	return RESULT_OK;
}

static enum result simple_event(struct broker_event *event_out, enum broker_event_kind kind)
{
	begin_event(event_out, kind);
	return RESULT_OK;
}

static enum result closed(struct broker_reader *reader, const char *what, uint16_t code,
	amqp_bytes_t text, struct error *error)
{
	reader->close_code = code;
	broker_content_copy_text(reader->close_text, sizeof(reader->close_text), text);
	return error_set(RESULT_TEMPORARY, error, "the broker closed the %s: %u %s", what,
		(unsigned)code, reader->close_text);
}

static enum result surprised(struct error *error, const char *what, uint32_t id)
{
	return error_set(RESULT_TEMPORARY, error, "the broker sent an unexpected %s 0x%08X", what,
		(unsigned)id);
}

static enum result add_delivery(struct broker_reader *reader, const amqp_basic_deliver_t *method)
{
	struct broker_event *event = begin_content(reader, BROKER_EVENT_DELIVERY, false);

	event->delivery.tag = method->delivery_tag;
	event->delivery.is_redelivered = method->redelivered != 0;
	return RESULT_NONE;
}

static enum result add_got(struct broker_reader *reader, const amqp_basic_get_ok_t *method)
{
	struct broker_event *event = begin_content(reader, BROKER_EVENT_DELIVERY, true);

	event->delivery.tag = method->delivery_tag;
	event->delivery.is_redelivered = method->redelivered != 0;
	event->delivery.message_count = method->message_count;
	return RESULT_NONE;
}

static enum result add_nothing_got(struct broker_reader *reader, struct broker_event *event_out)
{
	reader->get = BROKER_READER_GET_EMPTY;
	return simple_event(event_out, BROKER_EVENT_DELIVERY);
}

static enum result add_method(struct broker_reader *reader, const amqp_method_t *method,
	struct broker_event *event_out, struct error *error)
{
	const void *decoded = method->decoded;

	switch (method->id) {
	case AMQP_BASIC_DELIVER_METHOD:
		return add_delivery(reader, decoded);
	case AMQP_BASIC_ACK_METHOD: {
		const amqp_basic_ack_t *ack = decoded;
		return confirm(event_out, ack->delivery_tag, ack->multiple != 0, true);
	}
	case AMQP_BASIC_NACK_METHOD: {
		const amqp_basic_nack_t *nack = decoded;
		return confirm(event_out, nack->delivery_tag, nack->multiple != 0, false);
	}
	case AMQP_BASIC_RETURN_METHOD:
		(void)begin_content(reader, BROKER_EVENT_RETURNED, false);
		return RESULT_NONE;
	case AMQP_BASIC_GET_OK_METHOD:
		return add_got(reader, decoded);
	case AMQP_BASIC_GET_EMPTY_METHOD:
		return add_nothing_got(reader, event_out);
	case AMQP_CONNECTION_BLOCKED_METHOD:
		return simple_event(event_out, BROKER_EVENT_BLOCKED);
	case AMQP_CONNECTION_UNBLOCKED_METHOD:
		return simple_event(event_out, BROKER_EVENT_UNBLOCKED);
	case AMQP_BASIC_CANCEL_METHOD:
		return simple_event(event_out, BROKER_EVENT_CANCELLED);
	case AMQP_CHANNEL_CLOSE_METHOD: {
		const amqp_channel_close_t *close = decoded;
		return closed(reader, "channel", close->reply_code, close->reply_text, error);
	}
	case AMQP_CONNECTION_CLOSE_METHOD: {
		const amqp_connection_close_t *close = decoded;
		return closed(reader, "connection", close->reply_code, close->reply_text, error);
	}
	default:
		return surprised(error, "method", method->id);
	}
}

static enum result add_header(struct broker_reader *reader, const amqp_frame_t *frame,
	struct broker_event *event_out, struct error *error)
{
	struct broker_delivery *delivery = &reader->event.delivery;
	uint64_t body_size = frame->payload.properties.body_size;

	if (!reader->is_in_content || reader->has_header ||
		frame->payload.properties.class_id != AMQP_BASIC_CLASS)
		return surprised(error, "header of class", frame->payload.properties.class_id);
	broker_content_read(frame->payload.properties.decoded, delivery);
	reader->has_header = true;
	reader->body_left = body_size;
	delivery->is_body_cut = body_size > BROKER_BODY_MAX;
	size_t needed = delivery->is_body_cut ? BROKER_BODY_MAX : (size_t)body_size;
	if (needed > reader->body_capacity) {
		reader->body = memory_resize_array(reader->body, needed, 1);
		reader->body_capacity = needed;
	}
	return body_size == 0 ? finish_content(reader, event_out) : RESULT_NONE;
}

static enum result add_body(struct broker_reader *reader, const amqp_frame_t *frame,
	struct broker_event *event_out, struct error *error)
{
	struct broker_delivery *delivery = &reader->event.delivery;
	amqp_bytes_t bytes = frame->payload.body_fragment;
	size_t room = BROKER_BODY_MAX - delivery->body_size;
	size_t taken = bytes.len < room ? bytes.len : room;

	if (!reader->is_in_content || !reader->has_header || bytes.len > reader->body_left)
		return surprised(error, "piece of a body of bytes", (uint32_t)bytes.len);
	if (taken > 0)
		memcpy(reader->body + delivery->body_size, bytes.bytes, taken);
	delivery->body_size += taken;
	reader->body_left -= bytes.len;
	return reader->body_left == 0 ? finish_content(reader, event_out) : RESULT_NONE;
}

static enum result add_method_frame(struct broker_reader *reader, const amqp_frame_t *frame,
	struct broker_event *event_out, struct error *error)
{
	/* Channel 0 speaks at any time; on our channel no method comes in the middle of content. */
	if (reader->is_in_content && frame->channel != 0 &&
		frame->payload.method.id != AMQP_CHANNEL_CLOSE_METHOD)
		return surprised(error, "method inside a message", frame->payload.method.id);
	return add_method(reader, &frame->payload.method, event_out, error);
}

enum result broker_reader_add(struct broker_reader *reader, const amqp_frame_t *frame,
	struct broker_event *event_out, struct error *error)
{
	reader->get = BROKER_READER_GET_NONE;
	switch (frame->frame_type) {
	case AMQP_FRAME_METHOD:
		return add_method_frame(reader, frame, event_out, error);
	case AMQP_FRAME_HEADER:
		return add_header(reader, frame, event_out, error);
	case AMQP_FRAME_BODY:
		return add_body(reader, frame, event_out, error);
	default:
		return surprised(error, "frame type", frame->frame_type);
	}
}

static void grow_ring(struct broker_reader *reader)
{
	size_t capacity =
		reader->kept_capacity == 0 ? KEPT_FIRST_CAPACITY : 2 * reader->kept_capacity;
	struct broker_kept *kept = memory_allocate_array(capacity, sizeof(*kept));

	for (size_t i = 0; i < reader->kept_count; i++)
		kept[i] = reader->kept[(reader->kept_first + i) % reader->kept_capacity];
	free(reader->kept);
	reader->kept = kept;
	reader->kept_first = 0;
	reader->kept_capacity = capacity;
}

enum result broker_reader_keep(
	struct broker_reader *reader, const struct broker_event *event, struct error *error)
{
	size_t size = event->delivery.body_size;

	if (reader->kept_count >= BROKER_READER_KEPT_MAX ||
		size > BROKER_READER_KEPT_BYTES_MAX - reader->kept_bytes)
		return error_set(RESULT_TEMPORARY, error,
			"more than %d events or %d bytes came while nobody took them",
			(int)BROKER_READER_KEPT_MAX, (int)BROKER_READER_KEPT_BYTES_MAX);
	if (reader->kept_count == reader->kept_capacity)
		grow_ring(reader);
	struct broker_kept *place =
		&reader->kept[(reader->kept_first + reader->kept_count) % reader->kept_capacity];
	place->event = *event;
	place->body = memory_allocate(size);
	if (size > 0)
		memcpy(place->body, event->delivery.body, size);
	place->event.delivery.body = place->body;
	reader->kept_count++;
	reader->kept_bytes += size;
	return RESULT_OK;
}

bool broker_reader_take(struct broker_reader *reader, struct broker_event *event_out)
{
	free(reader->taken_body);
	reader->taken_body = NULL;
	if (reader->kept_count == 0)
		return false;
	*event_out = reader->kept[reader->kept_first].event;
	reader->taken_body = reader->kept[reader->kept_first].body;
	reader->kept_first = (reader->kept_first + 1) % reader->kept_capacity;
	reader->kept_count--;
	reader->kept_bytes -= event_out->delivery.body_size;
	return true;
}

void broker_reader_clear(struct broker_reader *reader)
{
	struct broker_event event;

	/* The last call frees the body of the last event. */
	while (broker_reader_take(reader, &event)) {
	}
	free(reader->kept);
	free(reader->body);
	memset(reader, 0, sizeof(*reader));
}
