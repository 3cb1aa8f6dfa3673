/* Webhook tasks by lapse-retry against lapse-receiver: signed, once in effect, in their order. */
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/compiler.h"
#include "common/base/text.h"
#include "tests/support/process.h"
#include "tests/support/query.h"
#include "tests/support/receiver.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/scratch.h"
#include "tests/support/tasks.h"
#include "tests/support/wait_until.h"

enum {
	FILE_SIZE = 2048
};

#define SECRET       "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
#define OTHER_SECRET "whsec_b3RoZXI="

static struct sandbox *sandbox;
static struct query *query;
static struct receiver_service receiver;
static uint16_t port;
static char webhooks_path[PATH_MAX];

/* Each "%u" of the text becomes the port of the receiver. */
static void write_file(const char *name, const char *text, char path_out[PATH_MAX])
{
	char file[FILE_SIZE] = "";
	size_t used = 0;

	for (const char *rest = text; *rest != '\0';) {
		size_t size = strcspn(rest, "%");

		(void)text_format(file + used, sizeof(file) - used, "%.*s", (int)size, rest);
		used += strlen(file + used);
		rest += size;
		if (*rest == '\0')
			break;
		(void)text_format(file + used, sizeof(file) - used, "%u", (unsigned int)port);
		used += strlen(file + used);
		rest += strlen("%u");
	}
	scratch_write(name, file, path_out);
}

#define COUPONS "coupons ORDER_CLOSED http://127.0.0.1:%u/hooks/coupons " SECRET "\n"
#define NOTIFY  "notify * http://127.0.0.1:%u/hooks/notify " SECRET "\n"

static void set_up(void)
{
	sandbox_create(SANDBOX_NO_BROKER, &sandbox);
	query = sandbox_query(sandbox);
	port = sandbox_free_port();
	write_file("webhooks", COUPONS NOTIFY, webhooks_path);
	sandbox_set(sandbox, "LAPSE_WEBHOOKS_FILE", "%s", webhooks_path);
	sandbox_set(sandbox, "LAPSE_RETRY_BASE", "20ms");
	sandbox_set(sandbox, "LAPSE_RETRY_INTERVAL", "20ms");
	sandbox_set(sandbox, "LAPSE_HTTP_TIMEOUT", "1s");
	receiver_start(sandbox, port, &receiver);
}

static void tear_down(void)
{
	sandbox_destroy(&sandbox);
}

static struct process *start(void)
{
	return sandbox_start(sandbox, "lapse-retry", NULL);
}

/* Events E<first> ... of each of the orders A1 ..., one task for the target. */
static void insert_tasks(const char *target, int orders, int events)
{
	query_run(query,
		"INSERT INTO t_compensation (kind, target, idempotency_key, order_no, payload) "
		"WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < %d) "
		"SELECT 'WEBHOOK', '%s', CONCAT('webhook:%s:E', i), CONCAT('A', 1 + i %% %d), "
		"CONCAT('{\"specversion\":\"1.0\",\"id\":\"E', i, '\",\"type\":\"order.closed.v1\","
		"\"subject\":\"A', 1 + i %% %d, '\",\"data\":{}}') FROM n ORDER BY i",
		orders * events, target, target, orders, orders);
}

static bool nothing_is_open(void *context)
{
	(void)context;
	return tasks_count_open(query) == 0;
}

START_TEST(each_webhook_is_delivered_signed_and_once)
{
	insert_tasks("coupons", 10, 1);
	insert_tasks("notify", 10, 2);
	(void)start();
	WAIT_UNTIL(nothing_is_open, NULL);
	ck_assert_int_eq(tasks_count(query, "DONE"), 30);
	ck_assert_int_eq(receiver_count(&receiver, "coupons", "effects"), 10);
	ck_assert_int_eq(receiver_count(&receiver, "notify", "effects"), 20);
	ck_assert_int_eq(receiver_count(&receiver, "notify", "calls"), 20);
	ck_assert_int_eq(receiver_count_refused(&receiver), 0);
}
END_TEST

START_TEST(an_answer_that_is_lost_costs_a_call_and_no_effect)
{
	receiver_set(&receiver, "lose-answers", "0.3");
	insert_tasks("notify", 50, 1);
	(void)start();
	WAIT_UNTIL(nothing_is_open, NULL);
	ck_assert_int_eq(receiver_count(&receiver, "notify", "effects"), 50);
	ck_assert_int_gt(receiver_count(&receiver, "notify", "calls"), 50);
	ck_assert_int_eq(receiver_count(&receiver, "notify", "changed"), 0);
}
END_TEST

static bool is_ascending(char *list, int count)
{
	int last = -1;
	char *rest = list;

	for (int i = 0; i < count; i++) {
		char *end = NULL;

		if (*rest != 'E')
			return false;
		long number = strtol(rest + 1, &end, 10);
		if (number <= last || *end != ' ')
			return false;
		last = (int)number;
		rest = end + 1;
	}
	return *rest == '\0';
}

/* Calls fail and are made again while others go on, by two processes. */
START_TEST(events_of_one_order_arrive_in_their_order)
{
	char list[RECEIVER_TEXT_SIZE];
	char order_no[16];

	receiver_set(&receiver, "fail-rate", "0.2");
	sandbox_set(sandbox, "LAPSE_RETRY_BASE", "50ms");
	insert_tasks("notify", 20, 10);
	(void)start();
	(void)start();
	WAIT_UNTIL(nothing_is_open, NULL);
	for (int i = 1; i <= 20; i++) {
		(void)text_format(order_no, sizeof(order_no), "A%d", i);
		receiver_list(&receiver, "notify", order_no, list);
		int64_t done = query_number(query,
			"SELECT COUNT(*) FROM t_compensation WHERE order_no = '%s' AND status = "
			"'DONE'",
			order_no);
		ck_assert_msg(is_ascending(list, (int)done), "%s: %s", order_no, list);
	}
}
END_TEST

static bool has_failed_twice(void *context)
{
	(void)context;
	return query_number(query, "SELECT COUNT(*) FROM t_compensation WHERE calls >= 2") > 0;
}

START_TEST(a_receiver_that_is_well_again_gets_everything)
{
	receiver_set(&receiver, "fail-rate", "1");
	sandbox_set(sandbox, "LAPSE_RETRY_BASE", "500ms");
	insert_tasks("notify", 100, 1);
	insert_tasks("coupons", 1, 1);
	(void)start();
	WAIT_UNTIL(has_failed_twice, NULL);
	ck_assert_int_eq(receiver_count(&receiver, "notify", "effects"), 0);
	receiver_set(&receiver, "fail-rate", "0");
	WAIT_UNTIL(nothing_is_open, NULL);
	ck_assert_int_eq(tasks_count(query, "DONE"), 101);
	ck_assert_int_eq(receiver_count(&receiver, "notify", "effects"), 100);
}
END_TEST

START_TEST(a_hook_that_is_gone_ends_its_task_at_once)
{
	receiver_set(&receiver, "fail-sku", "coupons=410");
	insert_tasks("coupons", 1, 2);
	insert_tasks("notify", 1, 1);
	(void)start();
	WAIT_UNTIL(nothing_is_open, NULL);
	ck_assert_int_eq(tasks_count(query, "DONE"), 1);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_compensation WHERE status = "
					     "'DEAD' AND calls = 1 AND last_error LIKE '%%410%%'"),
		2);
	ck_assert_int_eq(
		query_number(query, "SELECT COUNT(*) FROM t_alert WHERE kind = 'TASK_DEAD'"), 2);
}
END_TEST

static bool has_done(void *count)
{
	return tasks_count(query, "DONE") == *(const int64_t *)count;
}

static void await_done(int64_t count)
{
	WAIT_UNTIL(has_done, &count);
}

static bool has_read_again(void *process)
{
	return process_count_logged(process, "subscribers_read") == 2;
}

/* While it is being replaced there are two signatures, and receivers may know either secret. */
START_TEST(a_secret_is_replaced_while_everything_runs)
{
	struct process *retry = NULL;

	insert_tasks("coupons", 1, 1);
	retry = start();
	await_done(1);
	write_file("webhooks",
		"coupons * http://127.0.0.1:%u/hooks/coupons " OTHER_SECRET " " SECRET "\n"
		"notify * http://127.0.0.1:%u/hooks/notify " OTHER_SECRET " " SECRET "\n",
		webhooks_path);
	process_signal(retry, SIGHUP);
	WAIT_UNTIL(has_read_again, retry);
	insert_tasks("notify", 1, 1);
	await_done(2);
	sandbox_kill(sandbox, receiver.process);
	write_file("webhooks", "new * http://127.0.0.1:%u/hooks/new " OTHER_SECRET "\n",
		webhooks_path);
	receiver_start(sandbox, port, &receiver);
	write_file("webhooks", "new * http://127.0.0.1:%u/hooks/new " OTHER_SECRET " " SECRET "\n",
		webhooks_path);
	process_signal(retry, SIGHUP);
	insert_tasks("new", 1, 1);
	await_done(3);
	ck_assert_int_eq(receiver_count_refused(&receiver), 0);
}
END_TEST

START_TEST(a_hangup_adds_a_subscriber_and_takes_one_away)
{
	struct process *retry = NULL;

	insert_tasks("audit", 1, 1);
	insert_tasks("coupons", 1, 1);
	retry = start();
	await_done(1);
	ck_assert_int_eq(tasks_count(query, "PENDING"), 1);
	write_file("webhooks", "audit * http://127.0.0.1:%u/hooks/audit " SECRET "\n" NOTIFY,
		webhooks_path);
	process_signal(receiver.process, SIGHUP);
	process_signal(retry, SIGHUP);
	await_done(2);
	query_run(query, "UPDATE t_compensation SET status = 'PENDING', calls = 0, retry_count = 0 "
			 "WHERE target = 'coupons'");
	insert_tasks("notify", 1, 1);
	await_done(2);
	ck_assert_int_eq(tasks_count(query, "PENDING"), 1);
}
END_TEST

static bool has_missed_the_file(void *process)
{
	return process_count_logged(process, "subscribers_unread") > 0;
}

START_TEST(a_file_that_is_not_there_yet_is_waited_for)
{
	struct process *retry = NULL;

	sandbox_set(sandbox, "LAPSE_WEBHOOKS_FILE", "%s.later", webhooks_path);
	insert_tasks("coupons", 1, 2);
	retry = start();
	WAIT_UNTIL(has_missed_the_file, retry);
	write_file("webhooks.later", COUPONS, webhooks_path);
	await_done(2); /* without a hangup */
}
END_TEST

START_TEST(money_goes_back_once_although_answers_are_lost)
{
	int64_t calls = 0;

	sandbox_set(sandbox, "LAPSE_REFUND_URL", "http://127.0.0.1:%u", (unsigned int)port);
	receiver_set(&receiver, "lose-answers", "0.3");
	query_run(query,
		"INSERT INTO t_compensation (kind, target, idempotency_key, order_no, payload) "
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50) "
		"SELECT 'REFUND', 'refund', CONCAT('refund:alipay:T', i), CONCAT('A', i), "
		"CONCAT('{\"channel\":\"alipay\",\"trade_no\":\"T', i, "
		"'\",\"amount_cents\":100,\"currency\":\"CNY\"}') FROM n");
	(void)start();
	WAIT_UNTIL(nothing_is_open, NULL);
	ck_assert_int_eq(receiver_count_refunds(&receiver, &calls), 50);
	ck_assert_int_gt(calls, 50);
}
END_TEST

int main(void)
{
	static const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = {
		each_webhook_is_delivered_signed_and_once,
		an_answer_that_is_lost_costs_a_call_and_no_effect,
		events_of_one_order_arrive_in_their_order,
		a_receiver_that_is_well_again_gets_everything,
		a_hook_that_is_gone_ends_its_task_at_once,
		a_secret_is_replaced_while_everything_runs,
		a_hangup_adds_a_subscriber_and_takes_one_away,
		a_file_that_is_not_there_yet_is_waited_for,
		money_goes_back_once_although_answers_are_lost,
	};

	sandbox_need_servers();
	return runner_run_with("webhooks", &fixture, tests, ARRAY_LENGTH(tests));
}
