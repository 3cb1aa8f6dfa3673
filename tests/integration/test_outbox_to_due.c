/* lapse-producer on real servers: outbox rows to timeouts and events. */
#include <inttypes.h>
#include <string.h>

#include "common/base/text.h"
#include "tests/support/daemon.h"
#include "tests/support/orders.h"
#include "tests/support/process.h"
#include "tests/support/query.h"
#include "tests/support/rabbit.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/stack.h"
#include "tests/support/wait_until.h"

#define DUE_QUEUE    "lapse.timeout.due"
#define LISTENER     "listener"
#define SKIPPED(why) "lapse_outbox_skipped_total{why=\"" why "\"}"

enum {
	STOP_LIMIT_MS = 10000
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
	sandbox_set(sandbox, "LAPSE_DELAY", "%s", stack_has_delay_exchange() ? "plugin" : "levels");
}

static void tear_down(void)
{
	sandbox_destroy(&sandbox);
}

static void start_producer(void)
{
	daemon_start_ready(sandbox, "lapse-producer", &producer);
}

static void stop_producer(void)
{
	daemon_expect_well(&producer);
	daemon_stop(&producer, STOP_LIMIT_MS);
}

/* Somebody who wants every event. */
static void listen_to_events(void)
{
	rabbit_declare_queue(rabbit, LISTENER);
	rabbit_bind(rabbit, LISTENER, "lapse.events", "#");
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

static bool holds(void *count)
{
	return rabbit_count(rabbit, DUE_QUEUE) == *(const int *)count;
}

static void insert_event(const char *type, const char *order_no)
{
	query_run(query, "INSERT INTO t_outbox_event(event_type,order_no) VALUES ('%s','%s')", type,
		order_no);
}

START_TEST(each_kind_of_event_goes_out_at_once)
{
	static const char *const types[] = { "ORDER_PAID", "ORDER_CLOSED", "ORDER_EXTENDED",
		"PAYMENT_LATE", "PAYMENT_DUPLICATE", "PAYMENT_MISMATCH" };
	static const char *const message_types[] = { "order.paid.v1", "order.closed.v1",
		"order.extended.v1", "payment.late.v1", "payment.duplicate.v1",
		"payment.mismatch.v1" };
	struct rabbit_delivery event;

	start_producer();
	listen_to_events();
	for (size_t i = 0; i < ARRAY_LENGTH(types); i++) {
		insert_event(types[i], "A1");
		WAIT_UNTIL(nothing_is_new, NULL);
		ck_assert(rabbit_get(rabbit, LISTENER, &event));
		ck_assert_str_eq(event.type, message_types[i]);
		ck_assert_str_eq(event.content_type, "application/cloudevents+json");
		ck_assert_uint_eq(strlen(event.message_id), 36);
		ck_assert(strstr(event.body, event.message_id) != NULL);
		ck_assert(strstr(event.body, "\"subject\":\"A1\"") != NULL);
		ck_assert(event.is_persistent);
	}
	ck_assert(!rabbit_get(rabbit, LISTENER, &event));
	ck_assert_int_eq(count_rows("SENT"), ARRAY_LENGTH(types));
	stop_producer();
}
END_TEST

START_TEST(a_row_that_can_never_be_published_stops_no_other)
{
	start_producer();
	listen_to_events();
	insert_event("ORDER_EATEN", "A1");
	insert_event("", "A1");
	insert_event("order_paid", "A1");
	query_run(query, "INSERT INTO t_outbox_event(event_type,order_no,payload) VALUES "
			 "('ORDER_PAID','A1','[1]'), ('ORDER_PAID','A1',"
			 "CONCAT('{\"x\":\"', REPEAT('y', 1048577), '\"}')), "
			 "('ORDER_PAID','A1','{\"x\":1}')");
	insert_event("ORDER_CREATED", "NOBODY");
	insert_event("ORDER_CREATED", "no''body\"");
	insert_event("ORDER_PAID", "A2");
	WAIT_UNTIL(nothing_is_new, NULL);
	ck_assert_int_eq(count_rows("FAILED"), 7);
	ck_assert_int_eq(count_rows("SENT"), 2);
	ck_assert_int_eq(rabbit_count(rabbit, LISTENER), 2);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_alert WHERE kind = "
					     "'OUTBOX_FAILED'"),
		7);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_outbox_event WHERE status = "
					     "'FAILED' AND last_error IS NULL"),
		0);
	ck_assert_int_eq(rabbit_count(rabbit, DUE_QUEUE), 0);
	stop_producer();
}
END_TEST

/* The schema refuses such a key, but a session may look away. */
START_TEST(an_order_whose_number_is_no_key_ends_nobody)
{
	start_producer();
	query_run(query, "SET check_constraint_checks = 0");
	orders_insert_one(query, "no key", 60000);
	query_run(query, "SET check_constraint_checks = 1");
	orders_insert_one(query, "A1", -1000);
	WAIT_UNTIL(nothing_is_new, NULL);
	ck_assert_int_eq(count_rows("FAILED"), 1);
	ck_assert_int_eq(rabbit_count(rabbit, DUE_QUEUE), 1);
	stop_producer();
}
END_TEST

static bool one_row_is_new(void *context)
{
	(void)context;
	return count_rows("NEW") == 1;
}

/* No statement can change such a row as long as its payload stays what it is. */
START_TEST(a_row_that_nobody_can_change_stops_no_other)
{
	start_producer();
	listen_to_events();
	query_run(query, "SET check_constraint_checks = 0");
	query_run(query, "INSERT INTO t_outbox_event(event_type,order_no,payload) VALUES "
			 "('ORDER_PAID','A1','{\"x\":')");
	query_run(query, "SET check_constraint_checks = 1");
	insert_event("ORDER_PAID", "A1");
	insert_event("ORDER_PAID", "A2");
	WAIT_UNTIL(one_row_is_new, NULL);
	query_expect(query, "A1 0",
		"SELECT order_no, lease_until IS NOT NULL FROM t_outbox_event "
		"WHERE status = 'NEW'");
	ck_assert_int_eq(count_rows("SENT"), 2);
	ck_assert_int_eq(rabbit_count(rabbit, LISTENER), 2);
	stop_producer();
}
END_TEST

START_TEST(an_overdue_order_is_looked_at_at_once)
{
	struct rabbit_delivery timeout;
	char text[QUERY_TEXT_SIZE];
	int count = 1;

	start_producer();
	orders_insert_one(query, "A1", -1000);
	WAIT_UNTIL(holds, &count);
	ck_assert(rabbit_get(rabbit, DUE_QUEUE, &timeout));
	query_text(query, text, "SELECT event_id FROM t_outbox_event");
	ck_assert_str_eq(timeout.message_id, text);
	ck_assert_str_eq(timeout.body, "{\"order_no\":\"A1\"}");
	ck_assert_str_eq(timeout.type, "order.timeout.v1");
	ck_assert_str_eq(timeout.content_type, "application/json");
	ck_assert(timeout.is_persistent);
	WAIT_UNTIL(nothing_is_new, NULL);
	stop_producer();
}
END_TEST

/* Each one once, none more than what is held too early, none late. */
static void arm_and_await(const char *mode)
{
	int count = 10;

	sandbox_set(sandbox, "LAPSE_DELAY", "%s", mode);
	start_producer();
	for (int i = 0; i < 10; i++) {
		char order_no[TEXT_KEY_SIZE];

		(void)text_format(order_no, sizeof(order_no), "D%d", i);
		orders_insert_one(query, order_no, 1500 + 50 * i);
	}
	WAIT_UNTIL(nothing_is_new, NULL);
	ck_assert_int_eq(count_rows("SENT"), 10);
	ck_assert_int_eq(rabbit_count(rabbit, DUE_QUEUE), 0);
	WAIT_UNTIL(holds, &count);
	ck_assert_int_le(query_number(query, "SELECT TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(3), "
					     "MAX(expire_time)) FROM t_order"),
		300000);
	ck_assert_int_ge(query_number(query, "SELECT TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(3), "
					     "MAX(expire_time)) FROM t_order"),
		-1000000);
	ck_assert_int_eq(query_number(query, "SELECT SUM(attempts) FROM t_outbox_event"), 0);
	ck_assert(daemon_metric(&producer, "lapse_outbox_published_total{what=\"timeout\","
					   "result=\"confirmed\"}") == 10);
	stop_producer();
}

START_TEST(timeouts_wait_in_the_levels)
{
	arm_and_await("levels");
}
END_TEST

START_TEST(timeouts_wait_in_the_plugin)
{
	if (stack_has_delay_exchange())
		arm_and_await("plugin");
}
END_TEST

START_TEST(without_delays_the_sweep_is_trusted)
{
	sandbox_set(sandbox, "LAPSE_DELAY", "none");
	start_producer();
	listen_to_events();
	orders_insert_one(query, "A1", 1000);
	insert_event("ORDER_PAID", "A2");
	WAIT_UNTIL(nothing_is_new, NULL);
	ck_assert_int_eq(count_rows("SENT"), 2);
	ck_assert(daemon_metric(&producer, SKIPPED("no_delay")) == 1);
	ck_assert_int_eq(rabbit_count(rabbit, LISTENER), 1);
	ck_assert_int_eq(rabbit_count(rabbit, DUE_QUEUE), 0);
	stop_producer();
}
END_TEST

START_TEST(an_order_that_needs_no_timeout_gets_none)
{
	static const struct order_plan never = { .order_no = "NEVER", .has_no_deadline = true };

	orders_insert_one(query, "PAID", 60000);
	ck_assert(orders_pay(query, "PAID"));
	orders_insert_one(query, "CANCELLED", 60000);
	query_run(query, "UPDATE t_order SET status = 'CLOSED', close_time = UTC_TIMESTAMP(3) "
			 "WHERE order_no = 'CANCELLED'");
	orders_insert(query, &never);
	start_producer();
	WAIT_UNTIL(nothing_is_new, NULL);
	ck_assert_int_eq(count_rows("SENT"), 3);
	ck_assert(daemon_metric(&producer, SKIPPED("final")) == 2);
	ck_assert(daemon_metric(&producer, SKIPPED("no_deadline")) == 1);
	stop_producer();
	ck_assert_int_eq(rabbit_count(rabbit, DUE_QUEUE), 0);
}
END_TEST

static bool sleeps(void *count)
{
	return query_number(query,
		       "SELECT COUNT(*) FROM t_outbox_event e JOIN t_order o "
		       "ON o.order_no = e.order_no WHERE e.status = 'NEW' AND "
		       "e.available_at = o.expire_time - INTERVAL 1 SECOND AND "
		       "e.attempts = 0 AND e.lease_token IS NULL") == *(const int *)count;
}

START_TEST(a_far_timeout_sleeps_in_the_outbox)
{
	int count = 3;
	int one = 1;

	sandbox_set(sandbox, "LAPSE_DELAY_HORIZON", "1s");
	start_producer();
	orders_insert_one(query, "FAR", INT64_C(30) * 86400000);
	orders_insert_one(query, "NEAR", 3000);
	orders_insert_one(query, "PAID", 3000);
	WAIT_UNTIL(sleeps, &count);
	ck_assert(orders_pay(query, "PAID"));
	WAIT_UNTIL(holds, &one);
	ck_assert_int_eq(count_rows("SENT"), 2);
	ck_assert_int_eq(count_rows("NEW"), 1);
	ck_assert(daemon_metric(&producer, SKIPPED("horizon")) == 3);
	ck_assert(daemon_metric(&producer, SKIPPED("final")) == 1);
	stop_producer();
}
END_TEST

START_TEST(order_created_is_published_when_wanted)
{
	struct rabbit_delivery event;
	int count = 1;

	sandbox_set(sandbox, "LAPSE_CREATED_EVENT", "on");
	start_producer();
	listen_to_events();
	orders_insert_one(query, "A1", -1000);
	WAIT_UNTIL(nothing_is_new, NULL);
	WAIT_UNTIL(holds, &count);
	ck_assert(rabbit_get(rabbit, LISTENER, &event));
	ck_assert_str_eq(event.type, "order.created.v1");
	ck_assert(strstr(event.body, "\"amount_cents\":9900") != NULL);
	ck_assert(!rabbit_get(rabbit, LISTENER, &event));
	stop_producer();
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		each_kind_of_event_goes_out_at_once,
		a_row_that_can_never_be_published_stops_no_other,
		an_order_whose_number_is_no_key_ends_nobody,
		a_row_that_nobody_can_change_stops_no_other,
		an_overdue_order_is_looked_at_at_once,
		timeouts_wait_in_the_levels,
		timeouts_wait_in_the_plugin,
		without_delays_the_sweep_is_trusted,
		an_order_that_needs_no_timeout_gets_none,
		a_far_timeout_sleeps_in_the_outbox,
		order_created_is_published_when_wanted,
	};
	const struct runner_fixture fixture = { set_up, tear_down };

	sandbox_need_servers();
	return runner_run_with("outbox_to_due", &fixture, tests, ARRAY_LENGTH(tests));
}
