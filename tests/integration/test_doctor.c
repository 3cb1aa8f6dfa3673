/* lapsectl doctor: a running fleet is well, and each trouble has its line that says what to do. */
#include <stdlib.h>
#include <string.h>

#include "common/base/compiler.h"
#include "common/base/result.h"
#include "common/base/text.h"
#include "common/io/json.h"
#include "tests/support/http_client.h"
#include "tests/support/http_stub.h"
#include "tests/support/process.h"
#include "tests/support/query.h"
#include "tests/support/rabbit.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/wait_until.h"

enum {
	OUTPUT_MAX = 1048576
};

static struct sandbox *sandbox;

static void set_up(void)
{
	sandbox_create(SANDBOX_EVERYTHING, &sandbox);
	(void)sandbox_stub(sandbox);
}

static void tear_down(void)
{
	sandbox_destroy(&sandbox);
}

static struct json *examine(int *status_out)
{
	static const char *const words[] = { "doctor", "--json", "-q", NULL };
	struct json *root = NULL;
	char *output = NULL;

	*status_out = sandbox_run(sandbox, "lapsectl", words, &output);
	ck_assert_msg(json_parse(output, strlen(output), OUTPUT_MAX, &root, NULL) == RESULT_OK,
		"%s", output);
	free(output);
	return root;
}

/* The check has this level, and its words hold says (NULL: anything). */
static void expect(const char *check, const char *level, const char *says)
{
	int status = 0;
	struct json *root = examine(&status);
	const struct json *found = NULL;

	for (size_t i = 0; i < json_count(root) && found == NULL; i++)
		if (text_equals(json_get_text(json_at(root, i), "check"), check))
			found = json_at(root, i);
	ck_assert_msg(found != NULL, "no check %s", check);
	const char *text = json_get_text(found, "text");
	ck_assert_msg(text_equals(json_get_text(found, "level"), level), "%s: %s", check, text);
	ck_assert_msg(says == NULL || strstr(text, says) != NULL, "%s: %s", check, text);
	if (text_equals(level, "fail"))
		ck_assert_int_eq(status, EXIT_STATUS_FAILED);
	json_destroy(&root);
}

static bool is_ready(void *port)
{
	return http_client_get(*(uint16_t *)port, "/readyz", WAIT_LIMIT_MS, NULL) == 200;
}

static bool has_consumer(void *rabbit)
{
	return rabbit_count_consumers(rabbit, "lapse.timeout.due") == 1;
}

START_TEST(a_fleet_that_runs_has_no_failing_check)
{
	int status = 0;

	(void)sandbox_start(sandbox, "lapse-producer", NULL);
	(void)sandbox_start(sandbox, "lapse-consumer", NULL);
	WAIT_UNTIL(has_consumer, sandbox_rabbit(sandbox));
	struct json *root = examine(&status);
	for (size_t i = 0; i < json_count(root); i++)
		ck_assert_str_ne(json_get_text(json_at(root, i), "level"), "fail");
	ck_assert_int_eq(status, EXIT_STATUS_OK);
	json_destroy(&root);
	expect("delay_mode", "ok", "LAPSE_DELAY=auto");
	expect("stock", "ok", "answers");
	expect("policy", "ok", NULL);
	expect("broker_clock", "ok", "less than 3 s");
	sandbox_stop_all(sandbox, WAIT_LIMIT_MS);
	expect("consumers", "fail", "start lapse-consumer");
}
END_TEST

START_TEST(a_schema_that_is_old_or_damaged_is_named)
{
	struct query *query = sandbox_query(sandbox);

	expect("schema", "ok", "version");
	expect("sweep_plan", "ok", "idx_status_expire");
	query_run(query, "DROP TRIGGER trg_order_state");
	expect("trigger", "fail", "0001_order.sql");
	query_run(query, "ALTER TABLE t_order DROP INDEX idx_close_time");
	expect("index", "fail", "idx_close_time of t_order");
	query_run(query, "UPDATE t_schema_version SET checksum = REPEAT('0', 64) "
			 "WHERE version = 2");
	expect("schema_changed", "fail", "0002_outbox");
	query_run(query, "DROP TABLE t_schema_version");
	expect("schema", "fail", "run lapsectl migrate");
}
END_TEST

START_TEST(a_queue_with_other_arguments_is_named)
{
	struct rabbit *rabbit = sandbox_rabbit(sandbox);

	expect("topology", "fail", "start lapse-producer or lapse-consumer");
	rabbit_declare_queue(rabbit, "lapse.timeout.due");
	expect("topology", "fail", "lapse.timeout.due");
}
END_TEST

START_TEST(servers_that_are_away_are_named_one_by_one)
{
	sandbox_set(
		sandbox, "LAPSE_AMQP_URL", "amqp://lapse:x@127.0.0.1:%u/x", sandbox_free_port());
	expect("broker", "fail", "LAPSE_AMQP_URL");
	sandbox_set(sandbox, "LAPSE_STOCK_URL", "http://127.0.0.1:%u", sandbox_free_port());
	expect("stock", "fail", "LAPSE_STOCK_URL");
	sandbox_unset(sandbox, "LAPSE_STOCK_URL");
	expect("stock", "warn", "LAPSE_STOCK_URL is not set");
	sandbox_set(sandbox, "LAPSE_DELAY", "%s", "none");
	expect("delay_mode", "ok", "only the sweep closes");
	sandbox_set(
		sandbox, "LAPSE_MYSQL_URL", "mysql://u:p@127.0.0.1:%u/lapse", sandbox_free_port());
	expect("mysql", "fail", "LAPSE_MYSQL_URL");
}
END_TEST

START_TEST(the_fleet_is_asked_process_by_process)
{
	uint16_t port = sandbox_free_port();

	expect("fleet", "ok", "is not set");
	sandbox_set(sandbox, "LAPSE_CONSOLE_FLEET", "127.0.0.1:%u", port);
	expect("fleet", "fail", "127.0.0.1 at 127.0.0.1");
	sandbox_set(sandbox, "LAPSE_OPS_ADDR", "127.0.0.1:%u", port);
	struct process *sweeper = sandbox_start(sandbox, "lapse-sweeper", NULL);
	WAIT_UNTIL(is_ready, &port);
	expect("fleet", "ok", "1 processes are ready");
	/* What the console takes is taken here, too. */
	sandbox_set(sandbox, "LAPSE_CONSOLE_FLEET", "127.0.0.1:%u, [127.0.0.1]:%u", port, port);
	expect("fleet", "ok", "2 processes are ready");
	sandbox_set(sandbox, "LAPSE_CONSOLE_FLEET", "127.0.0.1:%u,nonsense", port);
	expect("fleet", "fail", "is not NAME:PORT");
	process_signal(sweeper, 15);
}
END_TEST

START_TEST(changed_rows_are_counted_and_the_refund_service_is_asked)
{
	expect("changed_rows", "ok", "changed rows");
	ck_assert_int_eq(query_number(sandbox_query(sandbox), "SELECT COUNT(*) FROM t_alert"), 0);
	sandbox_set(sandbox, "LAPSE_REFUND_URL", "http://127.0.0.1:%u", sandbox_free_port());
	expect("refund", "fail", "check LAPSE_REFUND_URL");
	expect("alert_targets", "warn", "LAPSE_ALERT_TARGETS is not set");
	sandbox_set(sandbox, "LAPSE_ALERT_TARGETS", "ops");
	expect("alert_targets", "fail", "LAPSE_ALERT_OPS");
	sandbox_set(sandbox, "LAPSE_ALERT_OPS_TYPE", "generic");
	sandbox_set(sandbox, "LAPSE_ALERT_OPS_URL", "http://127.0.0.1:9/alerts");
	expect("alert_targets", "ok", "ops (generic)");
}
END_TEST

int main(void)
{
	static const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = {
		a_fleet_that_runs_has_no_failing_check,
		a_schema_that_is_old_or_damaged_is_named,
		a_queue_with_other_arguments_is_named,
		servers_that_are_away_are_named_one_by_one,
		the_fleet_is_asked_process_by_process,
		changed_rows_are_counted_and_the_refund_service_is_asked,
	};

	sandbox_need_servers();
	return runner_run_with("doctor", &fixture, tests, ARRAY_LENGTH(tests));
}
