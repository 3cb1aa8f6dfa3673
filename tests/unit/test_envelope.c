#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/json.h"
#include "producer/envelope.h"
#include "tests/support/runner.h"

enum {
	BODY_MAX = 4 * OUTBOX_PAYLOAD_MAX
};

static struct outbox_row row;
static struct order_detail order;
static struct error error;
static struct json *event;

static void set_up(void)
{
	row = (struct outbox_row){ .event_id = "E1",
		.event_type = "ORDER_CLOSED",
		.order_no = "A1",
		.created_at = "2026-01-31T00:00:00.000Z" };
	order = (struct order_detail){ .order_no = "A1",
		.is_present = true,
		.amount_cents = INT64_MAX,
		.currency = "CNY",
		.close_reason = "TIMEOUT" };
}

static void tear_down(void)
{
	json_destroy(&event);
}

static enum result write_event(const char *payload)
{
	char *body = NULL;
	char *copy = payload == NULL ? NULL : memory_copy_text(payload);

	row.payload = copy;
	row.payload_size = payload == NULL ? 0 : strlen(payload);
	enum result result = envelope_write_event(&row, &order, "test", &body, &error);
	if (result == RESULT_OK)
		ck_assert_int_eq(
			json_parse(body, strlen(body), BODY_MAX, &event, &error), RESULT_OK);
	free(body);
	free(copy);
	return result;
}

static const char *text_of(const struct json *object, const char *key)
{
	const char *text = json_get_text(object, key);

	return text == NULL ? "" : text;
}

START_TEST(an_event_is_a_cloud_event)
{
	(void)text_copy(row.trace_parent, sizeof(row.trace_parent), "00-ab-cd-01");
	ck_assert_int_eq(write_event(NULL), RESULT_OK);
	ck_assert_str_eq(text_of(event, "specversion"), "1.0");
	ck_assert_str_eq(text_of(event, "id"), "E1");
	ck_assert_str_eq(text_of(event, "source"), "/lapse/test");
	ck_assert_str_eq(text_of(event, "type"), "order.closed.v1");
	ck_assert_str_eq(text_of(event, "subject"), "A1");
	ck_assert_str_eq(text_of(event, "time"), "2026-01-31T00:00:00.000Z");
	ck_assert_str_eq(text_of(event, "traceparent"), "00-ab-cd-01");
}
END_TEST

START_TEST(without_a_payload_the_order_is_described)
{
	ck_assert_int_eq(write_event(NULL), RESULT_OK);
	const struct json *data = json_get(event, "data");
	ck_assert_str_eq(text_of(data, "order_no"), "A1");
	ck_assert_str_eq(text_of(data, "currency"), "CNY");
	ck_assert_str_eq(text_of(data, "reason"), "TIMEOUT");
	ck_assert_ptr_null(json_get(data, "source"));
	ck_assert_ptr_null(json_get(data, "pay_time"));
}
END_TEST

START_TEST(an_order_that_is_gone_is_only_named)
{
	order.is_present = false;
	ck_assert_int_eq(write_event(NULL), RESULT_OK);
	ck_assert_str_eq(text_of(json_get(event, "data"), "order_no"), "A1");
	ck_assert_ptr_null(json_get(json_get(event, "data"), "currency"));
}
END_TEST

START_TEST(a_payload_is_passed_on_and_cannot_rename_the_order)
{
	ck_assert_int_eq(write_event("{\"a\":[1,{\"b\":null}],\"order_no\":\"X\"}"), RESULT_OK);
	const struct json *data = json_get(event, "data");
	ck_assert_ptr_nonnull(json_get(data, "a"));
	ck_assert_str_eq(text_of(data, "order_no"), "A1");
	ck_assert_ptr_null(json_get(data, "currency"));
}
END_TEST

START_TEST(a_payload_that_is_no_object_can_never_be_published)
{
	static const char *const payloads[] = { "[1]", "null", "7", "\"x\"", "{", "{}{}" };

	for (size_t i = 0; i < ARRAY_LENGTH(payloads); i++) {
		ck_assert_int_eq(write_event(payloads[i]), RESULT_PERMANENT);
		ck_assert(strstr(error.text, "payload") != NULL);
	}
	row.payload = NULL;
	row.payload_size = OUTBOX_PAYLOAD_MAX + 1;
	char *body = NULL;
	ck_assert_int_eq(
		envelope_write_event(&row, &order, "test", &body, &error), RESULT_PERMANENT);
	ck_assert_ptr_null(body);
}
END_TEST

START_TEST(an_unknown_type_can_never_be_published)
{
	static const char *const types[] = { "", "order_closed", "ORDER_CLOSED ", "ORDER_EATEN" };

	for (size_t i = 0; i < ARRAY_LENGTH(types); i++) {
		(void)text_copy(row.event_type, sizeof(row.event_type), types[i]);
		ck_assert_int_eq(write_event(NULL), RESULT_PERMANENT);
		ck_assert_ptr_null(envelope_routing_key(types[i]));
	}
}
END_TEST

START_TEST(texts_of_any_kind_stay_json)
{
	(void)text_copy(row.order_no, sizeof(row.order_no), "no \"key\"\\\n");
	ck_assert_int_eq(write_event(NULL), RESULT_OK);
	ck_assert_str_eq(text_of(event, "subject"), "no \"key\"\\\n");
}
END_TEST

START_TEST(the_message_may_have_no_listener)
{
	struct broker_message message = { .is_mandatory = true };

	envelope_fill_event(&row, "lapse.events", &message);
	ck_assert(!message.is_mandatory);
	ck_assert_str_eq(message.exchange, "lapse.events");
	ck_assert_str_eq(message.routing_key, "order.closed");
	ck_assert_str_eq(message.message_id, "E1");
	ck_assert_ptr_null(message.trace_parent);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		an_event_is_a_cloud_event,
		without_a_payload_the_order_is_described,
		an_order_that_is_gone_is_only_named,
		a_payload_is_passed_on_and_cannot_rename_the_order,
		a_payload_that_is_no_object_can_never_be_published,
		an_unknown_type_can_never_be_published,
		texts_of_any_kind_stay_json,
		the_message_may_have_no_listener,
	};
	const struct runner_fixture fixture = { set_up, tear_down };

	return runner_run_with("envelope", &fixture, tests, ARRAY_LENGTH(tests));
}
