/* Robots of every kind, each with its kind's failures, told by lapse-retry. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/text.h"
#include "common/io/json.h"
#include "common/report/alert_robot.h"
#include "tests/support/process.h"
#include "tests/support/query.h"
#include "tests/support/robot.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/tasks.h"
#include "tests/support/wait_until.h"

enum {
	ROBOTS = 6,
	SECOND_MS = 1000,
	/* The first retry comes after 10 s, give or take a fifth. */
	FIRST_RETRY_MIN_MS = 8000
};

#define WEBHOOK_KEY  "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
#define DINGTALK_KEY "SECkeyOfDingtalk4711"
#define FEISHU_KEY   "keyOfFeishu4711"

static struct sandbox *sandbox;
static struct query *query;
static struct robot robots[ROBOTS];
static struct robot *const generic = &robots[0];
static struct robot *const manager = &robots[1];
static struct robot *const dingtalk = &robots[2];
static struct robot *const feishu = &robots[3];
static struct robot *const wecom = &robots[4];
static struct robot *const slack = &robots[5];

static void set_up(void)
{
	memset(robots, 0, sizeof(robots));
	sandbox_create(SANDBOX_NO_BROKER, &sandbox);
	query = sandbox_query(sandbox);
	http_stub_set_rule(sandbox_stub(sandbox),
		&(struct http_stub_rule){
			.sku_id = "SKU-410", .mode = HTTP_STUB_STATUS, .status = 410 });
	sandbox_set(sandbox, "LAPSE_RETRY_INTERVAL", "20ms");
	sandbox_set(sandbox, "LAPSE_ALERT_GROUP_WAIT", "300ms");
	sandbox_set(sandbox, "LAPSE_ENV_LABEL", "prod");
	sandbox_set(sandbox, "LAPSE_CONSOLE_URL", "https://ops.example/lapse");
	sandbox_set(sandbox, "LAPSE_CONSOLE_LANG", "zh-CN");
}

static void tear_down(void)
{
	for (size_t i = 0; i < ROBOTS; i++)
		robot_destroy(&robots[i]);
	sandbox_destroy(&sandbox);
}

static void create_all(void)
{
	robot_create(sandbox, "generic", WEBHOOK_KEY, generic);
	robot_create(sandbox, "alertmanager", NULL, manager);
	robot_create(sandbox, "dingtalk", DINGTALK_KEY, dingtalk);
	robot_create(sandbox, "feishu", FEISHU_KEY, feishu);
	robot_create(sandbox, "wecom", NULL, wecom);
	robot_create(sandbox, "slack", NULL, slack);
}

static struct process *start(void)
{
	return sandbox_start(sandbox, "lapse-retry", NULL);
}

static void make_dead(uint32_t count)
{
	tasks_insert(
		query, &(struct tasks_plan){ .prefix = "D", .sku = "SKU-410", .count = count });
}

/* All at one moment, as nothing but a statement can. */
static void fire_tasks(int count)
{
	query_run(query,
		"INSERT INTO t_compensation (id, kind, target, idempotency_key, order_no, payload, "
		"status) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
		"WHERE i < %d) SELECT i, 'STOCK_RESTORE', 'stock', CONCAT('k', i), "
		"CONCAT('D', i), '{}', 'DEAD' FROM n;"
		"INSERT INTO t_alert (kind, ref, severity, labels, annotations) "
		"SELECT 'TASK_DEAD', id, 'warning', '{\"kind\":\"stock_restore\"}', "
		"JSON_OBJECT('summary', 'it failed', 'description', 'HTTP 503', 'order_no', "
		"order_no, 'task_id', CAST(id AS CHAR), 'calls', '6') FROM t_compensation",
		count);
}

/* Groups of their own: each is a message to each robot. */
static void fire_rules(int count)
{
	query_run(query,
		"INSERT INTO t_alert (kind, ref, severity, labels, annotations) "
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) "
		"SELECT 'THRESHOLD', CONCAT('LapseRule', i), 'warning', '{}', "
		"'{\"summary\":\"<too late>\"}' FROM n",
		count);
}

static bool are_sent(void *context)
{
	return query_number(query, "SELECT COUNT(*) FROM t_alert WHERE delivery_state = 'SENT'") ==
	       *(const int64_t *)context;
}

static void await_sent(int64_t count)
{
	WAIT_UNTIL(are_sent, &count);
}

static void expect_dingtalk_signature(const char *head)
{
	char sign[ALERT_ROBOT_SIGN_SIZE + 8] = "&sign=";
	const char *place = strstr(head, "&timestamp=");

	ck_assert_ptr_nonnull(place);
	alert_robot_sign_dingtalk(DINGTALK_KEY, strtoull(place + strlen("&timestamp="), NULL, 10),
		sign + strlen("&sign="));
	ck_assert_ptr_nonnull(strstr(head, sign));
}

static void expect_feishu_signature(const char *body)
{
	char sign[SIGNATURE_BASE64_SIZE];
	const char *place = strstr(body, "\"timestamp\":\"");

	ck_assert_ptr_nonnull(place);
	alert_robot_sign_feishu(
		FEISHU_KEY, strtoull(place + strlen("\"timestamp\":\""), NULL, 10), sign);
	ck_assert_ptr_nonnull(strstr(body, sign));
}

static void expect_no_secret(const struct process *process)
{
	char *words = process_everything(process);

	ck_assert_msg(strstr(words, "4711") == NULL, "a secret in: %s", words);
	ck_assert_ptr_null(strstr(words, "MDEyMzQ1Njc4"));
	free(words);
}

START_TEST(each_kind_of_target_is_told_in_its_own_way)
{
	struct process *process;

	create_all();
	fire_tasks(12);
	process = start();
	await_sent(12);
	for (size_t i = 0; i < ROBOTS; i++)
		ck_assert_uint_ge(robot_count(&robots[i]), 1);
	ck_assert_ptr_nonnull(strstr(robot_head(generic, 0), "\r\nwebhook-signature: v1,"));
	ck_assert_ptr_nonnull(
		strstr(robot_body(manager, 0), "\"summary\":\"12 tasks need a person\""));
	ck_assert_ptr_nonnull(strstr(robot_body(manager, 0), "\"endsAt\":\"2"));
	expect_dingtalk_signature(robot_head(dingtalk, 0));
	ck_assert_ptr_nonnull(strstr(robot_body(dingtalk, 0),
		"[FIRING:12] LapseTaskDead (prod)\\n- D1 · 归还库存 · 已调用 6 次 · HTTP 503 · "));
	expect_feishu_signature(robot_body(feishu, 0));
	ck_assert_ptr_nonnull(
		strstr(robot_body(wecom, 0), "另有 2 条](https://ops.example/lapse/"));
	ck_assert_ptr_nonnull(strstr(robot_body(slack, 0), "\"type\":\"mrkdwn\""));
	expect_no_secret(process);
}
END_TEST

static const char *const first_failures =
	"SELECT CONCAT_WS(' ', JSON_VALUE(targets, '$.dingtalk.result'), "
	"JSON_VALUE(targets, '$.dingtalk.code'), JSON_VALUE(targets, '$.feishu.result'), "
	"JSON_VALUE(targets, '$.feishu.code'), JSON_VALUE(targets, '$.wecom.result'), "
	"JSON_VALUE(targets, '$.wecom.code'), JSON_VALUE(targets, '$.generic.code'), "
	"JSON_VALUE(targets, '$.slack.result')) FROM t_alert";

static bool have_all_failed(void *context)
{
	char text[QUERY_TEXT_SIZE];

	(void)context;
	query_text(query, text, "%s", first_failures);
	return text_equals(text, "rate_limited 130101 rate_limited 9499 rate_limited 429 302 "
				 "timeout");
}

static uint64_t measure_gap_ms(const struct robot *robot)
{
	return http_stub_get_time(robot->stub, 1) - http_stub_get_time(robot->stub, 0);
}

START_TEST(a_message_that_was_refused_is_sent_again_on_schedule)
{
	struct http_stub *elsewhere = NULL;
	struct process *process;
	char url[HTTP_STUB_URL_SIZE];
	char text[QUERY_TEXT_SIZE];

	http_stub_create(&elsewhere);
	http_stub_format_url(elsewhere, url);
	create_all();
	robot_answer_text(dingtalk, "{\"errcode\":130101,\"errmsg\":\"s3cretOfdingtalk4711\"}", 1);
	robot_answer_text(feishu, "{\"code\":9499,\"msg\":\"too many request\"}", 1);
	robot_answer_status(wecom, 429, 15, 1);
	robot_redirect(generic, url, 1);
	robot_hang(slack, 0);
	make_dead(1);
	process = start();
	WAIT_UNTIL(have_all_failed, NULL);
	robot_be_well(slack);
	await_sent(1);
	ck_assert_uint_eq(http_stub_count_calls(elsewhere), 0);
	ck_assert_uint_ge(measure_gap_ms(dingtalk), FIRST_RETRY_MIN_MS);
	ck_assert_uint_ge(measure_gap_ms(feishu), FIRST_RETRY_MIN_MS);
	ck_assert_uint_ge(measure_gap_ms(generic), FIRST_RETRY_MIN_MS);
	ck_assert_uint_ge(measure_gap_ms(wecom), UINT64_C(15) * SECOND_MS);
	/* The hanging one has cost the others nothing, and those that took it got nothing more. */
	ck_assert_uint_eq(robot_count(dingtalk), 2);
	ck_assert_uint_eq(robot_count(feishu), 2);
	ck_assert_uint_eq(robot_count_with(manager, "LapseTaskDead"), robot_count(manager));
	query_text(query, text, "SELECT JSON_VALUE(targets, '$.slack.tries') FROM t_alert");
	ck_assert_str_eq(text, "2");
	expect_no_secret(process);
	http_stub_destroy(&elsewhere);
}
END_TEST

static bool is_switched_off(void *process)
{
	return process_count_logged(process, "alert_target_off") == 1;
}

static bool has_been_told(void *robot)
{
	return robot_count(robot) > 1;
}

START_TEST(a_webhook_that_is_gone_gets_nothing_until_hangup)
{
	struct process *process;

	robot_create(sandbox, "generic", WEBHOOK_KEY, generic);
	robot_create(sandbox, "slack", NULL, slack);
	robot_answer_status(generic, 410, 0, 0);
	make_dead(1);
	process = start();
	WAIT_UNTIL(is_switched_off, process);
	fire_rules(1);
	WAIT_UNTIL(has_been_told, slack);
	ck_assert_uint_eq(robot_count(generic), 1);
	robot_be_well(generic);
	process_signal(process, SIGHUP);
	query_run(query, "UPDATE t_alert SET next_attempt_at = UTC_TIMESTAMP(3), targets = NULL "
			 "WHERE lease_token IS NULL");
	WAIT_UNTIL(has_been_told, generic);
}
END_TEST

static bool has_paced(void *robot)
{
	return robot_count(robot) >= 7;
}

/* 20 a minute: one each four seconds, and three more for the time in which nothing was told. */
START_TEST(a_robot_is_never_told_faster_than_its_service_takes_it)
{
	robot_create(sandbox, "dingtalk", DINGTALK_KEY, dingtalk);
	fire_rules(40);
	(void)start();
	WAIT_UNTIL(has_paced, dingtalk);
	uint64_t count = robot_count(dingtalk);
	uint64_t first_ms = http_stub_get_time(dingtalk->stub, 0);
	for (uint64_t i = 4; i < count; i++)
		ck_assert_uint_ge(http_stub_get_time(dingtalk->stub, i) - first_ms + SECOND_MS,
			(i - 3) * 4 * SECOND_MS);
	ck_assert_uint_eq(robot_count_with(dingtalk, "＜too late＞"), count);
}
END_TEST

static bool has_many_leases(void *context)
{
	(void)context;
	return query_number(query, "SELECT COUNT(*) FROM t_alert WHERE lease_token IS NOT NULL") >
	       0;
}

static size_t count_told(void)
{
	uint64_t count = robot_count(generic);
	size_t told = 0;

	for (uint64_t i = 0; i < count; i++)
		for (const char *c = robot_body(generic, i);
			(c = strstr(c, "\"fingerprint\"")) != NULL; c++)
			told++;
	return told;
}

START_TEST(three_hundred_that_die_together_are_told_in_few_messages_and_none_is_lost)
{
	static char body[HTTP_STUB_BODY_SIZE];
	struct process *process;

	robot_create(sandbox, "generic", WEBHOOK_KEY, generic);
	robot_create(sandbox, "dingtalk", DINGTALK_KEY, dingtalk);
	robot_create(sandbox, "wecom", NULL, wecom);
	robot_hang(generic, 0);
	make_dead(300);
	process = start();
	WAIT_UNTIL(has_many_leases, NULL);
	sandbox_kill(sandbox, process);
	robot_be_well(generic);
	process = start();
	await_sent(300);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(DISTINCT ref) FROM t_alert"), 300);
	ck_assert_uint_ge(count_told(), 300);
	ck_assert_uint_le(robot_count(dingtalk), 20);
	ck_assert_uint_le(robot_count(wecom), 20);
	for (uint64_t i = 0; i < robot_count(wecom); i++) {
		struct json *root = NULL;
		struct error error = { 0 };

		(void)text_copy(body, sizeof(body), robot_body(wecom, i));
		ck_assert_msg(
			json_parse(body, strlen(body), sizeof(body), &root, &error) == RESULT_OK,
			"%s", error.text);
		ck_assert_uint_le(
			strlen(json_get_text(json_get(root, "markdown"), "content")), 4096);
		json_destroy(&root);
	}
	expect_no_secret(process);
}
END_TEST

START_TEST(those_who_know_are_reminded_and_told_when_it_is_over)
{
	robot_create(sandbox, "generic", WEBHOOK_KEY, generic);
	sandbox_set(sandbox, "LAPSE_ALERT_REPEAT", "1s");
	fire_rules(1);
	(void)start();
	WAIT_UNTIL(has_been_told, generic);
	query_run(query, "UPDATE t_alert SET state = 'RESOLVED', resolved_at = UTC_TIMESTAMP(3), "
			 "delivery_state = 'PENDING', attempts = 0, lease_token = NULL, "
			 "lease_until = NULL, "
			 "next_attempt_at = UTC_TIMESTAMP(3)");
	uint64_t start_ms = clock_now_ms();
	while (robot_count_with(generic, "\"status\":\"resolved\",\"receiver\"") == 0)
		ck_assert_uint_lt(clock_now_ms() - start_ms, WAIT_LIMIT_MS);
	await_sent(1);
	ck_assert_uint_eq(robot_count_with(generic, "\"status\":\"resolved\",\"receiver\""), 1);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		each_kind_of_target_is_told_in_its_own_way,
		a_message_that_was_refused_is_sent_again_on_schedule,
		a_webhook_that_is_gone_gets_nothing_until_hangup,
		a_robot_is_never_told_faster_than_its_service_takes_it,
		three_hundred_that_die_together_are_told_in_few_messages_and_none_is_lost,
		those_who_know_are_reminded_and_told_when_it_is_over,
	};
	const struct runner_fixture fixture = { set_up, tear_down };

	sandbox_need_servers();
	return runner_run_with("alert_robots", &fixture, tests, ARRAY_LENGTH(tests));
}
