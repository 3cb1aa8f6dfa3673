/* compensation: what goes along when a task ends, and what an operator may do with it. */
#include <stdlib.h>
#include <string.h>

#include "common/base/compiler.h"
#include "common/base/text.h"
#include "common/order/audit.h"
#include "common/order/compensation.h"
#include "common/order/housekeeping.h"
#include "tests/support/claims.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"

static struct sandbox *sandbox;
static struct query *query;
static struct claims_db ours;

static void set_up(void)
{
	sandbox_create(SANDBOX_NO_BROKER, &sandbox);
	query = sandbox_query(sandbox);
	claims_connect(sandbox_mysql_url(sandbox), &ours);
}

static void tear_down(void)
{
	claims_disconnect(&ours);
	sandbox_destroy(&sandbox);
}

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

		list = claims_take(ours.db, "refund", 1);
		claims_settle_all(ours.db, list, cases[i].verdict);
		compensation_list_destroy(&list);
		query_expect(query, cases[i].state,
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
	list = claims_take(ours.db, "refund", 1);
	claims_settle_all(ours.db, list, COMPENSATION_VERDICT_DEAD);
	compensation_list_destroy(&list);
	query_expect(query, "FAILED", "SELECT refund_state FROM t_payment WHERE trade_no = 'T1'");
}

START_TEST(a_requeued_task_gets_five_more_retries)
{
	struct error error = { 0 };

	make_dead();
	query_run(query, "UPDATE t_compensation SET retry_count = 5, calls = 6");
	ck_assert_int_eq(compensation_requeue(ours.db, 1, 5, &actor, &error), RESULT_OK);
	query_expect(query, "PENDING 5 10 HTTP 503 1",
		"SELECT status, retry_count, max_retries, last_error, "
		"next_retry_at <= UTC_TIMESTAMP(3) FROM t_compensation");
	/* Nobody had been told. */
	query_expect(query, "RESOLVED SENT", "SELECT state, delivery_state FROM t_alert");
	query_expect(query, "PENDING", "SELECT refund_state FROM t_payment WHERE trade_no = 'T1'");
	query_expect(query, "maria@host requeue task 1 ok DEAD PENDING 10",
		"SELECT actor, action, target_type, target_id, result, "
		"JSON_VALUE(before_json, '$.status'), JSON_VALUE(after_json, '$.status'), "
		"JSON_VALUE(after_json, '$.max_retries') FROM t_operator_audit");
	/* And it is called five more times before it is DEAD again. */
	for (uint32_t call = 1; call <= 5; call++) {
		struct compensation_list *list = NULL;

		list = claims_take(ours.db, "refund", 1);
		claims_settle_all(ours.db, list, COMPENSATION_VERDICT_RETRY);
		ck_assert_int_eq(list->tasks[0].is_dead, call == 5);
		compensation_list_destroy(&list);
	}
	query_expect(query, "FIRING 2", "SELECT state, fired_count FROM t_alert");
}
END_TEST

START_TEST(only_a_dead_task_that_has_not_moved_is_requeued)
{
	struct error error = { 0 };

	make_dead();
	ck_assert_int_eq(
		compensation_requeue(ours.db, 99, UINT32_MAX, &actor, &error), RESULT_NONE);
	ck_assert_int_eq(compensation_requeue(ours.db, 1, 3, &actor, &error), RESULT_CONFLICT);
	query_expect(query, "conflict 1", "SELECT result, COUNT(*) FROM t_operator_audit");
	/* The same request again is told apart, whatever it would do now. */
	ck_assert_int_eq(
		compensation_requeue(ours.db, 1, UINT32_MAX, &actor, &error), RESULT_CONFLICT);
	query_expect(query, "DEAD", "SELECT status FROM t_compensation");
	struct audit_actor another = actor;
	another.request_id = "r2";
	ck_assert_int_eq(compensation_requeue(ours.db, 1, UINT32_MAX, &another, &error), RESULT_OK);
	another.request_id = "r3";
	ck_assert_int_eq(
		compensation_requeue(ours.db, 1, UINT32_MAX, &another, &error), RESULT_CONFLICT);
	ck_assert(strstr(error.text, "PENDING, not DEAD") != NULL);
}
END_TEST

START_TEST(a_resolved_task_has_a_reason)
{
	struct error error = { 0 };

	make_dead();
	ck_assert_int_eq(compensation_resolve(ours.db, 1, "because", "long enough", &actor, &error),
		RESULT_PERMANENT);
	ck_assert_int_eq(compensation_resolve(ours.db, 1, "other", "abcd", &actor, &error),
		RESULT_PERMANENT);
	ck_assert_int_eq(
		compensation_resolve(ours.db, 1, "other", NULL, &actor, &error), RESULT_PERMANENT);
	ck_assert_int_eq(
		compensation_resolve(ours.db, 1, "refunded_by_hand",
			"\xe5\xb7\xb2\xe9\x80\x80\xe6\xac\xbe\xe4\xba\x86!", &actor, &error),
		RESULT_OK);
	query_expect(query, "RESOLVED", "SELECT status FROM t_compensation");
	query_expect(query, "DONE", "SELECT refund_state FROM t_payment WHERE trade_no = 'T1'");
	query_expect(query, "RESOLVED", "SELECT state FROM t_alert");
	query_expect(query,
		"resolve ok refunded_by_hand \xe5\xb7\xb2\xe9\x80\x80\xe6\xac\xbe\xe4\xba\x86!",
		"SELECT action, result, reason_code, reason_text FROM t_operator_audit");
}
END_TEST

START_TEST(old_done_tasks_of_every_target_are_deleted)
{
	struct error error = { 0 };
	uint64_t deleted = 0;

	claims_insert(query, "STOCK_RESTORE", "stock", 3);
	claims_insert(query, "REFUND", "refund", 3);
	query_run(query, "UPDATE t_compensation SET status = 'DONE', done_at = UTC_TIMESTAMP(3) - "
			 "INTERVAL 8 DAY, next_retry_at = done_at WHERE id NOT IN (1, 4); "
			 "UPDATE t_compensation SET status = 'DONE', done_at = UTC_TIMESTAMP(3), "
			 "next_retry_at = done_at WHERE id = 1");
	ck_assert_int_eq(housekeeping_delete(ours.db, HOUSEKEEPING_COMPENSATION,
				 UINT64_C(604800000), 3, &deleted, &error),
		RESULT_OK);
	ck_assert_uint_eq(deleted, 3);
	ck_assert_int_eq(housekeeping_delete(ours.db, HOUSEKEEPING_COMPENSATION,
				 UINT64_C(604800000), 3, &deleted, &error),
		RESULT_OK);
	ck_assert_uint_eq(deleted, 1);
	query_expect(query, "2", "SELECT COUNT(*) FROM t_compensation WHERE id IN (1, 4)");
	query_expect(query, "2", "SELECT COUNT(*) FROM t_compensation");
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		the_payment_knows_how_its_refund_ended,
		a_requeued_task_gets_five_more_retries,
		only_a_dead_task_that_has_not_moved_is_requeued,
		a_resolved_task_has_a_reason,
		old_done_tasks_of_every_target_are_deleted,
	};
	const struct runner_fixture fixture = { set_up, tear_down };

	sandbox_need_servers();
	return runner_run_with("compensation_act", &fixture, tests, ARRAY_LENGTH(tests));
}
