/* lapse-consumer when its servers go away, lose things or are slow, and when it has to stop. */
#include <signal.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/text.h"
#include "tests/support/daemon.h"
#include "tests/support/direct_db.h"
#include "tests/support/orders.h"
#include "tests/support/process.h"
#include "tests/support/proxy.h"
#include "tests/support/query.h"
#include "tests/support/rabbit.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/stack.h"
#include "tests/support/wait_until.h"

#define DUE_QUEUE    "lapse.timeout.due"
#define PARKED_QUEUE "lapse.parked"
#define SETTLED(outcome) \
	"lapse_amqp_settled_total{queue=\"lapse.timeout.due\",outcome=\"" outcome "\"}"
#define DELIVERIES(redelivered) \
	"lapse_amqp_deliveries_total{queue=\"lapse.timeout.due\",redelivered=\"" redelivered "\"}"

enum {
	STOP_LIMIT_MS = 30000, /* LAPSE_SHUTDOWN_TIMEOUT and some */
	OUTAGE_MS = 2500,
	CPU_MAX_MS = OUTAGE_MS / 10
};

static struct sandbox *sandbox;
static struct query *query;
static struct rabbit *rabbit;
static struct daemon consumer;

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

static void insert_due(const char *prefix, uint32_t count)
{
	const struct orders_plan plan = {
		.prefix = prefix, .count = count, .due_in_ms = -1000, .has_no_events = true
	};

	orders_insert_many(query, &plan);
}

static bool has_acked(void *count)
{
	return daemon_metric(&consumer, SETTLED("ack")) >= *(const int *)count;
}

static bool has_taken(void *count)
{
	return daemon_metric(&consumer, "lapse_inflight") >= *(const int *)count;
}

static bool is_reached(void *end_ms)
{
	return clock_now_ms() >= *(const uint64_t *)end_ms;
}

static void expect_all_closed(void)
{
	struct direct_db direct;

	WAIT_UNTIL(orders_are_all_final, query);
	daemon_expect_well(&consumer);
	daemon_stop(&consumer, STOP_LIMIT_MS);
	ck_assert_int_eq(rabbit_count(rabbit, DUE_QUEUE), 0);
	ck_assert_int_eq(rabbit_count(rabbit, PARKED_QUEUE), 0);
	direct_db_open(&direct, sandbox, NULL, NULL);
	direct_db_expect_sound(&direct);
	direct_db_close(&direct);
}

/* Holds what it has, without a spin, and closes when MySQL is back. */
static void sit_out(struct proxy *proxy, int count)
{
	WAIT_UNTIL(has_taken, &count);
	WAIT_UNTIL(daemon_is_not_ready, &consumer);
	uint64_t cpu_ms = process_cpu_ms(consumer.process);
	uint64_t end_ms = clock_now_ms() + OUTAGE_MS;
	WAIT_UNTIL(is_reached, &end_ms);
#ifndef TEST_SANITIZED
	ck_assert_uint_lt(process_cpu_ms(consumer.process) - cpu_ms, CPU_MAX_MS);
#else
	(void)cpu_ms;
#endif
	ck_assert(daemon_says(&consumer, "mysql"));
	proxy_refuse(proxy, false);
	WAIT_UNTIL(orders_are_all_final, query);
	WAIT_UNTIL(has_acked, &count);
	WAIT_UNTIL(daemon_is_ready, &consumer);
	ck_assert(daemon_metric(&consumer, DELIVERIES("true")) == 0);
	expect_all_closed();
}

START_TEST(messages_are_held_while_mysql_is_away)
{
	struct proxy *proxy = sandbox_proxy_mysql(sandbox);

	sandbox_set(sandbox, "LAPSE_PREFETCH", "50");
	daemon_start_ready(sandbox, "lapse-consumer", &consumer);
	insert_due("A", 50);
	proxy_refuse(proxy, true);
	daemon_flood(sandbox, DUE_QUEUE, "A", 50);
	sit_out(proxy, 50);
}
END_TEST

START_TEST(a_consumer_may_start_before_mysql)
{
	struct proxy *proxy = sandbox_proxy_mysql(sandbox);
	int count = 20;

	proxy_refuse(proxy, true);
	daemon_start(sandbox, "lapse-consumer", &consumer);
	WAIT_UNTIL(daemon_is_not_ready, &consumer);
	insert_due("A", 20);
	proxy_refuse(proxy, false);
	WAIT_UNTIL(daemon_is_ready, &consumer);
	daemon_flood(sandbox, DUE_QUEUE, "A", 20);
	WAIT_UNTIL(has_acked, &count);
	expect_all_closed();
}
END_TEST

START_TEST(a_slow_mysql_costs_no_heartbeat)
{
	struct proxy *proxy = sandbox_proxy_mysql(sandbox);
	int count = 3;

	sandbox_set(sandbox, "LAPSE_AMQP_HEARTBEAT", "2s");
	daemon_start_ready(sandbox, "lapse-consumer", &consumer);
	insert_due("A", 3);
	/* One close has five statements, each prepared first: twice two heartbeats. */
	proxy_slow(proxy, 700);
	daemon_flood(sandbox, DUE_QUEUE, "A", 3);
	WAIT_UNTIL(has_acked, &count);
	proxy_slow(proxy, 0);
	ck_assert(daemon_metric(&consumer, "lapse_reconnects_total{dependency=\"amqp\"}") == 0);
	ck_assert(daemon_metric(&consumer, DELIVERIES("true")) == 0);
	expect_all_closed();
}
END_TEST

/* ---- the broker loses things */

static bool has_a_consumer(void *context)
{
	(void)context;
	return rabbit_count_consumers(rabbit, DUE_QUEUE) == 1;
}

static bool all_are_closed(void *context)
{
	(void)context;
	return query_number(query, "SELECT COUNT(*) FROM t_order WHERE status = 'UNPAID'") == 0;
}

/* A message that has to come a second time must find its way into the new queue. */
static void expect_delays_to_work(const char *prefix, const char *mode)
{
	char order_no[TEXT_KEY_SIZE];

	/* Even and odd numbers of units take different ways out of the last level. */
	for (int i = 0; i < 4; i++) {
		(void)text_format(order_no, sizeof(order_no), "%s-%s-%d", prefix, mode, i);
		orders_insert_one(query, order_no, 900 + 100 * i);
		rabbit_publish_order(rabbit, DUE_QUEUE, order_no);
	}
	WAIT_UNTIL(all_are_closed, NULL);
	ck_assert_int_eq(query_number(query,
				 "SELECT COUNT(*) FROM t_order WHERE order_no LIKE '%s-%s-%%' "
				 "AND TIMESTAMPDIFF(MICROSECOND, expire_time, close_time) < "
				 "1000000",
				 prefix, mode),
		4);
}

static void lose_the_queue(const char *mode)
{
	sandbox_set(sandbox, "LAPSE_DELAY", "%s", mode);
	daemon_start_ready(sandbox, "lapse-consumer", &consumer);
	expect_delays_to_work("BEFORE", mode);
	rabbit_delete_queue(rabbit, DUE_QUEUE);
	WAIT_UNTIL(has_a_consumer, NULL);
	WAIT_UNTIL(daemon_is_ready, &consumer);
	expect_delays_to_work("AFTER", mode);
	ck_assert_uint_ge(process_count_logged(consumer.process, "the queue is gone"), 1);
	expect_all_closed();
}

START_TEST(a_queue_that_was_deleted_is_declared_again_in_the_levels)
{
	lose_the_queue("levels");
}
END_TEST

START_TEST(a_queue_that_was_deleted_is_declared_again_for_the_plugin)
{
	if (stack_has_delay_exchange())
		lose_the_queue("plugin");
}
END_TEST

START_TEST(tags_of_a_lost_connection_are_never_used)
{
	const char *const words[] = { "close-connections", sandbox_name(sandbox), NULL };
	struct proxy *proxy = sandbox_proxy_mysql(sandbox);
	char prefix[] = "T0-";

	daemon_start_ready(sandbox, "lapse-consumer", &consumer);
	for (int i = 0; i < 10; i++) {
		int count = 50;

		prefix[1] = (char)('0' + i);
		insert_due(prefix, (uint32_t)count);
		proxy_slow(proxy, 50);
		daemon_flood(sandbox, DUE_QUEUE, prefix, (uint32_t)count);
		/* Sometimes in the middle of the close, sometimes before or behind it. */
		uint64_t end_ms = clock_now_ms() + runner_random(400);
		WAIT_UNTIL(is_reached, &end_ms);
		stack_command(words);
		proxy_slow(proxy, 0);
		WAIT_UNTIL(orders_are_all_final, query);
		WAIT_UNTIL(has_a_consumer, NULL);
	}
	ck_assert_uint_eq(process_count_logged(consumer.process, "406"), 0);
	ck_assert_uint_eq(process_count_logged(consumer.process, "unknown delivery tag"), 0);
	WAIT_UNTIL(daemon_is_ready, &consumer);
	expect_all_closed();
}
END_TEST

/* ---- the end */

static bool some_are_closed(void *context)
{
	(void)context;
	return orders_count(query, "CLOSED") > 0;
}

/* Before this the signal ends it as it ends any program. */
static bool has_started(void *context)
{
	const struct daemon *daemon = context;

	return process_count_logged(daemon->process, "\"event\":\"started\"") > 0;
}

START_TEST(a_stop_under_load_loses_nothing)
{
	int rounds = 0;

	sandbox_set(sandbox, "LAPSE_CLOSE_BATCH", "20");
	daemon_start_ready(sandbox, "lapse-consumer", &consumer);
	insert_due("L", 3000);
	daemon_flood(sandbox, DUE_QUEUE, "L", 3000);
	WAIT_UNTIL(some_are_closed, NULL);
	while (orders_count(query, "UNPAID") > 0) {
		daemon_stop(&consumer, STOP_LIMIT_MS);
		ck_assert_int_lt(++rounds, 50);
		daemon_start(sandbox, "lapse-consumer", &consumer);
		WAIT_UNTIL(has_started, &consumer);
		uint64_t end_ms = clock_now_ms() + runner_random(400);
		WAIT_UNTIL(is_reached, &end_ms);
	}
	WAIT_UNTIL(daemon_is_ready, &consumer);
	expect_all_closed();
}
END_TEST

START_TEST(a_stop_while_mysql_is_away_takes_no_time)
{
	struct proxy *proxy = sandbox_proxy_mysql(sandbox);
	int count = 30;

	daemon_start_ready(sandbox, "lapse-consumer", &consumer);
	insert_due("A", 30);
	proxy_refuse(proxy, true);
	daemon_flood(sandbox, DUE_QUEUE, "A", 30);
	WAIT_UNTIL(has_taken, &count);
	WAIT_UNTIL(daemon_is_not_ready, &consumer);
	daemon_stop(&consumer, 5000);
	ck_assert_int_eq(rabbit_count(rabbit, DUE_QUEUE), 30);
	proxy_refuse(proxy, false);
	daemon_start_ready(sandbox, "lapse-consumer", &consumer);
	WAIT_UNTIL(has_acked, &count);
	expect_all_closed();
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		messages_are_held_while_mysql_is_away,
		a_consumer_may_start_before_mysql,
		a_slow_mysql_costs_no_heartbeat,
		a_queue_that_was_deleted_is_declared_again_in_the_levels,
		a_queue_that_was_deleted_is_declared_again_for_the_plugin,
		tags_of_a_lost_connection_are_never_used,
		a_stop_under_load_loses_nothing,
		a_stop_while_mysql_is_away_takes_no_time,
	};
	const struct runner_fixture fixture = { set_up, tear_down };

	sandbox_need_servers();
	return runner_run_with("due_trouble", &fixture, tests, ARRAY_LENGTH(tests));
}
