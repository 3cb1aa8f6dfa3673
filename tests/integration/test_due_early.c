/* lapse-consumer and messages that come before their time, in both delay modes. */
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
#define PARKED_QUEUE "lapse.parked"
#define SETTLED(outcome) \
	"lapse_amqp_settled_total{queue=\"lapse.timeout.due\",outcome=\"" outcome "\"}"

enum {
	STOP_LIMIT_MS = 10000,
	PROMISE_US = 1000000 /* a close by message is at most so late */
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
}

static void tear_down(void)
{
	sandbox_destroy(&sandbox);
}

static void start_consumer(const char *mode)
{
	sandbox_set(sandbox, "LAPSE_DELAY", "%s", mode);
	daemon_start_ready(sandbox, "lapse-consumer", &consumer);
}

/* Every message that went into the due queue has come out of it for good. */
static bool has_acked(void *count)
{
	return daemon_metric(&consumer, SETTLED("ack")) >= *(const int *)count;
}

static bool has_armed(void *count)
{
	return daemon_metric(&consumer, SETTLED("republished")) >= *(const int *)count;
}

static void expect_closed_in_time(int count)
{
	WAIT_UNTIL(orders_are_all_final, query);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_order WHERE close_source = "
					     "'message'"),
		count);
	ck_assert_int_eq(
		query_number(query, "SELECT COUNT(*) FROM t_order WHERE close_time < expire_time"),
		0);
	ck_assert_int_lt(query_number(query, "SELECT MAX(TIMESTAMPDIFF(MICROSECOND, expire_time, "
					     "close_time)) FROM t_order"),
		PROMISE_US);
	WAIT_UNTIL(has_acked, &count);
	ck_assert_int_eq(rabbit_count(rabbit, PARKED_QUEUE), 0);
	daemon_expect_well(&consumer);
	daemon_stop(&consumer, STOP_LIMIT_MS);
}

START_TEST(a_message_a_little_early_is_held)
{
	start_consumer("levels");
	orders_insert_one(query, "H1", 250);
	rabbit_publish_order(rabbit, DUE_QUEUE, "H1");
	expect_closed_in_time(1);
}
END_TEST

START_TEST(a_message_a_little_early_costs_no_second_message)
{
	sandbox_set(sandbox, "LAPSE_HOLD", "10s");
	start_consumer("levels");
	orders_insert_one(query, "H1", 1000);
	orders_insert_one(query, "H2", 0);
	rabbit_publish_order(rabbit, DUE_QUEUE, "H1");
	rabbit_publish_order(rabbit, DUE_QUEUE, "H2");
	WAIT_UNTIL(orders_are_all_final, query);
	ck_assert(daemon_metric(&consumer, SETTLED("republished")) == 0);
	/* The one behind did not wait for the one that is held. */
	ck_assert_int_eq(
		query_number(query, "SELECT a.close_time < b.close_time FROM t_order a, "
				    "t_order b WHERE a.order_no = 'H2' AND b.order_no = 'H1'"),
		1);
	expect_closed_in_time(2);
}
END_TEST

static void come_much_too_early(const char *mode)
{
	int count = 3;

	start_consumer(mode);
	orders_insert_one(query, "E1", 2500);
	orders_insert_one(query, "E2", 1200);
	orders_insert_one(query, "E3", 700);
	rabbit_publish_order(rabbit, DUE_QUEUE, "E1");
	rabbit_publish_order(rabbit, DUE_QUEUE, "E2");
	rabbit_publish_order(rabbit, DUE_QUEUE, "E3");
	WAIT_UNTIL(has_armed, &count);
	ck_assert_int_gt(orders_count(query, "UNPAID"), 0);
	expect_closed_in_time(3);
}

START_TEST(a_message_much_too_early_comes_again_through_the_levels)
{
	come_much_too_early("levels");
}
END_TEST

START_TEST(a_message_much_too_early_comes_again_through_the_plugin)
{
	if (stack_has_delay_exchange())
		come_much_too_early("plugin");
}
END_TEST

static bool is_near(void *order_no)
{
	return query_number(query,
		       "SELECT expire_time < UTC_TIMESTAMP(3) + INTERVAL 500000 MICROSECOND "
		       "FROM t_order WHERE order_no = '%s'",
		       (const char *)order_no) != 0;
}

/* Half a second before it is due, the deadline moves, again and again. */
static void extend_again_and_again(const char *mode)
{
	char order_no[] = "BRK8";

	start_consumer(mode);
	orders_insert_one(query, order_no, 1500);
	rabbit_publish_order(rabbit, DUE_QUEUE, order_no);
	for (int i = 0; i < 3; i++) {
		WAIT_UNTIL(is_near, order_no);
		query_run(query, "UPDATE t_order SET expire_time = expire_time + INTERVAL 1000000 "
				 "MICROSECOND WHERE status = 'UNPAID'");
	}
	ck_assert(orders_is(query, order_no, "UNPAID"));
	expect_closed_in_time(1);
	ck_assert_int_eq(query_number(query, "SELECT version FROM t_order"), 1);
}

START_TEST(a_deadline_that_moves_is_followed_through_the_levels)
{
	extend_again_and_again("levels");
}
END_TEST

START_TEST(a_deadline_that_moves_is_followed_through_the_plugin)
{
	if (stack_has_delay_exchange())
		extend_again_and_again("plugin");
}
END_TEST

START_TEST(a_message_published_again_starts_from_nothing)
{
	static const struct rabbit_header headers[] = { { "x-delay", NULL, 5 },
		{ "x-first-death-queue", "lapse.delay.00", 0 }, { "who", "me", 0 } };
	const struct rabbit_message message = { .routing_key = DUE_QUEUE,
		.body = "{\"order_no\":\"N1\",\"more\":true}",
		.body_size = 29,
		.message_id = "id-1",
		.headers = headers,
		.header_count = ARRAY_LENGTH(headers) };
	struct rabbit_delivery delivery;
	int count = 1;

	start_consumer("levels");
	orders_insert_one(query, "N1", 3600000);
	rabbit_publish(rabbit, &message);
	WAIT_UNTIL(has_acked, &count);
	daemon_stop(&consumer, STOP_LIMIT_MS);
	/* An hour is a common timeout, which has a queue of its own. */
	ck_assert(rabbit_get(rabbit, "lapse.delay.fixed.3599800", &delivery));
	ck_assert_str_eq(delivery.body, "{\"order_no\":\"N1\"}");
	ck_assert_str_eq(delivery.message_id, "id-1");
	ck_assert_str_eq(delivery.type, "order.timeout.v1");
	ck_assert_str_eq(delivery.content_type, "application/json");
	ck_assert(delivery.is_persistent);
	ck_assert(strstr(delivery.headers, "x-due=") != NULL);
	ck_assert(strstr(delivery.headers, "x-delay") == NULL);
	ck_assert(strstr(delivery.headers, "death") == NULL);
	ck_assert(strstr(delivery.headers, "who") == NULL);
}
END_TEST

static bool is_closed(void *order_no)
{
	return orders_is(query, order_no, "CLOSED");
}

START_TEST(a_locked_order_is_looked_at_again_a_moment_later)
{
	struct query *other = NULL;
	char order_no[] = "L2";
	int count = 2;

	start_consumer("levels");
	orders_insert_one(query, "L1", -1000);
	orders_insert_one(query, "L2", -1000);
	query_create(sandbox_mysql_url(sandbox), &other);
	query_run(other, "START TRANSACTION");
	query_run(other, "SELECT id FROM t_order WHERE order_no = 'L1' FOR UPDATE");
	rabbit_publish_order(rabbit, DUE_QUEUE, "L1");
	rabbit_publish_order(rabbit, DUE_QUEUE, "L2");
	WAIT_UNTIL(is_closed, order_no);
	WAIT_UNTIL(has_acked, &count);
	ck_assert(orders_is(query, "L1", "UNPAID"));
	query_destroy(&other);
	WAIT_UNTIL(orders_are_all_final, query);
	ck_assert_int_eq(
		query_number(query, "SELECT COUNT(*) FROM t_order WHERE close_source = 'message'"),
		2);
	daemon_stop(&consumer, STOP_LIMIT_MS);
	ck_assert_int_eq(rabbit_count(rabbit, PARKED_QUEUE), 0);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		a_message_a_little_early_is_held,
		a_message_a_little_early_costs_no_second_message,
		a_message_much_too_early_comes_again_through_the_levels,
		a_message_much_too_early_comes_again_through_the_plugin,
		a_deadline_that_moves_is_followed_through_the_levels,
		a_deadline_that_moves_is_followed_through_the_plugin,
		a_message_published_again_starts_from_nothing,
		a_locked_order_is_looked_at_again_a_moment_later,
	};
	const struct runner_fixture fixture = { set_up, tear_down };

	sandbox_need_servers();
	return runner_run_with("due_early", &fixture, tests, ARRAY_LENGTH(tests));
}
