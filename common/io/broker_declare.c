#include <string.h>

#include "common/base/text.h"
#include "common/io/broker.h"
#include "common/io/broker_link.h"

enum {
	ARGUMENTS_MAX = 16,
	WHAT_SIZE = 2 * BROKER_NAME_SIZE + 64,
};

/* The library's table of our arguments; entries has room for ARGUMENTS_MAX. */
static amqp_table_t make_table(
	const struct broker_argument *arguments, size_t count, amqp_table_entry_t *entries)
{
	REQUIRE(count <= ARGUMENTS_MAX);
	for (size_t i = 0; i < count; i++) {
		amqp_field_value_t *value = &entries[i].value;

		entries[i].key = amqp_cstring_bytes(arguments[i].name);
		if (arguments[i].is_flag) {
			value->kind = AMQP_FIELD_KIND_BOOLEAN;
			value->value.boolean = 1;
		} else if (arguments[i].text != NULL) {
			value->kind = AMQP_FIELD_KIND_UTF8;
			value->value.bytes = amqp_cstring_bytes(arguments[i].text);
		} else {
			value->kind = AMQP_FIELD_KIND_I64;
			value->value.i64 = arguments[i].number;
		}
	}
	return (amqp_table_t){ (int)count, entries };
}

static enum result check_reply(struct broker *broker, const char *what, struct error *error)
{
	return broker_link_check_reply(broker, amqp_get_rpc_reply(broker->connection), what, error);
}

enum result broker_declare_exchange(struct broker *broker, const char *name, const char *type,
	const struct broker_argument *arguments, size_t argument_count, struct error *error)
{
	amqp_table_entry_t entries[ARGUMENTS_MAX];
	char what[WHAT_SIZE];
	enum result result = broker_flush(broker, error);

	if (result != RESULT_OK)
		return result;
	(void)text_format(what, sizeof(what), "declare exchange %s", name);
	(void)amqp_exchange_declare(broker->connection, BROKER_AMQP_CHANNEL,
		amqp_cstring_bytes(name), amqp_cstring_bytes(type), false, true, false, false,
		make_table(arguments, argument_count, entries));
	return check_reply(broker, what, error);
}

/* A refusal costs the channel, and with it confirms and tags. */
static bool can_lose_channel(const struct broker *broker)
{
	return !broker->is_consuming && !broker->has_confirms;
}

/* The channel was closed, and a new one does as well. */
static enum result open_new_channel(struct broker *broker, struct error *error)
{
	enum result result = broker_link_reopen_channel(broker, error);

	return result == RESULT_OK ? RESULT_NONE : result;
}

enum result broker_declare_queue(struct broker *broker, const char *name,
	const struct broker_argument *arguments, size_t argument_count, struct error *error)
{
	amqp_table_entry_t entries[ARGUMENTS_MAX];
	char what[WHAT_SIZE];
	enum result result = broker_flush(broker, error);

	if (result != RESULT_OK)
		return result;
	(void)text_format(what, sizeof(what), "declare queue %s", name);
	(void)amqp_queue_declare(broker->connection, BROKER_AMQP_CHANNEL, amqp_cstring_bytes(name),
		false, true, false, false, make_table(arguments, argument_count, entries));
	amqp_rpc_reply_t reply = amqp_get_rpc_reply(broker->connection);
	/* "home node ... is down": what is not there at all is made, and never not found. */
	if (broker_link_is_channel_closed(reply, AMQP_NOT_FOUND) && can_lose_channel(broker)) {
		(void)error_set(RESULT_NONE, error, "%s: its node is away", what);
		return open_new_channel(broker, error);
	}
	return broker_link_check_reply(broker, reply, what, error);
}

enum result broker_bind_queue(struct broker *broker, const char *queue, const char *exchange,
	const char *routing_key, struct error *error)
{
	char what[WHAT_SIZE];
	enum result result = broker_flush(broker, error);

	if (result != RESULT_OK)
		return result;
	(void)text_format(what, sizeof(what), "bind queue %s to %s", queue, exchange);
	(void)amqp_queue_bind(broker->connection, BROKER_AMQP_CHANNEL, amqp_cstring_bytes(queue),
		amqp_cstring_bytes(exchange), amqp_cstring_bytes(routing_key), amqp_empty_table);
	return check_reply(broker, what, error);
}

enum result broker_bind_exchange(struct broker *broker, const char *target, const char *exchange,
	const char *routing_key, struct error *error)
{
	char what[WHAT_SIZE];
	enum result result = broker_flush(broker, error);

	if (result != RESULT_OK)
		return result;
	(void)text_format(what, sizeof(what), "bind exchange %s to %s", target, exchange);
	(void)amqp_exchange_bind(broker->connection, BROKER_AMQP_CHANNEL,
		amqp_cstring_bytes(target), amqp_cstring_bytes(exchange),
		amqp_cstring_bytes(routing_key), amqp_empty_table);
	return check_reply(broker, what, error);
}

static enum result forget_channel(struct broker *broker, struct error *error)
{
	if (can_lose_channel(broker))
		return open_new_channel(broker, error);
	broker_link_drop(broker);
	return RESULT_NONE;
}

enum result broker_count_queue(struct broker *broker, const char *queue, uint32_t *ready_out,
	uint32_t *consumers_out, struct error *error)
{
	char what[WHAT_SIZE];
	enum result result = broker_flush(broker, error);

	if (result != RESULT_OK)
		return result;
	(void)text_format(what, sizeof(what), "look at queue %s", queue);
	const amqp_queue_declare_ok_t *answer =
		amqp_queue_declare(broker->connection, BROKER_AMQP_CHANNEL,
			amqp_cstring_bytes(queue), true, false, false, false, amqp_empty_table);
	amqp_rpc_reply_t reply = amqp_get_rpc_reply(broker->connection);
	if (broker_link_is_channel_closed(reply, AMQP_NOT_FOUND))
		return forget_channel(broker, error);
	if (reply.reply_type == AMQP_RESPONSE_NORMAL) {
		*ready_out = answer->message_count;
		*consumers_out = answer->consumer_count;
	}
	return broker_link_check_reply(broker, reply, what, error);
}
