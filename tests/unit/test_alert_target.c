/* alert_target: targets are read from the environment, with all mistakes at once. */
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/report/alert_target.h"
#include "tests/support/runner.h"

static struct alert_target_list list;
static struct settings_report *report;

static size_t read(const char *const *environment)
{
	char *copy[16] = { NULL };
	size_t count = 0;

	for (; environment[count] != NULL; count++)
		copy[count] = memory_copy_text(environment[count]);
	report = settings_report_create();
	struct settings_source *source = settings_source_create(copy, NULL, report);
	alert_target_setting.read(&list, "LAPSE_ALERT_TARGETS", NULL, source, report);
	settings_source_destroy(&source);
	while (count > 0)
		free(copy[--count]);
	return settings_report_count(report);
}

static void clear(void)
{
	settings_report_destroy(&report);
	alert_target_setting.clear(&list);
}

START_TEST(targets_are_read_by_their_names)
{
	static const char *const environment[] = { "LAPSE_ALERT_TARGETS=ops,pager_2",
		"LAPSE_ALERT_OPS_TYPE=generic", "LAPSE_ALERT_OPS_URL=https://ops/hook?token=x",
		"LAPSE_ALERT_OPS_SECRET=whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=",
		"LAPSE_ALERT_PAGER_2_URL=http://pager", "LAPSE_ALERT_PAGER_2_TOKEN=t",
		"LAPSE_ALERT_PAGER_2_MIN_SEVERITY=critical", NULL };

	ck_assert_uint_eq(read(environment), 0);
	ck_assert_uint_eq(list.count, 2);
	ck_assert_str_eq(list.items[0].name, "ops");
	ck_assert_str_eq(list.items[0].url, "https://ops/hook?token=x");
	ck_assert_ptr_nonnull(list.items[0].secret);
	ck_assert_ptr_null(list.items[0].token);
	ck_assert_int_eq(list.items[0].min_severity, ALERT_SEVERITY_INFO);
	ck_assert_str_eq(list.items[1].token, "t");
	ck_assert_int_eq(list.items[1].min_severity, ALERT_SEVERITY_CRITICAL);
	struct alert_target_list copy = { .count = 0 };
	alert_target_copy(&list, &copy);
	clear();
	ck_assert_uint_eq(list.count, 0);
	ck_assert_str_eq(copy.items[1].url, "http://pager");
	ck_assert_ptr_null(copy.items[1].secret);
	alert_target_clear(&copy);
}
END_TEST

START_TEST(without_names_there_are_no_targets)
{
	static const char *const environment[] = { "LAPSE_ALERT_OPS_URL=http://x", NULL };

	ck_assert_uint_eq(read(environment), 0);
	ck_assert_uint_eq(list.count, 0);
	clear();
}
END_TEST

START_TEST(robots_have_a_keyword_and_people_to_call)
{
	static const char *const environment[] = { "LAPSE_ALERT_TARGETS=ding,work",
		"LAPSE_ALERT_DING_TYPE=dingtalk",
		"LAPSE_ALERT_DING_URL=https://oapi.dingtalk.com/robot/send?access_token=t",
		"LAPSE_ALERT_DING_SECRET=SEC0", "LAPSE_ALERT_DING_KEYWORD=订单",
		"LAPSE_ALERT_DING_MENTION=13800000000,13900000000", "LAPSE_ALERT_WORK_TYPE=wecom",
		"LAPSE_ALERT_WORK_URL=http://w?key=k", "LAPSE_ALERT_WORK_MENTION=all", NULL };
	struct alert_target_list copy = { .count = 0 };

	ck_assert_uint_eq(read(environment), 0);
	alert_target_copy(&list, &copy);
	clear();
	ck_assert_int_eq(copy.items[0].type, ALERT_TYPE_DINGTALK);
	ck_assert_str_eq(copy.items[0].keyword, "订单");
	ck_assert_str_eq(copy.items[0].mention, "13800000000,13900000000");
	ck_assert_int_eq(copy.items[1].type, ALERT_TYPE_WECOM);
	ck_assert_ptr_eq(alert_target_find(&copy, "work"), &copy.items[1]);
	ck_assert_ptr_null(alert_target_find(&copy, "wor"));
	alert_target_clear(&copy);
}
END_TEST

static const struct {
	enum alert_type type;
	const char *url;
	const char *shown;
} addresses[] = {
	{ ALERT_TYPE_DINGTALK, "https://oapi.dingtalk.com/robot/send?access_token=s3cret",
		"https://oapi.dingtalk.com/robot/send?access_token=***" },
	{ ALERT_TYPE_FEISHU, "https://open.feishu.cn/open-apis/bot/v2/hook/s3cret-1",
		"https://open.feishu.cn/open-apis/bot/v2/hook/***" },
	{ ALERT_TYPE_WECOM, "https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=s3cret&debug",
		"https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=***&debug" },
	{ ALERT_TYPE_SLACK, "https://hooks.slack.com/services/T0/B0/s3cret",
		"https://hooks.slack.com/services/***" },
	{ ALERT_TYPE_GENERIC, "http://me:s3cret@ops:81/s3cret/hook?t=s3cret",
		"http://ops:81/***?t=***" },
	{ ALERT_TYPE_GENERIC, "http://ops", "http://ops" },
	{ ALERT_TYPE_GENERIC, "http://ops/", "http://ops/" },
	{ ALERT_TYPE_GENERIC, "http://ops?s3cret=s3cret", "http://ops?s3cret=***" },
	{ ALERT_TYPE_ALERTMANAGER, "http://me:s3cret@am:9093/prefix", "http://am:9093/prefix" },
};

START_TEST(an_address_is_shown_without_its_credential)
{
	for (size_t i = 0; i < ARRAY_LENGTH(addresses); i++) {
		char *url = memory_copy_text(addresses[i].url);
		const struct alert_target target = { .type = addresses[i].type, .url = url };
		char shown[ALERT_ADDRESS_SIZE];

		alert_target_format_address(&target, shown);
		ck_assert_str_eq(shown, addresses[i].shown);
		free(url);
	}
}
END_TEST

START_TEST(what_an_answer_says_of_a_credential_is_hidden)
{
	char url[] = "http://me:pa55word@ops:81/hook/p4thp4th?name=valueval";
	char secret[] = "whsec_s3cret";
	char token[] = "t0kent0ken";
	const struct alert_target target = { .url = url, .secret = secret, .token = token };
	char text[] = "me:pa55word p4thp4th valueval whsec_s3cret t0kent0ken name hook me";

	alert_target_hide(&target, text);
	ck_assert_str_eq(
		text, "*********** ******** ******** ************ ********** name hook me");
}
END_TEST

static const char *const mistakes[][6] = {
	{ "LAPSE_ALERT_TARGETS=ops", "LAPSE_ALERT_OPS_URL=http://x",
		"LAPSE_ALERT_OPS_KEYWORD=order" },
	{ "LAPSE_ALERT_TARGETS=ops", "LAPSE_ALERT_OPS_URL=http://x", "LAPSE_ALERT_OPS_TYPE=wecom",
		"LAPSE_ALERT_OPS_SECRET=x" },
	{ "LAPSE_ALERT_TARGETS=ops", "LAPSE_ALERT_OPS_URL=http://x", "LAPSE_ALERT_OPS_TYPE=slack",
		"LAPSE_ALERT_OPS_MENTION=<!here>" },
	{ "LAPSE_ALERT_TARGETS=ops", "LAPSE_ALERT_OPS_URL=http://x?y=z",
		"LAPSE_ALERT_OPS_TYPE=alertmanager" },
	{ "LAPSE_ALERT_TARGETS=ops", "LAPSE_ALERT_OPS_URL=http://x",
		"LAPSE_ALERT_OPS_TYPE=dingtalk", "LAPSE_ALERT_OPS_KEYWORD=a\nb" },
	{ "LAPSE_ALERT_TARGETS=Ops", "LAPSE_ALERT_OPS_URL=http://x" },
	{ "LAPSE_ALERT_TARGETS=ops,"
	  ",x",
		"LAPSE_ALERT_OPS_URL=http://x" },
	{ "LAPSE_ALERT_TARGETS=ops,ops", "LAPSE_ALERT_OPS_URL=http://x" },
	{ "LAPSE_ALERT_TARGETS=ops" },
	{ "LAPSE_ALERT_TARGETS=ops", "LAPSE_ALERT_OPS_URL=ftp://x" },
	{ "LAPSE_ALERT_TARGETS=ops", "LAPSE_ALERT_OPS_URL=http://x/ y" },
	{ "LAPSE_ALERT_TARGETS=ops", "LAPSE_ALERT_OPS_URL=http://x",
		"LAPSE_ALERT_OPS_TYPE=carrier-pigeon" },
	{ "LAPSE_ALERT_TARGETS=ops", "LAPSE_ALERT_OPS_URL=http://x",
		"LAPSE_ALERT_OPS_SECRET=short" },
	{ "LAPSE_ALERT_TARGETS=ops", "LAPSE_ALERT_OPS_URL=http://x",
		"LAPSE_ALERT_OPS_TOKEN=a\r\nX: y" },
	{ "LAPSE_ALERT_TARGETS=ops", "LAPSE_ALERT_OPS_URL=http://x",
		"LAPSE_ALERT_OPS_MIN_SEVERITY=loud" },
	{ "LAPSE_ALERT_TARGETS=ops", "LAPSE_ALERT_OPS_URL=http://x",
		"LAPSE_ALERT_OPS_URL_FILE=/nonexistent" },
	{ "LAPSE_ALERT_TARGETS=a,b,c,d,e,f,g,h,i" },
};

START_TEST(a_mistake_is_reported)
{
	for (size_t i = 0; i < ARRAY_LENGTH(mistakes); i++) {
		ck_assert_msg(read(mistakes[i]) > 0, "%s", mistakes[i][0]);
		clear();
	}
}
END_TEST

START_TEST(a_secret_is_never_in_a_report)
{
	static const char *const environment[] = { "LAPSE_ALERT_TARGETS=ops",
		"LAPSE_ALERT_OPS_URL=nonsense4711", "LAPSE_ALERT_OPS_SECRET=secret4711", NULL };

	ck_assert_uint_eq(read(environment), 2);
	for (size_t i = 0; i < 2; i++)
		ck_assert_ptr_null(strstr(settings_report_get(report, i), "4711"));
	clear();
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		targets_are_read_by_their_names,
		without_names_there_are_no_targets,
		robots_have_a_keyword_and_people_to_call,
		an_address_is_shown_without_its_credential,
		what_an_answer_says_of_a_credential_is_hidden,
		a_mistake_is_reported,
		a_secret_is_never_in_a_report,
	};

	return runner_run("alert_target", tests, ARRAY_LENGTH(tests));
}
