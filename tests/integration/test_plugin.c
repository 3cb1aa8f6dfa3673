/* The delayed exchange, on a broker that offers one. */
#include <stdio.h>
#include <string.h>

#include "common/base/text.h"
#include "common/io/broker.h"
#include "common/order/topology.h"
#include "tests/support/connection.h"
#include "tests/support/rabbit.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/stack.h"
#include "tests/support/timeouts.h"

enum {
	PREFETCH = 1000,
	MANY = 100,
	LONGEST_MS = 3000,
	LATE_MS = 1000,
	/* The broker's clock and ours are cut off to milliseconds. */
	EARLY_MS = TOPOLOGY_PLUGIN_STEP_MS + 1,
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
	settings = (struct topology_settings){ .delay = TOPOLOGY_MODE_AUTO, .horizon_ms = 3600000 };
	topology_create(&settings, &sender->settings, &topology);
	memset(&timeouts, 0, sizeof(timeouts));
}

static void tear_down(void)
{
	topology_destroy(&topology);
	connection_destroy(&receiver);
	connection_destroy(&sender);
	sandbox_destroy(&sandbox);
}

static enum result declare(void)
{
	return topology_declare(topology, sender->broker, &sender->error);
}

/* Ready to send and to receive. */
static void begin(void)
{
	connection_expect(sender, declare(), RESULT_OK);
	connection_expect(
		sender, broker_enable_confirms(sender->broker, &sender->error), RESULT_OK);
	connection_expect(receiver,
		broker_consume(
			receiver->broker, topology_due_queue(topology), PREFETCH, &receiver->error),
		RESULT_OK);
}

START_TEST(auto_takes_the_plugin_where_it_is_offered)
{
	connection_expect(sender, declare(), RESULT_OK);
	ck_assert_int_eq(topology_mode(topology), TOPOLOGY_MODE_PLUGIN);
	ck_assert_uint_eq(topology_delay_max_ms(topology), 2147483647);
	ck_assert_int_eq(rabbit_count(sandbox_rabbit(sandbox), "lapse.delay.00"), RABBIT_ABSENT);
}
END_TEST

/* No message comes back, none is lost and none comes twice, though the broker calls them lost. */
START_TEST(each_timeout_comes_once_and_on_time)
{
	begin();
	timeouts_send(&timeouts, sender, topology, 60000);
	for (int i = 1; i < MANY; i++)
		timeouts_send(&timeouts, sender, topology, (int64_t)runner_random(LONGEST_MS));
	timeouts_await_confirms(&timeouts, sender);
	timeouts_receive(&timeouts, receiver, MANY - 1);
	for (size_t i = 1; i < MANY; i++) {
		const struct timeouts_entry *entry = &timeouts.entries[i];

		ck_assert_uint_eq(entry->came_count, 1);
		ck_assert_msg(entry->early_ms <= EARLY_MS && entry->early_ms >= -LATE_MS,
			"%zu with %d ms to go was %d ms early", i, (int)entry->remaining_ms,
			(int)entry->early_ms);
	}
	ck_assert_uint_eq(timeouts.entries[0].came_count, 0);
}
END_TEST

START_TEST(an_exchange_of_another_type_is_named_and_left_alone)
{
	settings.delay = TOPOLOGY_MODE_PLUGIN;
	rabbit_declare_exchange(sandbox_rabbit(sandbox), "lapse.timeout", "direct");
	for (int i = 0; i < 2; i++) {
		connection_expect(sender, declare(), RESULT_PERMANENT);
		ck_assert_str_eq(sender->error.text,
			"exchange lapse.timeout must be of type x-delayed-message, but it exists "
			"with type direct");
	}
	/* Readers and the connection go on. */
	ck_assert_uint_eq(broker_epoch(sender->broker), 1);
	ck_assert(broker_is_connected(sender->broker));
	ck_assert_int_eq(rabbit_count(sandbox_rabbit(sandbox), "lapse.timeout.due"), 0);
	/* An operator deletes it: back to normal without a restart. */
	rabbit_delete_exchange(sandbox_rabbit(sandbox), "lapse.timeout");
	begin();
	timeouts_send(&timeouts, sender, topology, 200);
	timeouts_receive(&timeouts, receiver, 1);
	ck_assert_int_eq(topology_mode(topology), TOPOLOGY_MODE_PLUGIN);
}
END_TEST

START_TEST(auto_takes_the_levels_when_the_exchange_is_somebody_elses)
{
	rabbit_declare_exchange(sandbox_rabbit(sandbox), "lapse.timeout", "topic");
	begin();
	ck_assert_int_eq(topology_mode(topology), TOPOLOGY_MODE_LEVELS);
	timeouts_send(&timeouts, sender, topology, 300);
	timeouts_await_confirms(&timeouts, sender);
	timeouts_receive(&timeouts, receiver, 1);
}
END_TEST

START_TEST(the_binding_is_made_again_on_the_next_connection)
{
	begin();
	rabbit_delete_queue(sandbox_rabbit(sandbox), "lapse.timeout.due");
	connection_expect_event(receiver, BROKER_EVENT_CANCELLED);
	broker_disconnect(sender->broker);
	connection_connect(sender);
	begin();
	timeouts_send(&timeouts, sender, topology, 200);
	timeouts_receive(&timeouts, receiver, 1);
}
END_TEST

int main(void)
{
	const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = {
		auto_takes_the_plugin_where_it_is_offered,
		each_timeout_comes_once_and_on_time,
		an_exchange_of_another_type_is_named_and_left_alone,
		auto_takes_the_levels_when_the_exchange_is_somebody_elses,
		the_binding_is_made_again_on_the_next_connection,
	};

	sandbox_need_servers();
	if (!stack_has_delay_exchange()) {
		(void)fprintf(stderr, "skipped: the broker offers no x-delayed-message; run "
				      "scripts/stack up --test-delay-exchange before\n");
		return RUNNER_SKIPPED;
	}
	return runner_run_with("plugin", &fixture, tests, ARRAY_LENGTH(tests));
}
