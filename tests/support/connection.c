#include "tests/support/connection.h"

#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "common/base/memory.h"
#include "tests/support/wait_until.h"

enum {
	HEARTBEAT_MS = 2000
};

void connection_connect(struct connection *connection)
{
	connection_expect(connection,
		broker_ensure_connected(connection->broker, &connection->error), RESULT_OK);
}

void connection_create(const char *url, struct connection **connection_out)
{
	struct connection *connection = memory_allocate(sizeof(*connection));

	*connection_out = connection;
	connection->settings = (struct broker_settings){ .url = memory_copy_text(url),
		.prefix = memory_copy_text("lapse"),
		.heartbeat_ms = HEARTBEAT_MS };
	broker_create(&connection->settings, "test", &connection->broker);
	connection_connect(connection);
}

void connection_destroy(struct connection **connection)
{
	if (*connection == NULL)
		return;
	broker_destroy(&(*connection)->broker);
	free((*connection)->settings.url);
	free((*connection)->settings.prefix);
	free(*connection);
	*connection = NULL;
}

void connection_expect(
	const struct connection *connection, enum result result, enum result expected)
{
	ck_assert_msg(result == expected, "%s, not %s: %s", result_name(result),
		result_name(expected), connection->error.text);
}

enum result connection_next(struct connection *connection)
{
	enum result result = broker_next(
		connection->broker, WAIT_LIMIT_MS, &connection->event, &connection->error);

	ck_assert_int_ne(result, RESULT_NONE);
	return result;
}

void connection_expect_event(struct connection *connection, enum broker_event_kind kind)
{
	connection_expect(connection, connection_next(connection), RESULT_OK);
	ck_assert_int_eq(connection->event.kind, kind);
}

void connection_publish(struct connection *connection, const char *exchange, const char *key,
	const void *body, size_t size)
{
	const struct broker_message message = { .exchange = exchange,
		.routing_key = key,
		.is_mandatory = true,
		.message_id = "id-1",
		.body = body,
		.body_size = size };
	uint64_t number;

	connection_expect(connection,
		broker_publish(connection->broker, &message, &number, &connection->error),
		RESULT_OK);
}

void connection_publish_numbers(struct connection *connection, const char *key, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		connection_publish(connection, "", key, &i, sizeof(i));
}

void connection_expect_numbers(struct connection *connection, uint32_t first, uint32_t end)
{
	for (uint32_t i = first; i < end; i++) {
		uint32_t number;

		connection_expect_event(connection, BROKER_EVENT_DELIVERY);
		ck_assert_uint_eq(connection->event.delivery.body_size, sizeof(number));
		memcpy(&number, connection->event.delivery.body, sizeof(number));
		ck_assert_uint_eq(number, i);
	}
}
