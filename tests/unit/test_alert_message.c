/* alert_message: the request each type of target wants. */
#include <string.h>

#include "common/base/text.h"
#include "common/io/signature.h"
#include "common/report/alert_message.h"
#include "tests/support/runner.h"

#define EPOCH_MS UINT64_C(1700000000000)

static const struct alert_row row = { .id = 7,
	.kind = ALERT_KIND_TASK_DEAD,
	.ref = "918273",
	.task_kind = "refund",
	.fired_at = "2026-01-31T10:21:03.120Z" };
static const struct alert_row *const rows[] = { &row };
static const struct alert_origin origin = { .env = "dev" };
static const struct alert_firing_list firing = { .count = 0 };
static const struct alert_news news = { .rows = rows,
	.count = 1,
	.firing = &firing,
	.origin = &origin };

static char url[256];
static const char secret[] = "SECtest0123456789";
static const char webhook_secret[] = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";
static const char token[] = "t0ken";
static struct alert_message *message;

static char *copy(char buffer[64], const char *text)
{
	if (text == NULL)
		return NULL;
	(void)text_copy(buffer, 64, text);
	return buffer;
}

static void create(enum alert_type type, const char *address, const char *key, const char *bearer)
{
	static char key_copy[64];
	static char bearer_copy[64];
	const struct alert_target target = { .name = "ops",
		.type = type,
		.url = url,
		.secret = copy(key_copy, key),
		.token = copy(bearer_copy, bearer) };

	(void)text_copy(url, sizeof(url), address);
	alert_message_create(&target, &news, EPOCH_MS, &message);
}

/* The value of a header; NULL when there is none. */
static const char *header(const char *name)
{
	const char *const *headers = alert_message_headers(message);

	for (size_t i = 0; headers[i] != NULL; i++)
		if (text_starts_with(headers[i], name) && headers[i][strlen(name)] == ':')
			return headers[i] + strlen(name) + 2;
	return NULL;
}

START_TEST(a_webhook_is_signed_over_its_body)
{
	char expected[SIGNATURE_WEBHOOK_SIZE];

	create(ALERT_TYPE_GENERIC, "http://ops/hook", webhook_secret, token);
	ck_assert_str_eq(alert_message_url(message), "http://ops/hook");
	ck_assert_str_eq(header("Authorization"), "Bearer t0ken");
	ck_assert_str_eq(header("webhook-timestamp"), "1700000000");
	ck_assert(signature_webhook(expected, webhook_secret, header("webhook-id"), "1700000000",
		alert_message_body(message)));
	ck_assert_str_eq(header("webhook-signature"), expected);
	alert_message_destroy(&message);
	create(ALERT_TYPE_GENERIC, "http://ops/hook", NULL, NULL);
	ck_assert_ptr_null(header("webhook-signature"));
	ck_assert_ptr_null(header("Authorization"));
	alert_message_destroy(&message);
	alert_message_destroy(&message);
}
END_TEST

/* The vector of the specification. */
START_TEST(a_webhook_signature_is_the_documented_one)
{
	char signature[SIGNATURE_WEBHOOK_SIZE];

	ck_assert(signature_webhook(signature, webhook_secret, "msg_01HF7YAT00TESTVECTOR00001",
		"1700000000", "{\"status\":\"firing\"}"));
	ck_assert_str_eq(signature, "v1,cKOGrMKORKJ39uuirN/CECdLTJdkTMOYill0TdCZNwM=");
}
END_TEST

START_TEST(dingtalk_is_signed_in_its_address)
{
	create(ALERT_TYPE_DINGTALK, "http://d/robot/send?access_token=T", secret, NULL);
	ck_assert_str_eq(alert_message_url(message),
		"http://d/robot/send?access_token=T&timestamp=1700000000000&sign="
		"yBKp5IlG6qCzcQWmgyRK%2FziJBdVNJmHfFE2ST%2FCzT%2Fg%3D");
	alert_message_destroy(&message);
	create(ALERT_TYPE_DINGTALK, "http://d/robot/send?access_token=T", NULL, NULL);
	ck_assert_str_eq(alert_message_url(message), "http://d/robot/send?access_token=T");
	alert_message_destroy(&message);
}
END_TEST

START_TEST(alertmanager_is_asked_at_its_path)
{
	create(ALERT_TYPE_ALERTMANAGER, "http://am:9093/prefix/", NULL, token);
	ck_assert_str_eq(alert_message_url(message), "http://am:9093/prefix/api/v2/alerts");
	ck_assert_str_eq(header("Authorization"), "Bearer t0ken");
	ck_assert_str_eq(alert_message_body(message), "[]");
	alert_message_destroy(&message);
}
END_TEST

START_TEST(other_robots_are_known_by_their_address_alone)
{
	static const enum alert_type types[] = { ALERT_TYPE_FEISHU, ALERT_TYPE_WECOM,
		ALERT_TYPE_SLACK };

	for (size_t i = 0; i < ARRAY_LENGTH(types); i++) {
		create(types[i], "http://r/x?key=k", NULL, NULL);
		ck_assert_str_eq(alert_message_url(message), "http://r/x?key=k");
		ck_assert_str_eq(header("Content-Type"), "application/json");
		ck_assert_ptr_nonnull(strstr(alert_message_body(message), "LapseTaskDead"));
		alert_message_destroy(&message);
	}
}
END_TEST

START_TEST(no_pace_is_faster_than_its_service)
{
	static const struct {
		enum alert_type type;
		uint32_t per_minute;
	} limits[] = { { ALERT_TYPE_DINGTALK, 20 }, { ALERT_TYPE_WECOM, 20 },
		{ ALERT_TYPE_FEISHU, 100 }, { ALERT_TYPE_GENERIC, 60 }, { ALERT_TYPE_SLACK, 60 } };

	for (size_t i = 0; i < ARRAY_LENGTH(limits); i++) {
		const struct alert_pace *pace = alert_message_pace(limits[i].type);

		ck_assert_uint_ge(pace->burst, 1);
		/* In any minute: what was saved up, and a minute's worth. */
		ck_assert_uint_le(pace->burst + pace->per_minute, limits[i].per_minute);
	}
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		a_webhook_is_signed_over_its_body,
		a_webhook_signature_is_the_documented_one,
		dingtalk_is_signed_in_its_address,
		alertmanager_is_asked_at_its_path,
		other_robots_are_known_by_their_address_alone,
		no_pace_is_faster_than_its_service,
	};

	return runner_run("alert_message", tests, ARRAY_LENGTH(tests));
}
