/* request: the call is built from the row alone, and a hostile row is never called. */
#include <stdlib.h>
#include <string.h>

#include "common/base/text.h"
#include "common/io/json.h"
#include "retry/request.h"
#include "tests/support/runner.h"

static void fill_task(struct compensation_task *task, enum compensation_kind kind, char *payload)
{
	*task = (struct compensation_task){ .kind = kind,
		.payload = payload,
		.payload_size = payload == NULL ? 0 : strlen(payload) };
	(void)text_copy(task->idempotency_key, sizeof(task->idempotency_key), "restore:A1:17");
	(void)text_copy(task->order_no, sizeof(task->order_no), "A1");
}

static enum result create_item(enum request_form form, enum compensation_kind kind,
	const char *payload, struct json **item_out, struct error *error)
{
	struct compensation_task task;
	char *copy = payload == NULL ? NULL : strdup(payload);

	fill_task(&task, kind, copy);
	enum result result = request_create_item(form, &task, item_out, error);
	free(copy);
	return result;
}

START_TEST(a_restore_carries_key_order_sku_and_quantity)
{
	struct json *item = NULL;
	struct error error = { 0 };
	struct request request;

	ck_assert_int_eq(create_item(REQUEST_FORM_RESTORE, COMPENSATION_KIND_STOCK_RESTORE,
				 "{\"sku_id\": \"SKU-1\", \"quantity\": 2}", &item, &error),
		RESULT_OK);
	request_create(REQUEST_FORM_RESTORE, "http://stock:8090/", &item, 1, &request);
	ck_assert_str_eq(request.url, "http://stock:8090/v1/stock/restores");
	ck_assert_str_eq(request.body, "{\"idempotency_key\":\"restore:A1:17\",\"order_no\":\"A1\","
				       "\"sku_id\":\"SKU-1\",\"quantity\":2}");
	ck_assert_uint_eq(request.body_size, strlen(request.body));
	ck_assert_str_eq(request.headers[0], "Content-Type: application/json");
	ck_assert_str_eq(request.headers[1], "Idempotency-Key: restore:A1:17");
	ck_assert_ptr_null(request.headers[2]);
	request_clear(&request);
}
END_TEST

START_TEST(many_restores_stand_in_one_body)
{
	struct json *items[2] = { NULL };
	struct error error = { 0 };
	struct request request;

	for (size_t i = 0; i < ARRAY_LENGTH(items); i++)
		ck_assert_int_eq(
			create_item(REQUEST_FORM_RESTORES, COMPENSATION_KIND_STOCK_RESTORE,
				"{\"sku_id\":\"S\",\"quantity\":4294967295}", &items[i], &error),
			RESULT_OK);
	request_create(REQUEST_FORM_RESTORES, "https://stock/base", items, 2, &request);
	ck_assert_str_eq(request.url, "https://stock/base/v1/stock/restores");
	ck_assert_str_eq(request.body,
		"{\"restores\":[{\"idempotency_key\":\"restore:A1:17\",\"order_no\":\"A1\","
		"\"sku_id\":\"S\",\"quantity\":4294967295},"
		"{\"idempotency_key\":\"restore:A1:17\",\"order_no\":\"A1\","
		"\"sku_id\":\"S\",\"quantity\":4294967295}]}");
	ck_assert_ptr_null(request.headers[1]);
	request_clear(&request);
}
END_TEST

START_TEST(a_refund_carries_the_payment)
{
	struct json *item = NULL;
	struct error error = { 0 };
	struct request request;

	ck_assert_int_eq(create_item(REQUEST_FORM_REFUND, COMPENSATION_KIND_REFUND,
				 "{\"channel\":\"alipay\",\"trade_no\":\"T-1\","
				 "\"amount_cents\":9900,\"currency\":\"CNY\",\"more\":1}",
				 &item, &error),
		RESULT_OK);
	request_create(REQUEST_FORM_REFUND, "http://pay", &item, 1, &request);
	ck_assert_str_eq(request.url, "http://pay/v1/refunds");
	ck_assert_str_eq(request.body,
		"{\"idempotency_key\":\"restore:A1:17\",\"order_no\":\"A1\","
		"\"channel\":\"alipay\",\"trade_no\":\"T-1\",\"amount_cents\":9900,"
		"\"currency\":\"CNY\"}");
	request_clear(&request);
}
END_TEST

static const char *const hostile_restores[] = {
	NULL,
	"",
	"nonsense",
	"null",
	"[]",
	"{}",
	"{\"sku_id\":\"S\"}",
	"{\"quantity\":1}",
	"{\"sku_id\":\"\",\"quantity\":1}",
	"{\"sku_id\":7,\"quantity\":1}",
	"{\"sku_id\":\"../admin/reset?x=1#\",\"quantity\":1}",
	"{\"sku_id\":\"a b\",\"quantity\":1}",
	"{\"sku_id\":\"a\\nb\",\"quantity\":1}",
	"{\"sku_id\":\"S\",\"quantity\":0}",
	"{\"sku_id\":\"S\",\"quantity\":-1}",
	"{\"sku_id\":\"S\",\"quantity\":\"2\"}",
	"{\"sku_id\":\"S\",\"quantity\":2.0}",
	"{\"sku_id\":\"S\",\"quantity\":4294967296}",
	"{\"sku_id\":\"S\",\"quantity\":2,\"quantity\":3}",
	"{\"sku_id\":\"S\",\"quantity\":true}",
	"{\"sku_id\":\"0123456789012345678901234567890123456789012345678901234567890123x\"}",
};

START_TEST(a_hostile_row_is_refused_with_words)
{
	for (size_t i = 0; i < ARRAY_LENGTH(hostile_restores); i++) {
		struct json *item = NULL;
		struct error error = { 0 };

		ck_assert_msg(create_item(REQUEST_FORM_RESTORE, COMPENSATION_KIND_STOCK_RESTORE,
				      hostile_restores[i], &item, &error) == RESULT_PERMANENT,
			"%s", hostile_restores[i]);
		ck_assert_ptr_null(item);
		ck_assert(text_starts_with(error.text, "cannot be called"));
	}
}
END_TEST

static const char *const hostile_refunds[] = {
	"{}",
	"{\"trade_no\":\"T\",\"amount_cents\":1,\"currency\":\"CNY\"}",
	"{\"channel\":\"c\",\"amount_cents\":1,\"currency\":\"CNY\"}",
	"{\"channel\":\"c\",\"trade_no\":\"T/..\",\"amount_cents\":1,\"currency\":\"CNY\"}",
	"{\"channel\":\"c\",\"trade_no\":\"T\",\"amount_cents\":0,\"currency\":\"CNY\"}",
	"{\"channel\":\"c\",\"trade_no\":\"T\",\"amount_cents\":1.5,\"currency\":\"CNY\"}",
	"{\"channel\":\"c\",\"trade_no\":\"T\",\"amount_cents\":1}",
	"{\"channel\":\"c\",\"trade_no\":\"T\",\"amount_cents\":1,\"currency\":\"CNYX\"}",
	"{\"channel\":\"c\",\"trade_no\":\"T\",\"amount_cents\":1,\"currency\":\"\"}",
};

START_TEST(a_refund_without_its_payment_is_refused)
{
	for (size_t i = 0; i < ARRAY_LENGTH(hostile_refunds); i++) {
		struct json *item = NULL;
		struct error error = { 0 };

		ck_assert_msg(create_item(REQUEST_FORM_REFUND, COMPENSATION_KIND_REFUND,
				      hostile_refunds[i], &item, &error) == RESULT_PERMANENT,
			"%s", hostile_refunds[i]);
	}
}
END_TEST

START_TEST(a_kind_that_does_not_fit_its_target_is_refused)
{
	struct json *item = NULL;
	struct error error = { 0 };

	ck_assert_int_eq(create_item(REQUEST_FORM_RESTORE, COMPENSATION_KIND_REFUND,
				 "{\"sku_id\":\"S\",\"quantity\":1}", &item, &error),
		RESULT_PERMANENT);
}
END_TEST

START_TEST(an_order_number_or_key_with_forbidden_characters_is_refused)
{
	struct compensation_task task;
	struct json *item = NULL;
	struct error error = { 0 };
	char payload[] = "{\"sku_id\":\"S\",\"quantity\":1}";

	fill_task(&task, COMPENSATION_KIND_STOCK_RESTORE, payload);
	(void)text_copy(task.order_no, sizeof(task.order_no), "A1\r\nX: y");
	ck_assert_int_eq(
		request_create_item(REQUEST_FORM_RESTORE, &task, &item, &error), RESULT_PERMANENT);
	fill_task(&task, COMPENSATION_KIND_STOCK_RESTORE, payload);
	(void)text_copy(task.idempotency_key, sizeof(task.idempotency_key), "a b");
	ck_assert_int_eq(
		request_create_item(REQUEST_FORM_RESTORE, &task, &item, &error), RESULT_PERMANENT);
}
END_TEST

static uint64_t hash_of(const char *payload)
{
	struct json *item = NULL;
	struct error error = { 0 };

	ck_assert_int_eq(create_item(REQUEST_FORM_RESTORE, COMPENSATION_KIND_STOCK_RESTORE, payload,
				 &item, &error),
		RESULT_OK);
	uint64_t hash = request_hash_subject(item);
	json_destroy(&item);
	return hash;
}

START_TEST(tasks_of_one_sku_have_one_subject)
{
	ck_assert(hash_of("{\"sku_id\":\"S\",\"quantity\":1}") ==
		  hash_of("{\"sku_id\":\"S\",\"quantity\":2}"));
	ck_assert(hash_of("{\"sku_id\":\"S\",\"quantity\":1}") !=
		  hash_of("{\"sku_id\":\"T\",\"quantity\":1}"));
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		a_restore_carries_key_order_sku_and_quantity,
		many_restores_stand_in_one_body,
		a_refund_carries_the_payment,
		a_hostile_row_is_refused_with_words,
		a_refund_without_its_payment_is_refused,
		a_kind_that_does_not_fit_its_target_is_refused,
		an_order_number_or_key_with_forbidden_characters_is_refused,
		tasks_of_one_sku_have_one_subject,
	};

	return runner_run("request", tests, ARRAY_LENGTH(tests));
}
