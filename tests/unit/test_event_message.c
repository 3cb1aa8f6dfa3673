/* event_message: what is an event, and what is parked. */
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "common/base/compiler.h"
#include "common/base/memory.h"
#include "common/order/event_message.h"
#include "common/order/event_type.h"
#include "tests/support/example.h"
#include "tests/support/runner.h"

static struct event_message message;
static struct error error;

static enum result parse(const char *body)
{
	return event_message_parse((const uint8_t *)body, strlen(body), &message, &error);
}

START_TEST(what_the_producer_writes_is_an_event)
{
	char *body = example_read("event_order_closed");

	ck_assert_int_eq(parse(body), RESULT_OK);
	ck_assert_str_eq(message.event_id, "5f0c9d52-fe9a-11f0-8a3c-0242ac120002");
	ck_assert_str_eq(message.type, "order.closed.v1");
	ck_assert_str_eq(message.order_no, "A1");
	free(body);
}
END_TEST

START_TEST(a_type_that_nobody_knows_is_an_event_all_the_same)
{
	ck_assert_int_eq(
		parse("{\"specversion\":\"1.0\",\"id\":\"E1\",\"type\":\"order.shipped.v1\","
		      "\"subject\":\"A1\",\"more\":[1,2]}"),
		RESULT_OK);
	ck_assert_str_eq(message.type, "order.shipped.v1");
	ck_assert_ptr_null(event_type_find_version(message.type));
}
END_TEST

static const struct {
	const char *body;
	const char *words;
} bad_bodies[] = {
	{ "", "event: body is empty" },
	{ "{", "event: " },
	{ "[]", "is no JSON object" },
	{ "{}", "specversion is not 1.0" },
	{ "{\"specversion\":\"0.3\",\"id\":\"E\",\"type\":\"t\",\"subject\":\"A\"}",
		"specversion" },
	{ "{\"specversion\":1.0,\"id\":\"E\",\"type\":\"t\",\"subject\":\"A\"}", "specversion" },
	{ "{\"specversion\":\"1.0\",\"type\":\"t\",\"subject\":\"A\"}",
		"id is missing or no text" },
	{ "{\"specversion\":\"1.0\",\"id\":7,\"type\":\"t\",\"subject\":\"A\"}", "id is missing" },
	{ "{\"specversion\":\"1.0\",\"id\":\"\",\"type\":\"t\",\"subject\":\"A\"}",
		"id is not 1 to 64 of [A-Za-z0-9._:-]" },
	{ "{\"specversion\":\"1.0\",\"id\":\"E 1\",\"type\":\"t\",\"subject\":\"A\"}",
		"id is not" },
	{ "{\"specversion\":\"1.0\",\"id\":\"E\",\"subject\":\"A\"}", "type is missing" },
	{ "{\"specversion\":\"1.0\",\"id\":\"E\",\"type\":\"t\"}", "subject is missing" },
	{ "{\"specversion\":\"1.0\",\"id\":\"E\",\"type\":\"t\",\"subject\":\"A'--\"}", "subject" },
	{ "{\"specversion\":\"1.0\",\"id\":\"E\",\"id\":\"F\",\"type\":\"t\",\"subject\":\"A\"}",
		"event: " },
	{ "{\"specversion\":\"1.0\",\"id\":\"0123456789012345678901234567890123456789"
	  "0123456789012345678901234\",\"type\":\"t\",\"subject\":\"A\"}",
		"id is not 1 to 64" },
};

START_TEST(what_is_no_event_is_refused_with_the_reason)
{
	for (size_t i = 0; i < ARRAY_LENGTH(bad_bodies); i++) {
		ck_assert_int_eq(parse(bad_bodies[i].body), RESULT_PERMANENT);
		ck_assert_msg(strstr(error.text, bad_bodies[i].words) != NULL,
			"%s: \"%s\" does not say %s", bad_bodies[i].body, error.text,
			bad_bodies[i].words);
	}
}
END_TEST

START_TEST(a_body_that_is_no_text_is_no_event)
{
	static const uint8_t bytes[] = { 0, 0xFF, '{', 0x80, '}' };

	ck_assert_int_eq(
		event_message_parse(bytes, sizeof(bytes), &message, &error), RESULT_PERMANENT);
}
END_TEST

START_TEST(a_body_has_a_longest_length)
{
	static const char start[] =
		"{\"specversion\":\"1.0\",\"id\":\"E\",\"type\":\"t\",\"subject\":\"A\",\"x\":\"";
	char *body = memory_allocate(EVENT_MESSAGE_MAX + 2);

	memset(body, 'x', EVENT_MESSAGE_MAX + 1);
	memcpy(body, start, strlen(start));
	body[EVENT_MESSAGE_MAX - 2] = '"';
	body[EVENT_MESSAGE_MAX - 1] = '}';
	body[EVENT_MESSAGE_MAX] = '\0';
	ck_assert_int_eq(parse(body), RESULT_OK);
	body[EVENT_MESSAGE_MAX] = ' ';
	ck_assert_int_eq(parse(body), RESULT_PERMANENT);
	ck_assert_ptr_nonnull(strstr(error.text, "longer than 40960 bytes"));
	free(body);
}
END_TEST

START_TEST(each_type_is_found_by_both_of_its_names)
{
	for (size_t i = 0; i < EVENT_TYPE_COUNT; i++) {
		ck_assert_ptr_eq(event_type_find(event_types[i].name), &event_types[i]);
		ck_assert_ptr_eq(
			event_type_find_version(event_types[i].version_type), &event_types[i]);
	}
	ck_assert_ptr_null(event_type_find("order.closed"));
	ck_assert_ptr_null(event_type_find_version("ORDER_CLOSED"));
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		what_the_producer_writes_is_an_event,
		a_type_that_nobody_knows_is_an_event_all_the_same,
		what_is_no_event_is_refused_with_the_reason,
		a_body_that_is_no_text_is_no_event,
		a_body_has_a_longest_length,
		each_type_is_found_by_both_of_its_names,
	};

	return runner_run("event_message", tests, ARRAY_LENGTH(tests));
}
