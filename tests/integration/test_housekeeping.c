/* housekeeping_delete: what is over and old goes, everything else stays. */
#include <string.h>

#include "common/base/text.h"
#include "common/order/housekeeping.h"
#include "tests/support/daemon.h"
#include "tests/support/direct_db.h"
#include "tests/support/process.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/wait_until.h"

#define DAY_MS UINT64_C(86400000)

enum {
	STOP_LIMIT_MS = 10000
};

static struct sandbox *sandbox;
static struct query *query;
static struct direct_db direct;

static void set_up(void)
{
	sandbox_create(SANDBOX_NO_BROKER, &sandbox);
	query = sandbox_query(sandbox);
	direct_db_open(&direct, sandbox, NULL, NULL);
}

static void tear_down(void)
{
	direct_db_close(&direct);
	sandbox_destroy(&sandbox);
}

static uint64_t delete_old(enum housekeeping_table table, uint64_t retention_ms, size_t limit)
{
	struct error error = { .text = "" };
	uint64_t deleted = 0;
	enum result result =
		housekeeping_delete(direct.db, table, retention_ms, limit, &deleted, &error);

	ck_assert_msg(result == RESULT_OK, "%s", error.text);
	return deleted;
}

/* One of each status, ended 8 days ago, and the same ended now. */
static void insert_events(void)
{
	query_run(query,
		"INSERT INTO t_outbox_event(event_type,order_no,status,available_at,created_at,"
		"sent_at) SELECT 'ORDER_PAID', CONCAT(s.status, a.days), s.status, "
		"UTC_TIMESTAMP(3) - INTERVAL a.days DAY, UTC_TIMESTAMP(3) - INTERVAL a.days DAY, "
		"IF(s.status = 'SENT', UTC_TIMESTAMP(3) - INTERVAL a.days DAY, NULL) FROM "
		"(SELECT 'NEW' status UNION SELECT 'SENT' UNION SELECT 'FAILED') s, "
		"(SELECT 8 days UNION SELECT 0) a");
	/* Slept in the outbox for long, sent just now. */
	query_run(query, "INSERT INTO t_outbox_event(event_type,order_no,status,available_at,"
			 "sent_at) VALUES ('ORDER_PAID','LATE','SENT',"
			 "UTC_TIMESTAMP(3) - INTERVAL 9 DAY, UTC_TIMESTAMP(3))");
}

static void insert_tasks(const char *target)
{
	query_run(query,
		"INSERT INTO t_compensation(kind,target,idempotency_key,order_no,payload,status,"
		"next_retry_at,done_at) SELECT 'WEBHOOK', '%s', CONCAT('%s:', s.status, a.days), "
		"'A', '{}', s.status, UTC_TIMESTAMP(3) - INTERVAL a.days DAY, "
		"IF(s.status = 'DONE', UTC_TIMESTAMP(3) - INTERVAL a.days DAY, NULL) FROM "
		"(SELECT 'PENDING' status UNION SELECT 'RUNNING' UNION SELECT 'DONE' UNION SELECT "
		"'DEAD' UNION SELECT 'RESOLVED') s, (SELECT 8 days UNION SELECT 0) a",
		target, target);
}

START_TEST(only_sent_events_that_are_old_go)
{
	insert_events();
	ck_assert_uint_eq(delete_old(HOUSEKEEPING_OUTBOX, 3650 * DAY_MS, 100), 0);
	ck_assert_uint_eq(delete_old(HOUSEKEEPING_OUTBOX, 7 * DAY_MS, 100), 1);
	ck_assert_uint_eq(delete_old(HOUSEKEEPING_OUTBOX, 7 * DAY_MS, 100), 0);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_outbox_event"), 6);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_outbox_event "
					     "WHERE order_no = 'SENT8'"),
		0);
}
END_TEST

START_TEST(only_done_tasks_that_are_old_go)
{
	insert_tasks("stock");
	insert_tasks("refund");
	insert_tasks("a-hook");
	ck_assert_uint_eq(delete_old(HOUSEKEEPING_COMPENSATION, 3650 * DAY_MS, 100), 0);
	ck_assert_uint_eq(delete_old(HOUSEKEEPING_COMPENSATION, 7 * DAY_MS, 100), 3);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_compensation"), 27);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_compensation "
					     "WHERE idempotency_key LIKE '%%DONE8'"),
		0);
}
END_TEST

START_TEST(only_old_event_ids_go)
{
	query_run(query, "INSERT INTO t_event_consumed(consumer_name,event_id,consumed_at) VALUES "
			 "('c','old',UTC_TIMESTAMP(3) - INTERVAL 8 DAY), ('c','new',"
			 "UTC_TIMESTAMP(3))");
	ck_assert_uint_eq(delete_old(HOUSEKEEPING_INBOX, 3650 * DAY_MS, 100), 0);
	ck_assert_uint_eq(delete_old(HOUSEKEEPING_INBOX, 7 * DAY_MS, 100), 1);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_event_consumed "
					     "WHERE event_id = 'new'"),
		1);
}
END_TEST

/* Each state with each state of its delivery, over for 8 days and just now. */
static void insert_alerts(void)
{
	query_run(query,
		"INSERT INTO t_alert(kind,ref,severity,labels,annotations,state,delivery_state,"
		"fired_at,resolved_at) SELECT 'TASK_DEAD', CONCAT(s.state, d.delivery, a.days), "
		"'warning', '{}', '{}', s.state, d.delivery, UTC_TIMESTAMP(3) - INTERVAL 9 DAY, "
		"IF(s.state = 'RESOLVED', UTC_TIMESTAMP(3) - INTERVAL a.days DAY, NULL) FROM "
		"(SELECT 'FIRING' state UNION SELECT 'RESOLVED') s, (SELECT 'PENDING' delivery "
		"UNION SELECT 'SENT' UNION SELECT 'FAILED') d, (SELECT 8 days UNION SELECT 0) a");
}

START_TEST(only_alerts_that_are_over_old_and_told_go)
{
	insert_alerts();
	query_run(query, "INSERT INTO t_alert SELECT NULL,kind,'LEASED',severity,labels,"
			 "annotations,state,fired_at,fired_count,repeat_count,resolved_at,"
			 "silenced_until,delivery_state,attempts,next_attempt_at,targets,"
			 "last_error,'X',UTC_TIMESTAMP(3),updated_at FROM t_alert "
			 "WHERE ref = 'RESOLVEDSENT8'");
	ck_assert_uint_eq(delete_old(HOUSEKEEPING_ALERT, 3650 * DAY_MS, 100), 0);
	ck_assert_uint_eq(delete_old(HOUSEKEEPING_ALERT, 7 * DAY_MS, 100), 1);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_alert"), 12);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_alert "
					     "WHERE ref = 'RESOLVEDSENT8'"),
		0);
}
END_TEST

START_TEST(a_batch_is_no_bigger_than_its_limit)
{
	for (int i = 0; i < 5; i++) {
		char target[16];

		insert_events();
		(void)text_format(target, sizeof(target), "t%d", i);
		insert_tasks(target);
		query_run(query, "UPDATE t_alert SET ref = CONCAT(ref, '.', id)");
		insert_alerts();
	}
	ck_assert_uint_eq(delete_old(HOUSEKEEPING_OUTBOX, 7 * DAY_MS, 3), 3);
	ck_assert_uint_eq(delete_old(HOUSEKEEPING_OUTBOX, 7 * DAY_MS, 3), 2);
	ck_assert_uint_eq(delete_old(HOUSEKEEPING_COMPENSATION, 7 * DAY_MS, 3), 3);
	ck_assert_uint_eq(delete_old(HOUSEKEEPING_COMPENSATION, 7 * DAY_MS, 3), 2);
	ck_assert_uint_eq(delete_old(HOUSEKEEPING_COMPENSATION, 7 * DAY_MS, 3), 0);
	ck_assert_uint_eq(delete_old(HOUSEKEEPING_ALERT, 7 * DAY_MS, 3), 3);
	ck_assert_uint_eq(delete_old(HOUSEKEEPING_ALERT, 7 * DAY_MS, 3), 2);
}
END_TEST

START_TEST(what_somebody_holds_is_left_alone)
{
	struct query *other = NULL;

	insert_events();
	insert_tasks("stock");
	insert_alerts();
	query_create(sandbox_mysql_url(sandbox), &other);
	query_run(other, "START TRANSACTION");
	query_run(other, "SELECT id FROM t_outbox_event WHERE order_no = 'SENT8' FOR UPDATE");
	query_run(other, "SELECT id FROM t_compensation WHERE idempotency_key = 'stock:DONE8' "
			 "FOR UPDATE");
	query_run(other, "SELECT id FROM t_alert WHERE ref = 'RESOLVEDSENT8' FOR UPDATE");
	ck_assert_uint_eq(delete_old(HOUSEKEEPING_ALERT, 7 * DAY_MS, 100), 0);
	ck_assert_uint_eq(delete_old(HOUSEKEEPING_OUTBOX, 7 * DAY_MS, 100), 0);
	ck_assert_uint_eq(delete_old(HOUSEKEEPING_COMPENSATION, 7 * DAY_MS, 100), 0);
	query_run(other, "ROLLBACK");
	ck_assert_uint_eq(delete_old(HOUSEKEEPING_OUTBOX, 7 * DAY_MS, 100), 1);
	ck_assert_uint_eq(delete_old(HOUSEKEEPING_COMPENSATION, 7 * DAY_MS, 100), 1);
	ck_assert_uint_eq(delete_old(HOUSEKEEPING_ALERT, 7 * DAY_MS, 100), 1);
	query_destroy(&other);
}
END_TEST

static bool is_tidy(void *context)
{
	return query_number(context,
		       "SELECT (SELECT COUNT(*) FROM t_outbox_event WHERE status = 'SENT') = 2 "
		       "AND (SELECT COUNT(*) FROM t_alert) = 11") == 1;
}

START_TEST(the_sweeper_keeps_house)
{
	struct daemon sweeper;

	insert_events();
	insert_alerts();
	sandbox_set(sandbox, "LAPSE_SWEEP_INTERVAL", "1s");
	daemon_start_ready(sandbox, "lapse-sweeper", &sweeper);
	WAIT_UNTIL(is_tidy, query);
	ck_assert(
		daemon_metric(&sweeper, "lapse_housekeeping_deleted_total{table=\"outbox\"}") == 1);
	ck_assert(
		daemon_metric(&sweeper, "lapse_housekeeping_deleted_total{table=\"alert\"}") == 1);
	daemon_expect_well(&sweeper);
	daemon_stop(&sweeper, STOP_LIMIT_MS);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		only_sent_events_that_are_old_go,
		only_done_tasks_that_are_old_go,
		only_old_event_ids_go,
		only_alerts_that_are_over_old_and_told_go,
		a_batch_is_no_bigger_than_its_limit,
		what_somebody_holds_is_left_alone,
		the_sweeper_keeps_house,
	};
	const struct runner_fixture fixture = { set_up, tear_down };

	sandbox_need_servers();
	return runner_run_with("housekeeping", &fixture, tests, ARRAY_LENGTH(tests));
}
