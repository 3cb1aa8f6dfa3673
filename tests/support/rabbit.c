#include "tests/support/rabbit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include <amqp.h>
#include <amqp_tcp_socket.h>
#include <check.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "tests/support/address.h"

enum {
	CHANNEL = 1,
	FRAME_MAX = 131072,
	ANSWER_LIMIT_S = 30,
	HEADERS_MAX = 16
};

struct rabbit {
	struct address server;
	amqp_connection_state_t connection; /* NULL: not connected */
	bool was_lost;                      /* the last failure was the line's, no refusal */
};

static void disconnect(struct rabbit *rabbit)
{
	if (rabbit->connection != NULL)
		(void)amqp_destroy_connection(rabbit->connection);
	rabbit->connection = NULL;
}

/* Drops the connection when the last call failed: a refusal closes the channel anyway. */
static bool is_well(struct rabbit *rabbit)
{
	amqp_rpc_reply_t reply = amqp_get_rpc_reply(rabbit->connection);

	if (reply.reply_type == AMQP_RESPONSE_NORMAL)
		return true;
	rabbit->was_lost = reply.reply_type == AMQP_RESPONSE_LIBRARY_EXCEPTION;
	disconnect(rabbit);
	return false;
}

static bool open_connection(struct rabbit *rabbit)
{
	const struct address *server = &rabbit->server;
	const struct timeval limit = { .tv_sec = ANSWER_LIMIT_S };

	rabbit->connection = amqp_new_connection();
	amqp_socket_t *socket = amqp_tcp_socket_new(rabbit->connection);
	(void)amqp_set_rpc_timeout(rabbit->connection, &limit);
	if (amqp_socket_open_noblock(socket, server->host, server->port, &limit) != AMQP_STATUS_OK)
		return false;
	amqp_rpc_reply_t reply = amqp_login(rabbit->connection, server->path, 0, FRAME_MAX, 0,
		AMQP_SASL_METHOD_PLAIN, server->user, server->password);
	if (reply.reply_type != AMQP_RESPONSE_NORMAL)
		return false;
	(void)amqp_channel_open(rabbit->connection, CHANNEL);
	if (!is_well(rabbit))
		return false;
	(void)amqp_confirm_select(rabbit->connection, CHANNEL);
	return is_well(rabbit);
}

static void ensure_connected(struct rabbit *rabbit)
{
	if (rabbit->connection != NULL)
		return;
	bool is_open = open_connection(rabbit);
	if (!is_open)
		disconnect(rabbit);
	ck_assert_msg(is_open, "cannot connect to the broker");
}

void rabbit_create(const char *url, struct rabbit **rabbit_out)
{
	struct rabbit *rabbit = memory_allocate(sizeof(*rabbit));

	*rabbit_out = rabbit;
	address_parse(url, "amqp", &rabbit->server);
	ensure_connected(rabbit);
}

void rabbit_destroy(struct rabbit **rabbit)
{
	if (*rabbit == NULL)
		return;
	disconnect(*rabbit);
	free(*rabbit);
	*rabbit = NULL;
}

static amqp_bytes_t bytes_of(const char *text)
{
	return amqp_cstring_bytes(text == NULL ? "" : text);
}

static size_t fill_headers(const struct rabbit_message *message, amqp_table_entry_t *entries)
{
	ck_assert_uint_le(message->header_count, HEADERS_MAX);
	for (size_t i = 0; i < message->header_count; i++) {
		const struct rabbit_header *header = &message->headers[i];

		entries[i].key = bytes_of(header->name);
		if (header->text != NULL) {
			entries[i].value.kind = AMQP_FIELD_KIND_UTF8;
			entries[i].value.value.bytes = bytes_of(header->text);
		} else {
			entries[i].value.kind = AMQP_FIELD_KIND_I64;
			entries[i].value.value.i64 = header->number;
		}
	}
	return message->header_count;
}

static void set_text(amqp_basic_properties_t *properties, amqp_flags_t flag, amqp_bytes_t *field,
	const char *text)
{
	if (text == NULL)
		return;
	properties->_flags |= flag;
	*field = bytes_of(text);
}

static void await_confirm(struct rabbit *rabbit)
{
	const struct timeval limit = { .tv_sec = ANSWER_LIMIT_S };
	amqp_frame_t frame;
	int status = amqp_simple_wait_frame_noblock(rabbit->connection, &frame, &limit);
	bool is_confirmed = status == AMQP_STATUS_OK && frame.frame_type == AMQP_FRAME_METHOD &&
			    frame.payload.method.id == AMQP_BASIC_ACK_METHOD;

	if (!is_confirmed)
		disconnect(rabbit);
	ck_assert_msg(is_confirmed, "the broker did not confirm a message of the test");
	amqp_maybe_release_buffers(rabbit->connection);
}

void rabbit_publish(struct rabbit *rabbit, const struct rabbit_message *message)
{
	amqp_basic_properties_t properties = { ._flags = AMQP_BASIC_DELIVERY_MODE_FLAG,
		.delivery_mode = 2 };
	amqp_table_entry_t entries[HEADERS_MAX];
	const amqp_bytes_t body = { .len = message->body_size,
		.bytes = memory_copy_bytes(message->body, message->body_size) };

	ensure_connected(rabbit);
	properties.headers.num_entries = (int)fill_headers(message, entries);
	properties.headers.entries = entries;
	if (message->header_count > 0)
		properties._flags |= AMQP_BASIC_HEADERS_FLAG;
	set_text(&properties, AMQP_BASIC_MESSAGE_ID_FLAG, &properties.message_id,
		message->message_id);
	set_text(&properties, AMQP_BASIC_TYPE_FLAG, &properties.type, message->type);
	set_text(&properties, AMQP_BASIC_CONTENT_TYPE_FLAG, &properties.content_type,
		message->content_type);
	int status = amqp_basic_publish(rabbit->connection, CHANNEL, bytes_of(message->exchange),
		bytes_of(message->routing_key), 0, 0, &properties, body);
	free(body.bytes);
	ck_assert_int_eq(status, AMQP_STATUS_OK);
	await_confirm(rabbit);
}

void rabbit_publish_order(struct rabbit *rabbit, const char *queue, const char *order_no)
{
	char body[128];

	(void)text_format(body, sizeof(body), "{\"order_no\":\"%s\"}", order_no);
	const struct rabbit_message message = { .routing_key = queue,
		.body = body,
		.body_size = strlen(body),
		.message_id = order_no,
		.type = "order.timeout.v1",
		.content_type = "application/json" };
	rabbit_publish(rabbit, &message);
}

static const amqp_queue_declare_ok_t *declare_passively(struct rabbit *rabbit, const char *queue)
{
	ensure_connected(rabbit);
	const amqp_queue_declare_ok_t *answer = amqp_queue_declare(
		rabbit->connection, CHANNEL, bytes_of(queue), 1, 1, 0, 0, amqp_empty_table);
	return is_well(rabbit) ? answer : NULL;
}

/* NULL: there is no such queue.  A line that was lost meanwhile says nothing about it. */
static const amqp_queue_declare_ok_t *look_at(struct rabbit *rabbit, const char *queue)
{
	rabbit->was_lost = false;
	const amqp_queue_declare_ok_t *answer = declare_passively(rabbit, queue);
	return answer == NULL && rabbit->was_lost ? declare_passively(rabbit, queue) : answer;
}

int64_t rabbit_count(struct rabbit *rabbit, const char *queue)
{
	const amqp_queue_declare_ok_t *answer = look_at(rabbit, queue);

	return answer == NULL ? RABBIT_ABSENT : (int64_t)answer->message_count;
}

int64_t rabbit_count_consumers(struct rabbit *rabbit, const char *queue)
{
	const amqp_queue_declare_ok_t *answer = look_at(rabbit, queue);

	return answer == NULL ? RABBIT_ABSENT : (int64_t)answer->consumer_count;
}

static void copy_bytes(char *target, size_t target_size, amqp_bytes_t bytes)
{
	size_t size = bytes.len < target_size - 1 ? bytes.len : target_size - 1;

	if (size > 0)
		memcpy(target, bytes.bytes, size);
	target[size] = '\0';
}

static void write_header(const amqp_table_entry_t *entry, char *text, size_t text_size)
{
	char name[RABBIT_TEXT_SIZE];
	char value[RABBIT_TEXT_SIZE] = "";

	copy_bytes(name, sizeof(name), entry->key);
	if (entry->value.kind == AMQP_FIELD_KIND_UTF8)
		copy_bytes(value, sizeof(value), entry->value.value.bytes);
	else if (entry->value.kind == AMQP_FIELD_KIND_I64)
		(void)text_format(value, sizeof(value), "%" PRId64, entry->value.value.i64);
	else if (entry->value.kind == AMQP_FIELD_KIND_I32)
		(void)text_format(value, sizeof(value), "%" PRId32, entry->value.value.i32);
	(void)text_format(text, text_size, "%s%s%s ", name, value[0] == '\0' ? "" : "=", value);
}

static void copy_message(const amqp_message_t *message, struct rabbit_delivery *delivery)
{
	const amqp_basic_properties_t *properties = &message->properties;
	size_t used = 0;

	copy_bytes(delivery->body, sizeof(delivery->body), message->body);
	delivery->body_size = message->body.len;
	if ((properties->_flags & AMQP_BASIC_MESSAGE_ID_FLAG) != 0)
		copy_bytes(
			delivery->message_id, sizeof(delivery->message_id), properties->message_id);
	if ((properties->_flags & AMQP_BASIC_TYPE_FLAG) != 0)
		copy_bytes(delivery->type, sizeof(delivery->type), properties->type);
	if ((properties->_flags & AMQP_BASIC_CONTENT_TYPE_FLAG) != 0)
		copy_bytes(delivery->content_type, sizeof(delivery->content_type),
			properties->content_type);
	delivery->is_persistent = (properties->_flags & AMQP_BASIC_DELIVERY_MODE_FLAG) != 0 &&
				  properties->delivery_mode == 2;
	if ((properties->_flags & AMQP_BASIC_HEADERS_FLAG) == 0)
		return;
	for (int i = 0; i < properties->headers.num_entries; i++) {
		write_header(&properties->headers.entries[i], delivery->headers + used,
			sizeof(delivery->headers) - used);
		used = strlen(delivery->headers);
	}
}

bool rabbit_get(struct rabbit *rabbit, const char *queue, struct rabbit_delivery *delivery_out)
{
	amqp_message_t message;

	*delivery_out = (struct rabbit_delivery){ 0 };
	ensure_connected(rabbit);
	amqp_rpc_reply_t reply = amqp_basic_get(rabbit->connection, CHANNEL, bytes_of(queue), 1);
	if (reply.reply_type != AMQP_RESPONSE_NORMAL)
		disconnect(rabbit);
	ck_assert_int_eq(reply.reply_type, AMQP_RESPONSE_NORMAL);
	if (reply.reply.id == AMQP_BASIC_GET_EMPTY_METHOD)
		return false;
	const amqp_basic_get_ok_t *facts = reply.reply.decoded;
	delivery_out->is_redelivered = facts->redelivered != 0;
	reply = amqp_read_message(rabbit->connection, CHANNEL, &message, 0);
	ck_assert_int_eq(reply.reply_type, AMQP_RESPONSE_NORMAL);
	copy_message(&message, delivery_out);
	amqp_destroy_message(&message);
	amqp_maybe_release_buffers(rabbit->connection);
	return true;
}

static void expect_well(struct rabbit *rabbit, const char *what)
{
	ck_assert_msg(is_well(rabbit), "the broker refused to %s", what);
}

void rabbit_declare_exchange(struct rabbit *rabbit, const char *exchange, const char *type)
{
	ensure_connected(rabbit);
	(void)amqp_exchange_declare(rabbit->connection, CHANNEL, bytes_of(exchange), bytes_of(type),
		0, 1, 0, 0, amqp_empty_table);
	expect_well(rabbit, "declare an exchange");
}

void rabbit_declare_queue(struct rabbit *rabbit, const char *queue)
{
	ensure_connected(rabbit);
	(void)amqp_queue_declare(
		rabbit->connection, CHANNEL, bytes_of(queue), 0, 1, 0, 0, amqp_empty_table);
	expect_well(rabbit, "declare a queue");
}

void rabbit_bind(
	struct rabbit *rabbit, const char *queue, const char *exchange, const char *routing_key)
{
	ensure_connected(rabbit);
	(void)amqp_queue_bind(rabbit->connection, CHANNEL, bytes_of(queue), bytes_of(exchange),
		bytes_of(routing_key), amqp_empty_table);
	expect_well(rabbit, "bind a queue");
}

void rabbit_delete_exchange(struct rabbit *rabbit, const char *exchange)
{
	ensure_connected(rabbit);
	(void)amqp_exchange_delete(rabbit->connection, CHANNEL, bytes_of(exchange), 0);
	expect_well(rabbit, "delete an exchange");
}

void rabbit_delete_queue(struct rabbit *rabbit, const char *queue)
{
	ensure_connected(rabbit);
	(void)amqp_queue_delete(rabbit->connection, CHANNEL, bytes_of(queue), 0, 0);
	expect_well(rabbit, "delete a queue");
}

void rabbit_purge(struct rabbit *rabbit, const char *queue)
{
	ensure_connected(rabbit);
	(void)amqp_queue_purge(rabbit->connection, CHANNEL, bytes_of(queue));
	expect_well(rabbit, "purge a queue");
}
