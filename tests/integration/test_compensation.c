/* compensation: claim, settle and their guards, on a real server. */
#include <stdlib.h>
#include <string.h>

#include "common/base/compiler.h"
#include "common/base/text.h"
#include "common/io/db.h"
#include "common/order/compensation_claim.h"
#include "tests/support/claims.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"

static struct sandbox *sandbox;
static struct query *query;
static struct claims_db ours;
static struct claims_db others;

static void set_up(void)
{
	sandbox_create(SANDBOX_NO_BROKER, &sandbox);
	query = sandbox_query(sandbox);
	claims_connect(sandbox_mysql_url(sandbox), &ours);
	claims_connect(sandbox_mysql_url(sandbox), &others);
}

static void tear_down(void)
{
	claims_disconnect(&ours);
	claims_disconnect(&others);
	sandbox_destroy(&sandbox);
}

/* The lease of everything that runs ends now. */
static void end_leases(void)
{
	query_run(query, "UPDATE t_compensation SET lease_until = UTC_TIMESTAMP(3), "
			 "next_retry_at = UTC_TIMESTAMP(3) WHERE status = 'RUNNING'");
}

START_TEST(a_claim_takes_the_longest_due_leases_and_counts)
{
	claims_insert(query, "STOCK_RESTORE", "stock", 3);
	query_run(query, "UPDATE t_compensation SET next_retry_at = UTC_TIMESTAMP(3) + "
			 "INTERVAL 1 HOUR WHERE id = 2");
	struct compensation_list *list = claims_take(ours.db, "stock", 10);
	ck_assert_uint_eq(list->count, 2);
	ck_assert_uint_eq(list->tasks[0].id, 3);
	ck_assert_uint_eq(list->tasks[1].id, 1);
	ck_assert_str_eq(list->tasks[0].target, "stock");
	ck_assert_str_eq(list->tasks[0].order_no, "A3");
	ck_assert_uint_eq(list->tasks[0].calls, 1);
	ck_assert_uint_eq(list->tasks[0].retry_count, 0);
	ck_assert_uint_eq(list->tasks[0].max_retries, 5);
	ck_assert(strstr(list->tasks[0].payload, "SKU-1") != NULL);
	query_expect(query, "RUNNING 1 0 1",
		"SELECT status, calls, retry_count, "
		"lease_until = next_retry_at AND lease_until > UTC_TIMESTAMP(3) + "
		"INTERVAL 20 SECOND FROM t_compensation WHERE id = 3");
	query_expect(query, "PENDING 0", "SELECT status, calls FROM t_compensation WHERE id = 2");
	compensation_list_destroy(&list);
	ck_assert_ptr_null(claims_take(ours.db, "stock", 10));
	ck_assert_ptr_null(list);
}
END_TEST

START_TEST(a_claim_has_a_limit)
{
	claims_insert(query, "STOCK_RESTORE", "stock", 5);
	struct compensation_list *list = claims_take(ours.db, "stock", 2);
	ck_assert_uint_eq(list->count, 2);
	query_expect(query, "3", "SELECT COUNT(*) FROM t_compensation WHERE status = 'PENDING'");
	compensation_list_destroy(&list);
}
END_TEST

START_TEST(targets_that_are_not_asked_for_are_left_alone)
{
	struct compensation_list *list = NULL;

	claims_insert(query, "STOCK_RESTORE", "stock", 2);
	claims_insert(query, "REFUND", "refund", 2);
	list = claims_take(ours.db, "refund", 10);
	ck_assert_uint_eq(list->count, 2);
	ck_assert_int_eq(list->tasks[0].kind, COMPENSATION_KIND_REFUND);
	query_expect(query, "2", "SELECT COUNT(*) FROM t_compensation WHERE status = 'PENDING'");
	compensation_list_destroy(&list);
	ck_assert_ptr_null(claims_take(ours.db, "nobody", 10));
}
END_TEST

START_TEST(a_claim_reads_its_rows_by_the_index)
{
	char plan[QUERY_TEXT_SIZE];

	claims_insert(query, "STOCK_RESTORE", "stock", 20);
	query_text(query, plan,
		"EXPLAIN SELECT id FROM t_compensation FORCE INDEX (idx_status_next) WHERE "
		"target = 'stock' AND next_retry_at <= UTC_TIMESTAMP(3) AND status = 'PENDING' "
		"ORDER BY next_retry_at LIMIT 10 FOR UPDATE");
	ck_assert_msg(strstr(plan, "idx_status_next") != NULL, "%s", plan);
	ck_assert_msg(strstr(plan, "filesort") == NULL, "%s", plan);
}
END_TEST

START_TEST(a_claim_tells_how_far_the_clock_of_the_server_is_ahead)
{
	struct error error = { .text = "" };

	claims_insert(query, "WEBHOOK", "w", 2);
	struct compensation_list *list = claims_take(ours.db, "w", 1);
	ck_assert_int_lt(llabs(list->server_ahead_ms), 5000);
	compensation_list_destroy(&list);
	ck_assert_int_eq(db_execute(ours.db, "SET timestamp = UNIX_TIMESTAMP() + 86400", NULL, 0,
				 NULL, &error),
		RESULT_OK);
	list = claims_take(ours.db, "w", 1);
	ck_assert_int_lt(llabs(list->server_ahead_ms - INT64_C(86400000)), 5000);
	compensation_list_destroy(&list);
}
END_TEST

START_TEST(two_claims_at_once_never_take_the_same)
{
	struct compensation_list *list = NULL;
	struct compensation_list *other = NULL;

	claims_insert(query, "STOCK_RESTORE", "stock", 4);
	query_run(query, "START TRANSACTION; SELECT id FROM t_compensation WHERE id = 4 FOR "
			 "UPDATE");
	/* A locked row is skipped, not waited for. */
	list = claims_take(ours.db, "stock", 2);
	ck_assert_uint_eq(list->tasks[0].id, 3);
	other = claims_take(others.db, "stock", 10);
	ck_assert_uint_eq(other->count, 1);
	ck_assert_uint_eq(other->tasks[0].id, 1);
	ck_assert_str_ne(list->tasks[0].lease_token, other->tasks[0].lease_token);
	query_run(query, "ROLLBACK");
	compensation_list_destroy(&list);
	compensation_list_destroy(&other);
}
END_TEST

START_TEST(done_is_done)
{
	claims_insert(query, "STOCK_RESTORE", "stock", 3);
	struct compensation_list *list = claims_take(ours.db, "stock", 10);
	claims_settle_all(ours.db, list, COMPENSATION_VERDICT_DONE);
	query_expect(query, "3",
		"SELECT COUNT(*) FROM t_compensation WHERE status = 'DONE' AND "
		"lease_token IS NULL AND lease_until IS NULL AND done_at IS NOT NULL AND "
		"calls = 1 AND retry_count = 0");
	ck_assert(!list->tasks[0].is_lost);
	compensation_list_destroy(&list);
}
END_TEST

START_TEST(a_failed_call_waits_for_its_time)
{
	claims_insert(query, "STOCK_RESTORE", "stock", 1);
	struct compensation_list *list = claims_take(ours.db, "stock", 10);
	list->tasks[0].verdict = COMPENSATION_VERDICT_RETRY;
	list->tasks[0].delay_ms = 60000;
	compensation_set_error(&list->tasks[0], "HTTP 503");
	claims_settle(ours.db, list);
	query_expect(query, "PENDING 0 HTTP 503 1",
		"SELECT status, retry_count, last_error, ABS(TIMESTAMPDIFF(SECOND, "
		"UTC_TIMESTAMP(3), next_retry_at) - 60) <= 2 FROM t_compensation");
	compensation_list_destroy(&list);
}
END_TEST

START_TEST(six_calls_and_then_it_is_dead_with_one_alert)
{
	claims_insert(query, "STOCK_RESTORE", "stock", 1);
	for (uint32_t call = 1; call <= 6; call++) {
		struct compensation_list *list = claims_take(ours.db, "stock", 10);

		ck_assert_uint_eq(list->tasks[0].calls, call);
		ck_assert_uint_eq(list->tasks[0].retry_count, call - 1);
		claims_settle_all(ours.db, list, COMPENSATION_VERDICT_RETRY);
		ck_assert_int_eq(list->tasks[0].is_dead, call == 6);
		compensation_list_destroy(&list);
	}
	query_expect(query, "DEAD 6 5 HTTP 503",
		"SELECT status, calls, retry_count, last_error FROM t_compensation");
	query_expect(query, "TASK_DEAD 1 warning FIRING 1",
		"SELECT kind, ref, severity, state, fired_count FROM t_alert");
	query_expect(query, "stock_restore A1 6 stock_restore failed 6 times order A1: HTTP 503",
		"SELECT JSON_VALUE(labels, '$.kind'), JSON_VALUE(annotations, '$.order_no'), "
		"JSON_VALUE(annotations, '$.calls'), JSON_VALUE(annotations, '$.summary'), "
		"JSON_VALUE(annotations, '$.description') FROM t_alert");
}
END_TEST

START_TEST(an_alert_of_a_webhook_names_its_subscriber)
{
	claims_insert(query, "WEBHOOK", "points", 1);
	struct compensation_list *list = claims_take(ours.db, "points", 10);
	claims_settle_all(ours.db, list, COMPENSATION_VERDICT_DEAD);
	query_expect(query, "webhook to points failed 1 time order A1: points: HTTP 503",
		"SELECT JSON_VALUE(annotations, '$.summary'), "
		"JSON_VALUE(annotations, '$.description') FROM t_alert");
	compensation_list_destroy(&list);
}
END_TEST

START_TEST(a_refused_task_is_dead_at_once)
{
	claims_insert(query, "REFUND", "refund", 1);
	struct compensation_list *list = NULL;
	list = claims_take(ours.db, "refund", 1);
	claims_settle_all(ours.db, list, COMPENSATION_VERDICT_DEAD);
	ck_assert(list->tasks[0].is_dead);
	query_expect(query, "DEAD 1 0", "SELECT status, calls, retry_count FROM t_compensation");
	query_expect(query, "critical", "SELECT severity FROM t_alert");
	compensation_list_destroy(&list);
}
END_TEST

START_TEST(a_task_that_was_not_called_is_not_counted)
{
	claims_insert(query, "STOCK_RESTORE", "stock", 1);
	struct compensation_list *list = claims_take(ours.db, "stock", 1);
	claims_settle_all(ours.db, list, COMPENSATION_VERDICT_NOT_CALLED);
	query_expect(query, "PENDING 0 0", "SELECT status, calls, retry_count FROM t_compensation");
	compensation_list_destroy(&list);
	list = claims_take(ours.db, "stock", 1);
	claims_settle_all(ours.db, list, COMPENSATION_VERDICT_RETRY);
	compensation_list_destroy(&list);
	list = claims_take(ours.db, "stock", 1);
	ck_assert_uint_eq(list->tasks[0].retry_count, 1);
	claims_settle_all(ours.db, list, COMPENSATION_VERDICT_NOT_CALLED);
	query_expect(query, "PENDING 1 0", "SELECT status, calls, retry_count FROM t_compensation");
	compensation_list_destroy(&list);
}
END_TEST

START_TEST(a_zombie_writes_nothing)
{
	static const enum compensation_verdict verdicts[] = { COMPENSATION_VERDICT_DONE,
		COMPENSATION_VERDICT_RETRY, COMPENSATION_VERDICT_DEAD,
		COMPENSATION_VERDICT_NOT_CALLED };

	for (size_t i = 0; i < ARRAY_LENGTH(verdicts); i++) {
		query_run(query, "DELETE FROM t_compensation; "
				 "ALTER TABLE t_compensation AUTO_INCREMENT = 1");
		claims_insert(query, "STOCK_RESTORE", "stock", 2);
		struct compensation_list *zombie = claims_take(ours.db, "stock", 2);
		query_run(query, "UPDATE t_compensation SET lease_until = UTC_TIMESTAMP(3), "
				 "next_retry_at = UTC_TIMESTAMP(3) WHERE id = 1");
		struct compensation_list *heir = claims_take(ours.db, "stock", 2);
		ck_assert_uint_eq(heir->count, 1);
		claims_settle_all(ours.db, zombie, verdicts[i]);
		/* The other one of its batch is settled all the same. */
		for (size_t k = 0; k < zombie->count; k++)
			ck_assert_int_eq(zombie->tasks[k].is_lost, zombie->tasks[k].id == 1);
		query_expect(query, "RUNNING 2 1",
			"SELECT status, calls, retry_count FROM t_compensation WHERE id = 1");
		query_expect(query, "0",
			"SELECT COUNT(*) FROM t_compensation WHERE id = 2 AND "
			"status = 'RUNNING'");
		claims_settle_all(ours.db, heir, COMPENSATION_VERDICT_DONE);
		query_expect(query, "DONE", "SELECT status FROM t_compensation WHERE id = 1");
		claims_settle_all(ours.db, zombie, verdicts[i]);
		query_expect(query, "DONE", "SELECT status FROM t_compensation WHERE id = 1");
		compensation_list_destroy(&zombie);
		compensation_list_destroy(&heir);
	}
	query_expect(query, "1", "SELECT COUNT(*) FROM t_alert");
}
END_TEST

START_TEST(a_call_whose_lease_ended_was_a_call)
{
	claims_insert(query, "STOCK_RESTORE", "stock", 1);
	for (uint32_t call = 1; call <= 6; call++) {
		struct compensation_list *list = claims_take(ours.db, "stock", 1);

		ck_assert_uint_eq(list->tasks[0].calls, call);
		ck_assert(!list->tasks[0].is_dead);
		compensation_list_destroy(&list);
		end_leases();
	}
	struct compensation_list *list = claims_take(ours.db, "stock", 1);
	ck_assert_uint_eq(list->count, 1);
	ck_assert(list->tasks[0].is_dead);
	query_expect(query, "DEAD 6 5 the lease ended during the last call",
		"SELECT status, calls, retry_count, last_error FROM t_compensation");
	query_expect(query, "1 1", "SELECT ref, fired_count FROM t_alert");
	compensation_list_destroy(&list);
	ck_assert_ptr_null(claims_take(ours.db, "stock", 1));
}
END_TEST

START_TEST(a_row_another_program_left_running_is_taken_and_counts)
{
	query_run(query, "INSERT INTO t_compensation (kind, target, idempotency_key, order_no, "
			 "payload, status) VALUES ('STOCK_RESTORE', 'stock', 'k', 'A1', '{}', "
			 "'RUNNING')");
	struct compensation_list *list = claims_take(ours.db, "stock", 1);
	ck_assert_uint_eq(list->tasks[0].retry_count, 1);
	compensation_list_destroy(&list);
}
END_TEST

START_TEST(a_lower_limit_of_retries_lowers_that_of_every_row)
{
	const struct compensation_wish wish = { .target = "stock", .limit = 1 };
	const struct compensation_claim_limits limits = {
		.wishes = &wish, .wish_count = 1, .retry_max = 0, .lease_ms = 30000
	};
	struct compensation_list *list = NULL;
	struct error error = { 0 };

	claims_insert(query, "STOCK_RESTORE", "stock", 1);
	ck_assert_int_eq(compensation_claim(ours.db, &limits, &list, &error), RESULT_OK);
	ck_assert_uint_eq(list->tasks[0].max_retries, 0);
	claims_settle_all(ours.db, list, COMPENSATION_VERDICT_RETRY);
	ck_assert(list->tasks[0].is_dead);
	query_expect(query, "DEAD 5", "SELECT status, max_retries FROM t_compensation");
	compensation_list_destroy(&list);
}
END_TEST

START_TEST(whatever_the_error_is_it_can_be_stored)
{
	char text[4000];

	memset(text, '\xe4', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	memcpy(text, "\xf0\x9f\x98\x80'\";\n", 9);
	claims_insert(query, "STOCK_RESTORE", "stock", 2);
	struct compensation_list *list = claims_take(ours.db, "stock", 2);
	list->tasks[0].verdict = COMPENSATION_VERDICT_RETRY;
	list->tasks[1].verdict = COMPENSATION_VERDICT_DEAD;
	compensation_set_error(&list->tasks[0], text);
	compensation_set_error(&list->tasks[1], text);
	claims_settle(ours.db, list);
	query_expect(query, "2 1",
		"SELECT COUNT(*), MAX(LENGTH(last_error)) <= 512 FROM t_compensation WHERE "
		"last_error LIKE '\xf0\x9f\x98\x80%'");
	compensation_list_destroy(&list);
}
END_TEST

START_TEST(a_payload_that_is_too_long_is_not_read)
{
	claims_insert(query, "STOCK_RESTORE", "stock", 1);
	query_run(query, "UPDATE t_compensation SET payload = CONCAT('{\"x\":\"', "
			 "REPEAT('x', 70000), '\"}')");
	struct compensation_list *list = claims_take(ours.db, "stock", 1);
	ck_assert_ptr_null(list->tasks[0].payload);
	compensation_list_destroy(&list);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		a_claim_takes_the_longest_due_leases_and_counts,
		a_claim_has_a_limit,
		targets_that_are_not_asked_for_are_left_alone,
		a_claim_reads_its_rows_by_the_index,
		a_claim_tells_how_far_the_clock_of_the_server_is_ahead,
		two_claims_at_once_never_take_the_same,
		done_is_done,
		a_failed_call_waits_for_its_time,
		six_calls_and_then_it_is_dead_with_one_alert,
		an_alert_of_a_webhook_names_its_subscriber,
		a_refused_task_is_dead_at_once,
		a_task_that_was_not_called_is_not_counted,
		a_zombie_writes_nothing,
		a_call_whose_lease_ended_was_a_call,
		a_row_another_program_left_running_is_taken_and_counts,
		a_lower_limit_of_retries_lowers_that_of_every_row,
		whatever_the_error_is_it_can_be_stored,
		a_payload_that_is_too_long_is_not_read,
	};
	const struct runner_fixture fixture = { set_up, tear_down };

	sandbox_need_servers();
	return runner_run_with("compensation", &fixture, tests, ARRAY_LENGTH(tests));
}
