/* alert: raised once per thing, claimed in company, told until everybody knows. */
#include <string.h>

#include "common/order/alert_delivery.h"
#include "tests/support/alert_rows.h"
#include "tests/support/claims.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"

enum {
	HOUR_MS = 3600000
};

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

START_TEST(the_same_thing_has_one_row_and_repeats_are_counted)
{
	alert_rows_raise(ours.db, "7", "refund", "first");
	alert_rows_raise(ours.db, "7", "refund", "second");
	alert_rows_raise(ours.db, "7", "refund", "third");
	query_expect(query, "1", "SELECT COUNT(*) FROM t_alert");
	query_expect(query, "FIRING 1 2 first PENDING",
		"SELECT state, fired_count, repeat_count, JSON_VALUE(annotations, "
		"'$.description'), delivery_state FROM t_alert");
	struct alert_batch *batch = alert_rows_claim(ours.db, "OURS", 0);
	ck_assert_uint_eq(batch->rows[0].repeat_count, 2);
	query_expect(query, "0", "SELECT repeat_count FROM t_alert");
	alert_batch_destroy(&batch);
}
END_TEST

START_TEST(a_thing_that_fails_again_opens_its_row_again)
{
	alert_rows_raise(ours.db, "7", "refund", "first");
	alert_rows_deliver(ours.db, ALERT_DELIVERY_SENT, HOUR_MS);
	alert_rows_resolve(ours.db, "7");
	alert_rows_resolve(ours.db, "7");
	alert_rows_resolve(ours.db, "unknown");
	query_expect(query, "RESOLVED PENDING 0 1",
		"SELECT state, delivery_state, attempts, resolved_at IS NOT NULL FROM t_alert");
	alert_rows_raise(ours.db, "7", "refund", "second");
	query_expect(query, "FIRING PENDING 2 second NULL NULL 0",
		"SELECT state, delivery_state, fired_count, JSON_VALUE(annotations, "
		"'$.description'), resolved_at, targets, repeat_count FROM t_alert");
	/* Nobody has heard that it was over, so those who know are told when it is. */
	alert_rows_resolve(ours.db, "7");
	query_expect(query, "RESOLVED PENDING", "SELECT state, delivery_state FROM t_alert");
}
END_TEST

START_TEST(what_was_over_before_anybody_heard_of_it_is_told_to_nobody)
{
	alert_rows_raise(ours.db, "7", "refund", "first");
	alert_rows_resolve(ours.db, "7");
	query_expect(query, "RESOLVED SENT 1",
		"SELECT state, delivery_state, next_attempt_at > '9999-01-01' FROM t_alert");
	ck_assert_ptr_null(alert_rows_claim(ours.db, "OURS", 0));
	alert_rows_raise(ours.db, "7", "refund", "second");
	query_expect(
		query, "FIRING PENDING 0", "SELECT state, delivery_state, attempts FROM t_alert");
}
END_TEST

START_TEST(a_claimed_row_says_everything)
{
	alert_rows_raise(ours.db, "918273", "stock_restore", "order A1: \"HTTP\" \xff\n");
	struct alert_batch *batch = alert_rows_claim(ours.db, "OURS", 0);
	ck_assert_uint_eq(batch->count, 1);
	const struct alert_row *row = &batch->rows[0];
	ck_assert_int_eq(row->kind, ALERT_KIND_TASK_DEAD);
	ck_assert_int_eq(row->severity, ALERT_SEVERITY_WARNING);
	ck_assert_str_eq(row->ref, "918273");
	ck_assert_str_eq(row->order_no, "A1");
	ck_assert_str_eq(row->task_kind, "stock_restore");
	ck_assert_str_eq(row->summary, "it failed");
	ck_assert_str_eq(row->description, "order A1: \"HTTP\" ??");
	ck_assert_uint_eq(row->calls, 6);
	ck_assert_uint_eq(row->attempts, 1);
	ck_assert(!row->is_resolved);
	ck_assert_uint_eq(strlen(row->fired_at), strlen("2026-01-31T10:21:03.120Z"));
	ck_assert_str_eq(row->fired_at + strlen(row->fired_at) - 1, "Z");
	ck_assert_str_eq(row->resolved_at, "");
	alert_batch_destroy(&batch);
}
END_TEST

START_TEST(new_rows_wait_for_their_company_and_are_taken_along)
{
	alert_rows_raise(ours.db, "1", "refund", "x");
	alert_rows_raise(ours.db, "2", "refund", "x");
	alert_rows_raise(ours.db, "3", "stock_restore", "x");
	ck_assert_ptr_null(alert_rows_claim(ours.db, "OURS", HOUR_MS));
	query_run(query, "UPDATE t_alert SET fired_at = UTC_TIMESTAMP(3) - INTERVAL 2 HOUR "
			 "WHERE ref = '1'");
	struct alert_batch *batch = alert_rows_claim(ours.db, "OURS", HOUR_MS);
	ck_assert_uint_eq(batch->count, 2);
	ck_assert_str_eq(batch->rows[1].ref, "2");
	alert_batch_destroy(&batch);
	ck_assert_ptr_null(alert_rows_claim(ours.db, "OURS", HOUR_MS));
}
END_TEST

START_TEST(what_changed_during_its_delivery_stays_due)
{
	alert_rows_raise(ours.db, "1", "refund", "x");
	struct alert_batch *batch = alert_rows_claim(ours.db, "OURS", 0);
	alert_rows_resolve(ours.db, "1");
	alert_rows_settle(ours.db, "OURS", batch, ALERT_DELIVERY_SENT, 0);
	alert_batch_destroy(&batch);
	batch = alert_rows_claim(ours.db, "OURS", 0);
	ck_assert(batch->rows[0].is_resolved);
	ck_assert_str_ne(batch->rows[0].resolved_at, "");
	alert_rows_settle(ours.db, "OURS", batch, ALERT_DELIVERY_SENT, HOUR_MS);
	alert_batch_destroy(&batch);
	/* Nobody is reminded of what is over. */
	query_expect(query, "SENT 1",
		"SELECT delivery_state, next_attempt_at > '9999-01-01' FROM t_alert");
}
END_TEST

START_TEST(a_failed_delivery_is_tried_again_with_what_is_known)
{
	alert_rows_raise(ours.db, "1", "refund", "x");
	alert_rows_deliver(ours.db, ALERT_DELIVERY_PENDING, 30000);
	ck_assert_ptr_null(alert_rows_claim(ours.db, "OURS", 0));
	query_expect(query, "PENDING ops: HTTP 500 ? 1",
		"SELECT delivery_state, last_error, ABS(TIMESTAMPDIFF(SECOND, UTC_TIMESTAMP(3), "
		"next_attempt_at) - 30) <= 2 FROM t_alert");
	query_run(query, "UPDATE t_alert SET next_attempt_at = UTC_TIMESTAMP(3)");
	/* What has been tried waits for no company. */
	struct alert_batch *batch = alert_rows_claim(ours.db, "OURS", HOUR_MS);
	ck_assert_uint_eq(batch->rows[0].attempts, 2);
	ck_assert_str_eq(batch->rows[0].targets, "{\"ops\":{\"result\":\"http_error\"}}");
	alert_rows_settle(ours.db, "OURS", batch, ALERT_DELIVERY_FAILED, 0);
	alert_batch_destroy(&batch);
	query_expect(query, "FAILED", "SELECT delivery_state FROM t_alert");
	ck_assert_ptr_null(alert_rows_claim(ours.db, "OURS", 0));
}
END_TEST

START_TEST(a_reminder_is_a_delivery_of_its_own)
{
	static const enum alert_delivery_state states[] = { ALERT_DELIVERY_SENT,
		ALERT_DELIVERY_FAILED };

	alert_rows_raise(ours.db, "1", "refund", "x");
	for (size_t i = 0; i < ARRAY_LENGTH(states); i++) {
		alert_rows_deliver(ours.db, states[i], HOUR_MS);
		ck_assert_ptr_null(alert_rows_claim(ours.db, "OURS", 0));
		query_run(query, "UPDATE t_alert SET next_attempt_at = UTC_TIMESTAMP(3)");
		struct alert_batch *batch = alert_rows_claim(ours.db, "OURS", HOUR_MS);
		ck_assert_int_eq(batch->rows[0].delivery, states[i]);
		alert_rows_settle(ours.db, "OURS", batch, ALERT_DELIVERY_PENDING, 1);
		alert_batch_destroy(&batch);
		query_run(query, "UPDATE t_alert SET next_attempt_at = UTC_TIMESTAMP(3)");
	}
}
END_TEST

/* As written by a session that is not strict and checks no constraints. */
START_TEST(a_row_that_is_none_keeps_nobody_elses_alert)
{
	struct error error = { .text = "" };
	uint64_t resolved = 0;

	query_run(query, "SET check_constraint_checks = 0, sql_mode = ''");
	query_run(query,
		"INSERT INTO t_alert (kind, ref, severity, labels, annotations, targets, attempts) "
		"VALUES ('NONE', '1', 'info', '{}', '{}', NULL, 0), "
		"('TASK_DEAD', '2', 'none', '{}', '{}', NULL, 0), "
		"('TASK_DEAD', '3', 'info', '{', '{}', NULL, 0), "
		"('TASK_DEAD', '4', 'info', '{}', '{}', '{', 0), "
		"('TASK_DEAD', 'no number', 'info', '{}', '{}', NULL, 4294967295)");
	query_run(query, "SET check_constraint_checks = 1, sql_mode = 'STRICT_TRANS_TABLES'");
	struct alert_batch *batch = alert_rows_claim(ours.db, "OURS", 0);
	ck_assert_uint_eq(batch->count, 1);
	ck_assert_str_eq(batch->rows[0].ref, "no number");
	alert_batch_destroy(&batch);
	query_run(query, "UPDATE t_alert SET fired_at = UTC_TIMESTAMP(3) - INTERVAL 1 HOUR WHERE "
			 "ref = 'no number'");
	ck_assert_msg(
		alert_resolve_cured(ours.db, &resolved, &error) == RESULT_OK, "%s", error.text);
	ck_assert_uint_eq(resolved, 1);
	alert_rows_raise(ours.db, "2", "refund", "again");
	alert_rows_raise(ours.db, "3", "refund", "again");
	alert_rows_raise(ours.db, "4", "refund", "again");
	batch = alert_rows_claim(ours.db, "OURS", 0);
	ck_assert_uint_eq(batch->count, 4);
	alert_batch_destroy(&batch);
}
END_TEST

START_TEST(a_hostile_row_is_delivered_as_far_as_it_can_be_read)
{
	query_run(query,
		"INSERT INTO t_alert (kind, ref, severity, labels, annotations, targets) VALUES "
		"('TASK_DEAD', '1', 'info', '[]', '{\"summary\":7,\"calls\":\"many\"}', '[]'), "
		"('TASK_DEAD', '2', 'info', '{\"kind\":\"0123456789012345678901234567890\"}', "
		"CONCAT('{\"summary\":\"', REPEAT('x', 9000), '\"}'), '{}')");
	struct alert_batch *batch = alert_rows_claim(ours.db, "OURS", 0);
	ck_assert_uint_eq(batch->count, 2);
	ck_assert_str_eq(batch->rows[0].summary, "");
	ck_assert_uint_eq(batch->rows[0].calls, 0);
	ck_assert_uint_eq(strlen(batch->rows[1].task_kind), 23);
	alert_batch_destroy(&batch);
}
END_TEST

START_TEST(what_is_well_again_is_resolved)
{
	struct error error = { 0 };
	uint64_t count = 0;

	query_run(query,
		"INSERT INTO t_compensation (id, kind, target, idempotency_key, order_no, payload, "
		"status) VALUES (1, 'REFUND', 'refund', 'a', 'A', '{}', 'DEAD'), "
		"(2, 'REFUND', 'refund', 'b', 'A', '{}', 'PENDING');"
		"INSERT INTO t_order (order_no, amount_cents, status) VALUES "
		"('A', 1, 'UNPAID'), ('B', 1, 'CLOSED');"
		"INSERT INTO t_outbox_event (id, event_type, order_no, status) VALUES "
		"(1, 'X', 'A', 'FAILED'), (2, 'X', 'A', 'NEW');"
		"INSERT INTO t_alert (kind, ref, severity, labels, annotations, fired_at) "
		"SELECT kind, ref, 'info', '{}', '{}', UTC_TIMESTAMP(3) - INTERVAL 1 HOUR FROM "
		"(SELECT 'TASK_DEAD' kind, '1' ref UNION SELECT 'TASK_DEAD', '2' UNION "
		"SELECT 'TASK_DEAD', '3' UNION SELECT 'ORDER_STUCK', 'A' UNION "
		"SELECT 'ORDER_STUCK', 'B' UNION SELECT 'OUTBOX_FAILED', '1' UNION "
		"SELECT 'OUTBOX_FAILED', '2' UNION SELECT 'THRESHOLD', 'LapseOverdue' UNION "
		"SELECT 'THRESHOLD', 'LapseTest') x;"
		"INSERT INTO t_alert (kind, ref, severity, labels, annotations) VALUES "
		"('TASK_DEAD', 'just now', 'info', '{}', '{}')");
	ck_assert_msg(alert_resolve_cured(ours.db, &count, &error) == RESULT_OK, "%s", error.text);
	ck_assert_uint_eq(count, 5);
	query_expect(query,
		"TASK_DEAD:1,TASK_DEAD:just now,ORDER_STUCK:A,OUTBOX_FAILED:1,"
		"THRESHOLD:LapseOverdue",
		"SELECT GROUP_CONCAT(kind, ':', ref ORDER BY kind, ref) FROM t_alert "
		"WHERE state = 'FIRING'");
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		the_same_thing_has_one_row_and_repeats_are_counted,
		a_thing_that_fails_again_opens_its_row_again,
		what_was_over_before_anybody_heard_of_it_is_told_to_nobody,
		a_claimed_row_says_everything,
		new_rows_wait_for_their_company_and_are_taken_along,
		what_changed_during_its_delivery_stays_due,
		a_failed_delivery_is_tried_again_with_what_is_known,
		a_reminder_is_a_delivery_of_its_own,
		a_hostile_row_is_delivered_as_far_as_it_can_be_read,
		a_row_that_is_none_keeps_nobody_elses_alert,
		what_is_well_again_is_resolved,
	};
	const struct runner_fixture fixture = { set_up, tear_down };

	sandbox_need_servers();
	return runner_run_with("alert", &fixture, tests, ARRAY_LENGTH(tests));
}
