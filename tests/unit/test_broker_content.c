#include <string.h>

#include "common/io/broker_content.h"
#include "tests/support/runner.h"

static struct broker_delivery delivery;

static void read_properties(const amqp_basic_properties_t *properties)
{
	memset(&delivery, 0, sizeof(delivery));
	broker_content_read(properties, &delivery);
}

struct number_case {
	amqp_field_value_t value;
	int64_t due_ms;
	bool has_due;
	uint8_t kind;
};

START_TEST(a_due_time_of_any_integer_kind_is_read_and_of_no_other)
{
	static char digit[] = "5";
	const struct number_case cases[] = {
		{ { .value.i8 = -5 }, -5, true, AMQP_FIELD_KIND_I8 },
		{ { .value.u8 = 200 }, 200, true, AMQP_FIELD_KIND_U8 },
		{ { .value.i16 = -300 }, -300, true, AMQP_FIELD_KIND_I16 },
		{ { .value.u16 = 60000 }, 60000, true, AMQP_FIELD_KIND_U16 },
		{ { .value.i32 = -70000 }, -70000, true, AMQP_FIELD_KIND_I32 },
		{ { .value.u32 = 4000000000 }, 4000000000, true, AMQP_FIELD_KIND_U32 },
		{ { .value.i64 = 1767225600000 }, 1767225600000, true, AMQP_FIELD_KIND_I64 },
		{ { .value.u64 = 1767225600000 }, 1767225600000, true, AMQP_FIELD_KIND_U64 },
		{ { .value.u64 = UINT64_MAX }, 0, false, AMQP_FIELD_KIND_U64 },
		{ { .value.f64 = 1.5 }, 0, false, AMQP_FIELD_KIND_F64 },
		{ { .value.bytes = { 1, digit } }, 0, false, AMQP_FIELD_KIND_UTF8 },
		{ { 0 }, 0, false, AMQP_FIELD_KIND_VOID },
		{ { .value.boolean = 1 }, 0, false, AMQP_FIELD_KIND_BOOLEAN },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		amqp_table_entry_t header = { .key = amqp_cstring_bytes("x-due"),
			.value = cases[i].value };
		amqp_basic_properties_t properties = { ._flags = AMQP_BASIC_HEADERS_FLAG,
			.headers = { 1, &header } };

		header.value.kind = cases[i].kind;
		read_properties(&properties);
		ck_assert_msg(delivery.has_due == cases[i].has_due, "case %zu", i);
		if (cases[i].has_due)
			ck_assert_int_eq(delivery.due_ms, cases[i].due_ms);
	}
}
END_TEST

static amqp_table_entry_t text_entry(const char *key, const char *text)
{
	amqp_table_entry_t entry = { .key = amqp_cstring_bytes(key) };

	entry.value.kind = AMQP_FIELD_KIND_UTF8;
	entry.value.value.bytes = amqp_cstring_bytes(text);
	return entry;
}

/* x-death with one entry for reason and queue, and what else stands in the headers. */
static void deliver_with_death(amqp_table_entry_t *headers, int count)
{
	amqp_table_entry_t death[] = { text_entry("reason", "delivery_limit"),
		text_entry("queue", "lapse.timeout.due"),
		{ .key = amqp_cstring_bytes("time"),
			.value = { .kind = AMQP_FIELD_KIND_TIMESTAMP,
				.value = { .u64 = 1769854863 } } } };
	amqp_field_value_t deaths[2] = { { .kind = AMQP_FIELD_KIND_TABLE } };
	amqp_basic_properties_t properties = { ._flags = AMQP_BASIC_HEADERS_FLAG,
		.headers = { count, headers } };

	deaths[0].value.table = (amqp_table_t){ ARRAY_LENGTH(death), death };
	headers[0].key = amqp_cstring_bytes("x-death");
	headers[0].value.kind = AMQP_FIELD_KIND_ARRAY;
	headers[0].value.value.array = (amqp_array_t){ 1, deaths };
	read_properties(&properties);
}

START_TEST(the_reason_is_ours_and_else_that_of_the_broker)
{
	amqp_table_entry_t headers[4] = { { .key = { 0 } }, text_entry("x-lapse-reason", "no JSON"),
		text_entry("x-lapse-origin", "elsewhere"), text_entry("x-delivery-count", "7") };

	deliver_with_death(headers, 1);
	ck_assert_str_eq(delivery.reason, "delivery_limit");
	ck_assert_str_eq(delivery.origin, "lapse.timeout.due");
	ck_assert_uint_eq(delivery.death_s, 1769854863);
	deliver_with_death(headers, ARRAY_LENGTH(headers));
	ck_assert_str_eq(delivery.reason, "no JSON");
	ck_assert_str_eq(delivery.origin, "elsewhere");
	ck_assert_uint_eq(delivery.delivery_count, 0); /* a text is no count */
}
END_TEST

START_TEST(texts_from_the_network_are_cut_and_cleaned)
{
	char longer[BROKER_NAME_SIZE + 100];
	char strange[] = { 'a', '\0', (char)0xFF, '\n', 'b' };
	amqp_table_entry_t header = { .key = amqp_cstring_bytes("traceparent") };
	amqp_basic_properties_t properties = { ._flags = AMQP_BASIC_MESSAGE_ID_FLAG |
							 AMQP_BASIC_HEADERS_FLAG,
		.message_id = { sizeof(strange), strange },
		.headers = { 1, &header } };

	memset(longer, 'x', sizeof(longer));
	header.value.kind = AMQP_FIELD_KIND_BYTES;
	header.value.value.bytes = (amqp_bytes_t){ sizeof(longer), longer };
	read_properties(&properties);
	ck_assert_str_eq(delivery.message_id, "a???b");
	ck_assert_uint_eq(strlen(delivery.trace_parent), BROKER_NAME_SIZE - 1);
}
END_TEST

/* The kinds and places of headers that the library would send. */
START_TEST(a_message_goes_out_persistent_with_the_headers_it_needs)
{
	struct broker_message message = { .type = "order.timeout.v1",
		.message_id = "id-1",
		.trace_parent = "00-1-2-01",
		.has_delay = true,
		.delay_ms = 1800000,
		.has_due = true,
		.due_ms = 1767225600000,
		.reason = "no JSON",
		.origin = "lapse.timeout.due" };
	struct broker_content content;

	broker_content_fill(&content, &message);
	ck_assert_int_eq(content.properties.delivery_mode, 2);
	ck_assert_uint_eq(content.properties._flags,
		AMQP_BASIC_DELIVERY_MODE_FLAG | AMQP_BASIC_TYPE_FLAG | AMQP_BASIC_MESSAGE_ID_FLAG |
			AMQP_BASIC_HEADERS_FLAG);
	ck_assert_int_eq(content.properties.headers.num_entries, 5);
	ck_assert_int_eq(content.headers[1].value.kind, AMQP_FIELD_KIND_I64);
	ck_assert_int_eq(content.headers[1].value.value.i64, 1800000);
	message = (struct broker_message){ .content_type = "text/plain" };
	broker_content_fill(&content, &message);
	ck_assert_uint_eq(content.properties._flags,
		AMQP_BASIC_DELIVERY_MODE_FLAG | AMQP_BASIC_CONTENT_TYPE_FLAG);
	message = (struct broker_message){ .app_id = "lapse", .timestamp_s = 1769854863 };
	broker_content_fill(&content, &message);
	ck_assert_uint_eq(content.properties._flags,
		AMQP_BASIC_DELIVERY_MODE_FLAG | AMQP_BASIC_APP_ID_FLAG | AMQP_BASIC_TIMESTAMP_FLAG);
	ck_assert_uint_eq(content.properties.timestamp, 1769854863);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		a_due_time_of_any_integer_kind_is_read_and_of_no_other,
		the_reason_is_ours_and_else_that_of_the_broker,
		texts_from_the_network_are_cut_and_cleaned,
		a_message_goes_out_persistent_with_the_headers_it_needs,
	};

	return runner_run("broker_content", tests, ARRAY_LENGTH(tests));
}
