/*
 * bench-publisher - the bare publisher: what a short program on the AMQP library can publish with
 * confirms, with the exchange, keys and properties of lapse-producer and no database.
 *
 * Only the declaring and the choice of exchange and key are ours (topology); publishing, reading
 * confirms and their window use the library alone, as its examples do.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/load/settings.h"
#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/base/ulid.h"
#include "common/base/window.h"
#include "common/io/broker_amqp.h"
#include "common/order/timeout_message.h"

enum {
	COUNT_MAX = 100000000,
	WINDOW = 1000, /* as LAPSE_PUBLISH_WINDOW; read confirms until it is half empty */
	DELIVERY_PERSISTENT = 2,
};

struct publisher {
	amqp_connection_state_t connection;
	struct topology *topology;
	struct window *window;
	uint64_t settled[WINDOW];
	uint64_t number;
	int64_t deadline_ms; /* 0: at once */
};

static void fail(const char *what)
{
	(void)fprintf(stderr, "bench-publisher: %s\n", what);
	exit(EXIT_STATUS_FAILED);
}

static void require_reply(amqp_rpc_reply_t reply, const char *what)
{
	if (reply.reply_type != AMQP_RESPONSE_NORMAL)
		fail(what);
}

static void connect_with(struct publisher *publisher, const char *url)
{
	char *copy = memory_copy_text(url);
	struct amqp_connection_info info;

	if (amqp_parse_url(copy, &info) != AMQP_STATUS_OK)
		fail("the URL cannot be read");
	publisher->connection = amqp_new_connection();
	amqp_socket_t *link = amqp_tcp_socket_new(publisher->connection);
	if (link == NULL || amqp_socket_open(link, info.host, info.port) != AMQP_STATUS_OK)
		fail("cannot connect");
	require_reply(amqp_login(publisher->connection, info.vhost, 0, BROKER_AMQP_FRAME_MAX, 0,
			      AMQP_SASL_METHOD_PLAIN, info.user, info.password),
		"cannot log in");
	(void)amqp_channel_open(publisher->connection, BROKER_AMQP_CHANNEL);
	require_reply(amqp_get_rpc_reply(publisher->connection), "no channel");
	(void)amqp_confirm_select(publisher->connection, BROKER_AMQP_CHANNEL);
	require_reply(amqp_get_rpc_reply(publisher->connection), "no confirms");
	free(copy);
}

/* x-due, and x-delay where the exchange holds the message. */
static int list_headers(const struct broker_message *message, amqp_table_entry_t entries[2])
{
	int count = 0;

	entries[count].key = amqp_cstring_bytes("x-due");
	entries[count].value.kind = AMQP_FIELD_KIND_I64;
	entries[count++].value.value.i64 = message->due_ms;
	if (!message->has_delay)
		return count;
	entries[count].key = amqp_cstring_bytes("x-delay");
	entries[count].value.kind = AMQP_FIELD_KIND_I64;
	entries[count++].value.value.i64 = message->delay_ms;
	return count;
}

static void publish(struct publisher *publisher, uint64_t place)
{
	char order_no[TEXT_KEY_SIZE];
	char body[TIMEOUT_MESSAGE_SIZE];
	char message_id[ULID_SIZE];
	amqp_table_entry_t entries[2];
	struct broker_message message = { .due_ms = publisher->deadline_ms };
	int64_t remaining_ms = publisher->deadline_ms == 0
				       ? 0
				       : publisher->deadline_ms - (int64_t)clock_epoch_ms();

	(void)text_format(order_no, sizeof(order_no), "B%09" PRIu64, place);
	ulid_generate(message_id);
	topology_route(publisher->topology, remaining_ms, &message);
	amqp_basic_properties_t properties = {
		._flags = AMQP_BASIC_CONTENT_TYPE_FLAG | AMQP_BASIC_DELIVERY_MODE_FLAG |
			  AMQP_BASIC_MESSAGE_ID_FLAG | AMQP_BASIC_TYPE_FLAG |
			  AMQP_BASIC_HEADERS_FLAG,
		.content_type = amqp_cstring_bytes(TIMEOUT_MESSAGE_CONTENT_TYPE),
		.delivery_mode = DELIVERY_PERSISTENT,
		.message_id = amqp_cstring_bytes(message_id),
		.type = amqp_cstring_bytes(TIMEOUT_MESSAGE_TYPE),
		.headers = { list_headers(&message, entries), entries },
	};
	const amqp_bytes_t content = { timeout_message_write(body, order_no), body };
	if (amqp_basic_publish(publisher->connection, BROKER_AMQP_CHANNEL,
		    amqp_cstring_bytes(message.exchange), amqp_cstring_bytes(message.routing_key),
		    message.is_mandatory ? 1 : 0, 0, &properties, content) != AMQP_STATUS_OK)
		fail("cannot publish");
	window_add(publisher->window, ++publisher->number, place);
}

static void take_confirms(struct publisher *publisher, size_t most_open)
{
	while (window_count(publisher->window) > most_open) {
		amqp_frame_t frame;

		amqp_maybe_release_buffers(publisher->connection);
		if (amqp_simple_wait_frame(publisher->connection, &frame) != AMQP_STATUS_OK)
			fail("the connection was lost");
		if (frame.frame_type != AMQP_FRAME_METHOD ||
			frame.payload.method.id != AMQP_BASIC_ACK_METHOD)
			fail("the broker did not take a message");
		const amqp_basic_ack_t *ack = frame.payload.method.decoded;
		(void)window_settle(publisher->window, ack->delivery_tag, ack->multiple != 0,
			publisher->settled);
	}
}

/* Everything that a timeout may pass through, over a connection of our own module. */
static void declare(struct publisher *publisher, const struct load_settings *settings)
{
	struct broker *broker = NULL;
	struct error error = { .text = "" };

	broker_create(&settings->amqp, "bench-publisher", &broker);
	topology_create(&settings->topology, &settings->amqp, &publisher->topology);
	if (broker_ensure_connected(broker, &error) != RESULT_OK ||
		topology_declare(publisher->topology, broker, &error) != RESULT_OK)
		fail(error.text);
	broker_disconnect(broker);
	broker_destroy(&broker);
}

int main(int argc, char **argv)
{
	static struct publisher publisher;
	struct load_settings settings = { .amqp = { .url = NULL } };
	uint64_t count = 0;
	uint64_t remaining_ms = 0;

	if (argc != 3 || !text_parse_uint(argv[1], 1, COUNT_MAX, &count) ||
		!text_parse_uint(argv[2], 0, TOPOLOGY_PLUGIN_MAX_MS, &remaining_ms)) {
		(void)fputs("usage: bench-publisher COUNT MS\n", stderr);
		return EXIT_STATUS_USAGE;
	}
	log_set_level(LOG_LEVEL_WARN);
	load_settings_read(&settings);
	window_create(WINDOW, &publisher.window);
	declare(&publisher, &settings);
	connect_with(&publisher, settings.amqp.url);
	uint64_t start_ms = clock_epoch_ms();
	publisher.deadline_ms = remaining_ms == 0 ? 0 : (int64_t)(start_ms + remaining_ms);
	for (uint64_t place = 1; place <= count; place++) {
		publish(&publisher, place);
		if (window_is_full(publisher.window))
			take_confirms(&publisher, WINDOW / 2);
	}
	take_confirms(&publisher, 0);
	(void)printf("start_ms %" PRIu64 "\nend_ms %" PRIu64 "\ncount %" PRIu64 "\n", start_ms,
		clock_epoch_ms(), count);
	(void)amqp_destroy_connection(publisher.connection);
	window_destroy(&publisher.window);
	topology_destroy(&publisher.topology);
	load_settings_clear(&settings);
	return EXIT_STATUS_OK;
}
