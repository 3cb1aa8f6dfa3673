/* Alerts when MySQL goes away under them, when others deliver, and what is counted. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/text.h"
#include "tests/support/http_client.h"
#include "tests/support/process.h"
#include "tests/support/proxy.h"
#include "tests/support/query.h"
#include "tests/support/robot.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/wait_until.h"

#define WEBHOOK_KEY "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="

static struct sandbox *sandbox;
static struct query *query;
static struct robot generic;
static struct robot dingtalk;
static uint16_t ops_port;

static void set_up(void)
{
	sandbox_create(SANDBOX_NO_BROKER, &sandbox);
	query = sandbox_query(sandbox);
	ops_port = sandbox_free_port();
	memset(&dingtalk, 0, sizeof(dingtalk));
	robot_create(sandbox, "generic", WEBHOOK_KEY, &generic);
	sandbox_set(sandbox, "LAPSE_RETRY_INTERVAL", "20ms");
	sandbox_set(sandbox, "LAPSE_ALERT_GROUP_WAIT", "300ms");
}

static void tear_down(void)
{
	robot_destroy(&dingtalk);
	robot_destroy(&generic);
	sandbox_destroy(&sandbox);
}

static struct process *start(void)
{
	return sandbox_start(sandbox, "lapse-retry", NULL);
}

/* Rows of one group: refs 1, 2, ... of dead refunds, which are not looked up within a minute. */
static void fire(int count)
{
	query_run(query,
		"INSERT INTO t_alert (kind, ref, severity, labels, annotations) "
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) "
		"SELECT 'TASK_DEAD', i, 'critical', '{\"kind\":\"refund\"}', "
		"'{\"summary\":\"it failed\"}' FROM n",
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

static bool has_begun(void *robot)
{
	return robot_count(robot) > 0;
}

static bool has_lost_mysql(void *process)
{
	return process_count_logged(process, "step_failed") > 0;
}

START_TEST(an_answer_that_comes_while_the_database_is_away_is_not_lost)
{
	struct proxy *proxy = sandbox_proxy_mysql(sandbox);
	struct process *process;

	http_stub_set_rule(generic.stub,
		&(struct http_stub_rule){ .sku_id = "", .mode = HTTP_STUB_OK, .delay_ms = 2000 });
	fire(3);
	process = start();
	WAIT_UNTIL(has_begun, &generic);
	proxy_refuse(proxy, true);
	WAIT_UNTIL(has_lost_mysql, process);
	proxy_refuse(proxy, false);
	await_sent(3);
	ck_assert_uint_eq(robot_count(&generic), 1);
	ck_assert_int_eq(query_number(query, "SELECT SUM(attempts) FROM t_alert"), 3);
}
END_TEST

static bool has_taken_over(void *process)
{
	return process_count_logged(process, "alerts_taken_over") > 0;
}

START_TEST(the_one_that_stands_by_takes_over)
{
	struct process *first = start();
	struct process *second;

	WAIT_UNTIL(has_taken_over, first);
	second = start();
	fire(1);
	await_sent(1);
	ck_assert(!has_taken_over(second));
	sandbox_kill(sandbox, first);
	WAIT_UNTIL(has_taken_over, second);
	query_run(query, "INSERT INTO t_alert (kind, ref, severity, labels, annotations) VALUES "
			 "('THRESHOLD', 'LapseOverdue', 'critical', '{}', '{}')");
	await_sent(2);
	ck_assert_uint_eq(robot_count(&generic), 2);
}
END_TEST

START_TEST(a_stop_gives_back_what_waits)
{
	struct process *process;

	/* More groups than may be told at once. */
	query_run(query,
		"INSERT INTO t_alert (kind, ref, severity, labels, annotations) "
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30) "
		"SELECT 'THRESHOLD', CONCAT('LapseRule', i), 'warning', '{}', '{}' FROM n");
	process = start();
	WAIT_UNTIL(has_begun, &generic);
	process_signal(process, SIGTERM);
	ck_assert_int_eq(process_wait(process, WAIT_LIMIT_MS), 0);
	ck_assert_int_eq(
		query_number(query, "SELECT COUNT(*) FROM t_alert WHERE lease_token IS NOT NULL"),
		0);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_alert WHERE delivery_state = "
					     "'PENDING' AND next_attempt_at <= UTC_TIMESTAMP(3)") +
				 (int64_t)robot_count(&generic),
		30);
}
END_TEST

START_TEST(a_login_in_an_address_is_used_and_never_logged)
{
	struct process *process;
	char url[HTTP_STUB_URL_SIZE];

	http_stub_format_url(generic.stub, url);
	sandbox_set(sandbox, "LAPSE_ALERT_GENERIC_URL", "http://me:pa55w0rd@%s/hook",
		url + strlen("http://"));
	robot_answer_status(&generic, 401, 0, 1);
	fire(1);
	process = start();
	WAIT_UNTIL(has_begun, &generic);
	await_sent(1);
	ck_assert_ptr_nonnull(
		strstr(robot_head(&generic, 0), "Authorization: Basic bWU6cGE1NXcwcmQ="));
	char *words = process_everything(process);
	ck_assert_ptr_nonnull(strstr(words, "/***"));
	ck_assert_ptr_null(strstr(words, "pa55w0rd"));
	free(words);
}
END_TEST

static double count(const char *series)
{
	return http_client_metric(ops_port, series);
}

static bool have_both_answered(void *context)
{
	(void)context;
	return count("lapse_alert_deliveries_total{target=\"dingtalk\",result=\"body_error\"}") >
		       0 &&
	       count("lapse_alert_deliveries_total{target=\"generic\",result=\"ok\"}") > 0;
}

START_TEST(every_answer_and_every_alert_without_a_message_is_counted)
{
	robot_create(sandbox, "dingtalk", NULL, &dingtalk);
	robot_answer_text(&dingtalk, "{\"errcode\":310000}", 0);
	sandbox_set(sandbox, "LAPSE_OPS_ADDR", "127.0.0.1:%u", (unsigned int)ops_port);
	fire(5);
	query_run(query, "UPDATE t_alert SET repeat_count = 7 WHERE ref = '1';"
			 "UPDATE t_alert SET silenced_until = UTC_TIMESTAMP(3) + INTERVAL 1 HOUR "
			 "WHERE ref = '5'");
	(void)start();
	WAIT_UNTIL(have_both_answered, NULL);
	ck_assert(count("lapse_alert_deliveries_total{target=\"generic\",result=\"ok\"}") == 1);
	ck_assert(
		count("lapse_alert_deliveries_total{target=\"generic\",result=\"timeout\"}") == 0);
	ck_assert(count("lapse_alert_deliveries_total{target=\"dingtalk\",result=\"ok\"}") == 0);
	/* Four in one message, to each of two. */
	ck_assert(count("lapse_alerts_suppressed_total{reason=\"group\"}") == 6);
	ck_assert(count("lapse_alerts_suppressed_total{reason=\"repeat\"}") == 7);
	ck_assert(count("lapse_alerts_suppressed_total{reason=\"silence\"}") == 1);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		an_answer_that_comes_while_the_database_is_away_is_not_lost,
		the_one_that_stands_by_takes_over,
		a_stop_gives_back_what_waits,
		a_login_in_an_address_is_used_and_never_logged,
		every_answer_and_every_alert_without_a_message_is_counted,
	};
	const struct runner_fixture fixture = { set_up, tear_down };

	sandbox_need_servers();
	return runner_run_with("alert_trouble", &fixture, tests, ARRAY_LENGTH(tests));
}
