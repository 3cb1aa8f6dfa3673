/* alert_robot: signed as each service wants it, within its limit whatever the rows say. */
#include <stdlib.h>
#include <string.h>

#include "common/base/text.h"
#include "common/io/json.h"
#include "common/report/alert_robot.h"
#include "tests/support/runner.h"

enum {
	ROWS = 300,
	EPOCH_MS_OF_VECTOR = 1700000000
};

static struct alert_row rows[ROWS];
static const struct alert_row *list[ROWS];
static char secret[] = "fstest0123456789";
static char mention[] = "13800000000,zhang.san";
static char all[] = "all";
static char keyword[] = "订单";

static const struct alert_origin origin = { .env = "prod",
	.console_url = "https://ops.example/lapse",
	.language = ALERT_LANGUAGE_ZH_CN };

/* Everything in it is as long and as hostile as a row can be. */
static void make_rows(const char *filling)
{
	for (size_t i = 0; i < ROWS; i++) {
		struct alert_row *row = &rows[i];
		size_t used = 0;

		*row = (struct alert_row){ .id = i + 1,
			.severity = ALERT_SEVERITY_WARNING,
			.task_kind = "stock_restore",
			.order_no =
				"0123456789012345678901234567890123456789012345678901234567890123",
			.age_s = 180,
			.calls = 6 };
		while (used + strlen(filling) < sizeof(row->description)) {
			memcpy(row->description + used, filling, strlen(filling));
			used += strlen(filling);
		}
		list[i] = row;
	}
}

static struct alert_news make_news(void)
{
	return (struct alert_news){ .rows = list, .count = ROWS, .origin = &origin };
}

START_TEST(dingtalk_is_signed_as_documented)
{
	char sign[ALERT_ROBOT_SIGN_SIZE];

	alert_robot_sign_dingtalk("SECtest0123456789", UINT64_C(1700000000000), sign);
	ck_assert_str_eq(sign, "yBKp5IlG6qCzcQWmgyRK%2FziJBdVNJmHfFE2ST%2FCzT%2Fg%3D");
}
END_TEST

START_TEST(feishu_is_signed_as_documented)
{
	char sign[SIGNATURE_BASE64_SIZE];

	alert_robot_sign_feishu("fstest0123456789", EPOCH_MS_OF_VECTOR, sign);
	ck_assert_str_eq(sign, "OcxzSaVAfAWZvpevsnMKkVpUG0qNV60Jv9pb+R8anrY=");
}
END_TEST

START_TEST(feishu_has_its_signature_in_the_body)
{
	const struct alert_target target = { .type = ALERT_TYPE_FEISHU, .secret = secret };
	struct alert_news news = make_news();

	make_rows("x");
	char *body = alert_robot_write_feishu(&target, &news, UINT64_C(1700000000999));
	ck_assert_ptr_nonnull(strstr(body,
		"{\"timestamp\":\"1700000000\","
		"\"sign\":\"OcxzSaVAfAWZvpevsnMKkVpUG0qNV60Jv9pb+R8anrY=\","
		"\"msg_type\":\"interactive\",\"card\":{\"header\":{\"title\":"
		"{\"tag\":\"plain_text\","
		"\"content\":\"[FIRING:300] LapseTaskDead (prod)\"},\"template\":\"red\"}"));
	free(body);
}
END_TEST

static const char *const fillings[] = { "x", "\"", "\\", "支付失败", "😀", "é\"",
	"<@all>[x](http://y)", "&" };

static const struct {
	char *(*write)(const struct alert_target *target, const struct alert_news *news,
		uint64_t epoch_ms);
	const char *object; /* whose text has a limit of its own */
	const char *text;
	size_t text_max;
	size_t body_max;
	bool has_people;
} robots[] = {
	{ alert_robot_write_dingtalk, "markdown", "text", 20000, 20000, true },
	{ alert_robot_write_feishu, NULL, NULL, 20480, 20480, true },
	{ alert_robot_write_wecom, "markdown", "content", 4096, SIZE_MAX, false },
	{ alert_robot_write_wecom, "text", "content", 2048, SIZE_MAX, true },
	{ alert_robot_write_slack, NULL, NULL, 3000, 40000, true },
};

START_TEST(every_body_is_json_within_the_limit_of_its_service)
{
	for (size_t i = 0; i < ARRAY_LENGTH(robots); i++)
		for (size_t k = 0; k < ARRAY_LENGTH(fillings); k++) {
			const struct alert_target target = { .name = "r",
				.secret = secret,
				.keyword = robots[i].has_people ? keyword : NULL,
				.mention = robots[i].has_people ? mention : NULL };
			struct alert_news news = make_news();
			struct json *root = NULL;
			struct error error = { 0 };

			make_rows(fillings[k]);
			char *body = robots[i].write(&target, &news, UINT64_C(1700000000000));
			ck_assert_msg(strlen(body) <= robots[i].body_max, "%zu %zu: %zu bytes", i,
				k, strlen(body));
			/* The parser refuses what is no UTF-8. */
			ck_assert_msg(
				json_parse(body, strlen(body), 65536, &root, &error) == RESULT_OK,
				"%s: %s", error.text, body);
			ck_assert_ptr_nonnull(strstr(body, "另有 29"));
			const char *text = robots[i].object == NULL
						   ? ""
						   : json_get_text(json_get(root, robots[i].object),
							     robots[i].text);
			ck_assert_msg(strlen(text) <= robots[i].text_max, "%zu %zu: %zu", i, k,
				strlen(text));
			json_destroy(&root);
			free(body);
		}
}
END_TEST

START_TEST(people_are_called_as_each_service_wants_it)
{
	struct alert_target target = { .mention = mention, .keyword = keyword };
	struct alert_news news = make_news();

	make_rows("x");
	char *body = alert_robot_write_dingtalk(&target, &news, 0);
	ck_assert_ptr_nonnull(strstr(body, "@13800000000 @zhang.san 订单\"}"));
	ck_assert_ptr_nonnull(strstr(body, "\"at\":{\"atMobiles\":[\"13800000000\"],"
					   "\"atUserIds\":[\"zhang.san\"],\"isAtAll\":false}"));
	free(body);
	body = alert_robot_write_feishu(&target, &news, 0);
	ck_assert_ptr_nonnull(strstr(body, "<at id=13800000000></at> <at id=zhang.san></at> 订单"));
	free(body);
	body = alert_robot_write_wecom(&target, &news, 0);
	ck_assert_ptr_nonnull(strstr(body, "\"mentioned_list\":[\"zhang.san\"],"
					   "\"mentioned_mobile_list\":[\"13800000000\"]}"));
	ck_assert_ptr_nonnull(strstr(body, "\"msgtype\":\"text\""));
	free(body);
	target.mention = all;
	body = alert_robot_write_dingtalk(&target, &news, 0);
	ck_assert_ptr_nonnull(strstr(body, "\"isAtAll\":true"));
	free(body);
	body = alert_robot_write_wecom(&target, &news, 0);
	ck_assert_ptr_nonnull(strstr(body, "\"mentioned_list\":[\"@all\"]"));
	free(body);
	body = alert_robot_write_slack(&target, &news, 0);
	ck_assert_ptr_nonnull(strstr(body, "<!channel>"));
	free(body);
}
END_TEST

START_TEST(a_row_can_call_nobody)
{
	const struct alert_target target = { .name = "r" };
	struct alert_news news = make_news();

	make_rows("<!channel> <at id=all></at> <@all> @13800000000 [x](http://y) ");
	for (size_t i = 0; i < ARRAY_LENGTH(robots); i++) {
		char *body = robots[i].write(&target, &news, 0);

		ck_assert_ptr_null(strstr(body, "<!"));
		ck_assert_ptr_null(strstr(body, "<at"));
		ck_assert_ptr_null(strstr(body, "<@"));
		/* Where that would be a link. */
		ck_assert(strstr(body, "](http://y") == NULL || i >= 3);
		free(body);
	}
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		dingtalk_is_signed_as_documented,
		feishu_is_signed_as_documented,
		feishu_has_its_signature_in_the_body,
		every_body_is_json_within_the_limit_of_its_service,
		people_are_called_as_each_service_wants_it,
		a_row_can_call_nobody,
	};

	return runner_run("alert_robot", tests, ARRAY_LENGTH(tests));
}
