/* lapsectl retry list, show, requeue, resolve: what a person does to DEAD tasks. */
#include <signal.h>
#include <stdlib.h>

#include "common/base/compiler.h"
#include "common/base/result.h"
#include "tests/support/operator.h"
#include "tests/support/process.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/wait_until.h"

static struct sandbox *sandbox;

static void set_up(void)
{
	sandbox_create(SANDBOX_NO_BROKER, &sandbox);
}

static void tear_down(void)
{
	sandbox_destroy(&sandbox);
}

/* A DEAD task with its alert, as lapse-retry leaves it behind. */
static void insert_dead(uint64_t id, const char *order_no, const char *problem)
{
	query_run(sandbox_query(sandbox),
		"INSERT INTO t_compensation (id, kind, target, idempotency_key, order_no, payload, "
		"status, calls, retry_count, last_error) VALUES (%llu, 'STOCK_RESTORE', 'stock', "
		"'restore:%s:%llu', '%s', '{\"sku_id\":\"SKU-1\"}', 'DEAD', 6, 5, '%s');"
		"INSERT INTO t_alert (kind, ref, severity, labels, annotations) "
		"VALUES ('TASK_DEAD', '%llu', 'warning', '{}', '{}')",
		(unsigned long long)id, order_no, (unsigned long long)id, order_no, problem,
		(unsigned long long)id);
}

START_TEST(a_list_shows_tasks_in_trouble_and_nothing_else)
{
	insert_dead(7, "A7", "HTTP 503");
	query_run(sandbox_query(sandbox),
		"INSERT INTO t_compensation (id, kind, target, idempotency_key, order_no, payload, "
		"status, retry_count) VALUES "
		"(8, 'REFUND', 'refund', 'refund:x:8', 'A8', '{}', 'PENDING', 2), "
		"(9, 'REFUND', 'refund', 'refund:x:9', 'A9', '{}', 'PENDING', 0), "
		"(10, 'STOCK_RESTORE', 'stock', 'restore:A10:1', 'A10', '{}', 'DONE', 0)");
	ck_assert_int_eq(
		operator_run(sandbox, "retry list --plain", "7\tSTOCK_RESTORE\tA7\tDEAD"), 0);
	ck_assert_int_eq(operator_run(sandbox, "list tasks --json -q", "\"id\":\"8\""), 0);
	ck_assert_int_eq(operator_run(sandbox, "retry list --status all --after 9 --json -q",
				 "[{\"id\":\"10\",\"kind\":\"STOCK_RESTORE\",\"order_no\":\"A10\""),
		0);
	ck_assert_int_eq(
		operator_run(sandbox, "retry list --kind refund --status dead --json -q", "[]\n"),
		0);
	ck_assert_int_eq(operator_run(sandbox, "retry list --order A9 --status pending --plain",
				 "9\tREFUND"),
		0);
	ck_assert_int_eq(operator_run(sandbox, "retry list --error 503 --plain", "7\t"), 0);
	ck_assert_int_eq(operator_run(sandbox, "retry list --older-than 1h --json -q", "[]\n"), 0);
	ck_assert_int_eq(operator_run(sandbox, "retry list --status gone", "is not one of PENDING"),
		EXIT_STATUS_USAGE);
	ck_assert_int_eq(operator_run(sandbox, "retry list --order A'1", "is not letters, digits"),
		EXIT_STATUS_USAGE);
}
END_TEST

START_TEST(a_task_is_shown_with_its_order_and_what_was_done_to_it)
{
	insert_dead(7, "A7", "HTTP 503");
	query_run(sandbox_query(sandbox), "INSERT INTO t_order (order_no, amount_cents, status) "
					  "VALUES ('A7', 100, 'CLOSED')");
	ck_assert_int_eq(operator_run(sandbox, "retry requeue 7 --yes --actor maria", NULL), 0);
	ck_assert_int_eq(operator_run(sandbox, "retry show 7", "restore:A7:7"), 0);
	ck_assert_int_eq(operator_run(sandbox, "show task 7", "maria"), 0);
	ck_assert_int_eq(
		operator_run(sandbox, "show task 7 --json", "\"payload\":{\"sku_id\":\"SKU-1\"}"),
		0);
	ck_assert_int_eq(
		operator_run(sandbox, "show task 7 --json", "\"order\":{\"order_no\":\"A7\""), 0);
	ck_assert_int_eq(operator_run(sandbox, "show task 8", "no task 8"), EXIT_STATUS_NOT_FOUND);
	ck_assert_int_eq(
		operator_run(sandbox, "show task A8", "id of one task"), EXIT_STATUS_USAGE);
}
END_TEST

START_TEST(a_requeue_gives_five_more_retries_and_leaves_an_audit_row)
{
	insert_dead(7, "A7", "HTTP 503");
	ck_assert_int_eq(operator_run(sandbox, "requeue 7 --yes --actor maria", "done"), 0);
	query_expect(sandbox_query(sandbox), "PENDING 5 10 1",
		"SELECT status, retry_count, max_retries, next_retry_at <= UTC_TIMESTAMP(3) "
		"FROM t_compensation WHERE id = 7");
	query_expect(sandbox_query(sandbox), "RESOLVED",
		"SELECT state FROM t_alert WHERE kind = 'TASK_DEAD' AND ref = '7'");
	query_expect(sandbox_query(sandbox), "maria admin cli requeue task 7 ok NULL",
		"SELECT actor, role, auth, action, target_type, target_id, result, bulk_id "
		"FROM t_operator_audit");
}
END_TEST

START_TEST(a_task_that_is_not_dead_any_more_is_a_conflict)
{
	insert_dead(7, "A7", "HTTP 503");
	ck_assert_int_eq(operator_run(sandbox, "requeue 7 --yes", "done"), 0);
	ck_assert_int_eq(
		operator_run(sandbox, "requeue 7 --yes", "conflict"), EXIT_STATUS_CONFLICT);
	ck_assert_int_eq(operator_run(sandbox, "resolve 7 --yes --reason not_needed", "conflict"),
		EXIT_STATUS_CONFLICT);
	ck_assert_int_eq(
		operator_run(sandbox, "requeue 8 --yes", "not_found"), EXIT_STATUS_NOT_FOUND);
	query_expect(sandbox_query(sandbox), "10",
		"SELECT max_retries FROM t_compensation WHERE id = 7");
	query_expect(sandbox_query(sandbox), "1 2",
		"SELECT SUM(result = 'ok'), SUM(result = 'conflict') FROM t_operator_audit");
}
END_TEST

START_TEST(a_resolved_task_keeps_the_reason)
{
	insert_dead(7, "A7", "HTTP 503");
	insert_dead(8, "A8", "HTTP 503");
	ck_assert_int_eq(
		operator_run(sandbox, "resolve 7 --yes --reason stock_corrected_by_hand", "done"),
		0);
	ck_assert_int_eq(
		operator_run(sandbox, "retry resolve 8 --yes --reason other:counted-twice", "done"),
		0);
	query_expect(sandbox_query(sandbox), "2",
		"SELECT COUNT(*) FROM t_compensation WHERE status = 'RESOLVED'");
	query_expect(sandbox_query(sandbox), "stock_corrected_by_hand stock_corrected_by_hand",
		"SELECT reason_code, reason_text FROM t_operator_audit WHERE target_id = '7'");
	query_expect(sandbox_query(sandbox), "other counted-twice",
		"SELECT reason_code, reason_text FROM t_operator_audit WHERE target_id = '8'");
}
END_TEST

START_TEST(a_reason_is_needed_and_must_be_one_of_the_list)
{
	insert_dead(7, "A7", "HTTP 503");
	ck_assert_int_eq(operator_run(sandbox, "resolve 7 --yes", "--reason"), EXIT_STATUS_USAGE);
	ck_assert_int_eq(
		operator_run(sandbox, "resolve 7 --yes --reason because", "is not fixed_elsewhere"),
		EXIT_STATUS_USAGE);
	ck_assert_int_eq(operator_run(sandbox, "resolve 7 --yes --reason other", "needs a text"),
		EXIT_STATUS_USAGE);
	ck_assert_int_eq(operator_run(sandbox, "resolve --yes --reason not_needed", "ids of tasks"),
		EXIT_STATUS_USAGE);
	query_expect(
		sandbox_query(sandbox), "DEAD", "SELECT status FROM t_compensation WHERE id = 7");
}
END_TEST

START_TEST(a_filter_acts_only_on_the_number_confirmed)
{
	insert_dead(7, "A7", "HTTP 503");
	insert_dead(8, "A8", "HTTP 503");
	insert_dead(9, "A9", "HTTP 404");
	ck_assert_int_eq(operator_run(sandbox, "requeue --error 503", "2 DEAD tasks match"),
		EXIT_STATUS_USAGE);
	ck_assert_int_eq(operator_run(sandbox, "requeue --error 503 --yes", "--confirm-count"),
		EXIT_STATUS_USAGE);
	ck_assert_int_eq(operator_run(sandbox, "requeue --error 503 --confirm-count 3",
				 "nothing was changed"),
		EXIT_STATUS_REFUSED);
	ck_assert_int_eq(operator_run(sandbox, "requeue --error 503 -n --plain",
				 "8\tSTOCK_RESTORE\tA8\tDEAD"),
		0);
	ck_assert_int_eq(operator_run(sandbox, "requeue --error 503 -n",
				 "2 DEAD tasks match: status DEAD, error contains 503; to act: "
				 "--confirm-count 2"),
		0);
	query_expect(sandbox_query(sandbox), "3",
		"SELECT COUNT(*) FROM t_compensation WHERE status = 'DEAD'");
	ck_assert_int_eq(
		operator_run(sandbox, "requeue --error 503 --confirm-count 2", "2 of 2 done"), 0);
	query_expect(sandbox_query(sandbox), "9",
		"SELECT GROUP_CONCAT(id) FROM t_compensation WHERE status = 'DEAD'");
	query_expect(sandbox_query(sandbox), "1 2",
		"SELECT COUNT(DISTINCT bulk_id), COUNT(bulk_id) FROM t_operator_audit");
	ck_assert_int_eq(operator_run(sandbox, "requeue --error 503 --confirm-count 2",
				 "no DEAD task matches"),
		EXIT_STATUS_NOT_FOUND);
	ck_assert_int_eq(operator_run(sandbox, "requeue --status pending --confirm-count 2",
				 "only tasks that are DEAD"),
		EXIT_STATUS_USAGE);
}
END_TEST

START_TEST(half_a_command_says_how_it_goes_on)
{
	ck_assert_int_eq(
		operator_run(sandbox, "retry", "lapsectl retry --help"), EXIT_STATUS_USAGE);
	ck_assert_int_eq(operator_run(sandbox, "retry --help", "  retry requeue "), 0);
	ck_assert_int_eq(operator_run(sandbox, "list --help", "  list orders "), 0);
}
END_TEST

START_TEST(without_a_terminal_nothing_is_asked)
{
	insert_dead(7, "A7", "HTTP 503");
	ck_assert_int_eq(operator_run(sandbox, "requeue 7", "--yes is needed"), EXIT_STATUS_USAGE);
	ck_assert_int_eq(operator_run(sandbox, "resolve 7 --reason not_needed", "--yes is needed"),
		EXIT_STATUS_USAGE);
	ck_assert_int_eq(
		operator_run(sandbox, "requeue", "either ids or a filter"), EXIT_STATUS_USAGE);
	ck_assert_int_eq(
		operator_run(sandbox, "requeue 7 --order A7 --yes", "either ids or a filter"),
		EXIT_STATUS_USAGE);
	ck_assert_int_eq(
		operator_run(sandbox, "requeue 7 7 --yes", "given twice"), EXIT_STATUS_USAGE);
	ck_assert_int_eq(operator_run(sandbox, "requeue x --yes", "no task id"), EXIT_STATUS_USAGE);
	ck_assert_int_eq(operator_run(sandbox, "requeue 7 -n", "DEAD"), 0);
	query_expect(
		sandbox_query(sandbox), "DEAD", "SELECT status FROM t_compensation WHERE id = 7");
	query_expect(sandbox_query(sandbox), "0", "SELECT COUNT(*) FROM t_operator_audit");
}
END_TEST

START_TEST(one_refusal_among_many_is_named_and_the_rest_is_done)
{
	insert_dead(7, "A7", "HTTP 503");
	insert_dead(9, "A9", "HTTP 503");
	ck_assert_int_eq(operator_run(sandbox, "requeue 7 8 9 --yes --plain", "8\t-\t-\tnot_found"),
		EXIT_STATUS_NOT_FOUND);
	query_expect(sandbox_query(sandbox), "2",
		"SELECT COUNT(*) FROM t_compensation WHERE status = 'PENDING'");
}
END_TEST

static bool has_begun(void *query)
{
	return query_number(query, "SELECT COUNT(*) FROM t_operator_audit") > 0;
}

START_TEST(a_bulk_that_is_stopped_says_what_was_done_and_leaves_the_rest)
{
	static const char *const words[] = { "requeue", "--kind", "webhook", "--confirm-count",
		"4096", NULL };
	struct query *query = sandbox_query(sandbox);

	query_run(query, "INSERT INTO t_compensation (kind, target, idempotency_key, order_no, "
			 "payload, status) VALUES ('WEBHOOK', 'shop', 'webhook:1', 'A1', '{}', "
			 "'DEAD')");
	for (int doubling = 0; doubling < 12; doubling++)
		query_run(query,
			"INSERT INTO t_compensation (kind, target, idempotency_key, "
			"order_no, payload, status) SELECT kind, target, UUID(), order_no, "
			"payload, status FROM t_compensation");
	struct process *process = sandbox_start(sandbox, "lapsectl", words);
	WAIT_UNTIL(has_begun, query);
	process_signal(process, SIGINT);
	ck_assert_int_eq(process_wait(process, WAIT_LIMIT_MS), EXIT_STATUS_FAILED);
	ck_assert_uint_eq(process_count_logged(process, "were left as they were"), 1);
	int64_t done = query_number(query, "SELECT COUNT(*) FROM t_compensation "
					   "WHERE status = 'PENDING'");
	ck_assert_int_gt(done, 0);
	ck_assert_int_lt(done, 4096);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_operator_audit "
					     "WHERE result = 'ok'"),
		done);
}
END_TEST

int main(void)
{
	static const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = {
		a_list_shows_tasks_in_trouble_and_nothing_else,
		a_task_is_shown_with_its_order_and_what_was_done_to_it,
		a_requeue_gives_five_more_retries_and_leaves_an_audit_row,
		a_task_that_is_not_dead_any_more_is_a_conflict,
		a_resolved_task_keeps_the_reason,
		a_reason_is_needed_and_must_be_one_of_the_list,
		a_filter_acts_only_on_the_number_confirmed,
		half_a_command_says_how_it_goes_on,
		without_a_terminal_nothing_is_asked,
		one_refusal_among_many_is_named_and_the_rest_is_done,
		a_bulk_that_is_stopped_says_what_was_done_and_leaves_the_rest,
	};

	sandbox_need_servers();
	return runner_run_with("operate", &fixture, tests, ARRAY_LENGTH(tests));
}
