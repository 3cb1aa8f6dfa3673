/* The levels on a real RabbitMQ: each timeout is on time, whatever else waits. */
#include <string.h>

#include "common/base/text.h"
#include "common/io/broker.h"
#include "common/order/topology.h"
#include "tests/support/connection.h"
#include "tests/support/rabbit.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/timeouts.h"

enum {
	PREFETCH = 1000,
	MANY = 200,
	LONGEST_MS = 4000,
	LATE_MS = 1000, /* the promise of a message */
	FIXED_MS = 3000,
	AGAIN_COUNT = 10,
	AGAIN_MS = 300
};

static struct sandbox *sandbox;
static struct connection *sender;
static struct connection *receiver;
static struct topology_settings settings;
static struct topology *topology;
static struct timeouts timeouts;

static void set_up(void)
{
	sandbox_create(SANDBOX_NO_SCHEMA, &sandbox);
	connection_create(sandbox_amqp_url(sandbox), &sender);
	connection_create(sandbox_amqp_url(sandbox), &receiver);
	settings = (struct topology_settings){
		.delay = TOPOLOGY_MODE_LEVELS, .fixed = { { FIXED_MS }, 1 }, .horizon_ms = FIXED_MS
	};
	topology_create(&settings, &sender->settings, &topology);
	connection_expect(
		sender, topology_declare(topology, sender->broker, &sender->error), RESULT_OK);
	connection_expect(
		sender, broker_enable_confirms(sender->broker, &sender->error), RESULT_OK);
	connection_expect(receiver,
		broker_consume(
			receiver->broker, topology_due_queue(topology), PREFETCH, &receiver->error),
		RESULT_OK);
	memset(&timeouts, 0, sizeof(timeouts));
}

static void tear_down(void)
{
	topology_destroy(&topology);
	connection_destroy(&receiver);
	connection_destroy(&sender);
	sandbox_destroy(&sandbox);
}

/* Each came once, at most so early, and no later than promised. */
static void expect_on_time(size_t first, int64_t early_max_ms)
{
	for (size_t i = first; i < timeouts.count; i++) {
		const struct timeouts_entry *entry = &timeouts.entries[i];

		ck_assert_msg(entry->came_count == 1, "of %zu came %u", i, entry->came_count);
		ck_assert_msg(entry->early_ms <= early_max_ms && entry->early_ms >= -LATE_MS,
			"%zu with %d ms to go was %d ms early", i, (int)entry->remaining_ms,
			(int)entry->early_ms);
	}
}

START_TEST(a_short_timeout_does_not_wait_behind_a_long_one)
{
	timeouts_send(&timeouts, sender, topology, 60000);
	timeouts_send(&timeouts, sender, topology, 86400000);
	timeouts_send(&timeouts, sender, topology, 2750);
	timeouts_send(&timeouts, sender, topology, 1500);
	timeouts_send(&timeouts, sender, topology, 100);
	timeouts_await_confirms(&timeouts, sender);
	timeouts_receive(&timeouts, receiver, 3);
	expect_on_time(2, TOPOLOGY_UNIT_MS);
	ck_assert_uint_eq(timeouts.entries[0].came_count, 0);
}
END_TEST

START_TEST(every_length_is_on_time_in_any_order)
{
	timeouts_send(&timeouts, sender, topology, 3600000);
	for (int i = 1; i < MANY; i++)
		timeouts_send(&timeouts, sender, topology, (int64_t)runner_random(LONGEST_MS));
	timeouts_await_confirms(&timeouts, sender);
	timeouts_receive(&timeouts, receiver, MANY - 1);
	/* Those near the fixed timeout took its queue, which is up to 300 ms early. */
	expect_on_time(1, TOPOLOGY_FIXED_WINDOW_MS);
}
END_TEST

START_TEST(a_common_timeout_goes_through_its_fixed_queue)
{
	timeouts_send(&timeouts, sender, topology, FIXED_MS);
	timeouts_send(&timeouts, sender, topology, FIXED_MS - TOPOLOGY_FIXED_LEAD_MS);
	timeouts_send(&timeouts, sender, topology, FIXED_MS + 100);
	timeouts_await_confirms(&timeouts, sender);
	ck_assert_int_eq(rabbit_count(sandbox_rabbit(sandbox), "lapse.delay.fixed.2800"), 3);
	timeouts_receive(&timeouts, receiver, 3);
	expect_on_time(0, TOPOLOGY_FIXED_WINDOW_MS);
}
END_TEST

START_TEST(what_is_overdue_comes_at_once)
{
	timeouts_send(&timeouts, sender, topology, 0);
	timeouts_send(&timeouts, sender, topology, -60000);
	timeouts_send(&timeouts, sender, topology, TOPOLOGY_UNIT_MS - 1);
	timeouts_await_confirms(&timeouts, sender);
	timeouts_receive(&timeouts, receiver, 3);
	ck_assert_int_ge(timeouts.entries[0].early_ms, -LATE_MS);
}
END_TEST

/* A message that goes round is no cycle, as long as each round is a message of its own. */
START_TEST(a_timeout_can_be_published_again_and_again)
{
	for (int i = 0; i < AGAIN_COUNT; i++) {
		timeouts_send(&timeouts, sender, topology, AGAIN_MS);
		timeouts_receive(&timeouts, receiver, 1);
	}
	expect_on_time(0, TOPOLOGY_UNIT_MS);
}
END_TEST

START_TEST(a_lost_binding_comes_back_as_a_returned_message)
{
	rabbit_delete_queue(sandbox_rabbit(sandbox), "lapse.delay.03");
	timeouts_send(&timeouts, sender, topology, 850); /* bit 3 of 8 units */
	connection_expect_event(sender, BROKER_EVENT_RETURNED);
	ck_assert_str_eq(sender->event.delivery.message_id, "0");
	connection_expect_event(sender, BROKER_EVENT_CONFIRM);
}
END_TEST

START_TEST(what_waits_survives_the_connections_that_sent_it)
{
	timeouts_send(&timeouts, sender, topology, 1700);
	timeouts_await_confirms(&timeouts, sender);
	broker_drop(sender->broker);
	broker_drop(receiver->broker);
	connection_connect(receiver);
	connection_expect(receiver,
		broker_consume(
			receiver->broker, topology_due_queue(topology), PREFETCH, &receiver->error),
		RESULT_OK);
	timeouts_receive(&timeouts, receiver, 1);
	expect_on_time(0, TOPOLOGY_UNIT_MS);
}
END_TEST

int main(void)
{
	const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = {
		a_short_timeout_does_not_wait_behind_a_long_one,
		every_length_is_on_time_in_any_order,
		a_common_timeout_goes_through_its_fixed_queue,
		what_is_overdue_comes_at_once,
		a_timeout_can_be_published_again_and_again,
		a_lost_binding_comes_back_as_a_returned_message,
		what_waits_survives_the_connections_that_sent_it,
	};

	sandbox_need_servers();
	return runner_run_with("levels", &fixture, tests, ARRAY_LENGTH(tests));
}
