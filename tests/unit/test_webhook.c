/* webhook: a task as a signed call. */
#include <string.h>

#include <check.h>

#include "common/base/compiler.h"
#include "common/base/text.h"
#include "retry/webhook.h"
#include "tests/support/runner.h"

#define SECRET "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="

static char payload[] = "{\"status\":\"firing\"}";
static char url[] = "https://ops.example/hooks?token=t";
static char one_secret[] = SECRET;
static char two_secrets[] = SECRET " whsec_b2xk";

static struct compensation_task make_task(const char *key)
{
	struct compensation_task task = { .kind = COMPENSATION_KIND_WEBHOOK,
		.payload = payload,
		.payload_size = strlen(payload) };

	(void)text_copy(task.target, sizeof(task.target), "ops");
	(void)text_copy(task.idempotency_key, sizeof(task.idempotency_key), key);
	(void)text_copy(task.order_no, sizeof(task.order_no), "A1");
	return task;
}

/* The vector of Standard Webhooks in the contract. */
START_TEST(a_call_carries_the_signature_of_the_vector)
{
	const struct compensation_task task =
		make_task("webhook:ops:msg_01HF7YAT00TESTVECTOR00001");
	const struct subscriber subscriber = { .name = "ops", .url = url, .secret = one_secret };
	struct request request;
	struct error error = { .text = "" };

	ck_assert_int_eq(webhook_check_task(&task, &error), RESULT_OK);
	webhook_create_request(&task, &subscriber, 1700000000, &request);
	ck_assert_str_eq(request.url, url);
	ck_assert_str_eq(request.headers[0], "Content-Type: application/cloudevents+json");
	ck_assert_str_eq(request.headers[1], "webhook-id: msg_01HF7YAT00TESTVECTOR00001");
	ck_assert_str_eq(request.headers[2], "webhook-timestamp: 1700000000");
	ck_assert_str_eq(request.headers[3],
		"webhook-signature: v1,cKOGrMKORKJ39uuirN/CECdLTJdkTMOYill0TdCZNwM=");
	ck_assert_ptr_null(request.headers[4]);
	ck_assert_str_eq(request.body, payload);
	ck_assert_uint_eq(request.body_size, strlen(payload));
	request_clear(&request);
}
END_TEST

START_TEST(two_secrets_give_two_signatures_the_new_one_first)
{
	const struct compensation_task task =
		make_task("webhook:ops:msg_01HF7YAT00TESTVECTOR00001");
	const struct subscriber subscriber = { .name = "ops", .url = url, .secret = two_secrets };
	struct request request;

	webhook_create_request(&task, &subscriber, 1700000000, &request);
	ck_assert(text_starts_with(request.headers[3],
		"webhook-signature: v1,cKOGrMKORKJ39uuirN/CECdLTJdkTMOYill0TdCZNwM= v1,"));
	request_clear(&request);
}
END_TEST

START_TEST(a_later_call_has_the_same_id_and_another_signature)
{
	const struct compensation_task task = make_task("webhook:ops:E1");
	const struct subscriber subscriber = { .name = "ops", .url = url, .secret = one_secret };
	struct request first;
	struct request second;

	webhook_create_request(&task, &subscriber, 1700000000, &first);
	webhook_create_request(&task, &subscriber, 1700000060, &second);
	ck_assert_str_eq(first.headers[1], second.headers[1]);
	ck_assert_str_ne(first.headers[2], second.headers[2]);
	ck_assert_str_ne(first.headers[3], second.headers[3]);
	request_clear(&first);
	request_clear(&second);
}
END_TEST

START_TEST(a_row_of_which_no_call_can_be_made_is_refused)
{
	static const char *const keys[] = { "webhook:ops:", "webhook:op:E1", "webhook:opsx:E1",
		"webhook:ops", "ops:E1", "", "webhook:ops:a\nb" };
	struct compensation_task task = make_task("webhook:ops:E1");
	struct error error = { .text = "" };

	for (size_t i = 0; i < ARRAY_LENGTH(keys); i++) {
		(void)text_copy(task.idempotency_key, sizeof(task.idempotency_key), keys[i]);
		ck_assert_int_eq(webhook_check_task(&task, &error), RESULT_PERMANENT);
		ck_assert_ptr_nonnull(strstr(error.text, "its key is not webhook:<target>"));
	}
	task = make_task("webhook:ops:E1");
	task.kind = COMPENSATION_KIND_REFUND;
	ck_assert_int_eq(webhook_check_task(&task, &error), RESULT_PERMANENT);
	task = make_task("webhook:ops:E1");
	task.payload = NULL;
	ck_assert_int_eq(webhook_check_task(&task, &error), RESULT_PERMANENT);
	ck_assert_ptr_nonnull(strstr(error.text, "its payload is too long"));
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		a_call_carries_the_signature_of_the_vector,
		two_secrets_give_two_signatures_the_new_one_first,
		a_later_call_has_the_same_id_and_another_signature,
		a_row_of_which_no_call_can_be_made_is_refused,
	};

	return runner_run("webhook", tests, ARRAY_LENGTH(tests));
}
