#include "common/io/broker_writer.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/io/broker_content.h"

enum {
	BUFFER_SIZE = 65536,
	FRAME_HEAD_SIZE = 7, /* type, channel, size of the payload */
	FRAME_END_SIZE = 1,
	METHOD_ID_SIZE = 4,
	CONTENT_HEAD_SIZE = 12,  /* class, weight, size of the body */
	NAME_MAX_LENGTH = 255,   /* an AMQP short string */
	HEADER_MAX_LENGTH = 768, /* all of them together stay below the smallest frame, 4096 */
	ERROR_TEXT_SIZE = 128,
};

void broker_writer_open(struct broker_writer *writer, amqp_connection_state_t connection,
	bool is_tls, uint64_t time_limit_ms)
{
	broker_writer_clear(writer);
	writer->connection = connection;
	writer->is_tls = is_tls;
	writer->time_limit_ms = time_limit_ms;
	if (!is_tls)
		writer->buffer = memory_allocate(BUFFER_SIZE);
}

void broker_writer_clear(struct broker_writer *writer)
{
	free(writer->buffer);
	memset(writer, 0, sizeof(*writer));
}

static enum result fail_with_errno(struct error *error, int code)
{
	char text[ERROR_TEXT_SIZE] = "";

	(void)strerror_r(code, text, sizeof(text));
	return error_set(RESULT_TEMPORARY, error, "write to the broker: %s", text);
}

/* Waits until the socket takes bytes again; a signal does not end the wait. */
static enum result wait_writable(int socket, uint64_t end_ms, struct error *error)
{
	struct pollfd poller = { .fd = socket, .events = POLLOUT };

	for (;;) {
		uint64_t now = clock_now_ms();

		if (now >= end_ms)
			return error_set(RESULT_TEMPORARY, error,
				"write to the broker: it takes no bytes any more");
		int count = poll(&poller, 1, (int)(end_ms - now));
		if (count > 0)
			return RESULT_OK;
		if (count < 0 && errno != EINTR)
			return fail_with_errno(error, errno);
	}
}

static enum result write_bytes(
	struct broker_writer *writer, const uint8_t *bytes, size_t size, struct error *error)
{
	int socket = amqp_get_sockfd(writer->connection);
	uint64_t end_ms = 0;

	while (size > 0) {
		ssize_t written = send(socket, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (written >= 0) {
			bytes += written;
			size -= (size_t)written;
			continue;
		}
		if (errno == EINTR)
			continue;
		if (errno != EAGAIN && errno != EWOULDBLOCK)
			return fail_with_errno(error, errno);
		if (end_ms == 0)
			end_ms = clock_now_ms() + writer->time_limit_ms;
		enum result result = wait_writable(socket, end_ms, error);
		if (result != RESULT_OK)
			return result;
	}
	return RESULT_OK;
}

enum result broker_writer_flush(struct broker_writer *writer, struct error *error)
{
	size_t used = writer->used;

	if (used == 0)
		return RESULT_OK;
	writer->used = 0;
	return write_bytes(writer, writer->buffer, used, error);
}

static void put_number(uint8_t *place, uint64_t number, size_t size)
{
	for (size_t i = 0; i < size; i++)
		place[i] = (uint8_t)(number >> (8 * (size - 1 - i)));
}

static void put_frame_head(uint8_t *place, uint8_t type, size_t payload_size)
{
	place[0] = type;
	put_number(place + 1, BROKER_AMQP_CHANNEL, 2);
	put_number(place + 3, payload_size, 4);
}

/* Room for the payload of one frame that starts at used; 0 when there is none. */
static size_t payload_room(size_t used, size_t head_size)
{
	size_t needed = used + FRAME_HEAD_SIZE + head_size + FRAME_END_SIZE;

	return needed >= BUFFER_SIZE ? 0 : BUFFER_SIZE - needed;
}

static void finish_frame(struct broker_writer *writer, size_t *used, uint8_t type, size_t size)
{
	put_frame_head(writer->buffer + *used, type, size);
	*used += FRAME_HEAD_SIZE + size;
	writer->buffer[(*used)++] = AMQP_FRAME_END;
}

/* A negative library status when the buffer has no room for it. */
static int encode_method(
	struct broker_writer *writer, size_t *used, const struct broker_message *message)
{
	uint8_t *payload = writer->buffer + *used + FRAME_HEAD_SIZE;
	amqp_basic_publish_t method = {
		.exchange = amqp_cstring_bytes(message->exchange),
		.routing_key = amqp_cstring_bytes(message->routing_key),
		.mandatory = message->is_mandatory,
	};
	amqp_bytes_t room = { payload_room(*used, METHOD_ID_SIZE), payload + METHOD_ID_SIZE };

	int size = room.len == 0 ? AMQP_STATUS_BAD_AMQP_DATA
				 : amqp_encode_method(AMQP_BASIC_PUBLISH_METHOD, &method, room);
	if (size < 0)
		return size;
	put_number(payload, AMQP_BASIC_PUBLISH_METHOD, METHOD_ID_SIZE);
	finish_frame(writer, used, AMQP_FRAME_METHOD, METHOD_ID_SIZE + (size_t)size);
	return AMQP_STATUS_OK;
}

static int encode_header(struct broker_writer *writer, size_t *used, struct broker_content *content,
	size_t body_size)
{
	uint8_t *payload = writer->buffer + *used + FRAME_HEAD_SIZE;
	amqp_bytes_t room = { payload_room(*used, CONTENT_HEAD_SIZE), payload + CONTENT_HEAD_SIZE };

	int size = room.len == 0
			   ? AMQP_STATUS_BAD_AMQP_DATA
			   : amqp_encode_properties(AMQP_BASIC_CLASS, &content->properties, room);
	if (size < 0)
		return size;
	put_number(payload, AMQP_BASIC_CLASS, 2);
	put_number(payload + 2, 0, 2);
	put_number(payload + 4, body_size, 8);
	finish_frame(writer, used, AMQP_FRAME_HEADER, CONTENT_HEAD_SIZE + (size_t)size);
	return AMQP_STATUS_OK;
}

/* Method and header together, or nothing. */
static int encode_head(struct broker_writer *writer, const struct broker_message *message)
{
	struct broker_content content;
	size_t used = writer->used;

	broker_content_fill(&content, message);
	int status = encode_method(writer, &used, message);
	if (status >= 0)
		status = encode_header(writer, &used, &content, message->body_size);
	if (status >= 0)
		writer->used = used;
	return status;
}

static enum result append(
	struct broker_writer *writer, const uint8_t *bytes, size_t size, struct error *error)
{
	enum result result = RESULT_OK;

	if (size > BUFFER_SIZE - writer->used)
		result = broker_writer_flush(writer, error);
	if (result != RESULT_OK)
		return result;
	if (size > BUFFER_SIZE)
		return write_bytes(writer, bytes, size, error);
	memcpy(writer->buffer + writer->used, bytes, size);
	writer->used += size;
	return RESULT_OK;
}

static enum result append_body(
	struct broker_writer *writer, const uint8_t *bytes, size_t size, struct error *error)
{
	static const uint8_t frame_end[] = { AMQP_FRAME_END };
	size_t frame_max = (size_t)amqp_get_frame_max(writer->connection);
	size_t piece_max = frame_max - FRAME_HEAD_SIZE - FRAME_END_SIZE;
	enum result result = RESULT_OK;

	while (size > 0 && result == RESULT_OK) {
		size_t piece = size < piece_max ? size : piece_max;
		uint8_t head[FRAME_HEAD_SIZE];

		put_frame_head(head, AMQP_FRAME_BODY, piece);
		result = append(writer, head, sizeof(head), error);
		if (result == RESULT_OK)
			result = append(writer, bytes, piece, error);
		if (result == RESULT_OK)
			result = append(writer, frame_end, sizeof(frame_end), error);
		bytes += piece;
		size -= piece;
	}
	return result;
}

static bool is_short(const char *text, size_t length_max)
{
	return text == NULL || strnlen(text, length_max + 1) <= length_max;
}

/* Asked before the first byte is written: half a message on the wire costs the connection. */
static bool fits(const struct broker_message *message)
{
	return is_short(message->exchange, NAME_MAX_LENGTH) &&
	       is_short(message->routing_key, NAME_MAX_LENGTH) &&
	       is_short(message->type, NAME_MAX_LENGTH) &&
	       is_short(message->content_type, NAME_MAX_LENGTH) &&
	       is_short(message->message_id, NAME_MAX_LENGTH) &&
	       is_short(message->trace_parent, HEADER_MAX_LENGTH) &&
	       is_short(message->reason, HEADER_MAX_LENGTH) &&
	       is_short(message->origin, HEADER_MAX_LENGTH);
}

static enum result fail_with_status(struct error *error, int status)
{
	return error_set(RESULT_TEMPORARY, error, "publish: %s", amqp_error_string2(status));
}

static enum result publish_by_library(
	struct broker_writer *writer, const struct broker_message *message, struct error *error)
{
	struct broker_content content;
	/* The library only reads it.  NOLINTNEXTLINE(performance-no-int-to-ptr) */
	amqp_bytes_t body = { message->body_size, (void *)(uintptr_t)message->body };

	broker_content_fill(&content, message);
	int status = amqp_basic_publish(writer->connection, BROKER_AMQP_CHANNEL,
		amqp_cstring_bytes(message->exchange), amqp_cstring_bytes(message->routing_key),
		message->is_mandatory, false, &content.properties, body);
	return status == AMQP_STATUS_OK ? RESULT_OK : fail_with_status(error, status);
}

enum result broker_writer_publish(
	struct broker_writer *writer, const struct broker_message *message, struct error *error)
{
	if (!fits(message))
		return error_set(RESULT_PERMANENT, error,
			"publish: a property or header of the message is too long");
	if (writer->is_tls)
		return publish_by_library(writer, message, error);
	int status = encode_head(writer, message);
	if (status < 0 && writer->used > 0) {
		enum result result = broker_writer_flush(writer, error);
		if (result != RESULT_OK)
			return result;
		status = encode_head(writer, message);
	}
	if (status < 0)
		return fail_with_status(error, status);
	return append_body(writer, message->body, message->body_size, error);
}
