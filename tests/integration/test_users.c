/* Each program under a MySQL and RabbitMQ user of its own: it can do its work, and no more. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/compiler.h"
#include "common/base/result.h"
#include "common/base/text.h"
#include "tests/support/console.h"
#include "tests/support/gateway.h"
#include "tests/support/operator.h"
#include "tests/support/orders.h"
#include "tests/support/process.h"
#include "tests/support/query.h"
#include "tests/support/receiver.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/scratch.h"
#include "tests/support/users.h"
#include "tests/support/wait_until.h"

enum {
	ORDERS = 40,
	DAEMONS_MAX = 8,
};

#define HOUR_MS INT64_C(3600000)
#define SECRET  "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="

static struct sandbox *sandbox;
static struct query *query;
static struct process *daemons[DAEMONS_MAX];
static size_t daemon_count;

/* As an installation does it: users first, then lapsectl migrate under its own. */
static void set_up(void)
{
	daemon_count = 0;
	sandbox_create(SANDBOX_NO_SCHEMA, &sandbox);
	query = sandbox_query(sandbox);
	users_create(sandbox);
	users_become(sandbox, "migrate");
	ck_assert_int_eq(operator_run(sandbox, "migrate", "grants given to"), EXIT_STATUS_OK);
}

static void tear_down(void)
{
	users_destroy();
	sandbox_destroy(&sandbox);
}

static void start_as(const char *name)
{
	char program[64];

	(void)text_format(program, sizeof(program), "lapse-%s", name);
	users_become(sandbox, name);
	daemons[daemon_count++] = sandbox_start(sandbox, program, NULL);
}

/* Whatever was refused would have been logged, since no program passes over an error. */
static void expect_nothing_refused(void)
{
	static const char *const words[] = { "denied", "ACCESS_REFUSED", "access refused",
		"not allowed" };

	for (size_t i = 0; i < daemon_count; i++) {
		char *log = process_errors(daemons[i]);

		for (size_t k = 0; k < ARRAY_LENGTH(words); k++)
			ck_assert_msg(strstr(log, words[k]) == NULL, "%s: %s", words[k], log);
		free(log);
	}
	sandbox_expect_all_alive(sandbox);
}

static void set_fast(void)
{
	sandbox_set(sandbox, "LAPSE_SWEEP_INTERVAL", "1s");
	sandbox_set(sandbox, "LAPSE_RETRY_BASE", "20ms");
	sandbox_set(sandbox, "LAPSE_RETRY_INTERVAL", "20ms");
	sandbox_set(sandbox, "LAPSE_RETENTION", "1h");
	sandbox_set(sandbox, "LAPSE_UNKNOWN_ORDER_GRACE", "1s");
}

/* Webhooks and refunds go to one receiver, restores to a stub. */
static void start_receivers(void)
{
	struct receiver_service receiver;
	uint16_t port = sandbox_free_port();
	char text[256];
	char path[PATH_MAX];

	(void)text_format(text, sizeof(text),
		"notify * http://127.0.0.1:%u/hooks/notify " SECRET "\n", (unsigned int)port);
	scratch_write("webhooks", text, path);
	sandbox_set(sandbox, "LAPSE_WEBHOOKS_FILE", "%s", path);
	receiver_start(sandbox, port, &receiver);
	sandbox_set(sandbox, "LAPSE_REFUND_URL", "http://127.0.0.1:%u", (unsigned int)port);
	(void)sandbox_stub(sandbox);
}

static bool is_all_done(void *context)
{
	(void)context;
	return query_number(query,
		       "SELECT (SELECT COUNT(*) FROM t_order WHERE status = 'UNPAID' "
		       "AND expire_time < UTC_TIMESTAMP(3) + INTERVAL 10 MINUTE) + "
		       "(SELECT COUNT(*) FROM t_outbox_event WHERE status = 'NEW') + "
		       "(SELECT COUNT(*) FROM t_compensation WHERE status <> 'DONE') + "
		       "(SELECT COUNT(*) FROM t_event_consumed WHERE event_id = 'E1') + "
		       "(SELECT COUNT(*) FROM t_outbox_event WHERE order_no = 'OLD')") == 0;
}

static void run_shop(void)
{
	static const char *const words[] = { "--orders", "40", "--rate", "max", "--timeout", "1s",
		"--jitter", "2s", "--no-reserve", "--pay", "0.3", NULL };

	users_become(sandbox, "shop");
	ck_assert_int_eq(sandbox_run(sandbox, "lapse-shop", words, NULL), EXIT_STATUS_OK);
}

/* Old rows for housekeeping, an order without a message, and one that is never published. */
static void insert_chores(void)
{
	orders_insert(query, &(struct order_plan){
				     .order_no = "SWEPT", .due_in_ms = 500, .has_no_event = true });
	query_run(query,
		"INSERT INTO t_outbox_event (event_type, order_no, status, available_at, sent_at) "
		"VALUES ('ORDER_CREATED', 'OLD', 'SENT', '2020-01-01', '2020-01-01');"
		"INSERT INTO t_event_consumed (consumer_name, event_id, consumed_at) "
		"VALUES ('old', 'E1', '2020-01-01');"
		"INSERT INTO t_outbox_event (event_type, order_no) VALUES ('NO_SUCH_TYPE', 'A1')");
}

START_TEST(each_daemon_does_its_work_under_its_own_user)
{
	static const char *const names[] = { "producer", "consumer", "sweeper", "retry", "events" };

	set_fast();
	start_receivers();
	insert_chores();
	for (size_t i = 0; i < ARRAY_LENGTH(names); i++)
		start_as(names[i]);
	run_shop();
	WAIT_UNTIL(is_all_done, NULL);
	ck_assert_int_eq(query_number(query,
				 "SELECT COUNT(*) FROM t_order WHERE close_source = 'message'") > 0,
		1);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_order "
					     "WHERE order_no = 'SWEPT' AND status = 'CLOSED'"),
		1);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_alert "
					     "WHERE kind = 'OUTBOX_FAILED'"),
		1);
	ck_assert_int_gt(
		query_number(query, "SELECT COUNT(*) FROM t_compensation WHERE kind = 'WEBHOOK'"),
		0);
	expect_nothing_refused();
	sandbox_stop_all(sandbox, WAIT_LIMIT_MS);
}
END_TEST

/* The duplicate, the late one, and the one of an order that never came. */
static bool are_refunds_done(void *context)
{
	(void)context;
	return query_number(query, "SELECT COUNT(*) FROM t_payment WHERE refund_state = 'DONE'") ==
	       3;
}

START_TEST(the_gateway_creates_takes_money_cancels_and_shows)
{
	struct gateway_run gateway;

	set_fast();
	start_receivers();
	users_become(sandbox, "gateway");
	gateway_start(&gateway, sandbox);
	daemons[daemon_count++] = gateway.process;
	start_as("sweeper");
	start_as("retry");
	gateway_expect(api_client_post(gateway.client, "/v1/orders",
			       "{\"order_no\":\"A1\",\"user_id\":\"7\",\"amount_cents\":9900,"
			       "\"items\":[{\"sku_id\":\"SKU-1\",\"quantity\":1}]}"),
		201, "A1");
	orders_insert_one(query, "A2", HOUR_MS);
	orders_insert_one(query, "L1", -1000);
	gateway_expect(gateway_notify(gateway.client,
			       &(struct gateway_notice){ .order_no = "A1", .trade_no = "T1" }),
		200, "APPLIED");
	gateway_expect(gateway_notify(gateway.client,
			       &(struct gateway_notice){ .order_no = "A1", .trade_no = "T2" }),
		200, "DUPLICATE");
	gateway_expect(gateway_notify(gateway.client,
			       &(struct gateway_notice){ .order_no = "L1", .trade_no = "T3" }),
		200, "LATE");
	gateway_expect(gateway_notify(gateway.client,
			       &(struct gateway_notice){ .order_no = "NOBODY", .trade_no = "T4" }),
		404, "");
	gateway_expect(
		api_client_post(gateway.client, "/v1/orders/A2/cancel", NULL), 200, "CLOSED");
	gateway_expect(api_client_get(gateway.client, "/v1/orders/A1"), 200, "APPLIED");
	WAIT_UNTIL(are_refunds_done, NULL);
	expect_nothing_refused();
	gateway_leave(&gateway);
	sandbox_stop_all(sandbox, WAIT_LIMIT_MS);
}
END_TEST

/* A refund that has failed, of a paid order that nobody else works for. */
static void insert_dead(unsigned int id)
{
	query_run(query,
		"INSERT INTO t_order (order_no, amount_cents, status, expire_time, pay_time) "
		"VALUES ('P%u', 1, 'PAID', UTC_TIMESTAMP(3) + INTERVAL 1 HOUR, UTC_TIMESTAMP(3));"
		"INSERT INTO t_compensation (id, kind, target, idempotency_key, order_no, payload, "
		"status, calls, retry_count) VALUES (%u, 'REFUND', 'refund', 'refund:pay:T%u', "
		"'P%u', '{\"channel\":\"pay\",\"trade_no\":\"T%u\"}', 'DEAD', 6, 5);"
		"INSERT INTO t_payment (channel, trade_no, order_no, amount_cents, currency, "
		"outcome, refund_state) VALUES ('pay', 'T%u', 'P%u', 1, 'CNY', 'LATE', 'FAILED');"
		"INSERT INTO t_alert (kind, ref, severity, labels, annotations) "
		"VALUES ('TASK_DEAD', '%u', 'critical', '{}', '{}')",
		id, id, id, id, id, id, id, id);
}

START_TEST(the_command_line_acts_under_its_own_user)
{
	start_as("consumer"); /* makes the queues */
	orders_insert_one(query, "A1", HOUR_MS);
	orders_insert_one(query, "A2", HOUR_MS);
	insert_dead(7);
	insert_dead(8);
	users_become(sandbox, "ctl");
	ck_assert_int_eq(operator_run(sandbox, "status", NULL), EXIT_STATUS_OK);
	ck_assert_int_eq(operator_run(sandbox, "requeue 7 --yes", NULL), EXIT_STATUS_OK);
	ck_assert_int_eq(
		operator_run(sandbox, "resolve 8 --reason refunded_by_hand:by-bank-transfer --yes",
			NULL),
		EXIT_STATUS_OK);
	ck_assert_int_eq(operator_run(sandbox,
				 "order extend A1 --by 1h --reason asked-by-phone --yes", NULL),
		EXIT_STATUS_OK);
	ck_assert_int_eq(
		operator_run(sandbox, "cancel A2 --confirm A2 --reason asked-by-phone --yes", NULL),
		EXIT_STATUS_OK);
	ck_assert_int_eq(
		operator_run(sandbox, "rule add --timeout 15m --reason first-rule --yes", NULL),
		EXIT_STATUS_OK);
	ck_assert_int_eq(operator_run(sandbox, "rule expire 1 --reason no-more-needed --yes", NULL),
		EXIT_STATUS_OK);
	ck_assert_int_eq(operator_run(sandbox, "list tasks --status all", NULL), EXIT_STATUS_OK);
	ck_assert_int_eq(operator_run(sandbox, "list parked", NULL), EXIT_STATUS_OK);
	ck_assert_int_eq(operator_run(sandbox, "verify", NULL), EXIT_STATUS_OK);
	ck_assert_int_eq(operator_run(sandbox, "doctor", "delay_mode: "), EXIT_STATUS_OK);
	ck_assert_int_eq(
		operator_run(sandbox, "doctor", "this user may make no queue"), EXIT_STATUS_OK);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_operator_audit "
					     "WHERE result = 'ok'"),
		6);
}
END_TEST

/* Person, page with the form, where it goes, what is typed. */
static const char *const console_acts[][4] = {
	{ "olga", "/tasks/1/requeue", "/tasks/1/requeue", "retry_count=5" },
	{ "olga", "/orders/OPEN-1/close", "/orders/OPEN-1/close", "confirm=EN-1&reason=by+phone" },
	{ "olga", "/orders/OPEN-2/extend", "/orders/OPEN-2/extend", "by=2h&reason=by+phone" },
	{ "olga", "/outbox/replay?id=1", "/outbox/replay", "id=1" },
	{ "anna", "/rules/add?timeout=15m", "/rules/add", "timeout=15m&reason=a+first+rule" },
};

START_TEST(the_console_shows_and_acts_under_its_own_user)
{
	static const char *const pages[] = { "/", "/tasks", "/tasks/1", "/orders",
		"/orders/CLOSED-1", "/outbox", "/payments", "/parked", "/queues", "/rules",
		"/alerts", "/fleet", "/audit", "/about" };
	struct console_run console;

	start_as("consumer"); /* makes the queues */
	users_become(sandbox, "console");
	console_start(&console, sandbox);
	daemons[daemon_count++] = console.process;
	console_fill(query);
	for (size_t i = 0; i < ARRAY_LENGTH(pages); i++)
		console_expect(console_get(&console, "vera", pages[i]), 200, "</html>");
	for (size_t i = 0; i < ARRAY_LENGTH(console_acts); i++) {
		const char *const *act = console_acts[i];
		const struct api_answer *answer =
			console_submit(&console, act[0], act[1], act[2], act[3]);

		/* Those on one row lead on to it, those on a selection show their results. */
		ck_assert_msg(answer->status == 303 || answer->status == 200, "%s: %u %s", act[2],
			answer->status, answer->body);
	}
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_operator_audit "
					     "WHERE result = 'ok'"),
		ARRAY_LENGTH(console_acts));
	expect_nothing_refused();
	console_leave(&console);
	sandbox_stop_all(sandbox, WAIT_LIMIT_MS);
}
END_TEST

int main(void)
{
	static const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = {
		each_daemon_does_its_work_under_its_own_user,
		the_gateway_creates_takes_money_cancels_and_shows,
		the_command_line_acts_under_its_own_user,
		the_console_shows_and_acts_under_its_own_user,
	};

	sandbox_need_servers();
	return runner_run_with("users", &fixture, tests, ARRAY_LENGTH(tests));
}
