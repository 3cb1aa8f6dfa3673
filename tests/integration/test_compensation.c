/* compensation: claim, settle and their guards, on a real server. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/db.h"
#include "common/order/alert.h"
#include "common/order/audit.h"
#include "common/order/compensation_claim.h"
#include "common/order/housekeeping.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"

enum {
	LEASE_MS = 30000
};

static struct sandbox *sandbox;
static struct query *query;
static struct db_settings settings;
static struct db *db;
static struct db *other_db;

static void connect(struct db **db_out)
{
	struct error error = { 0 };

	db_create(&settings, db_out);
	ck_assert_msg(db_ensure_connected(*db_out, &error) == RESULT_OK, "%s", error.text);
}

static void set_up(void)
{
	sandbox_create(SANDBOX_NO_BROKER, &sandbox);
	query = sandbox_query(sandbox);
	settings.url = memory_copy_text(sandbox_mysql_url(sandbox));
	settings.lock_wait_ms = 1000;
	connect(&db);
	connect(&other_db);
}

static void tear_down(void)
{
	db_destroy(&db);
	db_destroy(&other_db);
	free(settings.url);
	sandbox_destroy(&sandbox);
}

/* count due tasks with the ids 1, 2, ...; the last one has waited longest. */
static void insert_tasks(const char *kind, const char *target, uint32_t count)
{
	for (uint32_t i = 1; i <= count; i++)
		query_run(query,
			"INSERT INTO t_compensation (kind, target, idempotency_key, order_no, "
			"payload, next_retry_at) VALUES ('%s', '%s', CONCAT('%s:', UUID()), "
			"'A%" PRIu32 "', '{\"sku_id\":\"SKU-1\",\"quantity\":2}', "
			"UTC_TIMESTAMP(3) - INTERVAL %" PRIu32 " SECOND)",
			kind, target, kind, i, i);
}

static enum result claim_from(
	struct db *from, const char *target, uint32_t limit, struct compensation_list **list_out)
{
	const struct compensation_wish wish = { .target = target, .limit = limit };
	const struct compensation_claim_limits limits = { .wishes = &wish,
		.wish_count = 1,
		.retry_max = COMPENSATION_RETRY_MAX,
		.lease_ms = LEASE_MS };
	struct error error = { 0 };
	enum result result = compensation_claim(from, &limits, list_out, &error);

	ck_assert_msg(result == RESULT_OK || result == RESULT_NONE, "%s", error.text);
	return result;
}

static struct compensation_list *claim(uint32_t limit)
{
	struct compensation_list *list = NULL;

	ck_assert_int_eq(claim_from(db, "stock", limit, &list), RESULT_OK);
	return list;
}

static void settle_list(struct compensation_list *list)
{
	struct compensation_task **tasks =
		memory_allocate_array(list->count, sizeof(struct compensation_task *));
	struct error error = { 0 };

	for (size_t i = 0; i < list->count; i++)
		tasks[i] = &list->tasks[i];
	ck_assert_msg(
		compensation_settle(db, tasks, list->count, &error) == RESULT_OK, "%s", error.text);
	free(tasks);
}

static void settle_all(struct compensation_list *list, enum compensation_verdict verdict)
{
	for (size_t i = 0; i < list->count; i++) {
		list->tasks[i].verdict = verdict;
		if (verdict != COMPENSATION_VERDICT_DONE)
			compensation_set_error(&list->tasks[i], "HTTP 503");
	}
	settle_list(list);
}

/* The lease of everything that runs ends now. */
static void end_leases(void)
{
	query_run(query, "UPDATE t_compensation SET lease_until = UTC_TIMESTAMP(3), "
			 "next_retry_at = UTC_TIMESTAMP(3) WHERE status = 'RUNNING'");
}

static void expect(const char *expected, const char *sql)
{
	char text[QUERY_TEXT_SIZE];

	query_text(query, text, "%s", sql);
	ck_assert_msg(text_equals(text, expected), "%s gives %s, not %s", sql, text, expected);
}

START_TEST(a_claim_takes_the_longest_due_leases_and_counts)
{
	insert_tasks("STOCK_RESTORE", "stock", 3);
	query_run(query, "UPDATE t_compensation SET next_retry_at = UTC_TIMESTAMP(3) + "
			 "INTERVAL 1 HOUR WHERE id = 2");
	struct compensation_list *list = claim(10);
	ck_assert_uint_eq(list->count, 2);
	ck_assert_uint_eq(list->tasks[0].id, 3);
	ck_assert_uint_eq(list->tasks[1].id, 1);
	ck_assert_str_eq(list->tasks[0].target, "stock");
	ck_assert_str_eq(list->tasks[0].order_no, "A3");
	ck_assert_uint_eq(list->tasks[0].calls, 1);
	ck_assert_uint_eq(list->tasks[0].retry_count, 0);
	ck_assert_uint_eq(list->tasks[0].max_retries, 5);
	ck_assert(strstr(list->tasks[0].payload, "SKU-1") != NULL);
	expect("RUNNING 1 0 1", "SELECT status, calls, retry_count, "
				"lease_until = next_retry_at AND lease_until > UTC_TIMESTAMP(3) + "
				"INTERVAL 20 SECOND FROM t_compensation WHERE id = 3");
	expect("PENDING 0", "SELECT status, calls FROM t_compensation WHERE id = 2");
	compensation_list_destroy(&list);
	ck_assert_int_eq(claim_from(db, "stock", 10, &list), RESULT_NONE);
	ck_assert_ptr_null(list);
}
END_TEST

START_TEST(a_claim_has_a_limit)
{
	insert_tasks("STOCK_RESTORE", "stock", 5);
	struct compensation_list *list = claim(2);
	ck_assert_uint_eq(list->count, 2);
	expect("3", "SELECT COUNT(*) FROM t_compensation WHERE status = 'PENDING'");
	compensation_list_destroy(&list);
}
END_TEST

START_TEST(targets_that_are_not_asked_for_are_left_alone)
{
	struct compensation_list *list = NULL;

	insert_tasks("STOCK_RESTORE", "stock", 2);
	insert_tasks("REFUND", "refund", 2);
	ck_assert_int_eq(claim_from(db, "refund", 10, &list), RESULT_OK);
	ck_assert_uint_eq(list->count, 2);
	ck_assert_int_eq(list->tasks[0].kind, COMPENSATION_KIND_REFUND);
	expect("2", "SELECT COUNT(*) FROM t_compensation WHERE status = 'PENDING'");
	compensation_list_destroy(&list);
	ck_assert_int_eq(claim_from(db, "nobody", 10, &list), RESULT_NONE);
}
END_TEST

START_TEST(a_claim_reads_its_rows_by_the_index)
{
	char plan[QUERY_TEXT_SIZE];

	insert_tasks("STOCK_RESTORE", "stock", 20);
	query_text(query, plan,
		"EXPLAIN SELECT id FROM t_compensation FORCE INDEX (idx_status_next) WHERE "
		"target = 'stock' AND next_retry_at <= UTC_TIMESTAMP(3) AND status = 'PENDING' "
		"ORDER BY next_retry_at LIMIT 10 FOR UPDATE");
	ck_assert_msg(strstr(plan, "idx_status_next") != NULL, "%s", plan);
	ck_assert_msg(strstr(plan, "filesort") == NULL, "%s", plan);
}
END_TEST

START_TEST(two_claims_at_once_never_take_the_same)
{
	struct compensation_list *list = NULL;
	struct compensation_list *other = NULL;

	insert_tasks("STOCK_RESTORE", "stock", 4);
	query_run(query, "START TRANSACTION; SELECT id FROM t_compensation WHERE id = 4 FOR "
			 "UPDATE");
	/* A locked row is skipped, not waited for. */
	ck_assert_int_eq(claim_from(db, "stock", 2, &list), RESULT_OK);
	ck_assert_uint_eq(list->tasks[0].id, 3);
	ck_assert_int_eq(claim_from(other_db, "stock", 10, &other), RESULT_OK);
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
	insert_tasks("STOCK_RESTORE", "stock", 3);
	struct compensation_list *list = claim(10);
	settle_all(list, COMPENSATION_VERDICT_DONE);
	expect("3", "SELECT COUNT(*) FROM t_compensation WHERE status = 'DONE' AND "
		    "lease_token IS NULL AND lease_until IS NULL AND done_at IS NOT NULL AND "
		    "calls = 1 AND retry_count = 0");
	ck_assert(!list->tasks[0].is_lost);
	compensation_list_destroy(&list);
}
END_TEST

START_TEST(a_failed_call_waits_for_its_time)
{
	insert_tasks("STOCK_RESTORE", "stock", 1);
	struct compensation_list *list = claim(10);
	list->tasks[0].verdict = COMPENSATION_VERDICT_RETRY;
	list->tasks[0].delay_ms = 60000;
	compensation_set_error(&list->tasks[0], "HTTP 503");
	settle_list(list);
	expect("PENDING 0 HTTP 503 1",
		"SELECT status, retry_count, last_error, ABS(TIMESTAMPDIFF(SECOND, "
		"UTC_TIMESTAMP(3), next_retry_at) - 60) <= 2 FROM t_compensation");
	compensation_list_destroy(&list);
}
END_TEST

START_TEST(six_calls_and_then_it_is_dead_with_one_alert)
{
	insert_tasks("STOCK_RESTORE", "stock", 1);
	for (uint32_t call = 1; call <= 6; call++) {
		struct compensation_list *list = claim(10);

		ck_assert_uint_eq(list->tasks[0].calls, call);
		ck_assert_uint_eq(list->tasks[0].retry_count, call - 1);
		settle_all(list, COMPENSATION_VERDICT_RETRY);
		ck_assert_int_eq(list->tasks[0].is_dead, call == 6);
		compensation_list_destroy(&list);
	}
	expect("DEAD 6 5 HTTP 503",
		"SELECT status, calls, retry_count, last_error FROM t_compensation");
	expect("TASK_DEAD 1 warning FIRING 1",
		"SELECT kind, ref, severity, state, fired_count FROM t_alert");
	expect("stock_restore A1 6 stock_restore failed 6 times order A1: HTTP 503",
		"SELECT JSON_VALUE(labels, '$.kind'), JSON_VALUE(annotations, '$.order_no'), "
		"JSON_VALUE(annotations, '$.calls'), JSON_VALUE(annotations, '$.summary'), "
		"JSON_VALUE(annotations, '$.description') FROM t_alert");
}
END_TEST

START_TEST(a_refused_task_is_dead_at_once)
{
	insert_tasks("REFUND", "refund", 1);
	struct compensation_list *list = NULL;
	ck_assert_int_eq(claim_from(db, "refund", 1, &list), RESULT_OK);
	settle_all(list, COMPENSATION_VERDICT_DEAD);
	ck_assert(list->tasks[0].is_dead);
	expect("DEAD 1 0", "SELECT status, calls, retry_count FROM t_compensation");
	expect("critical", "SELECT severity FROM t_alert");
	compensation_list_destroy(&list);
}
END_TEST

START_TEST(a_task_that_was_not_called_is_not_counted)
{
	insert_tasks("STOCK_RESTORE", "stock", 1);
	struct compensation_list *list = claim(1);
	settle_all(list, COMPENSATION_VERDICT_NOT_CALLED);
	expect("PENDING 0 0", "SELECT status, calls, retry_count FROM t_compensation");
	compensation_list_destroy(&list);
	list = claim(1);
	settle_all(list, COMPENSATION_VERDICT_RETRY);
	compensation_list_destroy(&list);
	list = claim(1);
	ck_assert_uint_eq(list->tasks[0].retry_count, 1);
	settle_all(list, COMPENSATION_VERDICT_NOT_CALLED);
	expect("PENDING 1 0", "SELECT status, calls, retry_count FROM t_compensation");
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
		insert_tasks("STOCK_RESTORE", "stock", 2);
		struct compensation_list *zombie = claim(2);
		query_run(query, "UPDATE t_compensation SET lease_until = UTC_TIMESTAMP(3), "
				 "next_retry_at = UTC_TIMESTAMP(3) WHERE id = 1");
		struct compensation_list *heir = claim(2);
		ck_assert_uint_eq(heir->count, 1);
		settle_all(zombie, verdicts[i]);
		/* The other one of its batch is settled all the same. */
		for (size_t k = 0; k < zombie->count; k++)
			ck_assert_int_eq(zombie->tasks[k].is_lost, zombie->tasks[k].id == 1);
		expect("RUNNING 2 1",
			"SELECT status, calls, retry_count FROM t_compensation WHERE id = 1");
		expect("0", "SELECT COUNT(*) FROM t_compensation WHERE id = 2 AND "
			    "status = 'RUNNING'");
		settle_all(heir, COMPENSATION_VERDICT_DONE);
		expect("DONE", "SELECT status FROM t_compensation WHERE id = 1");
		settle_all(zombie, verdicts[i]);
		expect("DONE", "SELECT status FROM t_compensation WHERE id = 1");
		compensation_list_destroy(&zombie);
		compensation_list_destroy(&heir);
	}
	expect("1", "SELECT COUNT(*) FROM t_alert");
}
END_TEST

START_TEST(a_call_whose_lease_ended_was_a_call)
{
	insert_tasks("STOCK_RESTORE", "stock", 1);
	for (uint32_t call = 1; call <= 6; call++) {
		struct compensation_list *list = claim(1);

		ck_assert_uint_eq(list->tasks[0].calls, call);
		ck_assert(!list->tasks[0].is_dead);
		compensation_list_destroy(&list);
		end_leases();
	}
	struct compensation_list *list = claim(1);
	ck_assert_uint_eq(list->count, 1);
	ck_assert(list->tasks[0].is_dead);
	expect("DEAD 6 5 the lease ended during the last call",
		"SELECT status, calls, retry_count, last_error FROM t_compensation");
	expect("1 1", "SELECT ref, fired_count FROM t_alert");
	compensation_list_destroy(&list);
	ck_assert_int_eq(claim_from(db, "stock", 1, &list), RESULT_NONE);
}
END_TEST

START_TEST(a_row_another_program_left_running_is_taken_and_counts)
{
	query_run(query, "INSERT INTO t_compensation (kind, target, idempotency_key, order_no, "
			 "payload, status) VALUES ('STOCK_RESTORE', 'stock', 'k', 'A1', '{}', "
			 "'RUNNING')");
	struct compensation_list *list = claim(1);
	ck_assert_uint_eq(list->tasks[0].retry_count, 1);
	compensation_list_destroy(&list);
}
END_TEST

START_TEST(a_lower_limit_of_retries_lowers_that_of_every_row)
{
	const struct compensation_wish wish = { .target = "stock", .limit = 1 };
	const struct compensation_claim_limits limits = {
		.wishes = &wish, .wish_count = 1, .retry_max = 0, .lease_ms = LEASE_MS
	};
	struct compensation_list *list = NULL;
	struct error error = { 0 };

	insert_tasks("STOCK_RESTORE", "stock", 1);
	ck_assert_int_eq(compensation_claim(db, &limits, &list, &error), RESULT_OK);
	ck_assert_uint_eq(list->tasks[0].max_retries, 0);
	settle_all(list, COMPENSATION_VERDICT_RETRY);
	ck_assert(list->tasks[0].is_dead);
	expect("DEAD 5", "SELECT status, max_retries FROM t_compensation");
	compensation_list_destroy(&list);
}
END_TEST

START_TEST(whatever_the_error_is_it_can_be_stored)
{
	char text[4000];

	memset(text, '\xe4', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	memcpy(text, "\xf0\x9f\x98\x80'\";\n", 9);
	insert_tasks("STOCK_RESTORE", "stock", 2);
	struct compensation_list *list = claim(2);
	list->tasks[0].verdict = COMPENSATION_VERDICT_RETRY;
	list->tasks[1].verdict = COMPENSATION_VERDICT_DEAD;
	compensation_set_error(&list->tasks[0], text);
	compensation_set_error(&list->tasks[1], text);
	settle_list(list);
	expect("2 1", "SELECT COUNT(*), MAX(LENGTH(last_error)) <= 512 FROM t_compensation WHERE "
		      "last_error LIKE '\xf0\x9f\x98\x80%'");
	compensation_list_destroy(&list);
}
END_TEST

START_TEST(a_payload_that_is_too_long_is_not_read)
{
	insert_tasks("STOCK_RESTORE", "stock", 1);
	query_run(query, "UPDATE t_compensation SET payload = CONCAT('{\"x\":\"', "
			 "REPEAT('x', 70000), '\"}')");
	struct compensation_list *list = claim(1);
	ck_assert_ptr_null(list->tasks[0].payload);
	compensation_list_destroy(&list);
}
END_TEST

static void insert_refund(void)
{
	query_run(query,
		"INSERT INTO t_payment (channel, trade_no, order_no, amount_cents, currency, "
		"outcome, refund_state) VALUES ('pay', 'T1', 'A1', 5, 'CNY', 'LATE', 'PENDING'), "
		"('pay', 'T2', 'A1', 5, 'CNY', 'LATE', 'PENDING');"
		"INSERT INTO t_compensation (kind, target, idempotency_key, order_no, payload) "
		"VALUES ('REFUND', 'refund', 'refund:pay:T1', 'A1', "
		"'{\"channel\":\"pay\",\"trade_no\":\"T1\",\"amount_cents\":5,\"currency\":"
		"\"CNY\"}')");
}

START_TEST(the_payment_knows_how_its_refund_ended)
{
	static const struct {
		enum compensation_verdict verdict;
		const char *state;
	} cases[] = { { COMPENSATION_VERDICT_NOT_CALLED, "PENDING PENDING" },
		{ COMPENSATION_VERDICT_RETRY, "PENDING PENDING" },
		{ COMPENSATION_VERDICT_DONE, "DONE PENDING" } };

	insert_refund();
	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		struct compensation_list *list = NULL;

		ck_assert_int_eq(claim_from(db, "refund", 1, &list), RESULT_OK);
		settle_all(list, cases[i].verdict);
		compensation_list_destroy(&list);
		expect(cases[i].state,
			"SELECT (SELECT refund_state FROM t_payment WHERE trade_no = 'T1'), "
			"(SELECT refund_state FROM t_payment WHERE trade_no = 'T2')");
	}
}
END_TEST

static const struct audit_actor actor = { .actor = "maria@host",
	.role = "admin",
	.auth = "cli",
	.request_id = "r1" };

/* A DEAD task with its alert. */
static void make_dead(void)
{
	struct compensation_list *list = NULL;

	insert_refund();
	ck_assert_int_eq(claim_from(db, "refund", 1, &list), RESULT_OK);
	settle_all(list, COMPENSATION_VERDICT_DEAD);
	compensation_list_destroy(&list);
	expect("FAILED", "SELECT refund_state FROM t_payment WHERE trade_no = 'T1'");
}

START_TEST(a_requeued_task_gets_five_more_retries)
{
	struct error error = { 0 };

	make_dead();
	query_run(query, "UPDATE t_compensation SET retry_count = 5, calls = 6");
	ck_assert_int_eq(compensation_requeue(db, 1, 5, &actor, &error), RESULT_OK);
	expect("PENDING 5 10 HTTP 503 1", "SELECT status, retry_count, max_retries, last_error, "
					  "next_retry_at <= UTC_TIMESTAMP(3) FROM t_compensation");
	expect("RESOLVED PENDING", "SELECT state, delivery_state FROM t_alert");
	expect("PENDING", "SELECT refund_state FROM t_payment WHERE trade_no = 'T1'");
	expect("maria@host requeue task 1 ok DEAD PENDING 10",
		"SELECT actor, action, target_type, target_id, result, "
		"JSON_VALUE(before_json, '$.status'), JSON_VALUE(after_json, '$.status'), "
		"JSON_VALUE(after_json, '$.max_retries') FROM t_operator_audit");
	/* And it is called five more times before it is DEAD again. */
	for (uint32_t call = 1; call <= 5; call++) {
		struct compensation_list *list = NULL;

		ck_assert_int_eq(claim_from(db, "refund", 1, &list), RESULT_OK);
		settle_all(list, COMPENSATION_VERDICT_RETRY);
		ck_assert_int_eq(list->tasks[0].is_dead, call == 5);
		compensation_list_destroy(&list);
	}
	expect("FIRING 2", "SELECT state, fired_count FROM t_alert");
}
END_TEST

START_TEST(only_a_dead_task_that_has_not_moved_is_requeued)
{
	struct error error = { 0 };

	make_dead();
	ck_assert_int_eq(compensation_requeue(db, 99, UINT32_MAX, &actor, &error), RESULT_NONE);
	ck_assert_int_eq(compensation_requeue(db, 1, 3, &actor, &error), RESULT_CONFLICT);
	expect("conflict 1", "SELECT result, COUNT(*) FROM t_operator_audit");
	/* The same request again is told apart, whatever it would do now. */
	ck_assert_int_eq(compensation_requeue(db, 1, UINT32_MAX, &actor, &error), RESULT_CONFLICT);
	expect("DEAD", "SELECT status FROM t_compensation");
	struct audit_actor another = actor;
	another.request_id = "r2";
	ck_assert_int_eq(compensation_requeue(db, 1, UINT32_MAX, &another, &error), RESULT_OK);
	another.request_id = "r3";
	ck_assert_int_eq(
		compensation_requeue(db, 1, UINT32_MAX, &another, &error), RESULT_CONFLICT);
	ck_assert(strstr(error.text, "PENDING, not DEAD") != NULL);
}
END_TEST

START_TEST(a_resolved_task_has_a_reason)
{
	struct error error = { 0 };

	make_dead();
	ck_assert_int_eq(compensation_resolve(db, 1, "because", "long enough", &actor, &error),
		RESULT_PERMANENT);
	ck_assert_int_eq(
		compensation_resolve(db, 1, "other", "abcd", &actor, &error), RESULT_PERMANENT);
	ck_assert_int_eq(
		compensation_resolve(db, 1, "other", NULL, &actor, &error), RESULT_PERMANENT);
	ck_assert_int_eq(
		compensation_resolve(db, 1, "refunded_by_hand",
			"\xe5\xb7\xb2\xe9\x80\x80\xe6\xac\xbe\xe4\xba\x86!", &actor, &error),
		RESULT_OK);
	expect("RESOLVED", "SELECT status FROM t_compensation");
	expect("DONE", "SELECT refund_state FROM t_payment WHERE trade_no = 'T1'");
	expect("RESOLVED", "SELECT state FROM t_alert");
	expect("resolve ok refunded_by_hand \xe5\xb7\xb2\xe9\x80\x80\xe6\xac\xbe\xe4\xba\x86!",
		"SELECT action, result, reason_code, reason_text FROM t_operator_audit");
}
END_TEST

START_TEST(old_done_tasks_of_every_target_are_deleted)
{
	struct error error = { 0 };
	uint64_t deleted = 0;

	insert_tasks("STOCK_RESTORE", "stock", 3);
	insert_tasks("REFUND", "refund", 3);
	query_run(query, "UPDATE t_compensation SET status = 'DONE', done_at = UTC_TIMESTAMP(3) - "
			 "INTERVAL 8 DAY, next_retry_at = done_at WHERE id NOT IN (1, 4); "
			 "UPDATE t_compensation SET status = 'DONE', done_at = UTC_TIMESTAMP(3), "
			 "next_retry_at = done_at WHERE id = 1");
	ck_assert_int_eq(housekeeping_delete(db, HOUSEKEEPING_COMPENSATION, UINT64_C(604800000), 3,
				 &deleted, &error),
		RESULT_OK);
	ck_assert_uint_eq(deleted, 3);
	ck_assert_int_eq(housekeeping_delete(db, HOUSEKEEPING_COMPENSATION, UINT64_C(604800000), 3,
				 &deleted, &error),
		RESULT_OK);
	ck_assert_uint_eq(deleted, 1);
	expect("2", "SELECT COUNT(*) FROM t_compensation WHERE id IN (1, 4)");
	expect("2", "SELECT COUNT(*) FROM t_compensation");
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		a_claim_takes_the_longest_due_leases_and_counts,
		a_claim_has_a_limit,
		targets_that_are_not_asked_for_are_left_alone,
		a_claim_reads_its_rows_by_the_index,
		two_claims_at_once_never_take_the_same,
		done_is_done,
		a_failed_call_waits_for_its_time,
		six_calls_and_then_it_is_dead_with_one_alert,
		a_refused_task_is_dead_at_once,
		a_task_that_was_not_called_is_not_counted,
		a_zombie_writes_nothing,
		a_call_whose_lease_ended_was_a_call,
		a_row_another_program_left_running_is_taken_and_counts,
		a_lower_limit_of_retries_lowers_that_of_every_row,
		whatever_the_error_is_it_can_be_stored,
		a_payload_that_is_too_long_is_not_read,
		the_payment_knows_how_its_refund_ended,
		a_requeued_task_gets_five_more_retries,
		only_a_dead_task_that_has_not_moved_is_requeued,
		a_resolved_task_has_a_reason,
		old_done_tasks_of_every_target_are_deleted,
	};
	const struct runner_fixture fixture = { set_up, tear_down };

	sandbox_need_servers();
	return runner_run_with("compensation", &fixture, tests, ARRAY_LENGTH(tests));
}
