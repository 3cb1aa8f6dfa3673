#include "common/io/broker.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/broker_link.h"
#include "common/io/broker_pump.h"

enum {
	GOOD_BYE_LIMIT_MS = 1000
};

void broker_create(
	const struct broker_settings *settings, const char *name, struct broker **broker_out)
{
	struct broker *broker = memory_allocate(sizeof(*broker));

	broker->settings = settings;
	broker->name = memory_copy_text(name);
	*broker_out = broker;
}

void broker_destroy(struct broker **broker)
{
	if (*broker == NULL)
		return;
	broker_link_drop(*broker);
	free((*broker)->name);
	free(*broker);
	*broker = NULL;
}

enum result broker_ensure_connected(struct broker *broker, struct error *error)
{
	if (broker->connection != NULL)
		return RESULT_OK;
	return broker_link_open(broker, error);
}

bool broker_is_connected(const struct broker *broker)
{
	return broker->connection != NULL;
}

void broker_drop(struct broker *broker)
{
	broker_link_drop(broker);
}

uint64_t broker_epoch(const struct broker *broker)
{
	return broker->epoch;
}

bool broker_is_blocked(const struct broker *broker)
{
	return broker->is_blocked;
}

const char *broker_library_version(void)
{
	return amqp_version();
}

const char *broker_server(const struct broker *broker)
{
	return broker->server;
}

uint16_t broker_refusal_code(const struct broker *broker)
{
	return broker->refusal_code;
}

const char *broker_refusal_text(const struct broker *broker)
{
	return broker->refusal_text;
}

static enum result require_connection(const struct broker *broker, struct error *error)
{
	if (broker->connection == NULL)
		return error_set(RESULT_TEMPORARY, error, "there is no connection to the broker");
	return RESULT_OK;
}

enum result broker_flush(struct broker *broker, struct error *error)
{
	enum result result = require_connection(broker, error);

	if (result == RESULT_OK)
		result = broker_writer_flush(&broker->writer, error);
	if (result != RESULT_OK)
		broker_link_drop(broker);
	return result;
}

/* A blocked broker reads nothing, so a good-bye would only wait; and so does a full socket. */
static bool can_say_good_bye(struct broker *broker)
{
	struct pollfd poller = { .fd = amqp_get_sockfd(broker->connection), .events = POLLOUT };

	return !broker->is_blocked && broker_writer_flush(&broker->writer, NULL) == RESULT_OK &&
	       poll(&poller, 1, GOOD_BYE_LIMIT_MS) == 1 && (poller.revents & POLLOUT) != 0;
}

void broker_disconnect(struct broker *broker)
{
	const struct timeval limit = { .tv_sec = GOOD_BYE_LIMIT_MS / 1000 };

	if (broker->connection == NULL)
		return;
	broker->writer.time_limit_ms = GOOD_BYE_LIMIT_MS;
	if (can_say_good_bye(broker) &&
		amqp_set_rpc_timeout(broker->connection, &limit) == AMQP_STATUS_OK)
		(void)amqp_connection_close(broker->connection, AMQP_REPLY_SUCCESS);
	broker_link_drop(broker);
}

/* ---- publishing */

enum result broker_enable_confirms(struct broker *broker, struct error *error)
{
	enum result result = broker_flush(broker, error);

	if (result != RESULT_OK || broker->has_confirms)
		return result;
	(void)amqp_confirm_select(broker->connection, BROKER_AMQP_CHANNEL);
	result = broker_link_check_reply(
		broker, amqp_get_rpc_reply(broker->connection), "turn on confirms", error);
	if (result != RESULT_OK)
		return result;
	broker->has_confirms = true;
	broker->published = 0;
	return RESULT_OK;
}

enum result broker_publish(struct broker *broker, const struct broker_message *message,
	uint64_t *number_out, struct error *error)
{
	enum result result = require_connection(broker, error);

	if (result != RESULT_OK)
		return result;
	if (broker->is_blocked)
		return error_set(
			RESULT_TEMPORARY, error, "the broker takes no messages: an alarm is on");
	result = broker_writer_publish(&broker->writer, message, error);
	if (result == RESULT_OK)
		*number_out = ++broker->published;
	else if (result != RESULT_PERMANENT)
		broker_link_drop(broker);
	return result;
}

enum result broker_next(struct broker *broker, uint64_t wait_ms, struct broker_event *event_out,
	struct error *error)
{
	enum result result = require_connection(broker, error);

	if (result != RESULT_OK)
		return result;
	if (broker_reader_take(&broker->reader, event_out))
		return RESULT_OK;
	return broker_pump(broker, wait_ms, event_out, error);
}

enum result broker_keep_alive(struct broker *broker, struct error *error)
{
	struct broker_event event;
	enum result result = require_connection(broker, error);

	while (result == RESULT_OK) {
		result = broker_pump(broker, 0, &event, error);
		if (result == RESULT_OK)
			result = broker_pump_keep(broker, &event, error);
	}
	return result == RESULT_NONE ? RESULT_OK : result;
}
