/* The examples of docs/messages.md: what the documents show is what the programs write and read. */
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "common/base/compiler.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/json.h"
#include "common/order/order.h"
#include "common/order/outbox.h"
#include "common/order/timeout_message.h"
#include "common/report/alert_body.h"
#include "common/report/alert_robot.h"
#include "producer/envelope.h"
#include "retry/answer.h"
#include "retry/request.h"
#include "retry/webhook.h"
#include "tests/support/example.h"
#include "tests/support/runner.h"

static const struct order_detail closed_order = {
	.order_no = "A1",
	.is_present = true,
	.amount_cents = 9900,
	.currency = "CNY",
	.status = "CLOSED",
	.close_reason = "TIMEOUT",
	.close_source = "message",
	.expire_time = "2026-01-31T10:21:03.108Z",
	.close_time = "2026-01-31T10:21:03.120Z",
};

START_TEST(a_timeout_names_its_order_and_nothing_else)
{
	char body[TIMEOUT_MESSAGE_SIZE];
	char order_no[TEXT_KEY_SIZE];
	struct error error = { 0 };

	(void)timeout_message_write(body, "A1");
	example_expect("timeout", body);
	char *example = example_read("timeout");
	ck_assert_int_eq(timeout_message_parse((const uint8_t *)example, strlen(example),
				 TIMEOUT_MESSAGE_TYPE, order_no, &error),
		RESULT_OK);
	ck_assert_str_eq(order_no, "A1");
	free(example);
}
END_TEST

static void expect_event(const char *name, const struct outbox_row *row)
{
	struct error error = { 0 };
	char *body = NULL;

	ck_assert_int_eq(
		envelope_write_event(row, &closed_order, "prod", &body, &error), RESULT_OK);
	example_expect(name, body);
	free(body);
}

START_TEST(an_event_tells_what_its_order_row_says)
{
	const struct outbox_row row = {
		.event_id = "5f0c9d52-fe9a-11f0-8a3c-0242ac120002",
		.event_type = "ORDER_CLOSED",
		.order_no = "A1",
		.trace_parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
		.created_at = "2026-01-31T10:21:03.120Z",
		.created_s = 1769854863,
	};
	struct broker_message message = { .exchange = "" };

	expect_event("event_order_closed", &row);
	envelope_fill_event(&row, "lapse.events", &message);
	ck_assert_str_eq(message.exchange, "lapse.events");
	ck_assert_str_eq(message.routing_key, "order.closed");
	ck_assert(!message.is_mandatory);
	ck_assert_str_eq(message.message_id, row.event_id);
	ck_assert_str_eq(message.type, "order.closed.v1");
	ck_assert_str_eq(message.content_type, "application/cloudevents+json");
	ck_assert_str_eq(message.app_id, "lapse");
	ck_assert_uint_eq(message.timestamp_s, row.created_s);
	ck_assert_str_eq(message.trace_parent, row.trace_parent);
}
END_TEST

START_TEST(a_payload_of_its_own_takes_the_place_of_the_order_row)
{
	char payload[] = "{\"expire_time\":\"2026-01-31T10:51:03.108Z\"}";
	const struct outbox_row row = {
		.event_id = "6a1f2b3c-fe9a-11f0-8a3c-0242ac120002",
		.event_type = "ORDER_EXTENDED",
		.order_no = "A1",
		.created_at = "2026-01-31T10:05:00.000Z",
		.payload = payload,
		.payload_size = sizeof(payload) - 1,
	};

	expect_event("event_with_payload", &row);
}
END_TEST

static struct json *create_item(
	enum request_form form, enum compensation_kind kind, const char *key, const char *payload)
{
	struct compensation_task task = {
		.kind = kind,
		.order_no = "A1",
		.payload = memory_copy_text(payload),
		.payload_size = strlen(payload),
	};
	struct json *item = NULL;
	struct error error = { 0 };

	(void)text_copy(task.idempotency_key, sizeof(task.idempotency_key), key);
	ck_assert_int_eq(request_create_item(form, &task, &item, &error), RESULT_OK);
	free(task.payload);
	return item;
}

START_TEST(a_restore_is_called_by_its_key)
{
	struct json *item = create_item(REQUEST_FORM_RESTORE, COMPENSATION_KIND_STOCK_RESTORE,
		"restore:A1:17", "{\"sku_id\":\"SKU-1\",\"quantity\":2}");
	struct request request;

	request_create(REQUEST_FORM_RESTORE, "http://stock", &item, 1, &request);
	example_expect("restore_call", request.body);
	ck_assert_str_eq(request.lines[0], "Idempotency-Key: restore:A1:17");
	request_clear(&request);
}
END_TEST

START_TEST(many_restores_go_in_one_call)
{
	struct json *items[] = { create_item(REQUEST_FORM_RESTORES, COMPENSATION_KIND_STOCK_RESTORE,
					 "restore:A1:17", "{\"sku_id\":\"SKU-1\",\"quantity\":2}"),
		create_item(REQUEST_FORM_RESTORES, COMPENSATION_KIND_STOCK_RESTORE, "restore:A1:18",
			"{\"sku_id\":\"SKU-2\",\"quantity\":1}") };
	struct request request;

	request_create(REQUEST_FORM_RESTORES, "http://stock", items, ARRAY_LENGTH(items), &request);
	example_expect("restore_calls", request.body);
	request_clear(&request);
}
END_TEST

START_TEST(a_refund_names_its_trade)
{
	struct json *item =
		create_item(REQUEST_FORM_REFUND, COMPENSATION_KIND_REFUND, "refund:alipay:T900",
			"{\"channel\":\"alipay\",\"trade_no\":\"T900\",\"amount_cents\":9900,"
			"\"currency\":\"CNY\"}");
	struct request request;

	request_create(REQUEST_FORM_REFUND, "http://refund", &item, 1, &request);
	example_expect("refund_call", request.body);
	request_clear(&request);
}
END_TEST

START_TEST(a_webhook_is_signed_as_the_document_shows)
{
	char *event = example_read("event_order_closed");
	char one_secret[] = "whsec_Y291cG9ucw==";
	char two_secrets[] = "whsec_bmV3 whsec_b2xk";
	struct subscriber subscriber = { .url = one_secret, .secret = one_secret };
	struct compensation_task task = { .kind = COMPENSATION_KIND_WEBHOOK,
		.target = "coupons",
		.idempotency_key = "webhook:coupons:5f0c9d52-fe9a-11f0-8a3c-0242ac120002",
		.payload = event,
		.payload_size = strlen(event) };
	struct request request;

	webhook_create_request(&task, &subscriber, 1769854864, &request);
	ck_assert_str_eq(request.headers[1], "webhook-id: 5f0c9d52-fe9a-11f0-8a3c-0242ac120002");
	ck_assert_str_eq(request.headers[2], "webhook-timestamp: 1769854864");
	ck_assert_str_eq(request.headers[3],
		"webhook-signature: v1,f3E1tDLRBfVqLzrE+EKoMAw3lu6CPGPf61FJ5WWfsR0=");
	ck_assert_str_eq(request.body, event);
	request_clear(&request);
	subscriber.secret = two_secrets;
	webhook_create_request(&task, &subscriber, 1769854864, &request);
	ck_assert_str_eq(request.headers[3],
		"webhook-signature: v1,dZPFEK5axaPIagfqrevQtl/TJvUZ2Q3mFRK7KWpiGdE= "
		"v1,vWnhyx2//WInPMFmtNH1lm3YnaRyEXGhgLM26Exo7mU=");
	request_clear(&request);
	free(event);
}
END_TEST

static struct http_answer make_answer(char *body)
{
	return (struct http_answer){ .status = 200, .body = body, .body_size = strlen(body) };
}

START_TEST(answers_are_judged_as_the_document_says)
{
	char *one = example_read("restore_answer");
	char *many = example_read("restore_answers");
	struct answer_judgement judgement;
	struct answer_batch *batch = NULL;
	struct http_answer answer = make_answer(one);

	answer_judge(&answer, ANSWER_SUCCESS_CODE, &judgement);
	ck_assert_int_eq(judgement.verdict, COMPENSATION_VERDICT_DONE);
	answer = make_answer(many);
	answer_judge_batch(&answer, ANSWER_SUCCESS_CODE, 2, &batch, &judgement);
	struct answer_judgement first = judgement;
	answer_judge_task(batch, "restore:A1:17", &first);
	ck_assert_int_eq(first.verdict, COMPENSATION_VERDICT_DONE);
	struct answer_judgement second = judgement;
	answer_judge_task(batch, "restore:A1:18", &second);
	ck_assert_int_eq(second.verdict, COMPENSATION_VERDICT_RETRY);
	answer_batch_destroy(&batch);
	free(many);
	free(one);
}
END_TEST

static const struct alert_origin origin = { .env = "prod",
	.console_url = "https://ops.example/lapse",
	.runbook_url = "https://ops.example/runbooks" };
static const struct alert_row dead_task = { .id = 7,
	.kind = ALERT_KIND_TASK_DEAD,
	.severity = ALERT_SEVERITY_WARNING,
	.ref = "918273",
	.order_no = "A1",
	.task_kind = "stock_restore",
	.summary = "stock_restore failed 6 times",
	.description = "order A1: HTTP 503",
	.fired_at = "2026-01-31T10:21:03.120Z",
	.age_s = 190,
	.fired_count = 1,
	.calls = 6 };
static const struct alert_row *const dead_tasks[] = { &dead_task };
static const struct alert_news dead_news = { .rows = dead_tasks, .count = 1, .origin = &origin };

START_TEST(an_alert_is_the_webhook_of_alertmanager)
{
	char *body = alert_body_write(&dead_news, "ops");

	example_expect("alert", body);
	free(body);
}
END_TEST

START_TEST(alertmanager_is_told_what_fires_by_group)
{
	static const struct alert_firing_list firing = {
		.items = { { .kind = ALERT_KIND_TASK_DEAD,
			.severity = ALERT_SEVERITY_WARNING,
			.task_kind = "stock_restore",
			.fired_at = "2026-01-31T10:21:03.120Z",
			.count = 2,
			.examples = "A2, A1" } },
		.count = 1,
		.later = "2026-01-31T10:25:13.000Z"
	};
	const struct alert_news news = {
		.rows = dead_tasks, .count = 1, .firing = &firing, .origin = &origin
	};
	char *body = alert_body_write_groups(&news);

	example_expect("alert_alertmanager", body);
	free(body);
}
END_TEST

START_TEST(each_robot_is_told_as_the_document_shows)
{
	static char mobile[] = "13800000000";
	static char key[] = "fstest0123456789";
	static const struct {
		const char *example;
		char *(*write)(const struct alert_target *target, const struct alert_news *news,
			uint64_t epoch_ms);
		struct alert_target target;
	} robots[] = {
		{ "alert_dingtalk", alert_robot_write_dingtalk, { .mention = mobile } },
		{ "alert_feishu", alert_robot_write_feishu, { .secret = key } },
		{ "alert_wecom", alert_robot_write_wecom, { .mention = NULL } },
		{ "alert_wecom_text", alert_robot_write_wecom, { .mention = mobile } },
		{ "alert_slack", alert_robot_write_slack, { .mention = NULL } },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(robots); i++) {
		char *body =
			robots[i].write(&robots[i].target, &dead_news, UINT64_C(1700000000000));

		example_expect(robots[i].example, body);
		free(body);
	}
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		a_timeout_names_its_order_and_nothing_else,
		an_event_tells_what_its_order_row_says,
		a_payload_of_its_own_takes_the_place_of_the_order_row,
		a_restore_is_called_by_its_key,
		many_restores_go_in_one_call,
		a_refund_names_its_trade,
		a_webhook_is_signed_as_the_document_shows,
		answers_are_judged_as_the_document_says,
		an_alert_is_the_webhook_of_alertmanager,
		alertmanager_is_told_what_fires_by_group,
		each_robot_is_told_as_the_document_shows,
	};

	return runner_run("examples", tests, ARRAY_LENGTH(tests));
}
