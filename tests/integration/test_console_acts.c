/* Acts on the console: once each, told to whoever came second, and written down. */
#include <stdlib.h>
#include <string.h>

#include "common/base/text.h"
#include "tests/support/console.h"
#include "tests/support/process.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/wait_until.h"

static struct sandbox *sandbox;
static struct query *query;
static struct console_run console;

static void set_up(void)
{
	sandbox_create(SANDBOX_EVERYTHING, &sandbox);
	query = sandbox_query(sandbox);
	console_start(&console, sandbox);
	console_fill(query);
}

static void tear_down(void)
{
	console_leave(&console);
	sandbox_destroy(&sandbox);
}

#define AUDIT(where) query_number(query, "SELECT COUNT(*) FROM t_operator_audit WHERE " where)

START_TEST(of_two_people_who_requeue_one_task_one_is_told)
{
	static const char path[] = "/tasks/1/requeue";
	char olga[CONSOLE_TEXT_SIZE];
	char otto[CONSOLE_TEXT_SIZE];

	console_take_form(&console, "olga", path, path, olga);
	console_take_form(&console, "otto", path, path, otto);
	console_expect_done(&console,
		console_post(
			&console, "olga", &(struct console_form){ .path = path, .fields = olga }),
		"olga", "requeue task 1</strong>: ok");
	console_expect(console_post(&console, "otto",
			       &(struct console_form){ .path = path, .fields = otto }),
		409, "PENDING");
	console_expect(console_post(&console, "otto",
			       &(struct console_form){ .path = path, .fields = otto }),
		409, "olga");
	ck_assert_int_eq(query_number(query, "SELECT max_retries FROM t_compensation"), 10);
	ck_assert_int_eq(AUDIT("action = 'requeue' AND result = 'ok' AND actor = 'olga'"), 1);
	ck_assert_int_eq(AUDIT("action = 'requeue' AND result = 'conflict' AND actor = 'otto'"), 1);
	ck_assert_int_eq(
		query_number(query, "SELECT COUNT(*) FROM t_alert WHERE state = 'FIRING'"), 0);
}
END_TEST

START_TEST(the_same_form_sent_twice_acts_once)
{
	static const char path[] = "/tasks/1/requeue";
	char fields[CONSOLE_TEXT_SIZE];
	char first[CONSOLE_LOCATION_SIZE] = "";
	char second[CONSOLE_LOCATION_SIZE] = "";
	const struct console_form form = { .path = path, .fields = fields };

	console_take_form(&console, "olga", path, path, fields);
	const struct api_answer *answer = console_post(&console, "olga", &form);
	ck_assert_uint_eq(answer->status, CONSOLE_SEE_OTHER);
	ck_assert(api_client_header(answer, "Location", first, sizeof(first)));
	answer = console_post(&console, "olga", &form);
	ck_assert_uint_eq(answer->status, CONSOLE_SEE_OTHER);
	ck_assert(api_client_header(answer, "Location", second, sizeof(second)));
	ck_assert_str_eq(first, second);
	ck_assert_int_eq(AUDIT("action = 'requeue'"), 1);
	ck_assert_int_eq(query_number(query, "SELECT max_retries FROM t_compensation"), 10);
}
END_TEST

START_TEST(an_idempotency_key_is_carried_out_once)
{
	static const char path[] = "/api/v1/tasks/1/requeue";
	static const char key[] = "Idempotency-Key: my-key-1\r\n";

	console_expect(console_call(&console, "robot", path, "{}", key), 200, "\"repeat\":false");
	console_expect(console_call(&console, "robot", path, "{}", key), 200, "\"repeat\":true");
	console_expect(console_call(&console, "robot", path, "{}", "Idempotency-Key: a b\r\n"), 400,
		"Idempotency-Key");
	ck_assert_int_eq(AUDIT("request_id = 'my-key-1' AND auth = 'token'"), 1);
}
END_TEST

START_TEST(an_unpaid_order_is_closed_by_hand_and_others_are_not)
{
	static const char open[] = "/orders/OPEN-1/close";
	static const char paid[] = "/orders/PAID-1/close";

	console_expect(
		console_submit(&console, "olga", open, open, "confirm=WRON&reason=customer+asked"),
		400, "");
	console_expect(
		console_submit(&console, "olga", open, open, "confirm=EN-1&reason=no"), 400, "");
	console_expect_done(&console,
		console_submit(&console, "olga", open, open, "confirm=EN-1&reason=customer+asked"),
		"olga", "cancel order OPEN-1</strong>: ok");
	console_expect(
		console_submit(&console, "olga", open, open, "confirm=EN-1&reason=customer+asked"),
		422, "CLOSED");
	console_expect(
		console_submit(&console, "olga", paid, paid, "confirm=ID-1&reason=customer+asked"),
		422, "PAID");
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_outbox_event WHERE order_no = "
					     "'OPEN-1' AND event_type = 'ORDER_CLOSED'"),
		1);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_compensation WHERE order_no = "
					     "'OPEN-1'"),
		1);
	ck_assert_int_eq(
		AUDIT("action = 'cancel' AND result = 'refused' AND target_id = 'PAID-1'"), 1);
}
END_TEST

START_TEST(a_deadline_is_moved_and_a_viewer_moves_nothing)
{
	static const char path[] = "/orders/OPEN-2/extend";
	char fields[CONSOLE_TEXT_SIZE];

	console_expect_done(&console,
		console_submit(
			&console, "olga", path, path, "until=&by=30m&reason=the+buyer+asked"),
		"olga", "extend order OPEN-2</strong>: ok");
	console_expect(console_submit(&console, "olga", path, path, "by=&reason=nothing+given"),
		400, "until");
	ck_assert_int_eq(
		query_number(query, "SELECT expire_time > UTC_TIMESTAMP(3) + INTERVAL 80 MINUTE "
				    "FROM t_order WHERE order_no = 'OPEN-2'"),
		1);
	console_take_form(&console, "olga", path, path, fields);
	ck_assert_uint_eq(console_post(&console, "vera",
				  &(struct console_form){ .path = path, .fields = fields })
				  ->status,
		403);
}
END_TEST

START_TEST(a_task_is_resolved_and_a_red_check_wants_an_admin)
{
	static const char path[] = "/tasks/1/resolve";

	query_run(query, "INSERT INTO t_compensation (kind, target, idempotency_key, order_no, "
			 "payload) VALUES ('WEBHOOK', 'coupons', 'webhook:1', 'CLOSED-1', '{}')");
	console_expect(console_get(&console, "olga", path), 200, "class=\"bad\"");
	console_expect(console_submit(&console, "olga", path, path,
			       "code=fixed_elsewhere&reason=stock+was+given+back"),
		403, "");
	console_expect_done(&console,
		console_submit(&console, "anna", path, path,
			"code=fixed_elsewhere&reason=stock+was+given+back&order_no=CLOSED-1"),
		"anna", "resolve task 1</strong>: ok");
	ck_assert_int_eq(AUDIT("action = 'resolve' AND result = 'refused' AND actor = 'olga'"), 1);
}
END_TEST

START_TEST(a_selection_says_what_became_of_each)
{
	static const char path[] = "/tasks/requeue";

	console_fill_dead(query, "MORE-", 2);
	query_run(query, "UPDATE t_compensation SET status = 'DONE' WHERE id = 2");
	query_run(query, "UPDATE t_compensation SET kind = 'WEBHOOK', created_at = "
			 "'2026-01-31 10:21:03.120' WHERE id = 3");
	console_expect(console_get(&console, "olga", "/tasks/requeue?id=1&id=2&id=3"), 200,
		"<dt>Kinds</dt><dd>WEBHOOK 1, STOCK_RESTORE 2</dd><dt>Oldest</dt>"
		"<dd>2026-01-31T10:21:03.120Z, ");
	console_expect(console_get(&console, "olga", "/tasks/requeue?id=99"), 200,
		"<dt>Kinds</dt><dd>–</dd>");
	const struct api_answer *answer = console_submit(
		&console, "olga", "/tasks/requeue?id=1&id=2&id=3", path, "id=1&id=2&id=3");

	console_expect(answer, 200, "conflict");
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_compensation WHERE status = "
					     "'PENDING'"),
		2);
	console_expect(console_get(&console, "olga", "/tasks/requeue"), 400, "Nothing is selected");
	console_expect(console_get(&console, "olga", "/tasks/requeue?id=x"), 400, "");
}
END_TEST

/* It was DEAD on the page and is DEAD now, but somebody has had it tried again in between. */
START_TEST(a_ticked_task_that_died_again_is_left_alone)
{
	static const char path[] = "/tasks/requeue";

	console_fill_dead(query, "MORE-", 1);
	console_expect(console_get(&console, "olga", "/tasks?state=DEAD"), 200, "value=\"1:5\"");
	query_run(query, "UPDATE t_compensation SET retry_count = 6 WHERE id = 2");
	console_expect(console_submit(&console, "olga", "/tasks/requeue?id=1%3A5&id=2%3A5", path,
			       "id=1%3A5&id=2%3A5"),
		200, "conflict");
	ck_assert_int_eq(
		query_number(query, "SELECT id FROM t_compensation WHERE status = 'PENDING'"), 1);
	ck_assert_int_eq(
		query_number(query, "SELECT id FROM t_compensation WHERE status = 'DEAD'"), 2);
}
END_TEST

START_TEST(an_outbox_row_is_replayed_and_rules_and_silences_are_kept)
{
	console_expect_done(&console,
		console_submit(&console, "anna", "/rules/add?timeout=15m", "/rules/add",
			"channel=app&timeout=15m&priority=3&reason=a+shorter+one"),
		"anna", "</strong>: ok");
	console_expect_done(&console,
		console_submit(
			&console, "anna", "/rules/2/end", "/rules/2/end", "end=&reason=not+needed"),
		"anna", "</strong>: ok");
	console_expect_done(&console,
		console_submit(&console, "olga", "/alerts/1/silence", "/alerts/1/silence",
			"for=2h&reason=known+trouble"),
		"olga", "silence alert 1</strong>: ok");
	console_expect(console_submit(&console, "olga", "/outbox/replay?id=1", "/outbox/replay",
			       "id=1&reason="),
		200, "done");
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_outbox_event WHERE status = "
					     "'NEW' AND id = 1"),
		1);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_alert WHERE silenced_until > "
					     "UTC_TIMESTAMP(3) + INTERVAL 1 HOUR"),
		1);
}
END_TEST

START_TEST(a_test_alert_is_sent_by_an_admin)
{
	ck_assert_ptr_null(strstr(console_get(&console, "olga", "/alerts")->body, "/alerts/test"));
	console_expect_done(&console,
		console_submit(&console, "anna", "/alerts", "/alerts/test", ""), "anna",
		"test alert LapseTest</strong>: ok");
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_alert WHERE ref = "
					     "'LapseTest' AND state = 'FIRING'"),
		1);
	console_expect(console_submit(&console, "anna", "/alerts", "/alerts/test", ""), 409,
		"firing still");
}
END_TEST

int main(void)
{
	const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = {
		of_two_people_who_requeue_one_task_one_is_told,
		the_same_form_sent_twice_acts_once,
		an_idempotency_key_is_carried_out_once,
		an_unpaid_order_is_closed_by_hand_and_others_are_not,
		a_deadline_is_moved_and_a_viewer_moves_nothing,
		a_task_is_resolved_and_a_red_check_wants_an_admin,
		a_selection_says_what_became_of_each,
		a_ticked_task_that_died_again_is_left_alone,
		an_outbox_row_is_replayed_and_rules_and_silences_are_kept,
		a_test_alert_is_sent_by_an_admin,
	};

	sandbox_need_servers();
	return runner_run_with("console_acts", &fixture, tests, ARRAY_LENGTH(tests));
}
