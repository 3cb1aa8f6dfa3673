/* lapse-retry: calls, verdicts, limits; against a product service that lies on request. */
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
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/tasks.h"
#include "tests/support/wait_until.h"

enum {
	TIMEOUT_MS = 1000,
	STOP_LIMIT_MS = 10000,
	GROWTH_MAX_KIB = 8192
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

static uint64_t calls_of(const char *key)
{
	struct http_stub_key found;

	return http_stub_find(stub, key, &found) ? found.calls : 0;
}

static void expect_nothing_strange(void)
{
	char last[HTTP_STUB_TEXT_SIZE] = "";

	ck_assert_msg(http_stub_count_strange(stub, last) == 0, "%s", last);
	ck_assert_uint_eq(http_stub_count_changed(stub), 0);
}

START_TEST(every_task_is_called_once_and_done)
{
	tasks_insert(query,
		&(struct tasks_plan){ .prefix = "A", .sku = "SKU-", .count = 500, .sku_count = 7 });
	start();
	WAIT_UNTIL(nothing_is_open, NULL);
	ck_assert_int_eq(tasks_count(query, "DONE"), 500);
	ck_assert_uint_eq(http_stub_count_effects(stub), 500);
	ck_assert_uint_eq(http_stub_most_calls(stub), 1);
	ck_assert_uint_eq(http_stub_sum_effects(stub, ""), 1000);
	expect_nothing_strange();
}
END_TEST

START_TEST(calls_in_flight_keep_to_the_setting)
{
	http_stub_set_rule(stub,
		&(struct http_stub_rule){ .sku_id = "", .mode = HTTP_STUB_OK, .delay_ms = 50 });
	sandbox_set(sandbox, "LAPSE_HTTP_CONCURRENCY", "5");
	tasks_insert(query, &(struct tasks_plan){ .prefix = "A", .sku = "S", .count = 60 });
	start();
	WAIT_UNTIL(nothing_is_open, NULL);
	ck_assert_uint_eq(http_stub_max_in_flight(stub), 5);
	ck_assert_int_eq(tasks_count(query, "DONE"), 60);
}
END_TEST

START_TEST(a_failing_task_is_called_six_times_and_raises_one_alert)
{
	static const struct http_stub_rule rules[] = {
		{ .sku_id = "SKU-500", .mode = HTTP_STUB_STATUS, .status = 500 },
		{ .sku_id = "SKU-503", .mode = HTTP_STUB_STATUS, .status = 503 },
		{ .sku_id = "SKU-CODE", .mode = HTTP_STUB_CODE, .code = 17 },
		{ .sku_id = "SKU-TEXT", .mode = HTTP_STUB_TEXT, .text = "<html>\xff" },
		{ .sku_id = "SKU-CUT", .mode = HTTP_STUB_CUT },
		{ .sku_id = "SKU-302", .mode = HTTP_STUB_REDIRECT, .text = "http://127.0.0.1:1/" },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rules); i++) {
		http_stub_set_rule(stub, &rules[i]);
		tasks_insert_one(query, rules[i].sku_id, rules[i].sku_id);
	}
	tasks_insert_one(query, "GOOD", "SKU-1");
	start();
	WAIT_UNTIL(nothing_is_open, NULL);
	query_expect(query, "6 6 5 5",
		"SELECT COUNT(*), MIN(calls), MIN(retry_count), MAX(retry_count) FROM "
		"t_compensation WHERE status = 'DEAD'");
	query_expect(query, "6 6 1",
		"SELECT COUNT(*), COUNT(DISTINCT ref), MAX(fired_count) FROM t_alert a "
		"JOIN t_compensation c ON c.id = a.ref AND c.status = 'DEAD'");
	query_expect(query, "DONE", "SELECT status FROM t_compensation WHERE order_no = 'GOOD'");
	query_expect(query, "HTTP 200, the code is not 0: {\"code\":17}",
		"SELECT last_error FROM t_compensation WHERE order_no = 'SKU-CODE'");
	for (size_t i = 0; i < ARRAY_LENGTH(rules); i++) {
		char key[HTTP_STUB_KEY_SIZE];

		(void)text_format(key, sizeof(key), "restore:%s:1", rules[i].sku_id);
		ck_assert_msg(calls_of(key) == 6, "%s: %" PRIu64 " calls", key, calls_of(key));
	}
	expect_nothing_strange();
}
END_TEST

START_TEST(many_tasks_of_one_bad_sku_all_come_to_their_end)
{
	http_stub_set_rule(
		stub, &(struct http_stub_rule){
			      .sku_id = "SKU-500", .mode = HTTP_STUB_STATUS, .status = 500 });
	tasks_insert(query, &(struct tasks_plan){ .prefix = "B", .sku = "SKU-500", .count = 40 });
	start();
	WAIT_UNTIL(nothing_is_open, NULL);
	query_expect(query, "40 6 6",
		"SELECT COUNT(*), MIN(calls), MAX(calls) FROM t_compensation WHERE "
		"status = 'DEAD'");
	query_expect(query, "40", "SELECT COUNT(*) FROM t_alert");
	ck_assert_uint_eq(http_stub_most_calls(stub), 6);
}
END_TEST

START_TEST(a_refusal_is_final)
{
	static const unsigned int statuses[] = { 400, 404, 409, 410, 422 };

	for (size_t i = 0; i < ARRAY_LENGTH(statuses); i++) {
		char sku[16];

		(void)text_format(sku, sizeof(sku), "SKU-%u", statuses[i]);
		http_stub_set_rule(stub,
			&(struct http_stub_rule){
				.sku_id = sku, .mode = HTTP_STUB_STATUS, .status = statuses[i] });
		tasks_insert_one(query, sku, sku);
	}
	start();
	WAIT_UNTIL(nothing_is_open, NULL);
	query_expect(query, "5 1 0",
		"SELECT COUNT(*), MAX(calls), MAX(retry_count) FROM t_compensation WHERE "
		"status = 'DEAD'");
	query_expect(query, "5", "SELECT COUNT(*) FROM t_alert");
	ck_assert_uint_eq(http_stub_most_calls(stub), 1);
}
END_TEST

START_TEST(retry_after_is_honoured)
{
	struct http_stub_key key;

	http_stub_set_rule(stub, &(struct http_stub_rule){ .sku_id = "SKU-429",
					 .mode = HTTP_STUB_STATUS,
					 .status = 429,
					 .retry_after_s = 3,
					 .times = 1 });
	tasks_insert_one(query, "A1", "SKU-429");
	start();
	WAIT_UNTIL(nothing_is_open, NULL);
	ck_assert_int_eq(tasks_count(query, "DONE"), 1);
	ck_assert(http_stub_find(stub, "restore:A1:1", &key));
	ck_assert_uint_eq(key.calls, 2);
	ck_assert_uint_ge(key.times_ms[1] - key.times_ms[0], 3000);
}
END_TEST

START_TEST(a_lost_answer_is_asked_for_again_with_the_same_key)
{
	http_stub_set_rule(
		stub, &(struct http_stub_rule){
			      .sku_id = "", .mode = HTTP_STUB_ANSWER_LOST, .per_mille = 400 });
	sandbox_set(sandbox, "LAPSE_RETRY_BASE", "1ms");
	tasks_insert(query,
		&(struct tasks_plan){ .prefix = "A", .sku = "SKU-", .count = 100, .sku_count = 9 });
	start();
	WAIT_UNTIL(nothing_is_open, NULL);
	ck_assert_uint_eq(http_stub_count_effects(stub), 100);
	ck_assert_uint_eq(http_stub_sum_effects(stub, ""), 200);
	ck_assert_uint_le(http_stub_most_calls(stub), 6);
	expect_nothing_strange();
}
END_TEST

static bool stub_was_called(void *context)
{
	(void)context;
	return http_stub_count_calls(stub) > 0;
}

static bool is_answer_over(void *context)
{
	(void)context;
	return query_number(query, "SELECT COUNT(*) FROM t_compensation WHERE last_error IS NOT "
				   "NULL") == 4;
}

START_TEST(a_call_ends_in_time_and_in_size_whatever_comes)
{
	static const struct http_stub_rule rules[] = {
		{ .sku_id = "SILENT", .mode = HTTP_STUB_HANG },
		{ .sku_id = "TRICKLE", .mode = HTTP_STUB_TRICKLE },
		{ .sku_id = "ENDLESS", .mode = HTTP_STUB_ENDLESS },
		{ .sku_id = "ELSEWHERE",
			.mode = HTTP_STUB_REDIRECT,
			.text = "http://127.0.0.1:1/" },
	};

	sandbox_set(sandbox, "LAPSE_RETRY_BASE", "1h");
	for (size_t i = 0; i < ARRAY_LENGTH(rules); i++) {
		http_stub_set_rule(stub, &rules[i]);
		tasks_insert_one(query, rules[i].sku_id, rules[i].sku_id);
	}
	struct process *process = start();
	WAIT_UNTIL(stub_was_called, NULL);
	uint64_t before_kib = process_resident_kib(process);
	WAIT_UNTIL_WITHIN(is_answer_over, NULL, 5000 + TIMEOUT_MS + 1000);
	query_expect(query, "4 1",
		"SELECT COUNT(*), MAX(calls) FROM t_compensation WHERE status = 'PENDING'");
	ck_assert_uint_le(process_resident_kib(process), before_kib + GROWTH_MAX_KIB);
	sandbox_expect_all_alive(sandbox);
}
END_TEST

START_TEST(hostile_rows_are_dead_uncalled_and_the_others_go_on)
{
	static const char *const payloads[] = { "{}", "[]", "7",
		"{\\\"sku_id\\\":\\\"../admin/reset?x=1#\\\",\\\"quantity\\\":1}",
		"{\\\"sku_id\\\":\\\"S\\\",\\\"quantity\\\":-1}",
		"{\\\"sku_id\\\":\\\"S\\\",\\\"quantity\\\":1e99}",
		"{\\\"sku_id\\\":\\\"S\\\",\\\"sku_id\\\":\\\"T\\\",\\\"quantity\\\":1.5}" };

	for (size_t i = 0; i < ARRAY_LENGTH(payloads); i++)
		query_run(query,
			"INSERT INTO t_compensation (kind, target, idempotency_key, order_no, "
			"payload) VALUES ('STOCK_RESTORE', 'stock', 'k%zu', 'A1', '%s')",
			i, payloads[i]);
	query_run(query,
		"INSERT INTO t_compensation (kind, target, idempotency_key, order_no, payload) "
		"VALUES ('REFUND', 'stock', 'x1', 'A1', '{\"sku_id\":\"S\",\"quantity\":1}'), "
		"('STOCK_RESTORE', 'stock', 'x2', 'A1\\r\\nX: y', "
		"'{\"sku_id\":\"S\",\"quantity\":1}'), "
		"('STOCK_RESTORE', 'stock', 'x3', 'A1', CONCAT('{\"sku_id\":\"S\",\"quantity\":1,"
		"\"x\":\"', REPEAT('x', 200000), '\"}'))");
	tasks_insert(query, &(struct tasks_plan){ .prefix = "G", .sku = "SKU-1", .count = 20 });
	start();
	WAIT_UNTIL(nothing_is_open, NULL);
	ck_assert_int_eq(tasks_count(query, "DONE"), 20);
	query_expect(query, "10 1",
		"SELECT COUNT(*), MIN(last_error LIKE 'cannot be called: %') FROM "
		"t_compensation WHERE status = 'DEAD'");
	query_expect(query, "10", "SELECT COUNT(*) FROM t_alert");
	ck_assert_uint_eq(http_stub_count_calls(stub), 20);
	expect_nothing_strange();
}
END_TEST

static bool all_but_two_are_over(void *context)
{
	(void)context;
	return tasks_count_open(query) == 2;
}

/* A session that is not strict makes '' of a wrong kind; the other rows nobody can change. */
START_TEST(rows_the_schema_refuses_stop_no_other)
{
	query_run(query, "SET check_constraint_checks = 0, sql_mode = ''");
	query_run(query,
		"INSERT INTO t_compensation (kind, target, idempotency_key, order_no, payload, "
		"calls) VALUES ('NONSENSE', 'stock', 'b1', 'A1', '{}', 0), "
		"('STOCK_RESTORE', 'stock', 'b2', 'A1', '{\"sku_id\":', 0), "
		"('STOCK_RESTORE', 'stock', 'b 3', 'A1', '{}', 0), "
		"('STOCK_RESTORE', 'stock', 'b4', 'A1', "
		"'{\"sku_id\":\"SKU-1\",\"quantity\":1}', 4294967295)");
	query_run(query, "SET check_constraint_checks = 1, sql_mode = 'STRICT_TRANS_TABLES'");
	tasks_insert(query, &(struct tasks_plan){ .prefix = "G", .sku = "SKU-1", .count = 20 });
	start();
	WAIT_UNTIL(all_but_two_are_over, NULL);
	ck_assert_int_eq(tasks_count(query, "DONE"), 21);
	query_expect(query, "1",
		"SELECT last_error LIKE 'the kind is none%' FROM "
		"t_compensation WHERE status = 'DEAD'");
	query_expect(query, "1", "SELECT COUNT(*) FROM t_alert");
	expect_nothing_strange();
}
END_TEST

static bool all_but_one_are_over(void *context)
{
	(void)context;
	return tasks_count_open(query) == 1;
}

START_TEST(a_task_of_nobody_we_know_stays_where_it_is)
{
	query_run(query,
		"INSERT INTO t_compensation (kind, target, idempotency_key, order_no, payload) "
		"VALUES ('WEBHOOK', 'somebody', 'x4', 'A1', '{}')");
	tasks_insert(query, &(struct tasks_plan){ .prefix = "G", .sku = "SKU-1", .count = 20 });
	start();
	WAIT_UNTIL(all_but_one_are_over, NULL);
	query_expect(query, "PENDING 0",
		"SELECT status, calls FROM t_compensation WHERE target = 'somebody'");
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		every_task_is_called_once_and_done,
		calls_in_flight_keep_to_the_setting,
		a_failing_task_is_called_six_times_and_raises_one_alert,
		many_tasks_of_one_bad_sku_all_come_to_their_end,
		a_refusal_is_final,
		retry_after_is_honoured,
		a_lost_answer_is_asked_for_again_with_the_same_key,
		a_call_ends_in_time_and_in_size_whatever_comes,
		hostile_rows_are_dead_uncalled_and_the_others_go_on,
		rows_the_schema_refuses_stop_no_other,
		a_task_of_nobody_we_know_stays_where_it_is,
	};
	const struct runner_fixture fixture = { set_up, tear_down };

	sandbox_need_servers();
	return runner_run_with("retry", &fixture, tests, ARRAY_LENGTH(tests));
}
