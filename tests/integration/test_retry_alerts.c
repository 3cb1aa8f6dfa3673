/* lapse-retry tells people: once per thing, in company, whatever happens to it or its target. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/compiler.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/json.h"
#include "tests/support/http_stub.h"
#include "tests/support/process.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/tasks.h"
#include "tests/support/wait_until.h"

static struct sandbox *sandbox;
static struct query *query;
static struct http_stub *stub;
static struct http_stub *ops;

static void set_up(void)
{
	char url[HTTP_STUB_URL_SIZE];

	sandbox_create(SANDBOX_NO_BROKER, &sandbox);
	query = sandbox_query(sandbox);
	stub = sandbox_stub(sandbox);
	http_stub_create(&ops);
	http_stub_accept_path(ops, "/hook");
	http_stub_format_url(ops, url);
	http_stub_set_rule(
		stub, &(struct http_stub_rule){
			      .sku_id = "SKU-410", .mode = HTTP_STUB_STATUS, .status = 410 });
	sandbox_set(sandbox, "LAPSE_RETRY_INTERVAL", "20ms");
	sandbox_set(sandbox, "LAPSE_ALERT_TARGETS", "ops");
	sandbox_set(sandbox, "LAPSE_ALERT_OPS_URL", "%s/hook", url);
	sandbox_set(sandbox, "LAPSE_ALERT_OPS_SECRET",
		"whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=");
	sandbox_set(sandbox, "LAPSE_ALERT_GROUP_WAIT", "500ms");
	sandbox_set(sandbox, "LAPSE_ENV_LABEL", "prod");
}

static void tear_down(void)
{
	http_stub_destroy(&ops);
	sandbox_destroy(&sandbox);
}

static void start(void)
{
	(void)sandbox_start(sandbox, "lapse-retry", NULL);
}

static bool are_all_sent(void *context)
{
	const int64_t *count = context;

	return query_number(query, "SELECT COUNT(*) FROM t_alert WHERE delivery_state = 'SENT'") ==
	       *count;
}

static struct json *get_message(uint64_t index)
{
	static char body[HTTP_STUB_BODY_SIZE];
	struct json *root = NULL;
	struct error error = { 0 };

	ck_assert(http_stub_get_body(ops, index, body));
	ck_assert_msg(json_parse(body, strlen(body), sizeof(body), &root, &error) == RESULT_OK,
		"%s: %s", error.text, body);
	return root;
}

static const char *label(const struct json *alert, const char *name)
{
	return json_get_text(json_get(alert, "labels"), name);
}

static void make_dead(uint32_t count)
{
	tasks_insert(
		query, &(struct tasks_plan){ .prefix = "D", .sku = "SKU-410", .count = count });
}

START_TEST(a_dead_task_is_told_once)
{
	int64_t one = 1;

	make_dead(1);
	start();
	start();
	WAIT_UNTIL(are_all_sent, &one);
	ck_assert_uint_eq(http_stub_count_bodies(ops), 1);
	struct json *message = get_message(0);
	const struct json *alert = json_at(json_get(message, "alerts"), 0);
	ck_assert_str_eq(json_get_text(message, "version"), "4");
	ck_assert_str_eq(json_get_text(message, "status"), "firing");
	ck_assert_str_eq(json_get_text(message, "receiver"), "ops");
	ck_assert_str_eq(label(alert, "alertname"), "LapseTaskDead");
	ck_assert_str_eq(label(alert, "kind"), "stock_restore");
	ck_assert_str_eq(label(alert, "env"), "prod");
	ck_assert_str_eq(json_get_text(json_get(alert, "annotations"), "order_no"), "D1");
	ck_assert_str_eq(json_get_text(json_get(alert, "annotations"), "task_id"), "1");
	ck_assert_str_eq(json_get_text(json_get(alert, "annotations"), "calls"), "1");
	json_destroy(&message);
}
END_TEST

static uint64_t count_told(uint64_t *messages_out)
{
	uint64_t told = 0;

	*messages_out = http_stub_count_bodies(ops);
	for (uint64_t i = 0; i < *messages_out; i++) {
		struct json *message = get_message(i);

		told += json_count(json_get(message, "alerts"));
		json_destroy(&message);
	}
	return told;
}

START_TEST(those_who_die_together_are_told_together)
{
	int64_t many = 30;
	uint64_t messages = 0;

	make_dead(30);
	start();
	WAIT_UNTIL(are_all_sent, &many);
	ck_assert_uint_eq(count_told(&messages), 30);
	ck_assert_uint_le(messages, 2);
}
END_TEST

START_TEST(a_target_that_is_away_is_told_later_and_tasks_go_on)
{
	int64_t one = 1;

	http_stub_refuse(ops, true);
	make_dead(1);
	start();
	uint64_t start_ms = clock_now_ms();
	while (query_number(query, "SELECT COUNT(*) FROM t_alert WHERE last_error IS NOT NULL AND "
				   "delivery_state = 'PENDING' AND lease_token IS NULL") == 0)
		ck_assert_uint_lt(clock_now_ms() - start_ms, WAIT_LIMIT_MS);
	tasks_insert(query, &(struct tasks_plan){ .prefix = "G", .sku = "SKU-1", .count = 50 });
	start_ms = clock_now_ms();
	while (tasks_count(query, "DONE") < 50)
		ck_assert_uint_lt(clock_now_ms() - start_ms, WAIT_LIMIT_MS);
	http_stub_refuse(ops, false);
	WAIT_UNTIL(are_all_sent, &one);
	ck_assert_int_eq(query_number(query, "SELECT attempts FROM t_alert"), 2);
}
END_TEST

static bool is_leased(void *context)
{
	(void)context;
	return query_number(query, "SELECT COUNT(*) FROM t_alert WHERE lease_token IS NOT NULL") >
	       0;
}

START_TEST(a_killed_process_takes_no_alert_with_it)
{
	int64_t many = 20;
	uint64_t messages = 0;

	/* An address that takes the connection and says nothing. */
	http_stub_set_rule(ops, &(struct http_stub_rule){ .sku_id = "", .mode = HTTP_STUB_HANG });
	make_dead(20);
	struct process *process = sandbox_start(sandbox, "lapse-retry", NULL);
	WAIT_UNTIL(is_leased, NULL);
	process_kill(process);
	http_stub_drop_rules(ops);
	start();
	WAIT_UNTIL(are_all_sent, &many);
	ck_assert_uint_ge(count_told(&messages), 20);
}
END_TEST

START_TEST(what_is_requeued_is_told_to_be_over)
{
	const char *const words[] = { "retry", "requeue", "1", "--yes", NULL };
	int64_t one = 1;
	char *output = NULL;

	make_dead(1);
	start();
	WAIT_UNTIL(are_all_sent, &one);
	http_stub_drop_rules(stub);
	ck_assert_msg(sandbox_run(sandbox, "lapsectl", words, &output) == 0, "%s", output);
	free(output);
	uint64_t start_ms = clock_now_ms();
	while (http_stub_count_bodies(ops) < 2)
		ck_assert_uint_lt(clock_now_ms() - start_ms, WAIT_LIMIT_MS);
	WAIT_UNTIL(are_all_sent, &one);
	struct json *message = get_message(1);
	ck_assert_str_eq(json_get_text(message, "status"), "resolved");
	json_destroy(&message);
	start_ms = clock_now_ms();
	while (tasks_count(query, "DONE") < 1)
		ck_assert_uint_lt(clock_now_ms() - start_ms, WAIT_LIMIT_MS);
}
END_TEST

START_TEST(an_alert_that_is_not_severe_enough_is_kept_to_ourselves)
{
	int64_t one = 1;

	sandbox_set(sandbox, "LAPSE_ALERT_OPS_MIN_SEVERITY", "critical");
	make_dead(1);
	start();
	WAIT_UNTIL(are_all_sent, &one);
	ck_assert_uint_eq(http_stub_count_bodies(ops), 0);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		a_dead_task_is_told_once,
		those_who_die_together_are_told_together,
		a_target_that_is_away_is_told_later_and_tasks_go_on,
		a_killed_process_takes_no_alert_with_it,
		what_is_requeued_is_told_to_be_over,
		an_alert_that_is_not_severe_enough_is_kept_to_ourselves,
	};
	const struct runner_fixture fixture = { set_up, tear_down };

	sandbox_need_servers();
	return runner_run_with("retry_alerts", &fixture, tests, ARRAY_LENGTH(tests));
}
