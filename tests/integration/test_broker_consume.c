/* What broker promises about deliveries, on a real RabbitMQ. */
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/broker.h"
#include "tests/support/connection.h"
#include "tests/support/rabbit.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/wait_until.h"

enum {
	MANY = 3000,
	LARGE_SIZE = 700000,
	PREFETCH = 100
};

static struct sandbox *sandbox;
static struct connection *line;

static void set_up(void)
{
	sandbox_create(SANDBOX_NO_SCHEMA, &sandbox);
	connection_create(sandbox_amqp_url(sandbox), &line);
	rabbit_declare_queue(sandbox_rabbit(sandbox), "q");
}

static void tear_down(void)
{
	connection_destroy(&line);
	sandbox_destroy(&sandbox);
}

static uint32_t count_ready(void)
{
	return (uint32_t)rabbit_count(sandbox_rabbit(sandbox), "q");
}

START_TEST(a_deleted_queue_ends_the_subscription_and_says_so)
{
	connection_expect(
		line, broker_consume(line->broker, "q", PREFETCH, &line->error), RESULT_OK);
	rabbit_delete_queue(sandbox_rabbit(sandbox), "q");
	connection_expect_event(line, BROKER_EVENT_CANCELLED);
	ck_assert(!broker_is_consuming(line->broker));
	rabbit_declare_queue(sandbox_rabbit(sandbox), "q");
	connection_expect(
		line, broker_consume(line->broker, "q", PREFETCH, &line->error), RESULT_OK);
	connection_publish(line, "", "q", "x", 1);
	connection_expect_event(line, BROKER_EVENT_DELIVERY);
}
END_TEST

START_TEST(acks_settle_up_to_their_tag_and_no_further)
{
	connection_publish_numbers(line, "q", 10);
	connection_expect(
		line, broker_consume(line->broker, "q", PREFETCH, &line->error), RESULT_OK);
	connection_expect_numbers(line, 0, 10);
	connection_expect(line, broker_ack_up_to(line->broker, 1, 4, &line->error), RESULT_OK);
	connection_expect(line, broker_ack(line->broker, 1, 6, &line->error), RESULT_OK);
	broker_disconnect(line->broker); /* what is not acked goes back */
	ck_assert_uint_eq(count_ready(), 5);
}
END_TEST

START_TEST(a_tag_of_an_old_connection_is_dropped_silently)
{
	connection_publish_numbers(line, "q", 2);
	connection_expect(line, broker_consume(line->broker, "q", 1, &line->error), RESULT_OK);
	connection_expect_numbers(line, 0, 1);
	broker_drop(line->broker);
	connection_expect(line, broker_ack_up_to(line->broker, 1, 1, &line->error), RESULT_OK);
	connection_connect(line);
	connection_expect(line, broker_ack_up_to(line->broker, 1, 1, &line->error), RESULT_OK);
	connection_expect(line, broker_ack(line->broker, 1, 1, &line->error), RESULT_OK);
	connection_expect(line, broker_requeue_up_to(line->broker, 1, 1, &line->error), RESULT_OK);
	connection_expect(line, broker_consume(line->broker, "q", 1, &line->error), RESULT_OK);
	connection_expect_numbers(line, 0, 1);
	ck_assert(line->event.delivery.is_redelivered);
	ck_assert_uint_eq(line->event.delivery.epoch, 2);
}
END_TEST

START_TEST(a_quorum_queue_counts_what_it_gives_out_again)
{
	const struct broker_argument quorum = { .name = "x-queue-type", .text = "quorum" };

	connection_expect(line, broker_declare_queue(line->broker, "due", &quorum, 1, &line->error),
		RESULT_OK);
	connection_publish(line, "", "due", "x", 1);
	connection_expect(
		line, broker_consume(line->broker, "due", PREFETCH, &line->error), RESULT_OK);
	for (uint64_t count = 0; count < 3; count++) {
		connection_expect_event(line, BROKER_EVENT_DELIVERY);
		ck_assert_uint_eq(line->event.delivery.delivery_count, count);
		connection_expect(line,
			broker_requeue_up_to(
				line->broker, 1, line->event.delivery.tag, &line->error),
			RESULT_OK);
	}
}
END_TEST

static bool has_prefetched(void *context)
{
	(void)context;
	connection_expect(line, broker_keep_alive(line->broker, &line->error), RESULT_OK);
	return count_ready() == MANY - PREFETCH;
}

START_TEST(what_comes_while_nobody_asks_is_kept_in_order)
{
	connection_publish_numbers(line, "q", MANY);
	connection_expect(
		line, broker_consume(line->broker, "q", PREFETCH, &line->error), RESULT_OK);
	connection_expect_numbers(line, 0, 1);
	WAIT_UNTIL(has_prefetched, NULL);
	connection_expect(line, broker_keep_alive(line->broker, &line->error), RESULT_OK);
	connection_expect_numbers(line, 1, PREFETCH);
	connection_expect(line,
		broker_ack_up_to(line->broker, 1, line->event.delivery.tag, &line->error),
		RESULT_OK);
	connection_expect_numbers(line, PREFETCH, 2 * PREFETCH);
}
END_TEST

START_TEST(after_the_end_of_a_subscription_nothing_new_comes)
{
	connection_publish_numbers(line, "q", MANY);
	connection_expect(
		line, broker_consume(line->broker, "q", PREFETCH, &line->error), RESULT_OK);
	connection_expect_numbers(line, 0, 1);
	connection_expect(line, broker_cancel(line->broker, &line->error), RESULT_OK);
	ck_assert(!broker_is_consuming(line->broker));
	enum result result = RESULT_OK;
	uint32_t under_way = 1;
	while (result == RESULT_OK) {
		result = broker_next(line->broker, 0, &line->event, &line->error);
		under_way += result == RESULT_OK ? 1 : 0;
	}
	connection_expect(line, result, RESULT_NONE);
	ck_assert_uint_le(under_way, PREFETCH);
	connection_expect(
		line, broker_ack_up_to(line->broker, 1, under_way, &line->error), RESULT_OK);
	connection_expect(
		line, broker_consume(line->broker, "q", PREFETCH, &line->error), RESULT_OK);
	connection_expect_numbers(line, under_way, under_way + PREFETCH);
}
END_TEST

START_TEST(a_get_takes_one_message_and_leaves_other_news_alone)
{
	static struct broker_delivery delivery;

	connection_expect(
		line, broker_get(line->broker, "q", &delivery, &line->error), RESULT_NONE);
	connection_expect(line, broker_enable_confirms(line->broker, &line->error), RESULT_OK);
	connection_publish_numbers(line, "q", 3);
	connection_publish(line, "", "no-such-queue", "x", 1);
	connection_expect(line, broker_get(line->broker, "q", &delivery, &line->error), RESULT_OK);
	ck_assert_uint_eq(delivery.body_size, sizeof(uint32_t));
	ck_assert_uint_eq(delivery.message_count, 2);
	ck_assert_uint_eq(delivery.epoch, 1);
	connection_expect(line,
		broker_ack(line->broker, delivery.epoch, delivery.tag, &line->error), RESULT_OK);
	bool was_returned = false;
	for (uint64_t number = 0; number < 4; number = line->event.number) {
		connection_expect(line, connection_next(line), RESULT_OK);
		was_returned = was_returned || line->event.kind == BROKER_EVENT_RETURNED;
	}
	ck_assert(was_returned);
	connection_expect(
		line, broker_get(line->broker, "none", &delivery, &line->error), RESULT_TEMPORARY);
	ck_assert_msg(strstr(line->error.text, "get from none: ") != NULL, "%s", line->error.text);
}
END_TEST

/* Several frames, more than the writer's buffer; the last is above what a delivery holds. */
START_TEST(large_bodies_go_through_in_pieces)
{
	static const size_t sizes[] = { 65528, 131064, 131065, LARGE_SIZE, BROKER_BODY_MAX };
	uint8_t *body = memory_allocate(BROKER_BODY_MAX + 1);

	for (size_t i = 0; i <= BROKER_BODY_MAX; i++)
		body[i] = (uint8_t)(i * 31 + i / 251);
	connection_expect(
		line, broker_consume(line->broker, "q", PREFETCH, &line->error), RESULT_OK);
	for (size_t i = 0; i < ARRAY_LENGTH(sizes); i++) {
		connection_publish(line, "", "q", "small", 5);
		connection_publish(line, "", "q", body, sizes[i]);
		connection_expect_event(line, BROKER_EVENT_DELIVERY);
		ck_assert_uint_eq(line->event.delivery.body_size, 5);
		connection_expect_event(line, BROKER_EVENT_DELIVERY);
		ck_assert_uint_eq(line->event.delivery.body_size, sizes[i]);
		ck_assert_int_eq(memcmp(line->event.delivery.body, body, sizes[i]), 0);
		ck_assert(!line->event.delivery.is_body_cut);
	}
	connection_publish(line, "", "q", body, BROKER_BODY_MAX + 1);
	connection_expect_event(line, BROKER_EVENT_DELIVERY);
	ck_assert(line->event.delivery.is_body_cut);
	ck_assert_uint_eq(line->event.delivery.body_size, BROKER_BODY_MAX);
	free(body);
}
END_TEST

int main(void)
{
	const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = {
		a_deleted_queue_ends_the_subscription_and_says_so,
		acks_settle_up_to_their_tag_and_no_further,
		a_tag_of_an_old_connection_is_dropped_silently,
		a_quorum_queue_counts_what_it_gives_out_again,
		what_comes_while_nobody_asks_is_kept_in_order,
		after_the_end_of_a_subscription_nothing_new_comes,
		a_get_takes_one_message_and_leaves_other_news_alone,
		large_bodies_go_through_in_pieces,
	};

	sandbox_need_servers();
	return runner_run_with("broker_consume", &fixture, tests, ARRAY_LENGTH(tests));
}
