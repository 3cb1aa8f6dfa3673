/* Events on their way to webhooks: whoever dies and whatever is full, each has its effect once. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/compiler.h"
#include "common/base/text.h"
#include "tests/support/process.h"
#include "tests/support/query.h"
#include "tests/support/rabbit.h"
#include "tests/support/receiver.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/scratch.h"
#include "tests/support/stack.h"
#include "tests/support/wait_until.h"

enum {
	MEMBERS = 3,
	ORDERS = 500,
	KILLS = 50,
	KILL_GAP_MS = 400,
	SETTLE_MS = 3000,
};

#define SECRET " whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=\n"

static const char *const programs[MEMBERS] = { "lapse-producer", "lapse-events", "lapse-retry" };

static struct sandbox *sandbox;
static struct query *query;
static struct receiver_service receiver;
static struct process *members[MEMBERS];

static void set_up(void)
{
	char file[512];
	char path[PATH_MAX];

	sandbox_create(SANDBOX_EVERYTHING, &sandbox);
	query = sandbox_query(sandbox);
	uint16_t port = sandbox_free_port();
	(void)text_format(file, sizeof(file),
		"points ORDER_PAID http://127.0.0.1:%u/hooks/points" SECRET
		"audit * http://127.0.0.1:%u/hooks/audit" SECRET,
		(unsigned int)port, (unsigned int)port);
	scratch_write("webhooks", file, path);
	sandbox_set(sandbox, "LAPSE_WEBHOOKS_FILE", "%s", path);
	sandbox_set(sandbox, "LAPSE_RETRY_BASE", "100ms");
	sandbox_set(sandbox, "LAPSE_RETRY_CAP", "1s");
	sandbox_set(sandbox, "LAPSE_HTTP_TIMEOUT", "500ms");
	sandbox_set(sandbox, "LAPSE_LEASE", "15s");
	receiver_start(sandbox, port, &receiver);
}

static void tear_down(void)
{
	sandbox_destroy(&sandbox);
}

static void start(int member)
{
	members[member] = sandbox_start(sandbox, programs[member], NULL);
}

/* Two events for each of the orders A1 ..., the later one with a higher id. */
static void insert_events(int orders)
{
	static const char *const types[] = { "ORDER_PAID", "PAYMENT_DUPLICATE" };

	for (size_t i = 0; i < ARRAY_LENGTH(types); i++)
		query_run(query,
			"INSERT INTO t_outbox_event(event_type, order_no) WITH RECURSIVE n(i) AS "
			"(SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) "
			"SELECT '%s', CONCAT('A', i) FROM n",
			orders, types[i]);
}

static bool is_all_sent(void *context)
{
	(void)context;
	return query_number(query, "SELECT COUNT(*) FROM t_outbox_event WHERE status <> 'SENT'") ==
	       0;
}

static bool is_all_done(void *tasks)
{
	return query_number(query, "SELECT COUNT(*) FROM t_compensation WHERE status = 'DONE'") ==
	       *(const int64_t *)tasks;
}

/* The first one is PAID, the second one DUPLICATE; so say the ids of the rows. */
static void expect_order(const char *order_no)
{
	char came[RECEIVER_TEXT_SIZE];
	char written[QUERY_TEXT_SIZE];

	receiver_list(&receiver, "audit", order_no, came);
	query_text(query, written,
		"SELECT CONCAT(GROUP_CONCAT(event_id ORDER BY id SEPARATOR ' '), ' ') FROM "
		"t_outbox_event WHERE order_no = '%s'",
		order_no);
	ck_assert_msg(
		text_equals(came, written), "%s: %s came, %s was written", order_no, came, written);
}

static void expect_each_once(int orders)
{
	int64_t tasks = 3 * (int64_t)orders;

	WAIT_UNTIL(is_all_sent, NULL);
	WAIT_UNTIL(is_all_done, &tasks);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_compensation"), tasks);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_event_consumed"), tasks);
	ck_assert_int_eq(receiver_count(&receiver, "points", "effects"), orders);
	ck_assert_int_eq(receiver_count(&receiver, "audit", "effects"), 2 * (int64_t)orders);
	ck_assert_int_eq(receiver_count(&receiver, "audit", "changed"), 0);
	ck_assert_int_eq(receiver_count_refused(&receiver), 0);
	ck_assert_int_eq(rabbit_count(sandbox_rabbit(sandbox), "lapse.parked"), 0);
	sandbox_expect_all_alive(sandbox);
}

static bool is_subscribed(void *process)
{
	return process_count_logged(process, "subscribed") > 0;
}

/* kill -9 of one of the members from first to last by chance, and another in its place. */
static void kill_one(int first, int last)
{
	uint64_t until_ms = clock_now_ms() + runner_random(KILL_GAP_MS);
	int member = first + (int)runner_random((uint64_t)(last - first));

	while (clock_now_ms() < until_ms)
		clock_wait_ms(until_ms - clock_now_ms());
	sandbox_kill(sandbox, members[member]);
	start(member);
}

static void kill_while_events_flow(int first, int last)
{
	(void)sandbox_start(sandbox, "lapse-events", NULL); /* stands by, or works */
	for (int i = 0; i < MEMBERS; i++)
		start(i);
	WAIT_UNTIL(is_subscribed, members[1]);
	for (int i = 0; i < KILLS; i++) {
		if (i % (KILLS / 5) == 0)
			insert_events(ORDERS / 5);
		kill_one(first, last);
	}
	expect_each_once(ORDERS);
	for (int i = 1; i <= ORDERS / 5; i++) {
		char order_no[16];

		(void)text_format(order_no, sizeof(order_no), "A%d", i);
		expect_order(order_no);
	}
}

START_TEST(a_producer_killed_fifty_times_loses_no_event)
{
	kill_while_events_flow(0, 0);
}
END_TEST

START_TEST(every_event_has_its_effect_once_whoever_is_killed)
{
	kill_while_events_flow(0, MEMBERS - 1);
}
END_TEST

static bool has_refused_some(void *context)
{
	(void)context;
	return query_number(query, "SELECT COUNT(*) FROM t_outbox_event WHERE status = 'NEW' AND "
				   "attempts >= 2") > 0;
}

static void set_limit(const char *word)
{
	static const char limit[] = "{\"max-length\":5,\"overflow\":\"reject-publish\"}";
	const char *const set[] = { "rabbitmqctl", "-q", "-p", sandbox_name(sandbox), word, "full",
		"^lapse.events.webhooks$", limit, NULL };
	const char *const clear[] = { "rabbitmqctl", "-q", "-p", sandbox_name(sandbox), word,
		"full", NULL };

	stack_command(text_equals(word, "set_policy") ? set : clear);
}

/* Only what was refused is published again. */
START_TEST(a_full_queue_loses_nothing_and_doubles_nothing)
{
	start(1);
	WAIT_UNTIL(is_subscribed, members[1]); /* from then on there is a queue */
	sandbox_kill(sandbox, members[1]);
	set_limit("set_policy");
	insert_events(10);
	start(0);
	WAIT_UNTIL(has_refused_some, NULL);
	ck_assert_int_gt(query_number(query, "SELECT COUNT(*) FROM t_outbox_event WHERE status = "
					     "'SENT'"),
		0);
	set_limit("clear_policy");
	start(1);
	start(2);
	expect_each_once(10);
	for (int i = 1; i <= 10; i++) {
		char order_no[16];

		(void)text_format(order_no, sizeof(order_no), "A%d", i);
		expect_order(order_no);
	}
}
END_TEST

/*
 * A quorum queue that is a few milliseconds old when its only broker gets kill -9, just after
 * others were deleted, may come back without a leader for good (RabbitMQ 3.10.8: "leader call -
 * leader not known"). That is another fault than the one this test is about, so the queue gets
 * a moment; docs/runbook.md says what to do about such a queue.
 */
START_TEST(a_killed_broker_loses_no_event)
{
	for (int i = 0; i < MEMBERS; i++)
		start(i);
	WAIT_UNTIL(is_subscribed, members[1]);
	clock_wait_ms(SETTLE_MS);
	insert_events(ORDERS);
	stack_do("kill-broker");
	stack_do("start-broker");
	expect_each_once(ORDERS);
}
END_TEST

int main(void)
{
	static const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = {
		a_producer_killed_fifty_times_loses_no_event,
		every_event_has_its_effect_once_whoever_is_killed,
		a_full_queue_loses_nothing_and_doubles_nothing,
		a_killed_broker_loses_no_event,
	};

	sandbox_need_servers();
	return runner_run_with("events", &fixture, tests, ARRAY_LENGTH(tests));
}
