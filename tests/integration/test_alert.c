/* alert: raised once per thing, claimed in company, delivered at least once. */
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/db.h"
#include "common/order/alert.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"

enum {
	LEASE_MS = 60000,
	HOUR_MS = 3600000
};

static struct sandbox *sandbox;
static struct query *query;
static struct db_settings settings;
static struct db *db;

static void set_up(void)
{
	struct error error = { 0 };

	sandbox_create(SANDBOX_NO_BROKER, &sandbox);
	query = sandbox_query(sandbox);
	settings.url = memory_copy_text(sandbox_mysql_url(sandbox));
	settings.lock_wait_ms = 1000;
	db_create(&settings, &db);
	ck_assert_msg(db_ensure_connected(db, &error) == RESULT_OK, "%s", error.text);
}

static void tear_down(void)
{
	db_destroy(&db);
	free(settings.url);
	sandbox_destroy(&sandbox);
}

static void expect(const char *expected, const char *sql)
{
	char text[QUERY_TEXT_SIZE];

	query_text(query, text, "%s", sql);
	ck_assert_msg(text_equals(text, expected), "%s gives %s, not %s", sql, text, expected);
}

static void raise_alert(const char *ref, const char *task_kind, const char *description)
{
	const struct alert_notice notice = { .kind = ALERT_KIND_TASK_DEAD,
		.severity = ALERT_SEVERITY_WARNING,
		.ref = ref,
		.order_no = "A1",
		.task_kind = task_kind,
		.summary = "it failed",
		.description = description,
		.calls = 6 };
	struct error error = { 0 };

	ck_assert_msg(alert_raise(db, &notice, &error) == RESULT_OK, "%s", error.text);
}

static void resolve(const char *ref)
{
	struct error error = { 0 };

	ck_assert_msg(alert_resolve(db, ALERT_KIND_TASK_DEAD, ref, &error) == RESULT_OK, "%s",
		error.text);
}

/* NULL when nothing is due. */
static struct alert_batch *claim(uint64_t group_wait_ms)
{
	struct alert_batch *batch = NULL;
	struct error error = { 0 };
	enum result result = alert_claim(db, 100, LEASE_MS, group_wait_ms, &batch, &error);

	ck_assert_msg(result == RESULT_OK || result == RESULT_NONE, "%s", error.text);
	ck_assert_int_eq(result == RESULT_NONE, batch == NULL);
	return batch;
}

/* delay_ms of alert_put_off, or until the reminder. */
static void settle(struct alert_batch *batch, bool is_sent, uint64_t delay_ms)
{
	uint64_t ids[100];
	struct error error = { 0 };
	const struct alert_delivery delivery = { .lease_token = batch->lease_token,
		.ids = ids,
		.count = batch->count,
		.targets = "{\"ops\":{\"result\":\"http_error\"}}",
		.reason = "ops: HTTP 500 \xff",
		.delay_ms = delay_ms };

	for (size_t i = 0; i < batch->count; i++)
		ids[i] = batch->rows[i].id;
	enum result result = is_sent ? alert_mark_sent(db, &delivery, &error)
				     : alert_put_off(db, &delivery, &error);
	ck_assert_msg(result == RESULT_OK, "%s", error.text);
}

START_TEST(the_same_thing_has_one_row)
{
	raise_alert("7", "refund", "first");
	raise_alert("7", "refund", "second");
	expect("1", "SELECT COUNT(*) FROM t_alert");
	expect("FIRING 1 first PENDING",
		"SELECT state, fired_count, JSON_VALUE(annotations, '$.description'), "
		"delivery_state FROM t_alert");
}
END_TEST

START_TEST(a_thing_that_fails_again_opens_its_row_again)
{
	raise_alert("7", "refund", "first");
	struct alert_batch *batch = claim(0);
	settle(batch, true, HOUR_MS);
	alert_batch_destroy(&batch);
	resolve("7");
	resolve("7");
	resolve("unknown");
	expect("RESOLVED PENDING 0 1",
		"SELECT state, delivery_state, attempts, resolved_at IS NOT NULL FROM t_alert");
	raise_alert("7", "refund", "second");
	expect("FIRING PENDING 2 second NULL",
		"SELECT state, delivery_state, fired_count, "
		"JSON_VALUE(annotations, '$.description'), resolved_at FROM t_alert");
}
END_TEST

START_TEST(a_claimed_row_says_everything)
{
	raise_alert("918273", "stock_restore", "order A1: \"HTTP\" \xff\n");
	struct alert_batch *batch = claim(0);
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
	raise_alert("1", "refund", "x");
	raise_alert("2", "refund", "x");
	raise_alert("3", "stock_restore", "x");
	ck_assert_ptr_null(claim(HOUR_MS));
	query_run(query, "UPDATE t_alert SET fired_at = UTC_TIMESTAMP(3) - INTERVAL 2 HOUR "
			 "WHERE ref = '1'");
	struct alert_batch *batch = claim(HOUR_MS);
	ck_assert_uint_eq(batch->count, 2);
	ck_assert_str_eq(batch->rows[1].ref, "2");
	alert_batch_destroy(&batch);
	ck_assert_ptr_null(claim(HOUR_MS));
}
END_TEST

START_TEST(a_claimed_row_is_leased)
{
	struct error error = { 0 };

	raise_alert("1", "refund", "x");
	struct alert_batch *zombie = claim(0);
	ck_assert_ptr_null(claim(0));
	query_run(query, "UPDATE t_alert SET lease_until = UTC_TIMESTAMP(3)");
	struct alert_batch *heir = claim(0);
	ck_assert_uint_eq(heir->rows[0].attempts, 2);
	settle(zombie, true, 0);
	expect("PENDING", "SELECT delivery_state FROM t_alert");
	ck_assert_int_eq(alert_end_leases(db, &error), RESULT_OK);
	settle(heir, true, 0);
	expect("PENDING", "SELECT delivery_state FROM t_alert");
	alert_batch_destroy(&zombie);
	alert_batch_destroy(&heir);
	heir = claim(0);
	settle(heir, true, 0);
	expect("SENT", "SELECT delivery_state FROM t_alert");
	alert_batch_destroy(&heir);
}
END_TEST

START_TEST(what_changed_during_its_delivery_stays_due)
{
	raise_alert("1", "refund", "x");
	struct alert_batch *batch = claim(0);
	resolve("1");
	settle(batch, true, 0);
	alert_batch_destroy(&batch);
	batch = claim(0);
	ck_assert(batch->rows[0].is_resolved);
	ck_assert_str_ne(batch->rows[0].resolved_at, "");
	settle(batch, true, HOUR_MS);
	alert_batch_destroy(&batch);
	/* Nobody is reminded of what is over. */
	expect("SENT 1", "SELECT delivery_state, next_attempt_at > '9999-01-01' FROM t_alert");
}
END_TEST

START_TEST(a_failed_delivery_is_tried_again_with_what_is_known)
{
	raise_alert("1", "refund", "x");
	struct alert_batch *batch = claim(0);
	settle(batch, false, 30000);
	alert_batch_destroy(&batch);
	ck_assert_ptr_null(claim(0));
	expect("PENDING ops: HTTP 500 ? 1",
		"SELECT delivery_state, last_error, ABS(TIMESTAMPDIFF(SECOND, UTC_TIMESTAMP(3), "
		"next_attempt_at) - 30) <= 2 FROM t_alert");
	query_run(query, "UPDATE t_alert SET next_attempt_at = UTC_TIMESTAMP(3)");
	/* What has been tried waits for no company. */
	batch = claim(HOUR_MS);
	ck_assert_uint_eq(batch->rows[0].attempts, 2);
	ck_assert_str_eq(batch->rows[0].targets, "{\"ops\":{\"result\":\"http_error\"}}");
	settle(batch, false, 0);
	alert_batch_destroy(&batch);
	expect("FAILED", "SELECT delivery_state FROM t_alert");
	ck_assert_ptr_null(claim(0));
}
END_TEST

START_TEST(a_reminder_is_a_delivery_of_its_own)
{
	raise_alert("1", "refund", "x");
	struct alert_batch *batch = claim(0);
	settle(batch, true, HOUR_MS);
	alert_batch_destroy(&batch);
	ck_assert_ptr_null(claim(0));
	query_run(query, "UPDATE t_alert SET next_attempt_at = UTC_TIMESTAMP(3), attempts = 9");
	batch = claim(HOUR_MS);
	ck_assert_uint_eq(batch->rows[0].attempts, 1);
	ck_assert_str_eq(batch->rows[0].targets, "");
	expect("PENDING 1 NULL", "SELECT delivery_state, attempts, targets FROM t_alert");
	alert_batch_destroy(&batch);
}
END_TEST

START_TEST(a_silenced_row_waits)
{
	raise_alert("1", "refund", "x");
	query_run(query, "UPDATE t_alert SET silenced_until = UTC_TIMESTAMP(3) + INTERVAL 1 HOUR");
	ck_assert_ptr_null(claim(0));
}
END_TEST

START_TEST(a_hostile_row_is_delivered_as_far_as_it_can_be_read)
{
	query_run(query,
		"INSERT INTO t_alert (kind, ref, severity, labels, annotations, targets) VALUES "
		"('TASK_DEAD', '1', 'info', '[]', '{\"summary\":7,\"calls\":\"many\"}', '[]'), "
		"('TASK_DEAD', '2', 'info', '{\"kind\":\"0123456789012345678901234567890\"}', "
		"CONCAT('{\"summary\":\"', REPEAT('x', 9000), '\"}'), '{}')");
	struct alert_batch *batch = claim(0);
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
		"SELECT 'OUTBOX_FAILED', '2' UNION SELECT 'THRESHOLD', 'LapseOverdue') x;"
		"INSERT INTO t_alert (kind, ref, severity, labels, annotations) VALUES "
		"('TASK_DEAD', 'just now', 'info', '{}', '{}')");
	ck_assert_msg(alert_resolve_cured(db, &count, &error) == RESULT_OK, "%s", error.text);
	ck_assert_uint_eq(count, 4);
	expect("TASK_DEAD:1,TASK_DEAD:just now,ORDER_STUCK:A,OUTBOX_FAILED:1,"
	       "THRESHOLD:LapseOverdue",
		"SELECT GROUP_CONCAT(kind, ':', ref ORDER BY kind, ref) FROM t_alert "
		"WHERE state = 'FIRING'");
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		the_same_thing_has_one_row,
		a_thing_that_fails_again_opens_its_row_again,
		a_claimed_row_says_everything,
		new_rows_wait_for_their_company_and_are_taken_along,
		a_claimed_row_is_leased,
		what_changed_during_its_delivery_stays_due,
		a_failed_delivery_is_tried_again_with_what_is_known,
		a_reminder_is_a_delivery_of_its_own,
		a_silenced_row_waits,
		a_hostile_row_is_delivered_as_far_as_it_can_be_read,
		what_is_well_again_is_resolved,
	};
	const struct runner_fixture fixture = { set_up, tear_down };

	sandbox_need_servers();
	return runner_run_with("alert", &fixture, tests, ARRAY_LENGTH(tests));
}
