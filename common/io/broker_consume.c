#include <string.h>

#include "common/base/clock.h"
#include "common/base/text.h"
#include "common/io/broker.h"
#include "common/io/broker_link.h"
#include "common/io/broker_pump.h"

enum result broker_consume(
	struct broker *broker, const char *queue, uint16_t prefetch, struct error *error)
{
	char what[BROKER_NAME_SIZE + 32];
	enum result result = broker_flush(broker, error);

	if (result != RESULT_OK || broker->is_consuming)
		return result;
	(void)text_format(what, sizeof(what), "consume from %s", queue);
	/* Quorum queues and newer brokers refuse a global prefetch, and every size but 0. */
	(void)amqp_basic_qos(broker->connection, BROKER_AMQP_CHANNEL, 0, prefetch, false);
	result = broker_link_check_reply(
		broker, amqp_get_rpc_reply(broker->connection), what, error);
	if (result != RESULT_OK)
		return result;
	const amqp_basic_consume_ok_t *answer = amqp_basic_consume(broker->connection,
		BROKER_AMQP_CHANNEL, amqp_cstring_bytes(queue), amqp_empty_bytes, false, false,
		false, amqp_empty_table);
	amqp_rpc_reply_t reply = amqp_get_rpc_reply(broker->connection);
	if (reply.reply_type == AMQP_RESPONSE_NORMAL) {
		size_t size = answer->consumer_tag.len;
		REQUIRE(size < sizeof(broker->consumer_tag)); /* a short string */
		memcpy(broker->consumer_tag, answer->consumer_tag.bytes, size);
		broker->consumer_tag[size] = '\0';
		broker->is_consuming = true;
	}
	return broker_link_check_reply(broker, reply, what, error);
}

enum result broker_cancel(struct broker *broker, struct error *error)
{
	enum result result = broker_flush(broker, error);

	if (result != RESULT_OK || !broker->is_consuming)
		return result;
	broker->is_consuming = false;
	(void)amqp_basic_cancel(
		broker->connection, BROKER_AMQP_CHANNEL, amqp_cstring_bytes(broker->consumer_tag));
	return broker_link_check_reply(
		broker, amqp_get_rpc_reply(broker->connection), "end the subscription", error);
}

bool broker_is_consuming(const struct broker *broker)
{
	return broker->is_consuming;
}

/* After writing: a library status into a result. */
static enum result check_status(
	struct broker *broker, int status, const char *what, struct error *error)
{
	return status == AMQP_STATUS_OK ? RESULT_OK : broker_link_fail(broker, status, what, error);
}

/* A tag of another connection means nothing on this one, and an unknown tag ends the channel. */
static bool is_stale(const struct broker *broker, uint64_t epoch)
{
	return broker->connection == NULL || epoch != broker->epoch;
}

static enum result settle(
	struct broker *broker, uint64_t tag, bool is_multiple, struct error *error)
{
	enum result result = broker_flush(broker, error);

	if (result != RESULT_OK)
		return result;
	int status = amqp_basic_ack(broker->connection, BROKER_AMQP_CHANNEL, tag, is_multiple);
	return check_status(broker, status, "ack", error);
}

enum result broker_ack_up_to(
	struct broker *broker, uint64_t epoch, uint64_t tag, struct error *error)
{
	return is_stale(broker, epoch) ? RESULT_OK : settle(broker, tag, true, error);
}

enum result broker_ack(struct broker *broker, uint64_t epoch, uint64_t tag, struct error *error)
{
	return is_stale(broker, epoch) ? RESULT_OK : settle(broker, tag, false, error);
}

static enum result give_back(
	struct broker *broker, uint64_t epoch, uint64_t tag, bool is_multiple, struct error *error)
{
	if (is_stale(broker, epoch))
		return RESULT_OK;
	enum result result = broker_flush(broker, error);
	if (result != RESULT_OK)
		return result;
	int status =
		amqp_basic_nack(broker->connection, BROKER_AMQP_CHANNEL, tag, is_multiple, true);
	return check_status(broker, status, "give back", error);
}

enum result broker_requeue(struct broker *broker, uint64_t epoch, uint64_t tag, struct error *error)
{
	return give_back(broker, epoch, tag, false, error);
}

enum result broker_requeue_up_to(
	struct broker *broker, uint64_t epoch, uint64_t tag, struct error *error)
{
	return give_back(broker, epoch, tag, true, error);
}

/* The answer comes in the order of the frames, behind confirms that are under way. */
static enum result await_got(
	struct broker *broker, struct broker_delivery *delivery_out, struct error *error)
{
	uint64_t end_ms = clock_now_ms() + (uint64_t)BROKER_RPC_LIMIT_S * 1000;
	struct broker_event event;

	for (uint64_t now_ms = clock_now_ms(); now_ms < end_ms; now_ms = clock_now_ms()) {
		enum result result = broker_pump(broker, end_ms - now_ms, &event, error);
		if (result == RESULT_NONE)
			break;
		if (result != RESULT_OK)
			return result;
		if (broker->reader.get == BROKER_READER_GET_EMPTY)
			return RESULT_NONE;
		if (broker->reader.get == BROKER_READER_GET_MESSAGE) {
			*delivery_out = event.delivery;
			return RESULT_OK;
		}
		result = broker_pump_keep(broker, &event, error);
		if (result != RESULT_OK)
			return result;
	}
	broker_link_drop(broker);
	return error_set(RESULT_TEMPORARY, error, "no answer");
}

enum result broker_get(struct broker *broker, const char *queue,
	struct broker_delivery *delivery_out, struct error *error)
{
	amqp_basic_get_t method = { .queue = amqp_cstring_bytes(queue) };
	enum result result = broker_flush(broker, error);

	if (result != RESULT_OK)
		return result;
	int status = amqp_send_method(
		broker->connection, BROKER_AMQP_CHANNEL, AMQP_BASIC_GET_METHOD, &method);
	result = check_status(broker, status, "write", error);
	if (result == RESULT_OK)
		result = await_got(broker, delivery_out, error);
	return error_context(result, error, "get from %s", queue);
}
