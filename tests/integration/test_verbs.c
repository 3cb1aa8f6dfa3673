/* lapsectl list, show, replay, alert, top, hash-password: what an operator types. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/compiler.h"
#include "common/base/result.h"
#include "common/base/text.h"
#include "common/io/json.h"
#include "common/io/password.h"
#include "tests/support/operator.h"
#include "tests/support/orders.h"
#include "tests/support/process.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/scratch.h"
#include "tests/support/wait_until.h"

#define HOUR_MS INT64_C(3600000)

enum {
	OUTPUT_MAX = 1048576,
	WAIT_MS = 20000,
};

static struct sandbox *sandbox;
static struct query *query;

static void set_up(void)
{
	sandbox_create(SANDBOX_EVERYTHING, &sandbox);
	query = sandbox_query(sandbox);
}

static void tear_down(void)
{
	sandbox_destroy(&sandbox);
}

/* Standard output of "first second --json -q", parsed. */
static struct json *read_json(const char *first, const char *second, const char *third)
{
	const char *const words[] = { first, second, third, "--json", "-q", NULL };
	const char *const shorter[] = { first, second, "--json", "-q", NULL };
	struct json *root = NULL;
	char *output = NULL;
	int status = sandbox_run(sandbox, "lapsectl", third == NULL ? shorter : words, &output);

	ck_assert_msg(status == 0, "%s %s: %d: %s", first, second, status, output);
	ck_assert_msg(json_parse(output, strlen(output), OUTPUT_MAX, &root, NULL) == RESULT_OK,
		"%s", output);
	free(output);
	return root;
}

static void insert_story(void)
{
	orders_insert_one(query, "A1", HOUR_MS);
	query_run(query,
		"UPDATE t_order SET user_id = 4711; "
		"INSERT INTO t_compensation (id, kind, target, idempotency_key, order_no, payload, "
		"status, calls, retry_count, last_error) VALUES (9223372036854775807, 'REFUND', "
		"'refund', 'refund:wx:T1', 'A1', '{}', 'DEAD', 6, 5, 'HTTP 503'); "
		"INSERT INTO t_alert (id, kind, ref, severity, labels, annotations) VALUES "
		"(3, 'TASK_DEAD', '9223372036854775807', 'critical', '{}', "
		"'{\"summary\":\"refund failed 6 times\",\"order_no\":\"A1\"}'); "
		"INSERT INTO t_payment (id, channel, trade_no, order_no, amount_cents, currency, "
		"outcome, refund_state) VALUES (5, 'wx', 'T1', 'A1', 9900, 'CNY', 'LATE', "
		"'FAILED'); "
		"INSERT INTO t_outbox_event (id, event_id, event_type, order_no, status, sent_at) "
		"VALUES (90, 'e90', 'ORDER_PAID', 'A1', 'SENT', UTC_TIMESTAMP(3)); "
		"INSERT INTO t_timeout_rule (id, tenant, timeout_seconds) VALUES (2, 't', 60)");
}

START_TEST(every_list_is_json_when_it_is_empty_and_keeps_long_ids)
{
	static const char *const kinds[] = { "tasks", "orders", "outbox", "payments", "parked",
		"rules", "alerts", "audit" };

	for (size_t i = 0; i < ARRAY_LENGTH(kinds); i++) {
		struct json *root = read_json("list", kinds[i], NULL);

		ck_assert(json_is_array(root));
		ck_assert_uint_eq(json_count(root), 0);
		json_destroy(&root);
	}
	insert_story();
	struct json *root = read_json("list", "tasks", NULL);
	ck_assert_str_eq(json_get_text(json_at(root, 0), "id"), "9223372036854775807");
	ck_assert_str_eq(json_get_text(json_at(root, 0), "alert"), "FIRING");
	json_destroy(&root);
}
END_TEST

START_TEST(filters_are_options_and_a_wrong_value_names_the_right_ones)
{
	insert_story();
	operator_expect(sandbox, 0, "list orders --order A* --plain", "A1\tUNPAID");
	operator_expect(sandbox, 0, "list orders --state closed -v", "no orders: status CLOSED");
	operator_expect(
		sandbox, 0, "list payments --outcome late --refund-state failed --plain", "wx\tT1");
	operator_expect(sandbox, 0, "list outbox --state sent --plain", "90\tORDER_PAID\tA1\tSENT");
	operator_expect(sandbox, 0, "list alerts --plain", "3\tTASK_DEAD");
	operator_expect(
		sandbox, EXIT_STATUS_USAGE, "list orders --state gone", "UNPAID, PAID, CLOSED");
	operator_expect(
		sandbox, EXIT_STATUS_USAGE, "list orders --closed-from monday", "is not a time");
	operator_expect(sandbox, EXIT_STATUS_USAGE, "list orders --colour red", "unknown option");
	operator_expect(sandbox, EXIT_STATUS_USAGE, "list orders --after ?", "no place");
}
END_TEST

static void expect_why(const char *change, const char *words)
{
	query_run(query, "%s", change);
	operator_expect(sandbox, 0, "show order A1", words);
}

START_TEST(an_order_says_why_it_is_not_closed)
{
	orders_insert_one(query, "A1", HOUR_MS);
	expect_why("DELETE FROM t_outbox_event", "why: Its deadline is ahead. No ORDER_CREATED");
	expect_why("INSERT INTO t_outbox_event (event_type, order_no) "
		   "VALUES ('ORDER_CREATED', 'A1')",
		"why: Its deadline is ahead. Its timeout waits in the outbox");
	expect_why("UPDATE t_outbox_event SET status = 'FAILED'", "could not be published");
	expect_why("UPDATE t_outbox_event SET status = 'SENT', sent_at = UTC_TIMESTAMP(3)",
		"why: Its deadline is ahead, and its timeout is on its way.");
	expect_why("UPDATE t_order SET expire_time = UTC_TIMESTAMP(3) - INTERVAL 1 MINUTE",
		"why: It is overdue;");
	expect_why("INSERT INTO t_alert (kind, ref, severity, labels, annotations) VALUES "
		   "('ORDER_STUCK', 'A1', 'critical', '{}', '{}')",
		"why: It is due and cannot be closed");
	expect_why("UPDATE t_order SET expire_time = NULL", "why: It has no deadline");
	expect_why("UPDATE t_order SET status = 'PAID', pay_time = UTC_TIMESTAMP(3)",
		"why: It was paid in time");
}
END_TEST

START_TEST(an_order_is_shown_with_its_line_of_time_and_without_its_buyer)
{
	insert_story();
	operator_expect(
		sandbox, 0, "extend A1 --by 30m --yes --actor maria --reason customer-asked", NULL);
	struct json *root = read_json("show", "order", "A1");
	const struct json *timeline = json_get(root, "timeline");

	ck_assert_str_eq(json_get_text(json_get(root, "order"), "user_id"), "***");
	ck_assert_uint_eq(json_count(json_get(root, "payments")), 1);
	ck_assert_uint_eq(json_count(json_get(root, "tasks")), 1);
	ck_assert_uint_eq(json_count(json_get(root, "items")), 1);
	ck_assert_uint_eq(json_count(json_get(root, "audit")), 1);
	ck_assert_ptr_null(json_get_text(json_at(json_get(root, "items"), 0), "restore_task"));
	ck_assert_str_eq(json_get_text(json_at(timeline, 0), "what"), "created");
	ck_assert_str_eq(
		json_get_text(json_at(timeline, json_count(timeline) - 1), "what"), "deadline");
	for (size_t i = 1; i < json_count(timeline); i++) {
		int64_t gap_ms = -1;

		ck_assert(json_get_int(json_at(timeline, i), "gap_ms", &gap_ms));
		ck_assert_int_ge(gap_ms, 0);
	}
	json_destroy(&root);
	operator_expect(sandbox, 0, "cancel A1 --confirm A1 --reason customer-called", NULL);
	root = read_json("show", "order", "A1");
	ck_assert_str_eq(
		json_get_text(json_at(json_get(root, "items"), 0), "restore_status"), "PENDING");
	json_destroy(&root);
	operator_expect(sandbox, 0, "show order A1", "extend by maria: ok");
	operator_expect(sandbox, 0, "show order A1 --plain", "order\t0\tstatus\tCLOSED");
	operator_expect(sandbox, EXIT_STATUS_NOT_FOUND, "show order A2", "there is no order A2");
	operator_expect(sandbox, EXIT_STATUS_FAILED, "show order A'2", "no order number");
}
END_TEST

START_TEST(every_kind_of_thing_is_shown)
{
	insert_story();
	operator_expect(sandbox, 0, "show task 9223372036854775807", "5 more retries");
	operator_expect(sandbox, 0, "show outbox 90", "ORDER_PAID");
	operator_expect(sandbox, 0, "show payment 5", "refund:wx:T1");
	operator_expect(sandbox, 0, "show payment wx:T1", "refund:wx:T1");
	operator_expect(sandbox, 0, "show rule 2", "timeout_seconds");
	operator_expect(sandbox, 0, "show alert 3", "refund failed 6 times");
	operator_expect(sandbox, 0, "requeue 9223372036854775807 --yes --actor maria", "done");
	operator_expect(sandbox, 0, "show audit 1", "requeue");
	operator_expect(sandbox, EXIT_STATUS_NOT_FOUND, "show alert 4", "there is no alert 4");
	operator_expect(sandbox, EXIT_STATUS_USAGE, "show alert x", "the id of one alert");
}
END_TEST

START_TEST(outbox_rows_are_replayed_with_their_event_id)
{
	insert_story();
	operator_expect(sandbox, EXIT_STATUS_USAGE, "replay outbox 90", "--yes is needed");
	operator_expect(sandbox, 0, "replay outbox 90 --yes -n", "nothing was changed");
	operator_expect(sandbox, 0, "replay outbox 90 --yes --reason receiver-lost-it", "done");
	query_expect(query, "NEW e90", "SELECT status, event_id FROM t_outbox_event WHERE id = 90");
	operator_expect(sandbox, EXIT_STATUS_CONFLICT, "replay outbox 90 --yes", "is NEW");
	operator_expect(sandbox, EXIT_STATUS_NOT_FOUND, "replay outbox 91 --yes", "not_found");
	operator_expect(sandbox, EXIT_STATUS_USAGE, "replay outbox x --yes", "no id");
}
END_TEST

START_TEST(an_alert_is_silenced_and_sent_again)
{
	insert_story();
	operator_expect(
		sandbox, EXIT_STATUS_USAGE, "alert silence 3 --yes --reason at-work", "--for");
	operator_expect(sandbox, EXIT_STATUS_USAGE, "alert silence 3 --yes --for 1h", "--reason");
	operator_expect(sandbox, EXIT_STATUS_USAGE,
		"alert silence 3 --yes --for 25h --reason at-work", "not a duration");
	operator_expect(sandbox, 0, "alert silence 3 --yes --for 1h --reason at-work --actor maria",
		"done");
	query_expect(query, "1", "SELECT silenced_until > UTC_TIMESTAMP(3) FROM t_alert");
	operator_expect(sandbox, 0, "alert resend 3 --yes", "done");
	query_expect(query, "maria silence ok",
		"SELECT actor, action, result FROM t_operator_audit LIMIT 1");
}
END_TEST

START_TEST(a_filter_of_several_pages_is_acted_on_to_the_end)
{
	query_run(query, "INSERT INTO t_compensation (kind, target, idempotency_key, order_no, "
			 "payload, status, calls, retry_count) SELECT 'WEBHOOK', 'crm', "
			 "CONCAT('k', seq), 'A1', '{}', 'DEAD', 6, 5 FROM seq_1_to_450");
	operator_expect(sandbox, EXIT_STATUS_REFUSED, "requeue --target crm --confirm-count 449",
		"450 tasks");
	operator_expect(
		sandbox, 0, "requeue --target crm --limit 210 --confirm-count 210 -q", "done");
	query_expect(query, "210",
		"SELECT COUNT(*) FROM t_compensation WHERE status = 'PENDING' AND id <= 210");
	operator_expect(sandbox, 0, "requeue --target crm --confirm-count 240 -q", "done");
	query_expect(
		query, "450 2", "SELECT COUNT(*), COUNT(DISTINCT bulk_id) FROM t_operator_audit");
}
END_TEST

START_TEST(a_red_check_wants_the_order_number)
{
	insert_story(); /* the order is UNPAID */
	operator_expect(sandbox, EXIT_STATUS_REFUSED,
		"resolve 9223372036854775807 --yes --reason other:sent-by-post", "has to be typed");
	operator_expect(sandbox, EXIT_STATUS_REFUSED,
		"resolve 9223372036854775807 --yes --reason other:sent-by-post --confirm A2",
		"still UNPAID");
	operator_expect(sandbox, 0,
		"resolve 9223372036854775807 --yes --reason other:sent-by-post --confirm A1",
		"done");
	query_expect(query, "refused refused ok",
		"SELECT GROUP_CONCAT(result ORDER BY id SEPARATOR ' ') FROM t_operator_audit");
}
END_TEST

START_TEST(top_shows_rates_and_what_is_stuck)
{
	insert_story();
	operator_expect(
		sandbox, 0, "top --once --interval 500ms --plain", "orders_made_per_s\t0.0");
	operator_expect(sandbox, 0, "top --once --interval 500ms", "red");
	struct json *root = read_json("top", "--once", NULL);
	int64_t dead = 0;
	ck_assert(json_get_int(root, "refund_dead", &dead));
	ck_assert_int_eq(dead, 1);
	json_destroy(&root);
}
END_TEST

static bool has_shown_two(void *context)
{
	char *output = process_output(context);
	char *first = strstr(output, "orders waiting");
	bool is_two = first != NULL && strstr(first + 1, "orders waiting") != NULL;

	free(output);
	return is_two;
}

START_TEST(top_goes_on_until_it_is_stopped_and_uses_no_control_characters_in_a_pipe)
{
	static const char *const words[] = { "top", "--interval", "500ms", NULL };
	struct process *top = sandbox_start(sandbox, "lapsectl", words);

	ck_assert(wait_until(has_shown_two, top, WAIT_MS));
	process_signal(top, 15);
	ck_assert_int_eq(process_wait(top, WAIT_MS), 0);
	char *output = process_output(top);
	ck_assert_ptr_null(strchr(output, '\033'));
	free(output);
}
END_TEST

START_TEST(a_password_becomes_a_line_of_the_users_file)
{
	static const char *const words[] = { "hash-password", "--user", "maria", "--role", "admin",
		NULL };
	char path[PATH_MAX];
	char *const environment[] = { NULL };
	const struct process_plan plan = { .program = "lapsectl",
		.arguments = words,
		.environment = environment,
		.folder = scratch_folder(),
		.input = path };
	struct process *process = NULL;

	scratch_write("password", "correct horse battery\n", path);
	process_start(&plan, &process);
	ck_assert_int_eq(process_wait(process, WAIT_MS), 0);
	char *output = process_output(process);
	ck_assert(text_starts_with(output, "maria:admin:$y$"));
	output[strcspn(output, "\n")] = '\0';
	ck_assert(password_fits(output + strlen("maria:admin:"), "correct horse battery"));
	ck_assert(!password_fits(output + strlen("maria:admin:"), "correct horse"));
	free(output);
	process_destroy(&process);
	operator_expect(sandbox, EXIT_STATUS_USAGE, "hash-password --user a:b", "--user");
	operator_expect(sandbox, EXIT_STATUS_USAGE, "hash-password --user a --role king", "--role");
	operator_expect(sandbox, EXIT_STATUS_USAGE, "hash-password --user a", "standard input");
}
END_TEST

int main(void)
{
	static const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = {
		every_list_is_json_when_it_is_empty_and_keeps_long_ids,
		filters_are_options_and_a_wrong_value_names_the_right_ones,
		an_order_says_why_it_is_not_closed,
		an_order_is_shown_with_its_line_of_time_and_without_its_buyer,
		every_kind_of_thing_is_shown,
		outbox_rows_are_replayed_with_their_event_id,
		an_alert_is_silenced_and_sent_again,
		a_filter_of_several_pages_is_acted_on_to_the_end,
		a_red_check_wants_the_order_number,
		top_shows_rates_and_what_is_stuck,
		top_goes_on_until_it_is_stopped_and_uses_no_control_characters_in_a_pipe,
		a_password_becomes_a_line_of_the_users_file,
	};

	sandbox_need_servers();
	return runner_run_with("verbs", &fixture, tests, ARRAY_LENGTH(tests));
}
