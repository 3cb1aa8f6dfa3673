/* lapse-consumer and messages that name no order, whatever their bytes. */
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/memory.h"
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
#define TEXT_65 "0123456789012345678901234567890123456789012345678901234567890123x"
#define BODY(text)                                   \
	{                                            \
		(text), sizeof(text) - 1, NULL, NULL \
	}

enum {
	STOP_LIMIT_MS = 10000,
	HUGE = 3 * 1024 * 1024,
	BIG = 1024 * 1024, /* as much as is taken into memory */
	LONG = 5000,
	AWAY_MS = 3000,
	LINES_MAX = 16
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
	sandbox_set(sandbox, "LAPSE_DELAY", "none");
}

static void tear_down(void)
{
	sandbox_destroy(&sandbox);
}

struct malformed {
	const char *body;
	size_t size;
	const char *type;
	const char *words; /* in the reason */
};

static const struct malformed all_malformed[] = {
	{ "", 0, NULL, "empty" },
	BODY("\0"),
	BODY("not json"),
	BODY("{"),
	BODY("{}"),
	BODY("[]"),
	BODY("null"),
	BODY("\"M0\""),
	BODY("{\"order_no\":null}"),
	BODY("{\"order_no\":7}"),
	BODY("{\"order_no\":[\"M0\"]}"),
	BODY("{\"order_no\":\"\"}"),
	BODY("{\"order_no\":\"M0 \"}"),
	BODY("{\"order_no\":\" M0\"}"),
	BODY("{\"order_no\":\"M0\\n\"}"),
	BODY("{\"order_no\":\"M0\\u0000\"}"),
	BODY("{\"order_no\":\"M0\0\"}"),
	BODY("{\"order_no\":\"M0'; DROP TABLE t_order; --\"}"),
	BODY("{\"order_no\":\"M\xc3\x98\"}"),
	BODY("{\"order_no\":\"M\xff\"}"),
	BODY("{\"Order_No\":\"M0\"}"),
	BODY("{\"order_no\":\"M0\",\"order_no\":\"M1\"}"),
	BODY("{\"order_no\":\"M0\"}{\"order_no\":\"M1\"}"),
	BODY("{\"order_no\":\"M0\"} x"),
	BODY("\xef\xbb\xbf{\"order_no\":\"M0\"}"),
	BODY("{\"order_no\":\"" TEXT_65 "\"}"),
	BODY("{'order_no':'M0'}"),
	BODY("order_no=M0"),
	{ "{\"order_no\":\"M0\"}", 17, "order.paid.v1", "type is not order.timeout.v1" },
	{ "{\"order_no\":\"M0\"}", 17, "ORDER.TIMEOUT.V1", "type is not" },
};

static void publish_good(const char *order_no)
{
	rabbit_publish_order(rabbit, DUE_QUEUE, order_no);
	published++;
}

static void publish_malformed(const struct malformed *malformed, const char *message_id)
{
	const struct rabbit_message message = { .routing_key = DUE_QUEUE,
		.body = malformed->body,
		.body_size = malformed->size,
		.message_id = message_id,
		.type = malformed->type,
		.content_type = "text/plain" };

	rabbit_publish(rabbit, &message);
	published++;
}

static void publish_all_between_good_ones(void)
{
	const struct orders_plan plan = { .prefix = "M",
		.count = ARRAY_LENGTH(all_malformed),
		.due_in_ms = -1000,
		.has_no_events = true };

	orders_insert_many(query, &plan);
	for (size_t i = 0; i < ARRAY_LENGTH(all_malformed); i++) {
		char text[TEXT_KEY_SIZE];

		(void)text_format(text, sizeof(text), "bad-%zu", i);
		publish_malformed(&all_malformed[i], text);
		(void)text_format(text, sizeof(text), "M%zu", i);
		publish_good(text);
	}
}

static bool has_acked_everything(void *context)
{
	(void)context;
	return daemon_metric(&consumer, SETTLED("ack")) >= published;
}

static void expect_parked(size_t place)
{
	const struct malformed *malformed = &all_malformed[place];
	struct rabbit_delivery parked;
	char id[TEXT_KEY_SIZE];

	(void)text_format(id, sizeof(id), "bad-%zu", place);
	ck_assert(rabbit_get(rabbit, PARKED_QUEUE, &parked));
	ck_assert_str_eq(parked.message_id, id);
	ck_assert_uint_eq(parked.body_size, malformed->size);
	ck_assert_mem_eq(parked.body, malformed->body, malformed->size);
	ck_assert_str_eq(parked.type, malformed->type == NULL ? "" : malformed->type);
	ck_assert_str_eq(parked.content_type, "text/plain");
	ck_assert(parked.is_persistent);
	ck_assert(text_starts_with(parked.headers, "x-lapse-reason="));
	ck_assert(strstr(parked.headers, "x-lapse-origin=lapse.timeout.due") != NULL);
	if (malformed->words != NULL)
		ck_assert(strstr(parked.headers, malformed->words) != NULL);
}

static void expect_each_parked_once(void)
{
	ck_assert_int_eq(rabbit_count(rabbit, PARKED_QUEUE), ARRAY_LENGTH(all_malformed));
	for (size_t i = 0; i < ARRAY_LENGTH(all_malformed); i++)
		expect_parked(i);
}

static void expect_all_well(void)
{
	WAIT_UNTIL(orders_are_all_final, query);
	WAIT_UNTIL(has_acked_everything, NULL);
	daemon_expect_well(&consumer);
	ck_assert(daemon_metric(&consumer, SETTLED("requeued")) == 0);
	daemon_stop(&consumer, STOP_LIMIT_MS);
	ck_assert_int_eq(rabbit_count(rabbit, DUE_QUEUE), 0);
}

START_TEST(each_malformed_message_is_parked_once_with_its_reason)
{
	daemon_start_ready(sandbox, "lapse-consumer", &consumer);
	publish_all_between_good_ones();
	expect_all_well();
	expect_each_parked_once();
}
END_TEST

START_TEST(long_and_huge_messages_are_parked)
{
	static const char start[] = "{\"order_no\":\"G\"}";
	char *body = memory_allocate(HUGE);
	const struct malformed huge = { body, HUGE, NULL, "1 MiB" };
	const struct malformed longer = { body, LONG, NULL, "longer" };
	struct rabbit_delivery parked;

	ck_assert(text_copy(body, HUGE, start));
	memset(body + strlen(start), ' ', HUGE - strlen(start));
	orders_insert_one(query, "G", -1000);
	daemon_start_ready(sandbox, "lapse-consumer", &consumer);
	publish_malformed(&huge, "huge");
	publish_malformed(&longer, "long");
	publish_good("G");
	expect_all_well();
	ck_assert(rabbit_get(rabbit, PARKED_QUEUE, &parked));
	ck_assert_str_eq(parked.message_id, "huge");
	ck_assert(strstr(parked.headers, huge.words) != NULL);
	ck_assert(rabbit_get(rabbit, PARKED_QUEUE, &parked));
	ck_assert_str_eq(parked.message_id, "long");
	ck_assert_uint_eq(parked.body_size, LONG);
	ck_assert(strstr(parked.headers, longer.words) != NULL);
	ck_assert(!rabbit_get(rabbit, PARKED_QUEUE, &parked));
	free(body);
}
END_TEST

/* ---- while nothing can be published */

static bool has_taken_all_good_ones(void *context)
{
	const size_t wanted = ARRAY_LENGTH(all_malformed);

	(void)context;
	return daemon_metric(&consumer, "lapse_orders_closed_total{reason=\"timeout\","
					"source=\"message\"}") == (double)wanted;
}

START_TEST(a_broker_that_takes_nothing_stops_no_close)
{
	daemon_start_ready(sandbox, "lapse-consumer", &consumer);
	daemon_stop(&consumer, STOP_LIMIT_MS);
	publish_all_between_good_ones();
	stack_do("block-broker");
	daemon_start(sandbox, "lapse-consumer", &consumer);
	bool are_closed = wait_until(has_taken_all_good_ones, NULL, WAIT_LIMIT_MS);
	bool is_told = wait_until(daemon_is_not_ready, &consumer, WAIT_LIMIT_MS);
	bool is_explained = daemon_says(&consumer, "alarm");
	stack_do("unblock-broker");
	ck_assert(are_closed);
	ck_assert(is_told);
	ck_assert(is_explained);
	WAIT_UNTIL(daemon_is_ready, &consumer);
	expect_all_well();
	expect_each_parked_once();
}
END_TEST

/* Of ten, three are kept, and the alarm shows after the first that was published. */
static bool some_are_parked_by_the_broker(void *context)
{
	(void)context;
	return rabbit_count(rabbit, PARKED_QUEUE) >= 5;
}

static bool nothing_is_ready(void *context)
{
	(void)context;
	return rabbit_count(rabbit, PARKED_QUEUE) >= published - 2 &&
	       daemon_metric(&consumer, "lapse_inflight") == 0;
}

START_TEST(malformed_messages_that_cannot_be_kept_cost_no_good_one)
{
	char *body = memory_allocate(HUGE);
	const struct malformed big = { body, BIG, NULL, NULL };

	memset(body, 'x', HUGE);
	/* Small bites: the alarm is known before the last message is taken. */
	sandbox_set(sandbox, "LAPSE_CLOSE_BATCH", "1");
	orders_insert_one(query, "G0", -1000);
	orders_insert_one(query, "G1", -1000);
	daemon_start_ready(sandbox, "lapse-consumer", &consumer);
	daemon_stop(&consumer, STOP_LIMIT_MS);
	publish_good("G0");
	for (int i = 0; i < 10; i++)
		publish_malformed(&big, "big");
	publish_good("G1");
	size_t mark = stack_mark_broker_log();
	stack_do("block-broker");
	daemon_start(sandbox, "lapse-consumer", &consumer);
	bool are_closed = wait_until(orders_are_all_final, query, WAIT_LIMIT_MS);
	bool are_given_back = wait_until(some_are_parked_by_the_broker, NULL, WAIT_LIMIT_MS);
	stack_do("unblock-broker");
	ck_assert(are_closed);
	ck_assert(are_given_back);
	WAIT_UNTIL(nothing_is_ready, NULL);
	daemon_expect_well(&consumer);
	daemon_stop(&consumer, STOP_LIMIT_MS);
	ck_assert_int_eq(rabbit_count(rabbit, DUE_QUEUE), 0);
	ck_assert_int_ge(rabbit_count(rabbit, PARKED_QUEUE), 10);
	ck_assert_uint_eq(stack_count_in_broker_log(mark, "unknown delivery tag"), 0);
	free(body);
}
END_TEST

/* ---- while the node of a cluster that has the parked queue is away */

static void change_parked(const char *command)
{
	const char *const words[] = { command, sandbox_name(sandbox), PARKED_QUEUE, NULL };

	stack_command(words);
}

static bool has_tried_again(void *context)
{
	const size_t once = ARRAY_LENGTH(all_malformed);

	(void)context;
	return daemon_metric(&consumer, SETTLED("parked")) > (double)once;
}

START_TEST(a_parked_queue_that_is_away_stops_no_close)
{
	daemon_start_ready(sandbox, "lapse-consumer", &consumer);
	daemon_stop(&consumer, STOP_LIMIT_MS);
	publish_all_between_good_ones();
	size_t mark = stack_mark_broker_log();
	change_parked("hide-queue");
	daemon_start(sandbox, "lapse-consumer", &consumer);
	bool are_closed = wait_until(has_taken_all_good_ones, NULL, WAIT_LIMIT_MS);
	bool has_tried = wait_until(has_tried_again, NULL, WAIT_LIMIT_MS);
	clock_wait_ms(AWAY_MS);
	change_parked("show-queue");
	ck_assert(are_closed);
	ck_assert(has_tried);
	/* It asks now and then, and not as fast as it can. */
	ck_assert_uint_le(stack_count_in_broker_log(mark, "accepting AMQP connection"), LINES_MAX);
	expect_all_well();
	expect_each_parked_once();
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		each_malformed_message_is_parked_once_with_its_reason,
		long_and_huge_messages_are_parked,
		a_broker_that_takes_nothing_stops_no_close,
		malformed_messages_that_cannot_be_kept_cost_no_good_one,
		a_parked_queue_that_is_away_stops_no_close,
	};
	const struct runner_fixture fixture = { set_up, tear_down };

	sandbox_need_servers();
	return runner_run_with("due_malformed", &fixture, tests, ARRAY_LENGTH(tests));
}
