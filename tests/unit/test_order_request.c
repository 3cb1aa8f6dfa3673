/* The body of POST /v1/orders. */
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "gateway/order_request.h"
#include "tests/support/example.h"
#include "tests/support/runner.h"

enum {
	BODY_SIZE = 65536
};

#define DAY_MS UINT64_C(86400000)

static struct order_request *order;

static void set_up(void)
{
	order = memory_allocate(sizeof(*order));
}

static void tear_down(void)
{
	free(order);
}

static enum result read_text(const char *body)
{
	struct error error = { .text = "" };
	enum result result = order_request_read(body, strlen(body), order, &error);

	/* The caller is told why. */
	ck_assert(result == RESULT_OK || (result == RESULT_PERMANENT && error.text[0] != '\0'));
	return result;
}

START_TEST(an_order_is_read_whole)
{
	ck_assert_int_eq(
		read_text("{\"order_no\":\"A.1_b:2-c\",\"user_id\":\"18446744073709551615\","
			  "\"amount_cents\":9900,\"currency\":\"USD\",\"items\":["
			  "{\"sku_id\":\"SKU-1\",\"quantity\":2},"
			  "{\"sku_id\":\"SKU-1\",\"quantity\":0,\"note\":null}],"
			  "\"timeout\":\"30m\",\"extra\":{}}"),
		RESULT_OK);
	ck_assert_str_eq(order->creation.order_no, "A.1_b:2-c");
	ck_assert_uint_eq(order->creation.user_id, UINT64_MAX);
	ck_assert_int_eq(order->creation.amount_cents, 9900);
	ck_assert_str_eq(order->creation.currency, "USD");
	ck_assert_uint_eq(order->creation.item_count, 2);
	ck_assert_str_eq(order->creation.items[1].sku_id, "SKU-1");
	ck_assert_uint_eq(order->creation.items[0].quantity, 2);
	ck_assert_uint_eq(order->creation.items[1].quantity, 0);
	ck_assert(order->has_own_timeout && order->creation.has_timeout);
	ck_assert_uint_eq(order->creation.timeout_ms, 1800000);
	ck_assert_str_eq(order->creation.trace_parent, "");
}
END_TEST

START_TEST(the_example_of_the_document_is_an_order)
{
	char *body = example_read("order_request");

	ck_assert_int_eq(read_text(body), RESULT_OK);
	ck_assert_uint_eq(order->creation.item_count, 2);
	ck_assert_str_eq(order->attributes.values[3], "food");
	free(body);
}
END_TEST

START_TEST(what_is_left_out_has_a_good_value)
{
	ck_assert_int_eq(read_text("{\"user_id\":42,\"amount_cents\":0}"), RESULT_OK);
	ck_assert_uint_eq(order->creation.user_id, 42);
	ck_assert_str_eq(order->creation.currency, "CNY");
	ck_assert_uint_eq(order->creation.item_count, 0);
	ck_assert(!order->has_own_timeout);
	ck_assert(text_is_key(
		order->creation.order_no, strlen(order->creation.order_no), TEXT_KEY_MAX));
	char first[TEXT_KEY_SIZE];
	(void)text_copy(first, sizeof(first), order->creation.order_no);
	ck_assert_int_eq(read_text("{\"user_id\":42,\"amount_cents\":0}"), RESULT_OK);
	ck_assert_str_ne(first, order->creation.order_no);
}
END_TEST

#define ORDER(more) "{\"order_no\":\"A1\",\"user_id\":\"1\",\"amount_cents\":1," more "}"

/* CS-8 */
START_TEST(an_empty_timeout_or_0_means_never)
{
	static const char *const bodies[] = { ORDER("\"timeout\":\"\""), ORDER("\"timeout\":\"0\""),
		ORDER("\"timeout\":\"0s\""), ORDER("\"timeout\":\"0ms\"") };

	for (size_t i = 0; i < ARRAY_LENGTH(bodies); i++) {
		ck_assert_int_eq(read_text(bodies[i]), RESULT_OK);
		ck_assert(order->has_own_timeout && !order->creation.has_timeout);
	}
}
END_TEST

START_TEST(timeouts_reach_from_a_millisecond_to_ten_years)
{
	ck_assert_int_eq(read_text(ORDER("\"timeout\":\"1ms\"")), RESULT_OK);
	ck_assert_uint_eq(order->creation.timeout_ms, 1);
	ck_assert_int_eq(read_text(ORDER("\"timeout\":\"3650d\"")), RESULT_OK);
	ck_assert_uint_eq(order->creation.timeout_ms, 3650 * DAY_MS);
	ck_assert_int_eq(read_text(ORDER("\"timeout\":\"3651d\"")), RESULT_PERMANENT);
}
END_TEST

START_TEST(attributes_are_kept_by_name)
{
	ck_assert_int_eq(read_text(ORDER("\"attributes\":{\"category\":\"食品\",\"tenant\":\"t\","
					 "\"unknown\":7}")),
		RESULT_OK);
	ck_assert_str_eq(order->attributes.values[0], "t");
	ck_assert_str_eq(order->attributes.values[1], "");
	ck_assert_str_eq(order->attributes.values[2], "");
	ck_assert_str_eq(order->attributes.values[3], "食品");
}
END_TEST

START_TEST(a_body_with_a_mistake_is_refused)
{
	static const char *const bodies[] = {
		"",
		"null",
		"[]",
		"\"A1\"",
		"{",
		"{}",
		"{\"user_id\":\"1\"}",
		"{\"amount_cents\":1}",
		"{\"user_id\":\"1\",\"amount_cents\":1}}",
		"{\"user_id\":\"1\",\"user_id\":\"1\",\"amount_cents\":1}",
		"{\"user_id\":\"1\",\"amount_cents\":1.0}",
		"{\"user_id\":\"1\",\"amount_cents\":\"1\"}",
		"{\"user_id\":\"1\",\"amount_cents\":-1}",
		"{\"user_id\":\"1\",\"amount_cents\":9007199254740992}",
		"{\"user_id\":\"1\",\"amount_cents\":true}",
		"{\"user_id\":-1,\"amount_cents\":1}",
		"{\"user_id\":\"-1\",\"amount_cents\":1}",
		"{\"user_id\":\"18446744073709551616\",\"amount_cents\":1}",
		"{\"user_id\":\"\",\"amount_cents\":1}",
		"{\"user_id\":null,\"amount_cents\":1}",
		"{\"order_no\":\"\",\"user_id\":\"1\",\"amount_cents\":1}",
		"{\"order_no\":null,\"user_id\":\"1\",\"amount_cents\":1}",
		"{\"order_no\":7,\"user_id\":\"1\",\"amount_cents\":1}",
		"{\"order_no\":\"A 1\",\"user_id\":\"1\",\"amount_cents\":1}",
		"{\"order_no\":\"A1 \",\"user_id\":\"1\",\"amount_cents\":1}",
		"{\"order_no\":\"A/1\",\"user_id\":\"1\",\"amount_cents\":1}",
		"{\"order_no\":\"\\u0041\\u0000\",\"user_id\":\"1\",\"amount_cents\":1}",
		"{\"order_no\":\"ÄÖ\",\"user_id\":\"1\",\"amount_cents\":1}",
		"{\"order_no\":\"1234567890123456789012345678901234567890123456789012345678901234"
		"5\",\"user_id\":\"1\",\"amount_cents\":1}",
		ORDER("\"currency\":\"cny\""),
		ORDER("\"currency\":\"\""),
		ORDER("\"currency\":null"),
		ORDER("\"currency\":\"CNYY\""),
		ORDER("\"items\":{}"),
		ORDER("\"items\":null"),
		ORDER("\"items\":\"SKU-1\""),
		ORDER("\"items\":3"),
		ORDER("\"items\":[1]"),
		ORDER("\"items\":[{}]"),
		ORDER("\"items\":[{\"sku_id\":\"S\"}]"),
		ORDER("\"items\":[{\"quantity\":1}]"),
		ORDER("\"items\":[{\"sku_id\":\"../admin/reset?x=1#\",\"quantity\":1}]"),
		ORDER("\"items\":[{\"sku_id\":\"S\",\"quantity\":-1}]"),
		ORDER("\"items\":[{\"sku_id\":\"S\",\"quantity\":1000001}]"),
		ORDER("\"items\":[{\"sku_id\":\"S\",\"quantity\":1.5}]"),
		ORDER("\"items\":[{\"sku_id\":\"S\",\"quantity\":\"1\"}]"),
		ORDER("\"timeout\":30"),
		ORDER("\"timeout\":null"),
		ORDER("\"timeout\":\"30\""),
		ORDER("\"timeout\":\"-1s\""),
		ORDER("\"timeout\":\"1.5h\""),
		ORDER("\"timeout\":\" 30m\""),
		ORDER("\"timeout\":\"99999999999999999999d\""),
		ORDER("\"attributes\":[]"),
		ORDER("\"attributes\":null"),
		ORDER("\"attributes\":{\"tenant\":7}"),
		ORDER("\"attributes\":{\"tenant\":null}"),
	};

	for (size_t i = 0; i < ARRAY_LENGTH(bodies); i++)
		ck_assert_msg(read_text(bodies[i]) == RESULT_PERMANENT, "%s", bodies[i]);
}
END_TEST

/* A body with so many items, each with the quantity 1. */
static char *write_items(size_t count)
{
	char *body = memory_allocate(BODY_SIZE);
	size_t size = 0;

	(void)text_copy(body, BODY_SIZE, "{\"user_id\":\"1\",\"amount_cents\":1,\"items\":[");
	for (size_t i = 0; i < count; i++) {
		size = strlen(body);
		(void)text_format(body + size, BODY_SIZE - size,
			"%s{\"sku_id\":\"S%zu\",\"quantity\":1}", i == 0 ? "" : ",", i);
	}
	size = strlen(body);
	(void)text_copy(body + size, BODY_SIZE - size, "]}");
	return body;
}

START_TEST(two_hundred_items_are_taken_and_one_more_is_not)
{
	char *body = write_items(CREATION_ITEM_MAX);

	ck_assert_int_eq(read_text(body), RESULT_OK);
	ck_assert_uint_eq(order->creation.item_count, CREATION_ITEM_MAX);
	ck_assert_str_eq(order->creation.items[CREATION_ITEM_MAX - 1].sku_id, "S199");
	free(body);
	body = write_items(CREATION_ITEM_MAX + 1);
	ck_assert_int_eq(read_text(body), RESULT_PERMANENT);
	free(body);
}
END_TEST

START_TEST(a_trace_context_is_kept_only_when_it_is_one)
{
	static const char good[] = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
	static const char *const bad[] = {
		"",
		"00",
		"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0",
		"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-x",
		"ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
		"00-0AF7651916CD43DD8448EB211C80319C-B7AD6B7169203331-01",
		"00-00000000000000000000000000000000-b7ad6b7169203331-01",
		"00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
		"00--af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
		"-------------------------------------------------------",
		"00-0af7651916cd43dd8448eb211c80319cb-7ad6b7169203331-01",
		"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331\n01",
	};

	for (size_t i = 0; i < ARRAY_LENGTH(bad); i++) {
		order_request_set_trace(order, bad[i]);
		ck_assert_msg(order->creation.trace_parent[0] == '\0', "%s", bad[i]);
	}
	order_request_set_trace(order, NULL);
	ck_assert_str_eq(order->creation.trace_parent, "");
	order_request_set_trace(order, good);
	ck_assert_str_eq(order->creation.trace_parent, good);
}
END_TEST

int main(void)
{
	const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = {
		an_order_is_read_whole,
		the_example_of_the_document_is_an_order,
		what_is_left_out_has_a_good_value,
		an_empty_timeout_or_0_means_never,
		timeouts_reach_from_a_millisecond_to_ten_years,
		attributes_are_kept_by_name,
		a_body_with_a_mistake_is_refused,
		two_hundred_items_are_taken_and_one_more_is_not,
		a_trace_context_is_kept_only_when_it_is_one,
	};

	return runner_run_with("order_request", &fixture, tests, ARRAY_LENGTH(tests));
}
