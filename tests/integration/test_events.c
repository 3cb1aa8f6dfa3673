/* lapse-events from the outside: messages in, tasks out, whatever dies in between. */
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "common/base/compiler.h"
#include "common/base/text.h"
#include "tests/support/http_client.h"
#include "tests/support/process.h"
#include "tests/support/proxy.h"
#include "tests/support/query.h"
#include "tests/support/rabbit.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/scratch.h"
#include "tests/support/wait_until.h"

enum {
	BODY_SIZE = 512
};

#define SECRET  " whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=\n"
#define COUPONS "coupons ORDER_CLOSED http://coupons.example" SECRET
#define NOTIFY  "notify ORDER_CLOSED,ORDER_PAID http://notify.example" SECRET

static const char queue[] = "lapse.events.webhooks";
static const char parked[] = "lapse.parked";

static struct sandbox *sandbox;
static struct query *query;
static struct rabbit *rabbit;
static uint16_t port;
static char webhooks_path[PATH_MAX];

static void set_up(void)
{
	sandbox_create(SANDBOX_EVERYTHING, &sandbox);
	query = sandbox_query(sandbox);
	rabbit = sandbox_rabbit(sandbox);
	port = sandbox_free_port();
	scratch_write("webhooks", COUPONS NOTIFY, webhooks_path);
	sandbox_set(sandbox, "LAPSE_WEBHOOKS_FILE", "%s", webhooks_path);
	sandbox_set(sandbox, "LAPSE_OPS_ADDR", "127.0.0.1:%u", (unsigned int)port);
}

static void tear_down(void)
{
	sandbox_destroy(&sandbox);
}

static bool is_ready(void *context)
{
	(void)context;
	return http_client_get(port, "/readyz", 1000, NULL) == 200;
}

static struct process *start(void)
{
	struct process *events = sandbox_start(sandbox, "lapse-events", NULL);

	WAIT_UNTIL(is_ready, NULL);
	return events;
}

static void publish_body(const char *body)
{
	const struct rabbit_message message = { .exchange = "lapse.events",
		.routing_key = "order.closed",
		.body = body,
		.body_size = strlen(body),
		.message_id = "id-1",
		.type = "order.closed.v1",
		.content_type = "application/cloudevents+json" };

	rabbit_publish(rabbit, &message);
}

static void publish(const char *event_id, const char *type)
{
	char body[BODY_SIZE];

	(void)text_format(body, sizeof(body),
		"{\"specversion\":\"1.0\",\"id\":\"%s\",\"source\":\"/lapse/test\",\"type\":\"%s\","
		"\"subject\":\"A1\",\"data\":{\"order_no\":\"A1\"}}",
		event_id, type);
	publish_body(body);
}

static void publish_many(const char *prefix, int count)
{
	for (int i = 0; i < count; i++) {
		char event_id[32];

		(void)text_format(event_id, sizeof(event_id), "%s%d", prefix, i);
		publish(event_id, "order.closed.v1");
	}
}

static double consumed(const char *result)
{
	char series[96];

	(void)text_format(
		series, sizeof(series), "lapse_events_consumed_total{result=\"%s\"}", result);
	return http_client_metric(port, series);
}

static int64_t count_tasks(void)
{
	return query_number(query, "SELECT COUNT(*) FROM t_compensation");
}

static bool has_tasks(void *count)
{
	return count_tasks() == *(const int64_t *)count;
}

static void await_tasks(int64_t count)
{
	WAIT_UNTIL(has_tasks, &count);
}

static bool is_queue_empty(void *context)
{
	(void)context;
	return rabbit_count(rabbit, queue) == 0;
}

static bool has_parked_one(void *context)
{
	(void)context;
	return rabbit_count(rabbit, parked) == 1;
}

START_TEST(an_event_delivered_twice_makes_one_task_per_subscriber)
{
	(void)start();
	publish("E1", "order.closed.v1");
	publish("E1", "order.closed.v1");
	publish("E2", "order.paid.v1");
	await_tasks(3);
	publish("E1", "order.closed.v1");
	publish("E3", "order.paid.v1");
	await_tasks(4);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_event_consumed"), 4);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_compensation WHERE target = "
					     "'coupons' AND order_no = 'A1'"),
		1);
	ck_assert_double_eq(consumed("new"), 3);
	ck_assert_double_eq(consumed("duplicate"), 2);
	sandbox_stop_all(sandbox, WAIT_LIMIT_MS);
	ck_assert_int_eq(rabbit_count(rabbit, queue), 0);
}
END_TEST

START_TEST(what_is_no_event_is_parked_with_its_reason_and_stops_nobody)
{
	struct rabbit_delivery delivery;

	(void)start();
	publish("E1", "order.closed.v1");
	publish_body("{\"specversion\":\"1.0\"}");
	publish("E2", "order.closed.v1");
	await_tasks(4);
	WAIT_UNTIL(has_parked_one, NULL);
	ck_assert(rabbit_get(rabbit, parked, &delivery));
	ck_assert_str_eq(delivery.body, "{\"specversion\":\"1.0\"}");
	ck_assert_str_eq(delivery.type, "order.closed.v1");
	ck_assert_str_eq(delivery.message_id, "id-1");
	ck_assert(delivery.is_persistent);
	ck_assert_ptr_nonnull(
		strstr(delivery.headers, "x-lapse-reason=event: id is missing or no text"));
	ck_assert_ptr_nonnull(strstr(delivery.headers, "x-lapse-origin=lapse.events.webhooks"));
	ck_assert_double_eq(consumed("parked"), 1);
	sandbox_stop_all(sandbox, WAIT_LIMIT_MS);
	ck_assert_int_eq(rabbit_count(rabbit, queue), 0);
}
END_TEST

static bool is_gone(void *process)
{
	return !process_is_alive(process);
}

START_TEST(a_kill_between_commit_and_ack_makes_nothing_twice)
{
	struct process *events = NULL;

	(void)start();
	sandbox_stop_all(sandbox, WAIT_LIMIT_MS);
	publish_many("E", 5);
	events = sandbox_start_with_failpoint(sandbox, "lapse-events", "after_commit");
	WAIT_UNTIL(is_gone, events);
	sandbox_kill(sandbox, events);
	ck_assert_int_ge(count_tasks(), 2);
	(void)start();
	publish("LAST", "order.closed.v1");
	await_tasks(12);
	ck_assert_double_ge(consumed("duplicate"), 1);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_event_consumed"), 12);
}
END_TEST

START_TEST(a_kill_before_the_commit_loses_nothing)
{
	struct process *events = NULL;

	(void)start();
	sandbox_stop_all(sandbox, WAIT_LIMIT_MS);
	publish_many("E", 5);
	events = sandbox_start_with_failpoint(sandbox, "lapse-events", "before_commit");
	WAIT_UNTIL(is_gone, events);
	sandbox_kill(sandbox, events);
	ck_assert_int_eq(count_tasks(), 0);
	(void)start();
	await_tasks(10);
}
END_TEST

static bool knows_mysql_is_away(void *process)
{
	return process_count_logged(process, "mysql_is_away") > 0;
}

START_TEST(without_mysql_events_wait_unacked)
{
	struct proxy *proxy = sandbox_proxy_mysql(sandbox);
	struct process *events = start();

	proxy_refuse(proxy, true);
	publish_many("E", 10);
	WAIT_UNTIL(knows_mysql_is_away, events);
	WAIT_UNTIL(is_queue_empty, NULL); /* in its hand */
	ck_assert_int_eq(count_tasks(), 0);
	proxy_refuse(proxy, false);
	await_tasks(20);
	ck_assert_double_eq(
		http_client_metric(port, "lapse_amqp_deliveries_total{queue=\"lapse.events."
					 "webhooks\",redelivered=\"true\"}"),
		0);
	ck_assert_int_eq(rabbit_count(rabbit, parked), 0);
	sandbox_expect_all_alive(sandbox);
}
END_TEST

static bool has_reconnected(void *context)
{
	(void)context;
	return rabbit_count_consumers(rabbit, queue) == 1;
}

START_TEST(a_broken_line_to_the_broker_is_built_again)
{
	struct proxy *proxy = sandbox_proxy_amqp(sandbox);
	struct process *events = start();

	publish_many("E", 10);
	proxy_cut(proxy);
	publish_many("F", 10);
	await_tasks(40);
	WAIT_UNTIL(has_reconnected, NULL);
	WAIT_UNTIL(is_ready, NULL);
	ck_assert_ptr_nonnull(events);
	sandbox_expect_all_alive(sandbox);
}
END_TEST

static bool has_read_three(void *process)
{
	return process_count_logged(process, "\"count\":3") > 0;
}

START_TEST(a_hangup_adds_a_subscriber)
{
	struct process *events = start();

	publish("E1", "order.closed.v1");
	await_tasks(2);
	scratch_write(
		"webhooks", COUPONS NOTIFY "audit * http://audit.example" SECRET, webhooks_path);
	process_signal(events, SIGHUP);
	WAIT_UNTIL(has_read_three, events);
	publish("E1", "order.closed.v1");
	publish("E2", "order.shipped.v1");
	await_tasks(4);
	ck_assert_int_eq(
		query_number(query, "SELECT COUNT(*) FROM t_compensation WHERE target = 'audit'"),
		2);
}
END_TEST

static bool has_refused(void *process)
{
	return process_count_logged(process, "line 2: is not: name, events, address") > 0;
}

START_TEST(a_wrong_file_is_refused_and_the_old_one_stays)
{
	struct process *events = start();

	scratch_write("webhooks", COUPONS "notify\n", webhooks_path);
	process_signal(events, SIGHUP);
	WAIT_UNTIL(has_refused, events);
	publish("E1", "order.closed.v1");
	await_tasks(2);
}
END_TEST

static bool has_missed_the_file(void *process)
{
	return process_count_logged(process, "No such file or directory") > 0;
}

START_TEST(a_file_that_is_not_there_yet_is_waited_for)
{
	struct process *events = NULL;

	ck_assert_int_eq(remove(webhooks_path), 0);
	events = sandbox_start(sandbox, "lapse-events", NULL);
	WAIT_UNTIL(has_missed_the_file, events);
	ck_assert(!is_ready(NULL));
	scratch_write("webhooks", COUPONS, webhooks_path);
	process_signal(events, SIGHUP);
	WAIT_UNTIL(is_ready, NULL);
	publish("E1", "order.closed.v1");
	await_tasks(1);
}
END_TEST

START_TEST(a_wrong_file_is_a_wrong_configuration_at_the_start)
{
	scratch_write("webhooks", "coupons\n", webhooks_path);
	ck_assert_int_eq(sandbox_run(sandbox, "lapse-events", NULL, NULL), 78);
	sandbox_unset(sandbox, "LAPSE_WEBHOOKS_FILE");
	ck_assert_int_eq(sandbox_run(sandbox, "lapse-events", NULL, NULL), 78);
}
END_TEST

/* Events keep their order, so only one of them gets any. */
START_TEST(one_of_two_works_and_the_other_takes_over_when_it_dies)
{
	struct process *first = start();

	port = sandbox_free_port();
	sandbox_set(sandbox, "LAPSE_OPS_ADDR", "127.0.0.1:%u", (unsigned int)port);
	(void)start();
	publish_many("E", 200);
	await_tasks(400);
	ck_assert_double_eq(consumed("new"), 0);
	sandbox_kill(sandbox, first);
	publish_many("F", 200);
	await_tasks(800);
}
END_TEST

int main(void)
{
	static const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = {
		an_event_delivered_twice_makes_one_task_per_subscriber,
		what_is_no_event_is_parked_with_its_reason_and_stops_nobody,
		a_kill_between_commit_and_ack_makes_nothing_twice,
		a_kill_before_the_commit_loses_nothing,
		without_mysql_events_wait_unacked,
		a_broken_line_to_the_broker_is_built_again,
		a_hangup_adds_a_subscriber,
		a_wrong_file_is_refused_and_the_old_one_stays,
		a_file_that_is_not_there_yet_is_waited_for,
		a_wrong_file_is_a_wrong_configuration_at_the_start,
		one_of_two_works_and_the_other_takes_over_when_it_dies,
	};

	sandbox_need_servers();
	return runner_run_with("events", &fixture, tests, ARRAY_LENGTH(tests));
}
