/* alert_delivery: one process at a time, leases, silence, all that fires. */
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/db.h"
#include "common/order/alert_delivery.h"
#include "tests/support/alert_rows.h"
#include "tests/support/claims.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"

enum {
	LEASE_MS = ALERT_ROWS_LEASE_MS,
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

static void silence(uint64_t id, uint64_t for_ms, enum result expected)
{
	struct error error = { 0 };

	ck_assert_msg(alert_silence(ours.db, id, for_ms, &error) == expected, "%s", error.text);
}

START_TEST(a_claimed_row_is_leased)
{
	struct error error = { 0 };

	alert_rows_raise(ours.db, "1", "refund", "x");
	struct alert_batch *zombie = alert_rows_claim(ours.db, "ZOMBIE", 0);
	ck_assert_ptr_null(alert_rows_claim(ours.db, "OURS", 0));
	ck_assert_int_eq(alert_end_leases(ours.db, "ZOMBIE", &error), RESULT_OK);
	ck_assert_ptr_null(alert_rows_claim(ours.db, "OURS", 0));
	ck_assert_int_eq(alert_end_leases(ours.db, "OURS", &error), RESULT_OK);
	struct alert_batch *heir = alert_rows_claim(ours.db, "OURS", 0);
	ck_assert_uint_eq(heir->rows[0].attempts, 2);
	alert_rows_settle(ours.db, "ZOMBIE", zombie, ALERT_DELIVERY_SENT, 0);
	query_expect(query, "PENDING OURS", "SELECT delivery_state, lease_token FROM t_alert");
	alert_rows_settle(ours.db, "OURS", heir, ALERT_DELIVERY_SENT, 0);
	query_expect(query, "SENT NULL NULL 1",
		"SELECT delivery_state, lease_token, lease_until, "
		"next_attempt_at > '9999-01-01' FROM t_alert");
	alert_batch_destroy(&zombie);
	alert_batch_destroy(&heir);
}
END_TEST

static void keep(const char *lease_token, const struct alert_batch *batch)
{
	const struct alert_claim claim = { .lease_token = lease_token, .lease_ms = LEASE_MS };
	struct error error = { 0 };

	ck_assert_int_eq(alert_keep(ours.db, &claim, NULL, 0, &error), RESULT_OK);
	ck_assert_int_eq(alert_keep(ours.db, &claim, &batch->rows[0].id, 1, &error), RESULT_OK);
}

START_TEST(a_lease_ends_and_is_kept)
{
	alert_rows_raise(ours.db, "1", "refund", "x");
	struct alert_batch *batch = alert_rows_claim(ours.db, "OURS", 0);
	query_run(query, "UPDATE t_alert SET lease_until = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND");
	keep("OTHER", batch);
	query_expect(query, "0", "SELECT lease_until > UTC_TIMESTAMP(3) FROM t_alert");
	keep("OURS", batch);
	ck_assert_ptr_null(alert_rows_claim(ours.db, "OTHER", 0));
	alert_batch_destroy(&batch);
	query_run(query, "UPDATE t_alert SET lease_until = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND");
	batch = alert_rows_claim(ours.db, "OTHER", 0);
	ck_assert_ptr_nonnull(batch);
	alert_batch_destroy(&batch);
}
END_TEST

START_TEST(one_process_delivers_at_a_time)
{
	struct db *other = NULL;
	struct error error = { 0 };

	db_create(ours.settings, &other);
	ck_assert_int_eq(db_ensure_connected(other, &error), RESULT_OK);
	ck_assert_int_eq(alert_lock(ours.db, &error), RESULT_OK);
	ck_assert_int_eq(alert_lock(other, &error), RESULT_NONE);
	db_disconnect(ours.db);
	while (alert_lock(other, &error) == RESULT_NONE)
		continue;
	db_destroy(&other);
}
END_TEST

START_TEST(what_fires_is_listed_by_group)
{
	struct alert_firing_list *list = memory_allocate(sizeof(*list));
	struct error error = { 0 };

	ck_assert_int_eq(
		alert_list_firing(ours.db, ALERT_SEVERITY_INFO, 240, list, &error), RESULT_OK);
	ck_assert_uint_eq(list->count, 0);
	for (int i = 0; i < 12; i++) {
		char ref[8];

		(void)text_format(ref, sizeof(ref), "%d", i);
		alert_rows_raise(ours.db, ref, "refund", "x");
	}
	alert_rows_raise(ours.db, "90", "stock_restore", "x");
	alert_rows_raise(ours.db, "91", "stock_restore", "x");
	alert_rows_resolve(ours.db, "90");
	query_run(query,
		"UPDATE t_alert SET silenced_until = UTC_TIMESTAMP(3) + INTERVAL 1 HOUR "
		"WHERE ref = '91';"
		"INSERT INTO t_alert (kind, ref, severity, labels, annotations) VALUES "
		"('THRESHOLD', 'LapseOverdue', 'critical', '{}', '{\"summary\":\"late\"}'),"
		"('THRESHOLD', 'LapseLagHigh', 'info', '{}', '[]')");
	ck_assert_msg(
		alert_list_firing(ours.db, ALERT_SEVERITY_WARNING, 240, list, &error) == RESULT_OK,
		"%s", error.text);
	ck_assert_uint_eq(list->count, 2);
	ck_assert_int_eq(list->items[0].kind, ALERT_KIND_TASK_DEAD);
	ck_assert_int_eq(list->items[0].severity, ALERT_SEVERITY_WARNING);
	ck_assert_str_eq(list->items[0].task_kind, "refund");
	ck_assert_str_eq(list->items[0].summary, "it failed");
	ck_assert_uint_eq(list->items[0].count, 12);
	ck_assert_str_eq(list->items[0].examples, "A1, A1, A1, A1, A1, A1, A1, A1, A1, A1");
	ck_assert_str_eq(list->items[1].ref, "LapseOverdue");
	ck_assert_str_eq(list->items[1].summary, "late");
	ck_assert_int_eq(list->items[1].severity, ALERT_SEVERITY_CRITICAL);
	ck_assert_uint_eq(strlen(list->later), strlen("2026-01-31T10:21:03.120Z"));
	ck_assert(strcmp(list->later, list->items[0].fired_at) > 0);
	free(list);
}
END_TEST

START_TEST(what_was_given_up_is_sent_again_on_request)
{
	struct error error = { 0 };

	alert_rows_raise(ours.db, "1", "refund", "x");
	alert_rows_deliver(ours.db, ALERT_DELIVERY_FAILED, 0);
	ck_assert_ptr_null(alert_rows_claim(ours.db, "OURS", 0));
	ck_assert_int_eq(alert_send_again(ours.db, 1, &error), RESULT_OK);
	query_expect(query, "PENDING NULL", "SELECT delivery_state, targets FROM t_alert");
	struct alert_batch *batch = alert_rows_claim(ours.db, "OURS", HOUR_MS);
	ck_assert_uint_eq(batch->count, 1);
	alert_batch_destroy(&batch);
	ck_assert_int_eq(alert_send_again(ours.db, 99, &error), RESULT_CONFLICT);
}
END_TEST

START_TEST(a_silence_does_not_keep_the_good_news)
{
	alert_rows_raise(ours.db, "1", "refund", "x");
	alert_rows_deliver(ours.db, ALERT_DELIVERY_SENT, HOUR_MS);
	silence(1, HOUR_MS, RESULT_OK);
	alert_rows_resolve(ours.db, "1");
	struct alert_batch *batch = alert_rows_claim(ours.db, "OURS", 0);
	ck_assert_uint_eq(batch->count, 1);
	ck_assert(batch->rows[0].is_resolved);
	alert_batch_destroy(&batch);
}
END_TEST

START_TEST(a_silenced_row_waits_for_the_end_of_its_silence)
{
	alert_rows_raise(ours.db, "1", "refund", "x");
	alert_rows_raise(ours.db, "2", "refund", "x");
	silence(1, HOUR_MS, RESULT_OK);
	struct alert_batch *batch = alert_rows_claim(ours.db, "OURS", 0);
	/* Others of its kind still ring. */
	ck_assert_uint_eq(batch->count, 1);
	ck_assert_str_eq(batch->rows[0].ref, "2");
	ck_assert_uint_eq(batch->silenced_count, 1);
	alert_rows_settle(ours.db, "OURS", batch, ALERT_DELIVERY_SENT, HOUR_MS);
	alert_batch_destroy(&batch);
	query_expect(
		query, "1", "SELECT next_attempt_at = silenced_until FROM t_alert WHERE ref = '1'");
	ck_assert_ptr_null(alert_rows_claim(ours.db, "OURS", 0));
	/* It speaks again: now. */
	silence(1, 0, RESULT_OK);
	batch = alert_rows_claim(ours.db, "OURS", 0);
	ck_assert_uint_eq(batch->count, 1);
	alert_batch_destroy(&batch);
	silence(1, UINT64_C(25) * HOUR_MS, RESULT_PERMANENT);
	silence(99, HOUR_MS, RESULT_CONFLICT);
	alert_rows_resolve(ours.db, "2");
	silence(2, HOUR_MS, RESULT_CONFLICT);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		a_claimed_row_is_leased,
		a_lease_ends_and_is_kept,
		one_process_delivers_at_a_time,
		what_fires_is_listed_by_group,
		what_was_given_up_is_sent_again_on_request,
		a_silence_does_not_keep_the_good_news,
		a_silenced_row_waits_for_the_end_of_its_silence,
	};
	const struct runner_fixture fixture = { set_up, tear_down };

	sandbox_need_servers();
	return runner_run_with("alert_delivery", &fixture, tests, ARRAY_LENGTH(tests));
}
