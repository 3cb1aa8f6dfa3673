/* lapse-consumer on real servers: messages in the due queue, orders closed. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/broker.h"
#include "tests/support/daemon.h"
#include "tests/support/direct_db.h"
#include "tests/support/orders.h"
#include "tests/support/process.h"
#include "tests/support/query.h"
#include "tests/support/rabbit.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/wait_until.h"

#define DUE_QUEUE    "lapse.timeout.due"
#define PARKED_QUEUE "lapse.parked"
#define SETTLED(outcome) \
	"lapse_amqp_settled_total{queue=\"lapse.timeout.due\",outcome=\"" outcome "\"}"

enum {
	FLOOD = 5000,
	STOP_LIMIT_MS = 10000
};

static struct sandbox *sandbox;
static struct query *query;
static struct rabbit *rabbit;
static struct daemon consumer;
static int published; /* into the due queue */

static void set_up(void)
{
	sandbox_create(SANDBOX_EVERYTHING, &sandbox);
	query = sandbox_query(sandbox);
	rabbit = sandbox_rabbit(sandbox);
	published = 0;
	/* Nothing has to wait here, and the levels are many queues to make. */
	sandbox_set(sandbox, "LAPSE_DELAY", "none");
}

static void tear_down(void)
{
	sandbox_destroy(&sandbox);
}

static void start_consumer(void)
{
	daemon_start_ready(sandbox, "lapse-consumer", &consumer);
}

static bool is_closed(void *order_no)
{
	return orders_is(query, order_no, "CLOSED");
}

static void expect_closed(const char *order_no)
{
	char copy[TEXT_KEY_SIZE];

	(void)text_copy(copy, sizeof(copy), order_no);
	WAIT_UNTIL(is_closed, copy);
}

static void publish(const char *order_no)
{
	rabbit_publish_order(rabbit, DUE_QUEUE, order_no);
	published++;
}

static void flood(const char *prefix, int count)
{
	daemon_flood(sandbox, DUE_QUEUE, prefix, (uint32_t)count);
	published += count;
}

static bool has_acked_everything(void *context)
{
	(void)context;
	return daemon_metric(&consumer, SETTLED("ack")) >= published;
}

/* Nothing waits, nothing is unacked: what the consumer gives back at its end would be seen. */
static void expect_all_settled(int64_t parked)
{
	struct direct_db direct;

	WAIT_UNTIL(has_acked_everything, NULL);
	daemon_expect_well(&consumer);
	daemon_stop(&consumer, STOP_LIMIT_MS);
	ck_assert_int_eq(rabbit_count(rabbit, DUE_QUEUE), 0);
	ck_assert_int_eq(rabbit_count(rabbit, PARKED_QUEUE), parked);
	direct_db_open(&direct, sandbox, NULL, NULL);
	direct_db_expect_sound(&direct);
	direct_db_close(&direct);
}

START_TEST(a_lone_message_closes_its_order_at_once)
{
	char text[QUERY_TEXT_SIZE];

	start_consumer();
	for (int i = 0; i < 3; i++) {
		char order_no[] = "A0";

		order_no[1] = (char)('0' + i);
		orders_insert_one(query, order_no, 0);
		publish(order_no);
		expect_closed(order_no);
	}
	query_text(query, text,
		"SELECT MAX(TIMESTAMPDIFF(MICROSECOND, expire_time, close_time)) < 1000000, "
		"MIN(close_reason), MIN(close_source) FROM t_order");
	ck_assert_str_eq(text, "1 TIMEOUT message");
	ck_assert(daemon_metric(&consumer, "lapse_close_batch_orders_bucket{source=\"message\","
					   "le=\"1\"}") >= 3);
	expect_all_settled(0);
}
END_TEST

START_TEST(a_full_queue_closes_in_big_batches)
{
	const struct orders_plan plan = {
		.prefix = "F", .count = FLOOD, .due_in_ms = -1000, .has_no_events = true
	};

	start_consumer();
	orders_insert_many(query, &plan);
	flood("F", FLOOD);
	WAIT_UNTIL(orders_are_all_final, query);
	ck_assert(daemon_metric(&consumer, "lapse_close_batch_orders_count{source=\"message\"}") *
			  10 <
		  FLOOD);
	ck_assert(daemon_metric(&consumer, "lapse_orders_closed_total{reason=\"timeout\","
					   "source=\"message\"}") == FLOOD);
	expect_all_settled(0);
}
END_TEST

START_TEST(one_message_a_thousand_times_closes_once)
{
	start_consumer();
	orders_insert_one(query, "AGAIN", -1000);
	for (int i = 0; i < 10; i++)
		orders_insert_one(query, (const char[]){ (char)('a' + i), '\0' }, -1000);
	for (int i = 0; i < 1000; i++) {
		publish("AGAIN");
		if (i % 100 == 0)
			publish((const char[]){ (char)('a' + i / 100), '\0' });
	}
	WAIT_UNTIL(orders_are_all_final, query);
	expect_all_settled(0);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_compensation"), 11);
}
END_TEST

START_TEST(a_bare_message_and_one_full_of_headers_close_their_orders)
{
	static const struct rabbit_header numbers[] = { { "x-delay", NULL, -1800000 },
		{ "x-due", NULL, INT64_MIN }, { "x-delivery-count", NULL, INT64_MIN } };
	static const struct rabbit_header texts[] = { { "x-delay", "18446744073709551616", 0 },
		{ "x-due", "soon", 0 }, { "x-death", "no", 0 }, { "traceparent", "\xff\x01", 0 },
		{ "x-first-death-queue", DUE_QUEUE, 0 } };
	const struct rabbit_message messages[] = {
		{ .routing_key = DUE_QUEUE, .body = "{\"order_no\":\"B0\"}", .body_size = 17 },
		{ .routing_key = DUE_QUEUE, .body = "{\"order_no\":\"B1\"}", .body_size = 17 },
		{ .routing_key = DUE_QUEUE,
			.body = "{\"order_no\":\"B2\"}",
			.body_size = 17,
			.headers = numbers,
			.header_count = ARRAY_LENGTH(numbers) },
		{ .routing_key = DUE_QUEUE,
			.body = " {\"more\":[1],\"order_no\":\"B3\"} ",
			.body_size = 30,
			.content_type = "text/plain",
			.headers = texts,
			.header_count = ARRAY_LENGTH(texts) },
	};

	for (int i = 0; i < 4; i++)
		orders_insert_one(query, (const char[]){ 'B', (char)('0' + i), '\0' }, -1000);
	start_consumer();
	for (size_t i = 0; i < ARRAY_LENGTH(messages); i++)
		rabbit_publish(rabbit, &messages[i]);
	published = ARRAY_LENGTH(messages);
	WAIT_UNTIL(orders_are_all_final, query);
	expect_all_settled(0);
}
END_TEST

START_TEST(a_message_for_an_unknown_order_is_parked)
{
	struct rabbit_delivery parked;

	orders_insert_one(query, "KNOWN", -1000);
	start_consumer();
	publish("NOBODY");
	publish("known");
	publish("KNOWN");
	expect_closed("KNOWN");
	expect_all_settled(2);
	ck_assert(rabbit_get(rabbit, PARKED_QUEUE, &parked));
	ck_assert_str_eq(parked.body, "{\"order_no\":\"NOBODY\"}");
	ck_assert_str_eq(parked.message_id, "NOBODY");
	ck_assert_str_eq(parked.type, "order.timeout.v1");
	ck_assert(parked.is_persistent);
	ck_assert_str_eq(
		parked.headers, "x-lapse-reason=unknown order x-lapse-origin=lapse.timeout.due ");
}
END_TEST

START_TEST(what_needs_no_close_is_acked)
{
	static const struct order_plan never = { .order_no = "NEVER", .has_no_deadline = true };

	orders_insert(query, &never);
	orders_insert_one(query, "PAID", 60000);
	ck_assert(orders_pay(query, "PAID"));
	sandbox_set(sandbox, "LAPSE_DELAY", "levels");
	start_consumer();
	publish("NEVER");
	publish("PAID");
	WAIT_UNTIL(has_acked_everything, NULL);
	ck_assert(daemon_metric(&consumer, SETTLED("republished")) == 0);
	ck_assert(orders_is(query, "NEVER", "UNPAID"));
	expect_all_settled(0);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_compensation"), 0);
}
END_TEST

/* Takes the first message and gives it back, so that the broker counts a delivery. */
static void deliver_in_vain(int times)
{
	char *url = memory_copy_text(sandbox_amqp_url(sandbox));
	char prefix[] = "lapse";
	const struct broker_settings settings = { url, prefix, 20000 };
	struct broker *broker = NULL;
	struct broker_delivery *delivery = memory_allocate(sizeof(*delivery));
	struct error error = { .text = "" };

	broker_create(&settings, "test", &broker);
	ck_assert_int_eq(broker_ensure_connected(broker, &error), RESULT_OK);
	for (int i = 0; i < times; i++) {
		ck_assert_int_eq(broker_get(broker, DUE_QUEUE, delivery, &error), RESULT_OK);
		ck_assert_int_eq(
			broker_requeue(broker, broker_epoch(broker), delivery->tag, &error),
			RESULT_OK);
	}
	broker_disconnect(broker);
	broker_destroy(&broker);
	free(delivery);
	free(url);
}

START_TEST(a_message_delivered_often_is_handled_alone)
{
	const struct orders_plan plan = {
		.prefix = "S", .count = 50, .due_in_ms = -1000, .has_no_events = true
	};

	start_consumer(); /* declares the queue */
	daemon_stop(&consumer, STOP_LIMIT_MS);
	orders_insert_many(query, &plan);
	flood("S", 50);
	deliver_in_vain(3);
	start_consumer();
	WAIT_UNTIL(orders_are_all_final, query);
	ck_assert(daemon_metric(&consumer, "lapse_close_batch_orders_bucket{source=\"message\","
					   "le=\"1\"}") == 1);
	expect_all_settled(0);
}
END_TEST

/* An address that makes the server count matched rows: nothing may depend on which it counts. */
START_TEST(rows_may_be_counted_either_way)
{
	const struct orders_plan plan = {
		.prefix = "R", .count = 100, .due_in_ms = -1000, .has_no_events = true
	};

	sandbox_set(sandbox, "LAPSE_MYSQL_URL", "%s&found_rows=on", sandbox_mysql_url(sandbox));
	start_consumer();
	orders_insert_many(query, &plan);
	flood("R", 100);
	flood("R", 100);
	WAIT_UNTIL(orders_are_all_final, query);
	expect_all_settled(0);
}
END_TEST

/* What rabbitmqctl says in one column; owned by the caller. */
static char *ask_broker(const char *command, const char *column)
{
	const char *const words[] = { "--name", getenv("STACK_NAME"), "rabbitmqctl", "-q",
		"--no-table-headers", command, "-p", sandbox_name(sandbox), column, NULL };
	char script[PATH_MAX];
	char *output = NULL;

	(void)text_format(script, sizeof(script), "%s/../../scripts/stack", getenv("STACK_FOLDER"));
	ck_assert_int_eq(sandbox_run(sandbox, script, words, &output), 0);
	return output;
}

/* No other queue holds an unacked message. */
static void expect_prefetch_kept(struct daemon *second)
{
	char *output = ask_broker("list_queues", "messages_unacknowledged");
	long unacked = 0;

	for (char *place = output; *place != '\0'; place += strcspn(place, "\n") + 1)
		unacked += strtol(place, NULL, 10);
	free(output);
	ck_assert_int_le(unacked, 40);
	ck_assert(daemon_metric(&consumer, "lapse_inflight") <= 20);
	ck_assert(daemon_metric(second, "lapse_inflight") <= 20);
}

/* Locked rows settle nothing: a consumer that had no limit would take all there is. */
START_TEST(each_consumer_takes_no_more_than_its_prefetch)
{
	const struct orders_plan plan = {
		.prefix = "P", .count = 5000, .due_in_ms = -1000, .has_no_events = true
	};
	struct query *other = NULL;
	struct daemon second;

	sandbox_set(sandbox, "LAPSE_DELAY", "levels"); /* what is locked comes again */
	sandbox_set(sandbox, "LAPSE_PREFETCH", "20");
	start_consumer();
	daemon_start_ready(sandbox, "lapse-consumer", &second);
	char *output = ask_broker("list_consumers", "prefetch_count");
	ck_assert_str_eq(output, "20\n20\n");
	free(output);
	orders_insert_many(query, &plan);
	query_create(sandbox_mysql_url(sandbox), &other);
	query_run(other, "START TRANSACTION");
	query_run(other, "SELECT COUNT(*) FROM t_order FOR UPDATE");
	flood("P", 5000);
	for (int i = 0; i < 3; i++)
		expect_prefetch_kept(&second);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_order WHERE status <> "
					     "'UNPAID'"),
		0);
	query_destroy(&other); /* and its locks */
	WAIT_UNTIL(orders_are_all_final, query);
	daemon_expect_well(&second);
}
END_TEST

START_TEST(two_consumers_share_the_work)
{
	const struct orders_plan plan = {
		.prefix = "W", .count = 2000, .due_in_ms = -1000, .has_no_events = true
	};
	struct daemon second;

	sandbox_set(sandbox, "LAPSE_PREFETCH", "20");
	orders_insert_many(query, &plan);
	start_consumer();
	daemon_start_ready(sandbox, "lapse-consumer", &second);
	flood("W", 2000);
	WAIT_UNTIL(orders_are_all_final, query);
	ck_assert(daemon_metric(&second, "lapse_orders_closed_total{reason=\"timeout\","
					 "source=\"message\"}") > 100);
	ck_assert(daemon_metric(&consumer, "lapse_orders_closed_total{reason=\"timeout\","
					   "source=\"message\"}") > 100);
	daemon_expect_well(&second);
	daemon_stop(&second, STOP_LIMIT_MS);
	daemon_stop(&consumer, STOP_LIMIT_MS);
	ck_assert_int_eq(rabbit_count(rabbit, DUE_QUEUE), 0);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		a_lone_message_closes_its_order_at_once,
		a_full_queue_closes_in_big_batches,
		one_message_a_thousand_times_closes_once,
		a_bare_message_and_one_full_of_headers_close_their_orders,
		a_message_for_an_unknown_order_is_parked,
		what_needs_no_close_is_acked,
		a_message_delivered_often_is_handled_alone,
		rows_may_be_counted_either_way,
		each_consumer_takes_no_more_than_its_prefetch,
		two_consumers_share_the_work,
	};
	const struct runner_fixture fixture = { set_up, tear_down };

	sandbox_need_servers();
	return runner_run_with("due_to_close", &fixture, tests, ARRAY_LENGTH(tests));
}
