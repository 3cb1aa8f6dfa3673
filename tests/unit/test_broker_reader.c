#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/broker_reader.h"
#include "tests/support/runner.h"

static struct broker_reader reader;
static struct broker_event event;
static struct error error;

static void set_up(void)
{
	memset(&reader, 0, sizeof(reader));
	memset(&event, 0, sizeof(event));
	memset(&error, 0, sizeof(error));
}

static void tear_down(void)
{
	broker_reader_clear(&reader);
}

static enum result add_method(uint32_t id, void *decoded, uint16_t channel)
{
	amqp_frame_t frame = { .frame_type = AMQP_FRAME_METHOD, .channel = channel };

	frame.payload.method.id = id;
	frame.payload.method.decoded = decoded;
	return broker_reader_add(&reader, &frame, &event, &error);
}

static enum result add_header(amqp_basic_properties_t *properties, uint64_t body_size)
{
	amqp_frame_t frame = { .frame_type = AMQP_FRAME_HEADER, .channel = 1 };

	frame.payload.properties.class_id = AMQP_BASIC_CLASS;
	frame.payload.properties.body_size = body_size;
	frame.payload.properties.decoded = properties;
	return broker_reader_add(&reader, &frame, &event, &error);
}

static enum result add_body(const char *bytes, size_t size)
{
	amqp_frame_t frame = { .frame_type = AMQP_FRAME_BODY, .channel = 1 };
	char *copy = memory_copy_bytes(bytes, size);

	frame.payload.body_fragment = (amqp_bytes_t){ size, copy };
	enum result result = broker_reader_add(&reader, &frame, &event, &error);
	/* The library reuses its buffers: nothing may point there any more. */
	memset(copy, 'X', size);
	free(copy);
	return result;
}

static enum result add_deliver(uint64_t tag)
{
	amqp_basic_deliver_t method = { .delivery_tag = tag, .redelivered = true };

	return add_method(AMQP_BASIC_DELIVER_METHOD, &method, 1);
}

START_TEST(a_delivery_is_complete_with_the_last_piece_of_its_body)
{
	amqp_basic_properties_t properties = { ._flags = AMQP_BASIC_MESSAGE_ID_FLAG |
							 AMQP_BASIC_TYPE_FLAG |
							 AMQP_BASIC_CONTENT_TYPE_FLAG,
		.message_id = amqp_cstring_bytes("id-1"),
		.type = amqp_cstring_bytes("order.timeout.v1"),
		.content_type = amqp_cstring_bytes("application/json") };

	ck_assert_int_eq(add_deliver(7), RESULT_NONE);
	ck_assert_int_eq(add_header(&properties, 5), RESULT_NONE);
	ck_assert_int_eq(add_body("ab", 2), RESULT_NONE);
	ck_assert_int_eq(add_body("cde", 3), RESULT_OK);
	ck_assert_int_eq(event.kind, BROKER_EVENT_DELIVERY);
	ck_assert_uint_eq(event.delivery.tag, 7);
	ck_assert(event.delivery.is_redelivered);
	ck_assert_str_eq(event.delivery.message_id, "id-1");
	ck_assert_str_eq(event.delivery.type, "order.timeout.v1");
	ck_assert_str_eq(event.delivery.content_type, "application/json");
	ck_assert_uint_eq(event.delivery.body_size, 5);
	ck_assert_int_eq(memcmp(event.delivery.body, "abcde", 5), 0);
	ck_assert(!event.delivery.is_body_cut);
}
END_TEST

START_TEST(a_delivery_without_a_body_is_complete_with_its_header)
{
	amqp_basic_properties_t properties = { 0 };

	ck_assert_int_eq(add_deliver(1), RESULT_NONE);
	ck_assert_int_eq(add_header(&properties, 0), RESULT_OK);
	ck_assert_uint_eq(event.delivery.body_size, 0);
	ck_assert_str_eq(event.delivery.message_id, "");
}
END_TEST

START_TEST(nothing_of_one_delivery_is_left_in_the_next)
{
	amqp_table_entry_t header = { .key = amqp_cstring_bytes("x-due") };
	amqp_basic_properties_t full = { ._flags = AMQP_BASIC_MESSAGE_ID_FLAG |
						   AMQP_BASIC_HEADERS_FLAG,
		.message_id = amqp_cstring_bytes("id-1"),
		.headers = { 1, &header } };
	amqp_basic_properties_t empty = { 0 };

	header.value.kind = AMQP_FIELD_KIND_I64;
	header.value.value.i64 = 5;
	(void)add_deliver(1);
	ck_assert_int_eq(add_header(&full, 0), RESULT_OK);
	ck_assert(event.delivery.has_due);
	(void)add_deliver(2);
	ck_assert_int_eq(add_header(&empty, 0), RESULT_OK);
	ck_assert(!event.delivery.has_due);
	ck_assert_str_eq(event.delivery.message_id, "");
	ck_assert_uint_eq(event.delivery.tag, 2);
}
END_TEST

START_TEST(a_body_above_the_limit_is_cut_and_says_so)
{
	amqp_basic_properties_t properties = { 0 };
	char *piece = memory_allocate(BROKER_BODY_MAX);

	(void)add_deliver(1);
	ck_assert_int_eq(add_header(&properties, UINT64_C(2) * BROKER_BODY_MAX + 3), RESULT_NONE);
	ck_assert_int_eq(add_body("abc", 3), RESULT_NONE);
	ck_assert_int_eq(add_body(piece, BROKER_BODY_MAX), RESULT_NONE);
	ck_assert_int_eq(add_body(piece, BROKER_BODY_MAX), RESULT_OK);
	ck_assert(event.delivery.is_body_cut);
	ck_assert_uint_eq(event.delivery.body_size, BROKER_BODY_MAX);
	ck_assert_int_eq(memcmp(event.delivery.body, "abc", 4), 0);
	free(piece);
}
END_TEST

START_TEST(confirms_keep_their_number_and_kind)
{
	amqp_basic_ack_t ack = { .delivery_tag = 9, .multiple = true };
	amqp_basic_nack_t nack = { .delivery_tag = 10 };

	ck_assert_int_eq(add_method(AMQP_BASIC_ACK_METHOD, &ack, 1), RESULT_OK);
	ck_assert_int_eq(event.kind, BROKER_EVENT_CONFIRM);
	ck_assert_uint_eq(event.number, 9);
	ck_assert(event.is_multiple && event.is_positive);
	ck_assert_int_eq(add_method(AMQP_BASIC_NACK_METHOD, &nack, 1), RESULT_OK);
	ck_assert_uint_eq(event.number, 10);
	ck_assert(!event.is_multiple && !event.is_positive);
}
END_TEST

START_TEST(a_returned_message_names_itself)
{
	amqp_basic_return_t method = { .reply_code = 312 };
	amqp_basic_properties_t properties = { ._flags = AMQP_BASIC_MESSAGE_ID_FLAG,
		.message_id = amqp_cstring_bytes("id-9") };

	ck_assert_int_eq(add_method(AMQP_BASIC_RETURN_METHOD, &method, 1), RESULT_NONE);
	ck_assert_int_eq(add_header(&properties, 2), RESULT_NONE);
	ck_assert_int_eq(add_body("{}", 2), RESULT_OK);
	ck_assert_int_eq(event.kind, BROKER_EVENT_RETURNED);
	ck_assert_str_eq(event.delivery.message_id, "id-9");
}
END_TEST

START_TEST(news_of_the_connection_may_stand_inside_a_message)
{
	amqp_connection_blocked_t blocked = { .reason = amqp_cstring_bytes("memory") };
	amqp_connection_unblocked_t unblocked = { 0 };
	amqp_basic_properties_t properties = { 0 };

	(void)add_deliver(1);
	ck_assert_int_eq(add_method(AMQP_CONNECTION_BLOCKED_METHOD, &blocked, 0), RESULT_OK);
	ck_assert_int_eq(event.kind, BROKER_EVENT_BLOCKED);
	ck_assert_int_eq(add_header(&properties, 1), RESULT_NONE);
	ck_assert_int_eq(add_method(AMQP_CONNECTION_UNBLOCKED_METHOD, &unblocked, 0), RESULT_OK);
	ck_assert_int_eq(event.kind, BROKER_EVENT_UNBLOCKED);
	ck_assert_int_eq(add_body("x", 1), RESULT_OK);
	ck_assert_int_eq(event.kind, BROKER_EVENT_DELIVERY);
}
END_TEST

START_TEST(a_cancelled_subscription_is_an_event)
{
	amqp_basic_cancel_t cancel = { .consumer_tag = amqp_cstring_bytes("c") };

	ck_assert_int_eq(add_method(AMQP_BASIC_CANCEL_METHOD, &cancel, 1), RESULT_OK);
	ck_assert_int_eq(event.kind, BROKER_EVENT_CANCELLED);
}
END_TEST

START_TEST(a_close_keeps_the_words_of_the_broker)
{
	amqp_channel_close_t channel = { .reply_code = 404,
		.reply_text = amqp_cstring_bytes("NOT_FOUND - no exchange 'x'") };
	amqp_connection_close_t connection = { .reply_code = 320,
		.reply_text = amqp_cstring_bytes("CONNECTION_FORCED - by operator") };

	ck_assert_int_eq(add_method(AMQP_CHANNEL_CLOSE_METHOD, &channel, 1), RESULT_TEMPORARY);
	ck_assert_str_eq(
		error.text, "the broker closed the channel: 404 NOT_FOUND - no exchange 'x'");
	ck_assert_uint_eq(reader.close_code, 404);
	ck_assert_int_eq(
		add_method(AMQP_CONNECTION_CLOSE_METHOD, &connection, 0), RESULT_TEMPORARY);
	ck_assert_uint_eq(reader.close_code, 320);
	ck_assert_str_eq(reader.close_text, "CONNECTION_FORCED - by operator");
}
END_TEST

START_TEST(frames_out_of_order_end_the_connection)
{
	amqp_basic_properties_t properties = { 0 };
	amqp_basic_ack_t ack = { .delivery_tag = 1 };
	amqp_frame_t strange = { .frame_type = 77, .channel = 1 };

	ck_assert_int_eq(add_header(&properties, 1), RESULT_TEMPORARY);
	ck_assert_int_eq(add_body("x", 1), RESULT_TEMPORARY);
	ck_assert_int_eq(add_method(0x00FF00FF, &ack, 1), RESULT_TEMPORARY);
	ck_assert_int_eq(broker_reader_add(&reader, &strange, &event, &error), RESULT_TEMPORARY);
	(void)add_deliver(1);
	ck_assert_int_eq(add_body("x", 1), RESULT_TEMPORARY);
	ck_assert_int_eq(add_method(AMQP_BASIC_ACK_METHOD, &ack, 1), RESULT_TEMPORARY);
	ck_assert_int_eq(add_header(&properties, 2), RESULT_NONE);
	ck_assert_int_eq(add_header(&properties, 2), RESULT_TEMPORARY);
	ck_assert_int_eq(add_body("xyz", 3), RESULT_TEMPORARY);
}
END_TEST

START_TEST(the_answer_to_a_get_is_told_from_other_deliveries)
{
	amqp_basic_get_ok_t got = { .delivery_tag = 3, .message_count = 12 };
	amqp_basic_get_empty_t empty = { 0 };
	amqp_basic_properties_t properties = { 0 };

	ck_assert_int_eq(add_method(AMQP_BASIC_GET_OK_METHOD, &got, 1), RESULT_NONE);
	ck_assert_int_eq(add_header(&properties, 0), RESULT_OK);
	ck_assert_int_eq(reader.get, BROKER_READER_GET_MESSAGE);
	ck_assert_uint_eq(event.delivery.message_count, 12);
	(void)add_deliver(4);
	ck_assert_int_eq(add_header(&properties, 0), RESULT_OK);
	ck_assert_int_eq(reader.get, BROKER_READER_GET_NONE);
	ck_assert_int_eq(add_method(AMQP_BASIC_GET_EMPTY_METHOD, &empty, 1), RESULT_OK);
	ck_assert_int_eq(reader.get, BROKER_READER_GET_EMPTY);
}
END_TEST

/* Keeps a delivery whose tag and body are number. */
static enum result keep(uint64_t number)
{
	char body[16];
	struct broker_event numbered = { .delivery.tag = number };

	ck_assert(text_format(body, sizeof(body), "%u", (unsigned)number));
	numbered.delivery.body = (const uint8_t *)body;
	numbered.delivery.body_size = strlen(body);
	return broker_reader_keep(&reader, &numbered, &error);
}

static void expect_taken(uint64_t number)
{
	char body[16];

	ck_assert(text_format(body, sizeof(body), "%u", (unsigned)number));
	ck_assert(broker_reader_take(&reader, &event));
	ck_assert_uint_eq(event.delivery.tag, number);
	ck_assert_uint_eq(event.delivery.body_size, strlen(body));
	ck_assert_int_eq(memcmp(event.delivery.body, body, strlen(body)), 0);
}

START_TEST(kept_events_come_back_in_order)
{
	uint64_t put = 0;
	uint64_t taken = 0;

	/* More in than out in each round, so that the ring grows while it is wrapped. */
	for (int round = 0; round < 20; round++) {
		for (int i = 0; i < 9; i++)
			ck_assert_int_eq(keep(++put), RESULT_OK);
		for (int i = 0; i < 5; i++)
			expect_taken(++taken);
	}
	while (taken < put)
		expect_taken(++taken);
	ck_assert(!broker_reader_take(&reader, &event));
}
END_TEST

START_TEST(what_is_kept_has_a_limit)
{
	static uint8_t large[BROKER_BODY_MAX];

	for (int i = 0; i < BROKER_READER_KEPT_MAX; i++)
		ck_assert_int_eq(keep(1), RESULT_OK);
	ck_assert_int_eq(keep(1), RESULT_TEMPORARY);
	broker_reader_clear(&reader);

	memset(&event, 0, sizeof(event));
	event.delivery.body = large;
	event.delivery.body_size = sizeof(large);
	for (int i = 0; i < BROKER_READER_KEPT_BYTES_MAX / BROKER_BODY_MAX; i++)
		ck_assert_int_eq(broker_reader_keep(&reader, &event, &error), RESULT_OK);
	ck_assert_int_eq(broker_reader_keep(&reader, &event, &error), RESULT_TEMPORARY);
	ck_assert(broker_reader_take(&reader, &event));
	ck_assert_int_eq(broker_reader_keep(&reader, &event, &error), RESULT_OK);
}
END_TEST

int main(void)
{
	const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = {
		a_delivery_is_complete_with_the_last_piece_of_its_body,
		a_delivery_without_a_body_is_complete_with_its_header,
		nothing_of_one_delivery_is_left_in_the_next,
		a_body_above_the_limit_is_cut_and_says_so,
		confirms_keep_their_number_and_kind,
		a_returned_message_names_itself,
		news_of_the_connection_may_stand_inside_a_message,
		a_cancelled_subscription_is_an_event,
		a_close_keeps_the_words_of_the_broker,
		frames_out_of_order_end_the_connection,
		the_answer_to_a_get_is_told_from_other_deliveries,
		kept_events_come_back_in_order,
		what_is_kept_has_a_limit,
	};

	return runner_run_with("broker_reader", &fixture, tests, ARRAY_LENGTH(tests));
}
