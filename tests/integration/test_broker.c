/* What broker promises about connecting, declaring and publishing, on a real RabbitMQ. */
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/broker.h"
#include "tests/support/connection.h"
#include "tests/support/rabbit.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/wait_until.h"

enum {
	MANY = 3000,
	PREFETCH = 100
};

static struct sandbox *sandbox;
static struct connection *line;

static void set_up(void)
{
	sandbox_create(SANDBOX_NO_SCHEMA, &sandbox);
	connection_create(sandbox_amqp_url(sandbox), &line);
	rabbit_declare_queue(sandbox_rabbit(sandbox), "q");
}

static void tear_down(void)
{
	connection_destroy(&line);
	sandbox_destroy(&sandbox);
}

START_TEST(a_connection_knows_its_server_and_its_number)
{
	ck_assert(broker_is_connected(line->broker));
	ck_assert(text_starts_with(broker_server(line->broker), "RabbitMQ "));
	ck_assert_uint_eq(broker_epoch(line->broker), 1);
	connection_connect(line);
	ck_assert_uint_eq(broker_epoch(line->broker), 1);
	broker_disconnect(line->broker);
	ck_assert(!broker_is_connected(line->broker));
	connection_connect(line);
	ck_assert_uint_eq(broker_epoch(line->broker), 2);
}
END_TEST

/* Connects with another URL; the texts of errors never hold a password. */
static enum result try_url(const char *url)
{
	struct broker_settings other = { .url = memory_copy_text(url), .heartbeat_ms = 2000 };
	struct broker *stranger = NULL;

	broker_create(&other, "stranger", &stranger);
	enum result result = broker_ensure_connected(stranger, &line->error);
	ck_assert(!broker_is_connected(stranger));
	ck_assert(strstr(line->error.text, "geheim") == NULL);
	broker_destroy(&stranger);
	free(other.url);
	return result;
}

START_TEST(a_wrong_password_or_virtual_host_is_permanent_and_a_closed_port_is_not)
{
	char url[512];
	const char *place = strchr(sandbox_amqp_url(sandbox), '@') + 1;

	ck_assert(text_format(url, sizeof(url), "amqp://lapse:geheim@%s", place));
	connection_expect(line, try_url(url), RESULT_PERMANENT);
	ck_assert(strstr(line->error.text, "403 ACCESS_REFUSED") != NULL);
	connection_expect(line, try_url("amqp://u:geheim@127.0.0.1:1/v"), RESULT_TEMPORARY);
	ck_assert(strstr(line->error.text, "connect to the broker 127.0.0.1:1: ") != NULL);
	ck_assert(text_format(url, sizeof(url), "%s.not", sandbox_amqp_url(sandbox)));
	connection_expect(line, try_url(url), RESULT_PERMANENT);
	ck_assert(strstr(line->error.text, "530 NOT_ALLOWED") != NULL);
}
END_TEST

START_TEST(a_message_arrives_as_it_was_sent)
{
	const struct broker_message message = { .exchange = "",
		.routing_key = "q",
		.is_mandatory = true,
		.type = "order.timeout.v1",
		.content_type = "application/json",
		.message_id = "id-1",
		.trace_parent = "00-aa-bb-01",
		.has_due = true,
		.due_ms = 1767225600000,
		.reason = "no JSON",
		.origin = "lapse.timeout.due",
		.body = "a\0b",
		.body_size = 3 };
	uint64_t number = 0;

	connection_expect(line, broker_enable_confirms(line->broker, &line->error), RESULT_OK);
	connection_expect(
		line, broker_publish(line->broker, &message, &number, &line->error), RESULT_OK);
	ck_assert_uint_eq(number, 1);
	connection_expect_event(line, BROKER_EVENT_CONFIRM);
	ck_assert_uint_eq(line->event.number, 1);
	ck_assert(line->event.is_positive);
	connection_expect(
		line, broker_consume(line->broker, "q", PREFETCH, &line->error), RESULT_OK);
	ck_assert(broker_is_consuming(line->broker));
	connection_expect_event(line, BROKER_EVENT_DELIVERY);
	ck_assert_uint_eq(line->event.delivery.epoch, broker_epoch(line->broker));
	ck_assert(!line->event.delivery.is_redelivered);
	ck_assert_str_eq(line->event.delivery.type, "order.timeout.v1");
	ck_assert_str_eq(line->event.delivery.content_type, "application/json");
	ck_assert_str_eq(line->event.delivery.message_id, "id-1");
	ck_assert_str_eq(line->event.delivery.trace_parent, "00-aa-bb-01");
	ck_assert(line->event.delivery.has_due);
	ck_assert_int_eq(line->event.delivery.due_ms, 1767225600000);
	ck_assert_str_eq(line->event.delivery.reason, "no JSON");
	ck_assert_str_eq(line->event.delivery.origin, "lapse.timeout.due");
	ck_assert_uint_eq(line->event.delivery.body_size, 3);
	ck_assert_int_eq(memcmp(line->event.delivery.body, "a\0b", 3), 0);
}
END_TEST

START_TEST(a_message_is_persistent_and_a_delay_is_an_integer)
{
	const struct broker_message message = { .exchange = "",
		.routing_key = "q",
		.has_delay = true,
		.delay_ms = 1800000,
		.body = "x",
		.body_size = 1 };
	struct rabbit_delivery delivery;
	uint64_t number;

	connection_expect(line, broker_enable_confirms(line->broker, &line->error), RESULT_OK);
	connection_expect(
		line, broker_publish(line->broker, &message, &number, &line->error), RESULT_OK);
	connection_expect_event(line, BROKER_EVENT_CONFIRM);
	ck_assert(rabbit_get(sandbox_rabbit(sandbox), "q", &delivery));
	ck_assert(delivery.is_persistent);
	ck_assert_str_eq(delivery.headers, "x-delay=1800000 ");
}
END_TEST

START_TEST(a_message_that_no_queue_takes_comes_back_before_its_confirm)
{
	connection_expect(line, broker_enable_confirms(line->broker, &line->error), RESULT_OK);
	connection_publish(line, "", "no-such-queue", "x", 1);
	connection_expect_event(line, BROKER_EVENT_RETURNED);
	ck_assert_str_eq(line->event.delivery.message_id, "id-1");
	connection_expect_event(line, BROKER_EVENT_CONFIRM);
	ck_assert(line->event.is_positive);
}
END_TEST

START_TEST(a_text_too_long_for_the_wire_is_permanent_and_costs_nothing_else)
{
	char text[1000];
	struct broker_message message = { .exchange = "", .routing_key = "q", .message_id = text };
	uint64_t number;

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	connection_expect(line, broker_enable_confirms(line->broker, &line->error), RESULT_OK);
	connection_expect(line, broker_publish(line->broker, &message, &number, &line->error),
		RESULT_PERMANENT);
	message.message_id = NULL;
	message.reason = text;
	connection_expect(line, broker_publish(line->broker, &message, &number, &line->error),
		RESULT_PERMANENT);
	connection_publish(line, "", "q", "x", 1);
	connection_expect_event(line, BROKER_EVENT_CONFIRM);
	ck_assert_uint_eq(line->event.number, 1);
}
END_TEST

START_TEST(a_missing_exchange_ends_the_connection_with_its_reason)
{
	connection_expect(line, broker_enable_confirms(line->broker, &line->error), RESULT_OK);
	connection_publish(line, "no-such-exchange", "q", "x", 1);
	connection_expect(line, connection_next(line), RESULT_TEMPORARY);
	ck_assert_msg(
		strstr(line->error.text, "404 NOT_FOUND - no exchange 'no-such-exchange'") != NULL,
		"%s", line->error.text);
	ck_assert(!broker_is_connected(line->broker));
	ck_assert_uint_eq(broker_refusal_code(line->broker), 404);
	connection_expect(
		line, broker_next(line->broker, 0, &line->event, &line->error), RESULT_TEMPORARY);
	connection_connect(line);
	ck_assert_uint_eq(broker_epoch(line->broker), 2);
}
END_TEST

START_TEST(a_queue_with_other_properties_is_permanent_and_named)
{
	struct broker_argument arguments[] = { { .name = "x-queue-type", .text = "quorum" },
		{ .name = "x-delivery-limit", .number = 20 } };

	for (int i = 0; i < 2; i++)
		connection_expect(line,
			broker_declare_queue(line->broker, "due", arguments, 2, &line->error),
			RESULT_OK);
	arguments[1].number = 10;
	connection_expect(line,
		broker_declare_queue(line->broker, "due", arguments, 2, &line->error),
		RESULT_PERMANENT);
	ck_assert_msg(
		strstr(line->error.text, "declare queue due: 406") != NULL, "%s", line->error.text);
	ck_assert_msg(
		strstr(line->error.text, "'x-delivery-limit'") != NULL, "%s", line->error.text);
	ck_assert(!broker_is_connected(line->broker));
	connection_connect(line);
	connection_expect(line,
		broker_declare_exchange(line->broker, "e", "no-such-type", NULL, 0, &line->error),
		RESULT_PERMANENT);
	connection_connect(line);
	connection_expect(line, broker_bind_queue(line->broker, "due", "none", "k", &line->error),
		RESULT_TEMPORARY);
}
END_TEST

static bool counts_one(void *context)
{
	uint32_t ready = 0;
	uint32_t consumers = 1;

	(void)context;
	connection_expect(line,
		broker_count_queue(line->broker, "q", &ready, &consumers, &line->error), RESULT_OK);
	ck_assert_uint_eq(consumers, 0);
	return ready == 1;
}

START_TEST(counting_a_queue_that_is_not_there_is_no_failure)
{
	uint32_t ready = 0;
	uint32_t consumers = 0;

	connection_expect(line,
		broker_count_queue(line->broker, "none", &ready, &consumers, &line->error),
		RESULT_NONE);
	ck_assert_uint_eq(broker_epoch(line->broker), 1);
	connection_publish(line, "", "q", "x", 1);
	connection_expect(line, broker_flush(line->broker, &line->error), RESULT_OK);
	WAIT_UNTIL(counts_one, NULL);
	connection_expect(
		line, broker_consume(line->broker, "q", PREFETCH, &line->error), RESULT_OK);
	connection_expect(line,
		broker_count_queue(line->broker, "q", &ready, &consumers, &line->error), RESULT_OK);
	ck_assert_uint_eq(consumers, 1);
	/* The channel is gone, and with it the subscription: better a new connection. */
	connection_expect(line,
		broker_count_queue(line->broker, "none", &ready, &consumers, &line->error),
		RESULT_NONE);
	ck_assert(!broker_is_connected(line->broker));
}
END_TEST

static uint32_t count_ready(void)
{
	return (uint32_t)rabbit_count(sandbox_rabbit(sandbox), "q");
}

START_TEST(every_message_of_a_window_has_its_confirm)
{
	uint64_t confirmed = 0;

	connection_expect(line, broker_enable_confirms(line->broker, &line->error), RESULT_OK);
	connection_publish_numbers(line, "q", MANY);
	while (confirmed < MANY) {
		connection_expect_event(line, BROKER_EVENT_CONFIRM);
		ck_assert(line->event.is_positive);
		confirmed = line->event.is_multiple ? line->event.number : confirmed + 1;
	}
	ck_assert_uint_eq(count_ready(), MANY);
}
END_TEST

int main(void)
{
	const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = {
		a_connection_knows_its_server_and_its_number,
		a_wrong_password_or_virtual_host_is_permanent_and_a_closed_port_is_not,
		a_message_arrives_as_it_was_sent,
		a_message_is_persistent_and_a_delay_is_an_integer,
		a_message_that_no_queue_takes_comes_back_before_its_confirm,
		a_text_too_long_for_the_wire_is_permanent_and_costs_nothing_else,
		a_missing_exchange_ends_the_connection_with_its_reason,
		a_queue_with_other_properties_is_permanent_and_named,
		counting_a_queue_that_is_not_there_is_no_failure,
		every_message_of_a_window_has_its_confirm,
	};

	sandbox_need_servers();
	return runner_run_with("broker", &fixture, tests, ARRAY_LENGTH(tests));
}
