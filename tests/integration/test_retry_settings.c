/* lapse-retry and its settings: batches, addresses, refunds, limits between them, metrics. */
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/compiler.h"
#include "common/base/text.h"
#include "tests/support/http_client.h"
#include "tests/support/http_stub.h"
#include "tests/support/process.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/scratch.h"
#include "tests/support/tasks.h"
#include "tests/support/wait_until.h"

enum {
	TIMEOUT_MS = 1000,
	STOP_LIMIT_MS = 10000,
	RESIDENT_MAX_KIB = 16384
};

static struct sandbox *sandbox;
static struct query *query;
static struct http_stub *stub;

static void set_up(void)
{
	sandbox_create(SANDBOX_NO_BROKER, &sandbox);
	query = sandbox_query(sandbox);
	stub = sandbox_stub(sandbox);
	sandbox_set(sandbox, "LAPSE_RETRY_BASE", "20ms");
	sandbox_set(sandbox, "LAPSE_RETRY_INTERVAL", "20ms");
	sandbox_set(sandbox, "LAPSE_HTTP_TIMEOUT", "%dms", TIMEOUT_MS);
}

static void tear_down(void)
{
	sandbox_destroy(&sandbox);
}

static struct process *start(void)
{
	return sandbox_start(sandbox, "lapse-retry", NULL);
}

static bool nothing_is_open(void *context)
{
	(void)context;
	return tasks_count_open(query) == 0;
}

static void expect_nothing_strange(void)
{
	char last[HTTP_STUB_TEXT_SIZE] = "";

	ck_assert_msg(http_stub_count_strange(stub, last) == 0, "%s", last);
	ck_assert_uint_eq(http_stub_count_changed(stub), 0);
}

START_TEST(batches_carry_many_tasks_and_each_has_its_own_result)
{
	static const struct http_stub_rule rules[] = {
		{ .sku_id = "SKU-1", .mode = HTTP_STUB_CODE, .code = 3, .times = 1 },
		{ .sku_id = "SKU-2", .mode = HTTP_STUB_MISSING, .times = 1 },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rules); i++)
		http_stub_set_rule(stub, &rules[i]);
	sandbox_set(sandbox, "LAPSE_STOCK_BATCH", "50");
	tasks_insert(query,
		&(struct tasks_plan){ .prefix = "A", .sku = "SKU-", .count = 400, .sku_count = 4 });
	start();
	WAIT_UNTIL(nothing_is_open, NULL);
	ck_assert_int_eq(tasks_count(query, "DONE"), 400);
	ck_assert_uint_eq(http_stub_count_effects(stub), 400);
	ck_assert_uint_lt(http_stub_count_calls(stub), 100);
	expect_nothing_strange();
}
END_TEST

START_TEST(a_bad_item_harms_its_batch_only_for_a_while)
{
	http_stub_set_rule(
		stub, &(struct http_stub_rule){
			      .sku_id = "SKU-0", .mode = HTTP_STUB_STATUS, .status = 400 });
	sandbox_set(sandbox, "LAPSE_STOCK_BATCH", "10");
	tasks_insert(query, &(struct tasks_plan){ .prefix = "A", .sku = "SKU-1", .count = 9 });
	tasks_insert_one(query, "BAD", "SKU-0");
	start();
	WAIT_UNTIL(nothing_is_open, NULL);
	ck_assert_int_eq(tasks_count(query, "DONE"), 9);
	query_expect(query, "DEAD", "SELECT status FROM t_compensation WHERE order_no = 'BAD'");
	query_expect(query, "1", "SELECT COUNT(*) FROM t_alert");
}
END_TEST

START_TEST(where_the_status_decides_any_2xx_is_enough)
{
	http_stub_set_rule(stub,
		&(struct http_stub_rule){ .sku_id = "", .mode = HTTP_STUB_STATUS, .status = 204 });
	sandbox_set(sandbox, "LAPSE_STOCK_SUCCESS", "status");
	tasks_insert_one(query, "A1", "SKU-1");
	start();
	WAIT_UNTIL(nothing_is_open, NULL);
	ck_assert_int_eq(tasks_count(query, "DONE"), 1);
}
END_TEST

static bool is_ready(void *context)
{
	const uint16_t *port = context;

	return http_client_get(*port, "/readyz", 1000, NULL) == 200;
}

START_TEST(without_an_address_tasks_wait_and_readiness_says_so)
{
	static char answer[HTTP_CLIENT_SIZE];
	uint16_t port = sandbox_free_port();

	sandbox_unset(sandbox, "LAPSE_STOCK_URL");
	sandbox_set(sandbox, "LAPSE_OPS_ADDR", "127.0.0.1:%u", port);
	tasks_insert_one(query, "A1", "SKU-1");
	struct process *process = start();
	WAIT_UNTIL(is_ready, &port);
	(void)http_client_get(port, "/readyz?verbose", 1000, answer);
	ck_assert_msg(strstr(answer, "LAPSE_STOCK_URL is not set") != NULL, "%s", answer);
	ck_assert_uint_eq(process_count_logged(process, "target_not_configured"), 1);
	process_signal(process, SIGTERM);
	ck_assert_int_eq(process_wait(process, STOP_LIMIT_MS), 0);
	query_expect(query, "PENDING 0", "SELECT status, calls FROM t_compensation");
}
END_TEST

START_TEST(a_refund_is_called_and_its_payment_knows)
{
	char url[HTTP_STUB_URL_SIZE];
	char body[HTTP_STUB_BODY_SIZE];

	http_stub_format_url(stub, url);
	http_stub_accept_path(stub, "/v1/refunds");
	sandbox_set(sandbox, "LAPSE_REFUND_URL", "%s", url);
	query_run(query,
		"INSERT INTO t_payment (channel, trade_no, order_no, amount_cents, currency, "
		"outcome, refund_state) VALUES ('pay', 'T1', 'A1', 9900, 'CNY', 'LATE', 'PENDING');"
		"INSERT INTO t_compensation (kind, target, idempotency_key, order_no, payload) "
		"VALUES ('REFUND', 'refund', 'refund:pay:T1', 'A1', '{\"channel\":\"pay\","
		"\"trade_no\":\"T1\",\"amount_cents\":9900,\"currency\":\"CNY\"}')");
	start();
	WAIT_UNTIL(nothing_is_open, NULL);
	query_expect(query, "DONE DONE",
		"SELECT (SELECT status FROM t_compensation), refund_state FROM "
		"t_payment");
	ck_assert(http_stub_get_body(stub, 0, body));
	ck_assert_str_eq(body, "{\"idempotency_key\":\"refund:pay:T1\",\"order_no\":\"A1\","
			       "\"channel\":\"pay\",\"trade_no\":\"T1\",\"amount_cents\":9900,"
			       "\"currency\":\"CNY\"}");
}
END_TEST

static int check_config(void)
{
	const char *const words[] = { "--check-config", NULL };

	return sandbox_run(sandbox, "lapse-retry", words, NULL);
}

START_TEST(a_lease_is_longer_than_a_call)
{
	ck_assert_int_eq(check_config(), 0);
	sandbox_set(sandbox, "LAPSE_LEASE", "1500ms");
	ck_assert_int_eq(check_config(), 78);
	sandbox_set(sandbox, "LAPSE_LEASE", "2s");
	ck_assert_int_eq(check_config(), 0);
	sandbox_set(sandbox, "LAPSE_STOCK_URL", "ftp://stock");
	ck_assert_int_eq(check_config(), 78);
	sandbox_set(sandbox, "LAPSE_STOCK_URL", "http://stock/?x=1");
	ck_assert_int_eq(check_config(), 78);
	sandbox_set(sandbox, "LAPSE_STOCK_URL", "http://stock");
	sandbox_set(sandbox, "LAPSE_ALERT_TARGETS", "ops");
	ck_assert_int_eq(check_config(), 78);
	sandbox_set(sandbox, "LAPSE_ALERT_OPS_URL", "http://ops");
	ck_assert_int_eq(check_config(), 0);
}
END_TEST

START_TEST(metrics_and_a_dump_tell_what_was_done)
{
	static char answer[HTTP_CLIENT_SIZE];
	uint16_t port = sandbox_free_port();

	http_stub_set_rule(
		stub, &(struct http_stub_rule){
			      .sku_id = "SKU-410", .mode = HTTP_STUB_STATUS, .status = 410 });
	sandbox_set(sandbox, "LAPSE_OPS_ADDR", "127.0.0.1:%u", port);
	tasks_insert(query, &(struct tasks_plan){ .prefix = "A", .sku = "SKU-1", .count = 5 });
	tasks_insert_one(query, "B1", "SKU-410");
	struct process *process = start();
	WAIT_UNTIL(nothing_is_open, NULL);
	(void)http_client_get(port, "/metrics", 1000, answer);
	ck_assert_msg(strstr(answer, "lapse_task_calls_total{kind=\"stock_restore\","
				     "result=\"ok\"} 5\n") != NULL,
		"%s", answer);
	ck_assert_ptr_nonnull(strstr(answer, "result=\"dead\"} 1\n"));
	ck_assert_ptr_nonnull(strstr(answer, "lapse_task_calls_total{kind=\"webhook\","
					     "result=\"lease_lost\"} 0\n"));
	ck_assert_ptr_nonnull(strstr(answer, "lapse_task_call_duration_seconds_count{"
					     "kind=\"stock_restore\"} 6\n"));
	ck_assert_ptr_nonnull(strstr(answer, "lapse_circuit_open{target=\"127.0.0.1:"));
	process_signal(process, SIGUSR1);
	ck_assert_ptr_nonnull(process);
	process_signal(process, SIGTERM);
	ck_assert_int_eq(process_wait(process, STOP_LIMIT_MS), 0);
	ck_assert_uint_ge(process_count_logged(process, "dump_target"), 1);
}
END_TEST

struct series {
	uint16_t port;
	const char *name;
	bool is_there;
};

static bool is_so(void *context)
{
	const struct series *series = context;

	return (http_client_metric(series->port, series->name) == 0) == series->is_there;
}

static void expect_series(uint16_t port, const char *name, bool is_there)
{
	struct series series = { port, name, is_there };

	ck_assert_msg(wait_until(is_so, &series, WAIT_LIMIT_MS), "%s is %s", name,
		is_there ? "not there" : "still there");
}

START_TEST(a_reload_brings_gauges_of_new_hosts_and_takes_those_of_old_ones)
{
	uint16_t port = sandbox_free_port();
	char path[PATH_MAX];

	scratch_write("hosts",
		"one ORDER_CLOSED http://first.example/a whsec_MDEyMzQ1Njc4OWFi\n"
		"two ORDER_CLOSED http://first.example/b whsec_MDEyMzQ1Njc4OWFi\n",
		path);
	sandbox_set(sandbox, "LAPSE_WEBHOOKS_FILE", "%s", path);
	sandbox_set(sandbox, "LAPSE_OPS_ADDR", "127.0.0.1:%u", port);
	struct process *process = start();
	expect_series(port, "lapse_circuit_open{target=\"first.example:80\"}", true);
	scratch_write("hosts",
		"one ORDER_CLOSED http://second.example:81/a whsec_MDEyMzQ1Njc4OWFi\n", path);
	process_signal(process, SIGHUP);
	expect_series(port, "lapse_circuit_open{target=\"second.example:81\"}", true);
	expect_series(port, "lapse_circuit_open{target=\"first.example:80\"}", false);
	scratch_write(
		"hosts", "one ORDER_CLOSED http://first.example/a whsec_MDEyMzQ1Njc4OWFi\n", path);
	process_signal(process, SIGHUP);
	expect_series(port, "lapse_circuit_open{target=\"first.example:80\"}", true);
	expect_series(port, "lapse_circuit_open{target=\"second.example:81\"}", false);
	ck_assert(process_is_alive(process));
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		batches_carry_many_tasks_and_each_has_its_own_result,
		a_bad_item_harms_its_batch_only_for_a_while,
		where_the_status_decides_any_2xx_is_enough,
		without_an_address_tasks_wait_and_readiness_says_so,
		a_refund_is_called_and_its_payment_knows,
		a_lease_is_longer_than_a_call,
		metrics_and_a_dump_tell_what_was_done,
		a_reload_brings_gauges_of_new_hosts_and_takes_those_of_old_ones,
	};
	const struct runner_fixture fixture = { set_up, tear_down };

	sandbox_need_servers();
	return runner_run_with("retry_settings", &fixture, tests, ARRAY_LENGTH(tests));
}
