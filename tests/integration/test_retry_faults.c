/* lapse-retry when something breaks: killed, stopped, twice, without its servers. */
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/compiler.h"
#include "common/base/text.h"
#include "tests/support/http_client.h"
#include "tests/support/http_stub.h"
#include "tests/support/process.h"
#include "tests/support/proxy.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/tasks.h"
#include "tests/support/wait_until.h"

enum {
	STOP_LIMIT_MS = 10000
};

static struct sandbox *sandbox;
static struct query *query;
static struct http_stub *stub;
static uint16_t ops_port;

static void set_up(void)
{
	sandbox_create(SANDBOX_NO_BROKER, &sandbox);
	query = sandbox_query(sandbox);
	stub = sandbox_stub(sandbox);
	ops_port = sandbox_free_port();
	sandbox_set(sandbox, "LAPSE_RETRY_BASE", "20ms");
	sandbox_set(sandbox, "LAPSE_RETRY_INTERVAL", "20ms");
	sandbox_set(sandbox, "LAPSE_HTTP_TIMEOUT", "1s");
	sandbox_set(sandbox, "LAPSE_LEASE", "2s");
}

static void tear_down(void)
{
	sandbox_destroy(&sandbox);
}

static struct process *start(void)
{
	return sandbox_start(sandbox, "lapse-retry", NULL);
}

static void set_rule(const char *sku, enum http_stub_mode mode, uint64_t delay_ms)
{
	http_stub_set_rule(stub,
		&(struct http_stub_rule){ .sku_id = sku, .mode = mode, .delay_ms = delay_ms });
}

static bool nothing_is_open(void *context)
{
	(void)context;
	return tasks_count_open(query) == 0;
}

static bool has_ended(void *context)
{
	return !process_is_alive(context);
}

/* The failpoint at its hit-th passage; then a healthy process finishes. */
static void kill_at(const char *failpoint)
{
	struct process *process = sandbox_start_with_failpoint(sandbox, "lapse-retry", failpoint);

	WAIT_UNTIL(has_ended, process);
}

START_TEST(killed_at_any_line_it_loses_nothing_and_calls_no_more_than_six_times)
{
	static const char *const failpoints[] = { "after_claim:kill:1", "after_claim:kill:2",
		"after_call:kill:1", "after_call:kill:20", "before_commit:kill:1",
		"after_commit:kill:1" };

	set_rule("SKU-BAD", HTTP_STUB_CUT, 0);
	tasks_insert(query,
		&(struct tasks_plan){ .prefix = "A", .sku = "SKU-", .count = 150, .sku_count = 5 });
	tasks_insert_one(query, "BAD", "SKU-BAD");
	for (size_t i = 0; i < ARRAY_LENGTH(failpoints); i++) {
		query_run(query, "UPDATE t_compensation SET lease_until = UTC_TIMESTAMP(3), "
				 "next_retry_at = UTC_TIMESTAMP(3) WHERE status = 'RUNNING'");
		tasks_insert(query, &(struct tasks_plan){ .prefix = failpoints[i] + 6,
					    .sku = "SKU-",
					    .count = 20,
					    .sku_count = 5 });
		kill_at(failpoints[i]);
	}
	start();
	WAIT_UNTIL(nothing_is_open, NULL);
	query_expect(query, "DEAD 1",
		"SELECT status, retry_count <= 5 FROM t_compensation WHERE "
		"order_no = 'BAD'");
	ck_assert_uint_eq(http_stub_count_effects(stub), (uint64_t)tasks_count(query, "DONE"));
	/* Six kills may use up the calls of a task that was always among the claimed. */
	query_expect(query, "0",
		"SELECT COUNT(*) FROM t_compensation c LEFT JOIN t_alert a ON a.ref = c.id AND "
		"a.kind = 'TASK_DEAD' WHERE c.status = 'DEAD' AND a.id IS NULL");
	query_expect(query, "1", "SELECT MAX(fired_count) FROM t_alert");
	query_expect(query, "1", "SELECT MAX(calls) <= 6 FROM t_compensation");
	ck_assert_uint_le(http_stub_most_calls(stub), 6);
}
END_TEST

START_TEST(a_lease_that_ended_is_taken_over_and_counted)
{
	set_rule("SKU-1", HTTP_STUB_OK, 300);
	tasks_insert_one(query, "A1", "SKU-1");
	kill_at("after_claim");
	query_expect(query, "RUNNING 1 0", "SELECT status, calls, retry_count FROM t_compensation");
	start();
	WAIT_UNTIL(nothing_is_open, NULL);
	query_expect(query, "DONE 2 1", "SELECT status, calls, retry_count FROM t_compensation");
	ck_assert_uint_eq(http_stub_count_calls(stub), 1);
}
END_TEST

START_TEST(three_processes_call_each_task_once)
{
	set_rule("", HTTP_STUB_OK, 5);
	tasks_insert(query,
		&(struct tasks_plan){ .prefix = "A", .sku = "SKU-", .count = 100, .sku_count = 5 });
	for (int i = 0; i < 3; i++)
		start();
	WAIT_UNTIL(nothing_is_open, NULL);
	ck_assert_int_eq(tasks_count(query, "DONE"), 100);
	ck_assert_uint_eq(http_stub_count_calls(stub), 100);
	ck_assert_uint_eq(http_stub_most_calls(stub), 1);
}
END_TEST

static bool stub_was_called(void *context)
{
	const uint64_t *count = context;

	return http_stub_count_calls(stub) >= *count;
}

static bool lost_a_lease(void *context)
{
	return process_count_logged(context, "lease_lost") > 0;
}

START_TEST(a_zombie_that_wakes_up_changes_nothing)
{
	uint64_t one = 1;
	char before[QUERY_TEXT_SIZE];

	/* The first call hangs until the process is asleep. */
	http_stub_set_rule(stub,
		&(struct http_stub_rule){
			.sku_id = "SKU-1", .mode = HTTP_STUB_OK, .delay_ms = 500, .times = 1 });
	tasks_insert_one(query, "A1", "SKU-1");
	struct process *zombie = start();
	WAIT_UNTIL(stub_was_called, &one);
	process_signal(zombie, SIGSTOP);
	start();
	WAIT_UNTIL(nothing_is_open, NULL);
	query_text(query, before, "SELECT status, done_at, retry_count, calls FROM t_compensation");
	ck_assert(text_starts_with(before, "DONE"));
	process_signal(zombie, SIGCONT);
	WAIT_UNTIL(lost_a_lease, zombie);
	query_expect(
		query, before, "SELECT status, done_at, retry_count, calls FROM t_compensation");
	ck_assert_uint_eq(http_stub_count_effects(stub), 1);
	sandbox_expect_all_alive(sandbox);
}
END_TEST

static bool circuit_is_open(void *context)
{
	char series[128];
	char url[HTTP_STUB_URL_SIZE];

	(void)context;
	http_stub_format_url(stub, url);
	(void)text_format(series, sizeof(series), "lapse_circuit_open{target=\"%s\"}",
		url + strlen("http://"));
	return http_client_metric(ops_port, series) > 0.5;
}

static bool all_is_settled(void *context)
{
	(void)context;
	return tasks_count(query, "RUNNING") == 0;
}

/* The service is down, tasks pile up, a restart in between; it comes back and all is well. */
START_TEST(a_dead_service_uses_up_nobodys_retries)
{
	struct process *process = NULL;

	sandbox_set(sandbox, "LAPSE_OPS_ADDR", "127.0.0.1:%u", ops_port);
	sandbox_set(sandbox, "LAPSE_HTTP_CONCURRENCY", "16");
	http_stub_refuse(stub, true);
	tasks_insert(query, &(struct tasks_plan){ .prefix = "A", .sku = "SKU-1", .count = 500 });
	process = start();
	WAIT_UNTIL(circuit_is_open, NULL);
	WAIT_UNTIL(all_is_settled, NULL);
	process_signal(process, SIGTERM);
	ck_assert_int_eq(process_wait(process, STOP_LIMIT_MS), 0);
	int64_t calls = query_number(query, "SELECT SUM(calls) FROM t_compensation");
	process = start();
	WAIT_UNTIL(circuit_is_open, NULL);
	WAIT_UNTIL(all_is_settled, NULL);
	/* Neither the outage nor the start was a burst. */
	ck_assert_int_le(calls, 60);
	ck_assert_int_le(query_number(query, "SELECT SUM(calls) FROM t_compensation"), calls + 60);
	http_stub_refuse(stub, false);
	WAIT_UNTIL(nothing_is_open, NULL);
	ck_assert_int_eq(tasks_count(query, "DONE"), 500);
	ck_assert_uint_le(http_stub_max_in_flight(stub), 16);
	ck_assert_uint_eq(process_count_logged(process, "circuit_closed"), 1);
	ck_assert(!circuit_is_open(NULL));
}
END_TEST

START_TEST(tasks_of_another_target_go_on_while_one_is_down)
{
	char url[HTTP_STUB_URL_SIZE];
	struct http_stub *refunds = NULL;

	http_stub_create(&refunds);
	http_stub_accept_path(refunds, "/v1/refunds");
	http_stub_format_url(refunds, url);
	sandbox_set(sandbox, "LAPSE_REFUND_URL", "%s", url);
	set_rule("", HTTP_STUB_HANG, 0);
	tasks_insert(query, &(struct tasks_plan){ .prefix = "A", .sku = "SKU-1", .count = 300 });
	start();
	uint64_t wanted = 8;
	WAIT_UNTIL(stub_was_called, &wanted);
	query_run(query,
		"INSERT INTO t_compensation (kind, target, idempotency_key, order_no, payload) "
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50) "
		"SELECT 'REFUND', 'refund', CONCAT('refund:pay:T', i), 'A1', CONCAT("
		"'{\"channel\":\"pay\",\"trade_no\":\"T', i, '\",\"amount_cents\":1,"
		"\"currency\":\"CNY\"}') FROM n");
	uint64_t start_ms = clock_now_ms();
	while (query_number(query, "SELECT COUNT(*) FROM t_compensation WHERE target = 'refund' "
				   "AND status = 'DONE'") < 50)
		ck_assert_uint_lt(clock_now_ms() - start_ms, 20000);
	ck_assert_int_gt(query_number(query, "SELECT COUNT(*) FROM t_compensation WHERE "
					     "target = 'stock' AND status <> 'DEAD'"),
		250);
	http_stub_destroy(&refunds);
}
END_TEST

START_TEST(answers_are_kept_while_mysql_is_away)
{
	struct proxy *proxy = sandbox_proxy_mysql(sandbox);
	uint64_t wanted = 8;

	sandbox_set(sandbox, "LAPSE_LEASE", "30s");
	set_rule("", HTTP_STUB_OK, 500);
	tasks_insert(query, &(struct tasks_plan){ .prefix = "A", .sku = "SKU-1", .count = 8 });
	struct process *process = start();
	WAIT_UNTIL(stub_was_called, &wanted);
	proxy_refuse(proxy, true);
	set_rule("", HTTP_STUB_OK, 0);
	uint64_t start_ms = clock_now_ms();
	while (process_count_logged(process, "step_failed") == 0)
		ck_assert_uint_lt(clock_now_ms() - start_ms, WAIT_LIMIT_MS);
	query_expect(query, "8", "SELECT COUNT(*) FROM t_compensation WHERE status = 'RUNNING'");
	proxy_refuse(proxy, false);
	WAIT_UNTIL(nothing_is_open, NULL);
	query_expect(query, "8 1",
		"SELECT COUNT(*), MAX(calls) FROM t_compensation WHERE status = 'DONE'");
	ck_assert_uint_eq(http_stub_most_calls(stub), 1);
	sandbox_expect_all_alive(sandbox);
}
END_TEST

START_TEST(a_commit_whose_answer_is_lost_is_run_again)
{
	struct proxy *proxy = sandbox_proxy_mysql(sandbox);

	http_stub_set_rule(
		stub, &(struct http_stub_rule){
			      .sku_id = "SKU-410", .mode = HTTP_STUB_STATUS, .status = 410 });
	tasks_insert(query, &(struct tasks_plan){ .prefix = "A", .sku = "SKU-1", .count = 40 });
	tasks_insert_one(query, "B", "SKU-410");
	proxy_cut_at(proxy, PROXY_COMMIT, PROXY_AFTER, 3);
	start();
	WAIT_UNTIL(nothing_is_open, NULL);
	ck_assert_int_eq(tasks_count(query, "DONE"), 40);
	ck_assert_int_eq(tasks_count(query, "DEAD"), 1);
	query_expect(query, "1 1", "SELECT COUNT(*), MAX(fired_count) FROM t_alert");
	ck_assert_uint_eq(http_stub_count_effects(stub), 40);
	ck_assert_uint_eq(proxy_count_cuts(proxy), 3);
	sandbox_expect_all_alive(sandbox);
}
END_TEST

START_TEST(a_stop_waits_for_calls_and_gives_back_the_rest)
{
	uint64_t wanted = 8;

	sandbox_set(sandbox, "LAPSE_HTTP_CONCURRENCY", "8");
	sandbox_set(sandbox, "LAPSE_LEASE", "30s");
	set_rule("", HTTP_STUB_OK, 500);
	tasks_insert(query, &(struct tasks_plan){ .prefix = "A", .sku = "SKU-1", .count = 200 });
	struct process *process = start();
	WAIT_UNTIL(stub_was_called, &wanted);
	process_signal(process, SIGTERM);
	ck_assert_int_eq(process_wait(process, STOP_LIMIT_MS), 0);
	ck_assert_int_eq(tasks_count(query, "RUNNING"), 0);
	ck_assert_int_eq(tasks_count(query, "DONE"), (int64_t)http_stub_count_calls(stub));
	query_expect(query, "0 0",
		"SELECT MAX(calls), MAX(retry_count) FROM t_compensation WHERE "
		"status = 'PENDING'");
}
END_TEST

START_TEST(a_stop_while_nothing_answers_is_a_stop)
{
	uint64_t wanted = 3;

	sandbox_set(sandbox, "LAPSE_HTTP_TIMEOUT", "20s");
	sandbox_set(sandbox, "LAPSE_LEASE", "30s");
	sandbox_set(sandbox, "LAPSE_SHUTDOWN_TIMEOUT", "2s");
	set_rule("", HTTP_STUB_HANG, 0);
	tasks_insert(query, &(struct tasks_plan){ .prefix = "A", .sku = "SKU-1", .count = 3 });
	struct process *process = start();
	WAIT_UNTIL(stub_was_called, &wanted);
	process_signal(process, SIGTERM);
	ck_assert_int_eq(process_wait(process, 4000), 0);
	ck_assert_int_eq(tasks_count(query, "RUNNING"), 3);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		killed_at_any_line_it_loses_nothing_and_calls_no_more_than_six_times,
		a_lease_that_ended_is_taken_over_and_counted,
		three_processes_call_each_task_once,
		a_zombie_that_wakes_up_changes_nothing,
		a_dead_service_uses_up_nobodys_retries,
		tasks_of_another_target_go_on_while_one_is_down,
		answers_are_kept_while_mysql_is_away,
		a_commit_whose_answer_is_lost_is_run_again,
		a_stop_waits_for_calls_and_gives_back_the_rest,
		a_stop_while_nothing_answers_is_a_stop,
	};
	const struct runner_fixture fixture = { set_up, tear_down };

	sandbox_need_servers();
	return runner_run_with("retry_faults", &fixture, tests, ARRAY_LENGTH(tests));
}
