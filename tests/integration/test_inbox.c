/* inbox: each event once per subscriber, whatever comes twice, is locked, or is broken. */
#include <pthread.h>
#include <string.h>

#include "common/base/compiler.h"
#include "common/base/text.h"
#include "common/io/db.h"
#include "common/order/inbox.h"
#include "common/order/subscriber.h"
#include "tests/support/claims.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/wait_until.h"

enum {
	EVENT_MAX = INBOX_BATCH_MAX
};

#define SECRET " whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=\n"

static struct sandbox *sandbox;
static struct query *query;
static struct claims_db ours;
static struct subscriber_list subscribers;
static struct inbox_event events[EVENT_MAX];
static size_t count;
static struct error error;

static void set_up(void)
{
	static const char text[] = "coupons ORDER_CLOSED http://coupons.example" SECRET
				   "notify ORDER_CLOSED,ORDER_PAID http://notify.example" SECRET;

	sandbox_create(SANDBOX_NO_BROKER, &sandbox);
	query = sandbox_query(sandbox);
	claims_connect(sandbox_mysql_url(sandbox), &ours);
	ck_assert_int_eq(
		subscriber_list_parse(text, strlen(text), &subscribers, &error), RESULT_OK);
	count = 0;
}

static void tear_down(void)
{
	claims_disconnect(&ours);
	subscriber_list_clear(&subscribers);
	sandbox_destroy(&sandbox);
}

static struct inbox_event *add(const char *event_id, const char *type, const char *order_no)
{
	struct inbox_event *event = &events[count++];

	memset(event, 0, sizeof(*event));
	(void)text_copy(event->message.event_id, sizeof(event->message.event_id), event_id);
	(void)text_copy(event->message.type, sizeof(event->message.type), type);
	(void)text_copy(event->message.order_no, sizeof(event->message.order_no), order_no);
	event->document = "{\"id\": \"any\"}";
	event->document_size = strlen(event->document);
	return event;
}

static void record(void)
{
	enum result result = inbox_record(ours.db, &subscribers, events, count, &error);

	ck_assert_msg(result == RESULT_OK, "%s", error.text);
}

START_TEST(each_subscriber_that_wants_an_event_gets_one_task)
{
	const struct inbox_event *closed = add("E1", "order.closed.v1", "A1");
	const struct inbox_event *paid = add("E2", "order.paid.v1", "A2");
	const struct inbox_event *late = add("E3", "payment.late.v1", "A3");

	record();
	ck_assert_int_eq(closed->outcome, INBOX_OUTCOME_NEW);
	ck_assert_int_eq(paid->outcome, INBOX_OUTCOME_NEW);
	ck_assert_int_eq(late->outcome, INBOX_OUTCOME_UNWANTED);
	query_expect(query, "coupons:E1,notify:E1,notify:E2",
		"SELECT GROUP_CONCAT(consumer_name, ':', event_id "
		"ORDER BY consumer_name, event_id) FROM t_event_consumed");
	query_expect(query, "coupons webhook:coupons:E1 A1 WEBHOOK PENDING any",
		"SELECT target, idempotency_key, order_no, kind, status, "
		"JSON_UNQUOTE(JSON_EXTRACT(payload, '$.id')) FROM t_compensation WHERE target = "
		"'coupons'");
	query_expect(query, "webhook:notify:E1,webhook:notify:E2",
		"SELECT GROUP_CONCAT(idempotency_key ORDER BY id) FROM t_compensation "
		"WHERE target = 'notify'");
}
END_TEST

START_TEST(an_event_that_comes_again_makes_nothing_new)
{
	add("E1", "order.closed.v1", "A1");
	record();
	add("E2", "order.closed.v1", "A1");
	add("E2", "order.closed.v1", "A1");
	record();
	ck_assert_int_eq(events[0].outcome, INBOX_OUTCOME_DUPLICATE);
	ck_assert_int_eq(events[1].outcome, INBOX_OUTCOME_NEW);
	ck_assert_int_eq(events[2].outcome, INBOX_OUTCOME_DUPLICATE);
	query_expect(query, "4", "SELECT COUNT(*) FROM t_compensation");
	record();
	ck_assert_int_eq(events[1].outcome, INBOX_OUTCOME_DUPLICATE);
	query_expect(query, "4", "SELECT COUNT(*) FROM t_compensation");
	query_expect(query, "4", "SELECT COUNT(*) FROM t_event_consumed");
}
END_TEST

/* OUT-6: consumers do not share the key of an event. */
START_TEST(what_another_consumer_has_taken_is_new_to_us)
{
	query_run(query, "INSERT INTO t_event_consumed(consumer_name, event_id) VALUES "
			 "('somebody', 'E1'), ('Coupons', 'E1'), ('coupons', 'e1')");
	add("E1", "order.closed.v1", "A1");
	record();
	ck_assert_int_eq(events[0].outcome, INBOX_OUTCOME_NEW);
	query_expect(query, "2", "SELECT COUNT(*) FROM t_compensation");
}
END_TEST

START_TEST(a_subscriber_that_comes_later_gets_what_the_others_have)
{
	query_run(query, "INSERT INTO t_event_consumed(consumer_name, event_id) VALUES "
			 "('coupons', 'E1')");
	add("E1", "order.closed.v1", "A1");
	record();
	ck_assert_int_eq(events[0].outcome, INBOX_OUTCOME_NEW);
	query_expect(query, "webhook:notify:E1",
		"SELECT GROUP_CONCAT(idempotency_key) FROM t_compensation");
}
END_TEST

/* Housekeeping has removed the inbox row; the task is DEAD and still there. */
START_TEST(a_task_that_the_inbox_has_forgotten_is_not_made_again)
{
	add("E1", "order.closed.v1", "A1");
	record();
	query_run(query, "DELETE FROM t_event_consumed WHERE consumer_name = 'notify'");
	add("E2", "order.closed.v1", "A2");
	record();
	ck_assert_int_eq(events[0].outcome, INBOX_OUTCOME_DUPLICATE);
	ck_assert_int_eq(events[1].outcome, INBOX_OUTCOME_NEW);
	query_expect(query, "4", "SELECT COUNT(*) FROM t_compensation");
	query_expect(query, "4", "SELECT COUNT(*) FROM t_event_consumed");
}
END_TEST

START_TEST(tasks_of_an_order_have_their_ids_in_the_order_of_its_events)
{
	add("Z", "order.paid.v1", "A1");
	add("M", "order.closed.v1", "A2");
	add("A", "order.closed.v1", "A1");
	record();
	query_expect(query, "Z,M,A",
		"SELECT GROUP_CONCAT(SUBSTRING_INDEX(idempotency_key, ':', -1) "
		"ORDER BY id) FROM t_compensation WHERE target = 'notify'");
}
END_TEST

START_TEST(a_full_batch_is_recorded_whatever_its_size)
{
	static const size_t sizes[] = { 1, 2, 3, 7, 100, 511, EVENT_MAX };
	int64_t total = 0;

	for (size_t i = 0; i < ARRAY_LENGTH(sizes); i++) {
		count = 0;
		while (count < sizes[i]) {
			char event_id[64];

			(void)text_format(event_id, sizeof(event_id), "E-%zu-%zu", i, count);
			add(event_id, "order.closed.v1", "A1");
		}
		record();
		for (size_t k = 0; k < count; k++)
			ck_assert_int_eq(events[k].outcome, INBOX_OUTCOME_NEW);
		total += 2 * (int64_t)count;
		ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_compensation"), total);
	}
}
END_TEST

START_TEST(one_bad_event_does_not_stop_the_others)
{
	for (int i = 0; i < 20; i++) {
		char event_id[16];

		(void)text_format(event_id, sizeof(event_id), "E%d", i);
		add(event_id, "order.closed.v1", "A1");
	}
	events[13].document = "no JSON";
	events[13].document_size = strlen("no JSON");
	record();
	for (int i = 0; i < 20; i++)
		ck_assert_int_eq(
			events[i].outcome, i == 13 ? INBOX_OUTCOME_FAILED : INBOX_OUTCOME_NEW);
	ck_assert_str_ne(events[13].error, "");
	query_expect(query, "38", "SELECT COUNT(*) FROM t_compensation");
	query_expect(query, "0", "SELECT COUNT(*) FROM t_event_consumed WHERE event_id = 'E13'");
}
END_TEST

START_TEST(an_event_whose_rows_somebody_holds_waits_alone)
{
	struct query *holder = NULL;

	query_create(sandbox_mysql_url(sandbox), &holder);
	query_run(holder, "BEGIN; INSERT INTO t_event_consumed(consumer_name, event_id) VALUES "
			  "('notify', 'E2')");
	for (int i = 0; i < 4; i++) {
		char event_id[16];

		(void)text_format(event_id, sizeof(event_id), "E%d", i);
		add(event_id, "order.closed.v1", "A1");
	}
	record();
	for (int i = 0; i < 4; i++)
		ck_assert_int_eq(
			events[i].outcome, i == 2 ? INBOX_OUTCOME_LOCKED : INBOX_OUTCOME_NEW);
	query_run(holder, "ROLLBACK");
	query_destroy(&holder);
	record();
	ck_assert_int_eq(events[1].outcome, INBOX_OUTCOME_DUPLICATE);
	ck_assert_int_eq(events[2].outcome, INBOX_OUTCOME_NEW);
	query_expect(query, "8", "SELECT COUNT(*) FROM t_compensation");
}
END_TEST

static bool an_insert_waits(void *watcher)
{
	return query_number(watcher, "SELECT COUNT(*) FROM information_schema.processlist WHERE "
				     "info LIKE 'INSERT INTO t_event_consumed%%' AND "
				     "command <> 'Sleep'") > 0;
}

static void *commit_when_we_wait(void *holder)
{
	struct query *watcher = NULL;

	query_create(sandbox_mysql_url(sandbox), &watcher);
	(void)wait_until(an_insert_waits, watcher, WAIT_LIMIT_MS);
	query_run(holder, "COMMIT");
	query_destroy(&watcher);
	return NULL;
}

/* Our look sees nothing, and our insert meets the row that was committed since. */
START_TEST(an_event_that_somebody_records_at_the_same_time_is_a_duplicate)
{
	struct query *other = NULL;
	pthread_t thread;

	query_create(sandbox_mysql_url(sandbox), &other);
	query_run(other, "BEGIN; INSERT INTO t_event_consumed(consumer_name, event_id) VALUES "
			 "('coupons', 'E1'), ('notify', 'E1')");
	ck_assert_int_eq(pthread_create(&thread, NULL, commit_when_we_wait, other), 0);
	add("E1", "order.closed.v1", "A1");
	add("E2", "order.closed.v1", "A1");
	record();
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	query_destroy(&other);
	ck_assert_int_eq(events[0].outcome, INBOX_OUTCOME_DUPLICATE);
	ck_assert_int_eq(events[1].outcome, INBOX_OUTCOME_NEW);
	query_expect(query, "2", "SELECT COUNT(*) FROM t_compensation");
}
END_TEST

START_TEST(no_event_and_no_subscriber_are_no_trouble)
{
	record();
	subscriber_list_clear(&subscribers);
	add("E1", "order.closed.v1", "A1");
	record();
	ck_assert_int_eq(events[0].outcome, INBOX_OUTCOME_UNWANTED);
	query_expect(query, "0", "SELECT COUNT(*) FROM t_event_consumed");
}
END_TEST

START_TEST(without_mysql_nothing_is_decided)
{
	add("E1", "order.closed.v1", "A1");
	db_disconnect(ours.db);
	ck_assert_int_eq(
		inbox_record(ours.db, &subscribers, events, count, &error), RESULT_TEMPORARY);
	ck_assert_int_eq(events[0].outcome, INBOX_OUTCOME_OPEN);
}
END_TEST

int main(void)
{
	static const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = {
		each_subscriber_that_wants_an_event_gets_one_task,
		an_event_that_comes_again_makes_nothing_new,
		what_another_consumer_has_taken_is_new_to_us,
		a_subscriber_that_comes_later_gets_what_the_others_have,
		a_task_that_the_inbox_has_forgotten_is_not_made_again,
		tasks_of_an_order_have_their_ids_in_the_order_of_its_events,
		a_full_batch_is_recorded_whatever_its_size,
		one_bad_event_does_not_stop_the_others,
		an_event_whose_rows_somebody_holds_waits_alone,
		an_event_that_somebody_records_at_the_same_time_is_a_duplicate,
		no_event_and_no_subscriber_are_no_trouble,
		without_mysql_nothing_is_decided,
	};

	sandbox_need_servers();
	return runner_run_with("inbox", &fixture, tests, ARRAY_LENGTH(tests));
}
