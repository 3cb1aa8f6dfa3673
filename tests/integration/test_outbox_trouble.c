/* lapse-producer among refusals, alarms, locks, lost connections and its own kind. */
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/text.h"
#include "tests/support/daemon.h"
#include "tests/support/orders.h"
#include "tests/support/process.h"
#include "tests/support/proxy.h"
#include "tests/support/query.h"
#include "tests/support/rabbit.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/stack.h"
#include "tests/support/wait_until.h"

#define DUE_QUEUE        "lapse.timeout.due"
#define LISTENER         "listener"
#define LISTENER_PATTERN "^listener$"

enum {
	STOP_LIMIT_MS = 10000,
	ROWS = 500,
	CUTS = 20,
	BIG = 1000000
};

static struct sandbox *sandbox;
static struct query *query;
static struct rabbit *rabbit;
static struct daemon producer;

static void set_up(void)
{
	sandbox_create(SANDBOX_EVERYTHING, &sandbox);
	query = sandbox_query(sandbox);
	rabbit = sandbox_rabbit(sandbox);
	sandbox_set(sandbox, "LAPSE_DELAY", "none");
}

static void tear_down(void)
{
	sandbox_destroy(&sandbox);
}

static void start_with_listener(void)
{
	daemon_start_ready(sandbox, "lapse-producer", &producer);
	rabbit_declare_queue(rabbit, LISTENER);
	rabbit_bind(rabbit, LISTENER, "lapse.events", "#");
}

static void stop_producer(void)
{
	daemon_expect_well(&producer);
	daemon_stop(&producer, STOP_LIMIT_MS);
}

static int64_t count_rows(const char *status)
{
	return query_number(
		query, "SELECT COUNT(*) FROM t_outbox_event WHERE status = '%s'", status);
}

static bool nothing_is_new(void *context)
{
	(void)context;
	return count_rows("NEW") == 0;
}

static void insert_events(int count)
{
	for (int i = 0; i < count; i++)
		query_run(query,
			"INSERT INTO t_outbox_event(event_id,event_type,order_no) "
			"VALUES ('E%d','ORDER_PAID','A%d')",
			i, i);
}

/* Takes everything out of the listener: how many different events of E0 ... came. */
static int count_different(int event_max, int *total_out)
{
	bool *has_come = calloc((size_t)event_max, sizeof(*has_come));
	struct rabbit_delivery event;
	int different = 0;

	*total_out = 0;
	while (rabbit_get(rabbit, LISTENER, &event)) {
		int place = (int)strtol(event.message_id + 1, NULL, 10);

		ck_assert_int_lt(place, event_max);
		different += has_come[place] ? 0 : 1;
		has_come[place] = true;
		*total_out += 1;
	}
	free(has_come);
	return different;
}

/* Nobody has to wait for them in a test. */
static void end_leases(void)
{
	query_run(query, "UPDATE t_outbox_event SET lease_until = UTC_TIMESTAMP(3) "
			 "WHERE lease_until IS NOT NULL");
}

/* ---- refusals */

static void limit_listener(const char *definition)
{
	const char *const words[] = { "rabbitmqctl", "-q", "set_policy", "-p",
		sandbox_name(sandbox), "limit", LISTENER_PATTERN, definition, NULL };

	stack_command(words);
}

static bool some_are_refused_again(void *context)
{
	(void)context;
	return query_number(query, "SELECT MIN(attempts) >= 2 AND COUNT(*) = 15 FROM "
				   "t_outbox_event WHERE status = 'NEW'") == 1;
}

START_TEST(what_the_broker_refuses_waits_and_goes_out_later)
{
	int total = 0;

	start_with_listener();
	limit_listener("{\"max-length\":5,\"overflow\":\"reject-publish\"}");
	insert_events(20);
	WAIT_UNTIL(some_are_refused_again, NULL);
	ck_assert_int_eq(count_rows("SENT"), 5);
	ck_assert_int_eq(rabbit_count(rabbit, LISTENER), 5);
	limit_listener("{\"max-length\":1000,\"overflow\":\"reject-publish\"}");
	WAIT_UNTIL(nothing_is_new, NULL);
	ck_assert_int_eq(count_rows("SENT"), 20);
	ck_assert_int_eq(count_different(20, &total), 20);
	ck_assert_int_eq(total, 20);
	stop_producer();
}
END_TEST

START_TEST(an_alarm_makes_rows_wait)
{
	int total = 0;

	sandbox_set(sandbox, "LAPSE_SHUTDOWN_TIMEOUT", "2s");
	start_with_listener();
	stack_do("block-broker");
	insert_events(200);
	bool is_told = wait_until(daemon_is_not_ready, &producer, WAIT_LIMIT_MS);
	bool is_explained = daemon_says(&producer, "alarm");
	/* A stop does not wait for the alarm to end. */
	process_signal(producer.process, SIGTERM);
	int status = process_wait(producer.process, STOP_LIMIT_MS);
	stack_do("unblock-broker");
	ck_assert(is_told);
	ck_assert(is_explained);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(count_rows("FAILED"), 0);
	end_leases();
	daemon_start_ready(sandbox, "lapse-producer", &producer);
	WAIT_UNTIL(nothing_is_new, NULL);
	ck_assert_int_eq(count_rows("SENT"), 200);
	ck_assert_int_eq(count_different(200, &total), 200);
	WAIT_UNTIL(daemon_is_ready, &producer);
	stop_producer();
}
END_TEST

/* ---- locks */

static bool all_but_one_are_sent(void *count)
{
	return count_rows("SENT") == *(const int *)count - 1;
}

START_TEST(a_locked_row_costs_only_itself)
{
	struct query *other = NULL;
	int count = ROWS;

	sandbox_set(sandbox, "LAPSE_LEASE", "15s");
	sandbox_set(sandbox, "LAPSE_LOCK_WAIT", "1s");
	insert_events(ROWS);
	query_create(sandbox_mysql_url(sandbox), &other);
	query_run(other, "START TRANSACTION");
	query_run(other, "SELECT id FROM t_outbox_event WHERE event_id = 'E7' FOR UPDATE");
	daemon_start_ready(sandbox, "lapse-producer", &producer);
	WAIT_UNTIL(all_but_one_are_sent, &count);
	query_run(other, "ROLLBACK");
	WAIT_UNTIL(nothing_is_new, NULL);
	query_destroy(&other);
	stop_producer();
}
END_TEST

START_TEST(a_row_locked_before_its_mark_costs_only_itself)
{
	struct query *other = NULL;
	int count = 20;

	sandbox_set(sandbox, "LAPSE_LEASE", "15s");
	sandbox_set(sandbox, "LAPSE_LOCK_WAIT", "1s");
	query_create(sandbox_mysql_url(sandbox), &other);
	producer.port = sandbox_free_port();
	sandbox_set(sandbox, "LAPSE_OPS_ADDR", "127.0.0.1:%u", producer.port);
	insert_events(count);
	producer.process =
		sandbox_start_with_failpoint(sandbox, "lapse-producer", "after_publish:stop");
	WAIT_UNTIL(process_is_stopped, producer.process);
	query_run(other, "START TRANSACTION");
	query_run(other, "SELECT id FROM t_outbox_event WHERE event_id = 'E7' FOR UPDATE");
	process_signal(producer.process, SIGCONT);
	WAIT_UNTIL(all_but_one_are_sent, &count);
	/* New rows go out although the locked one is still locked. */
	query_run(query, "INSERT INTO t_outbox_event(event_type,order_no) VALUES "
			 "('ORDER_PAID','B1')");
	count++;
	WAIT_UNTIL(all_but_one_are_sent, &count);
	query_run(other, "ROLLBACK");
	end_leases();
	WAIT_UNTIL(nothing_is_new, NULL);
	query_destroy(&other);
	stop_producer();
}
END_TEST

/* ---- lines */

static struct proxy *line;

static bool is_cut_or_sent(void *cuts)
{
	return proxy_count_cuts(line) > *(const uint64_t *)cuts || count_rows("NEW") == 0;
}

START_TEST(big_events_survive_cuts_in_the_middle)
{
	struct proxy *proxy = sandbox_proxy_amqp(sandbox);
	size_t mark = stack_mark_broker_log();

	line = proxy;
	uint64_t cuts = 0;
	int total = 0;

	start_with_listener();
	for (int i = 0; i < CUTS; i++) {
		query_run(query,
			"INSERT INTO t_outbox_event(event_id,event_type,order_no,payload) VALUES "
			"('E%d','ORDER_PAID','A1',CONCAT('{\"x\":\"', REPEAT('y', %d), '\"}'))",
			i, BIG);
		proxy_cut_after(proxy, 1 + runner_random(BIG));
		cuts = proxy_count_cuts(proxy);
		WAIT_UNTIL(is_cut_or_sent, &cuts);
		proxy_cut_after(proxy, 0);
		WAIT_UNTIL(nothing_is_new, NULL);
	}
	ck_assert_int_eq(count_rows("SENT"), CUTS);
	ck_assert_uint_gt(proxy_count_cuts(proxy), 0);
	ck_assert_int_eq(count_different(CUTS, &total), CUTS);
	ck_assert_uint_eq(stack_count_in_broker_log(mark, "UNEXPECTED_FRAME"), 0);
	ck_assert_uint_eq(stack_count_in_broker_log(mark, "FRAME_ERROR"), 0);
	daemon_stop(&producer, STOP_LIMIT_MS);
}
END_TEST

START_TEST(rows_wait_while_the_broker_is_away)
{
	struct proxy *proxy = sandbox_proxy_amqp(sandbox);
	int total = 0;

	start_with_listener();
	proxy_refuse(proxy, true);
	insert_events(50);
	WAIT_UNTIL(daemon_is_not_ready, &producer);
	ck_assert_int_eq(count_rows("NEW"), 50);
	proxy_refuse(proxy, false);
	WAIT_UNTIL(nothing_is_new, NULL);
	ck_assert_int_eq(count_rows("SENT"), 50);
	ck_assert_int_eq(count_different(50, &total), 50);
	WAIT_UNTIL(daemon_is_ready, &producer);
	stop_producer();
}
END_TEST

/* ---- company */

START_TEST(two_producers_share_the_rows)
{
	struct daemon second;
	int total = 0;

	start_with_listener();
	daemon_start_ready(sandbox, "lapse-producer", &second);
	insert_events(ROWS);
	WAIT_UNTIL(nothing_is_new, NULL);
	ck_assert_int_eq(count_different(ROWS, &total), ROWS);
	ck_assert_int_lt(total, ROWS + ROWS / 100);
	daemon_expect_well(&second);
	daemon_stop(&second, STOP_LIMIT_MS);
	stop_producer();
}
END_TEST

START_TEST(a_zombie_takes_nothing_back)
{
	struct daemon second;
	int total = 0;

	sandbox_set(sandbox, "LAPSE_LEASE", "15s");
	start_with_listener();
	daemon_stop(&producer, STOP_LIMIT_MS);
	insert_events(50);
	struct process *zombie =
		sandbox_start_with_failpoint(sandbox, "lapse-producer", "after_publish:stop");
	WAIT_UNTIL(process_is_stopped, zombie);
	/* Its lease is over. */
	end_leases();
	daemon_start_ready(sandbox, "lapse-producer", &second);
	WAIT_UNTIL(nothing_is_new, NULL);
	query_run(query, "UPDATE t_outbox_event SET sent_at = '2026-01-01'");
	process_signal(zombie, SIGCONT);
	process_signal(zombie, SIGTERM);
	ck_assert_int_eq(process_wait(zombie, STOP_LIMIT_MS), 0);
	ck_assert_int_eq(count_rows("SENT"), 50);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_outbox_event WHERE sent_at = "
					     "'2026-01-01' AND attempts = 0"),
		50);
	ck_assert_int_eq(count_different(50, &total), 50);
	daemon_stop(&second, STOP_LIMIT_MS);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		what_the_broker_refuses_waits_and_goes_out_later,
		an_alarm_makes_rows_wait,
		a_locked_row_costs_only_itself,
		a_row_locked_before_its_mark_costs_only_itself,
		big_events_survive_cuts_in_the_middle,
		rows_wait_while_the_broker_is_away,
		two_producers_share_the_rows,
		a_zombie_takes_nothing_back,
	};
	const struct runner_fixture fixture = { set_up, tear_down };

	sandbox_need_servers();
	return runner_run_with("outbox_trouble", &fixture, tests, ARRAY_LENGTH(tests));
}
