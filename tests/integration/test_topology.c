/* What topology declares on a real RabbitMQ, and what it does when something else is there. */
#include <string.h>

#include "common/base/text.h"
#include "common/io/broker.h"
#include "common/order/topology.h"
#include "tests/support/connection.h"
#include "tests/support/rabbit.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/stack.h"
#include "tests/support/wait_until.h"

enum {
	DELIVERY_LIMIT = 20
};

static struct sandbox *sandbox;
static struct connection *line;
static struct topology_settings settings;
static struct topology *topology;

static void set_up(void)
{
	sandbox_create(SANDBOX_NO_SCHEMA, &sandbox);
	connection_create(sandbox_amqp_url(sandbox), &line);
	settings = (struct topology_settings){
		.delay = TOPOLOGY_MODE_LEVELS, .fixed = { { 5000 }, 1 }, .horizon_ms = 9000
	};
	topology_create(&settings, &line->settings, &topology);
}

static void tear_down(void)
{
	topology_destroy(&topology);
	connection_destroy(&line);
	sandbox_destroy(&sandbox);
}

static enum result declare(void)
{
	return topology_declare(topology, line->broker, &line->error);
}

static int64_t count(const char *queue)
{
	return rabbit_count(sandbox_rabbit(sandbox), queue);
}

START_TEST(the_levels_are_all_there_after_declaring)
{
	connection_expect(line, declare(), RESULT_OK);
	ck_assert_int_eq(topology_mode(topology), TOPOLOGY_MODE_LEVELS);
	ck_assert_int_eq(count("lapse.timeout.due"), 0);
	ck_assert_int_eq(count("lapse.parked"), 0);
	for (int level = 0; level < TOPOLOGY_LEVELS; level++) {
		char name[64];

		ck_assert(text_format(name, sizeof(name), "lapse.delay.%02d", level));
		ck_assert_int_eq(count(name), 0);
	}
	ck_assert_int_eq(count("lapse.delay.24"), RABBIT_ABSENT);
	ck_assert_int_eq(count("lapse.delay.fixed.4800"), 0);
	ck_assert_int_eq(count("lapse.delay.fixed.8800"), 0); /* of the horizon */
}
END_TEST

START_TEST(declaring_again_and_by_somebody_else_changes_nothing)
{
	struct topology *other = NULL;

	connection_expect(line, declare(), RESULT_OK);
	connection_expect(line, declare(), RESULT_OK);
	broker_disconnect(line->broker);
	connection_connect(line);
	connection_expect(line, declare(), RESULT_OK);
	topology_create(&settings, &line->settings, &other);
	connection_expect(line, topology_declare(other, line->broker, &line->error), RESULT_OK);
	topology_destroy(&other);
}
END_TEST

START_TEST(what_was_deleted_is_declared_again_on_the_next_connection)
{
	connection_expect(line, declare(), RESULT_OK);
	rabbit_delete_queue(sandbox_rabbit(sandbox), "lapse.delay.03");
	rabbit_delete_exchange(sandbox_rabbit(sandbox), "lapse.delay.07");
	/* Once per connection: nothing is asked of the broker on this one. */
	connection_expect(line, declare(), RESULT_OK);
	ck_assert_int_eq(count("lapse.delay.03"), RABBIT_ABSENT);
	broker_disconnect(line->broker);
	connection_connect(line);
	connection_expect(line, declare(), RESULT_OK);
	ck_assert_int_eq(count("lapse.delay.03"), 0);
}
END_TEST

START_TEST(a_reader_needs_no_more_than_its_queues)
{
	connection_expect(
		line, topology_declare_due(topology, line->broker, &line->error), RESULT_OK);
	ck_assert_int_eq(count("lapse.timeout.due"), 0);
	ck_assert_int_eq(count("lapse.parked"), 0);
	ck_assert_int_eq(count("lapse.delay.00"), RABBIT_ABSENT);
	ck_assert_int_eq(topology_mode(topology), TOPOLOGY_MODE_AUTO);
}
END_TEST

START_TEST(in_mode_none_nothing_delays)
{
	settings.delay = TOPOLOGY_MODE_NONE;
	connection_expect(line, declare(), RESULT_OK);
	ck_assert_int_eq(topology_mode(topology), TOPOLOGY_MODE_NONE);
	ck_assert_int_eq(count("lapse.timeout.due"), 0);
	ck_assert_int_eq(count("lapse.delay.00"), RABBIT_ABSENT);
}
END_TEST

START_TEST(a_due_queue_of_another_kind_is_named_and_left_alone)
{
	rabbit_declare_queue(sandbox_rabbit(sandbox), "lapse.timeout.due");
	connection_expect(line, declare(), RESULT_PERMANENT);
	ck_assert_msg(strstr(line->error.text, "declare queue lapse.timeout.due: 406") != NULL,
		"%s", line->error.text);
	ck_assert_msg(
		strstr(line->error.text, "inequivalent arg 'x-") != NULL, "%s", line->error.text);
	ck_assert_int_eq(count("lapse.timeout.due"), 0);
	/* An operator takes it away: everything is well without a restart. */
	rabbit_delete_queue(sandbox_rabbit(sandbox), "lapse.timeout.due");
	connection_connect(line);
	connection_expect(line, declare(), RESULT_OK);
}
END_TEST

static void change_parked(const char *command)
{
	const char *const words[] = { command, sandbox_name(sandbox), "lapse.parked", NULL };

	stack_command(words);
}

START_TEST(a_parked_queue_whose_node_is_away_stops_nothing_else)
{
	connection_expect(line, declare(), RESULT_OK);
	change_parked("hide-queue");
	broker_disconnect(line->broker);
	connection_connect(line);
	connection_expect(line, declare(), RESULT_OK);
	connection_publish(line, "", topology_due_queue(topology), "A1", 2);
	connection_expect(line,
		broker_consume(line->broker, topology_due_queue(topology), 10, &line->error),
		RESULT_OK);
	connection_expect_event(line, BROKER_EVENT_DELIVERY);
	change_parked("show-queue");
	ck_assert_int_eq(count("lapse.parked"), 0);
}
END_TEST

static bool is_parked(void *context)
{
	(void)context;
	return count("lapse.parked") == 1;
}

START_TEST(a_message_given_out_too_often_is_parked_with_its_reason)
{
	static struct broker_delivery parked;

	connection_expect(line, declare(), RESULT_OK);
	connection_publish(line, "", topology_due_queue(topology), "poison", 6);
	connection_expect(line,
		broker_consume(line->broker, topology_due_queue(topology), 10, &line->error),
		RESULT_OK);
	for (uint64_t given_out = 0; given_out <= DELIVERY_LIMIT; given_out++) {
		connection_expect_event(line, BROKER_EVENT_DELIVERY);
		ck_assert_uint_eq(line->event.delivery.delivery_count, given_out);
		connection_expect(line,
			broker_requeue_up_to(line->broker, broker_epoch(line->broker),
				line->event.delivery.tag, &line->error),
			RESULT_OK);
		connection_expect(line, broker_flush(line->broker, &line->error), RESULT_OK);
	}
	WAIT_UNTIL(is_parked, NULL);
	connection_expect(line,
		broker_get(line->broker, topology_parked_queue(topology), &parked, &line->error),
		RESULT_OK);
	ck_assert_str_eq(parked.reason, "delivery_limit");
	ck_assert_str_eq(parked.origin, "lapse.timeout.due");
	ck_assert_uint_eq(parked.body_size, 6);
}
END_TEST

START_TEST(without_the_exchange_type_auto_takes_the_levels_and_plugin_says_so)
{
	if (stack_has_delay_exchange())
		return; /* test_plugin has the other half */
	settings.delay = TOPOLOGY_MODE_PLUGIN;
	connection_expect(line, declare(), RESULT_PERMANENT);
	ck_assert_msg(strstr(line->error.text,
			      "exchange lapse.timeout must be of type x-delayed-message, which "
			      "this broker (RabbitMQ ") != NULL,
		"%s", line->error.text);
	/* Everything keeps running: the connection, the due queue, and the next attempt. */
	ck_assert(broker_is_connected(line->broker));
	ck_assert_uint_eq(broker_epoch(line->broker), 1);
	ck_assert_int_eq(count("lapse.timeout.due"), 0);
	connection_expect(line, declare(), RESULT_PERMANENT);
	settings.delay = TOPOLOGY_MODE_AUTO;
	connection_expect(line, declare(), RESULT_OK);
	ck_assert_int_eq(topology_mode(topology), TOPOLOGY_MODE_LEVELS);
	ck_assert_uint_eq(broker_epoch(line->broker), 1);
}
END_TEST

int main(void)
{
	const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = {
		the_levels_are_all_there_after_declaring,
		declaring_again_and_by_somebody_else_changes_nothing,
		what_was_deleted_is_declared_again_on_the_next_connection,
		a_reader_needs_no_more_than_its_queues,
		in_mode_none_nothing_delays,
		a_due_queue_of_another_kind_is_named_and_left_alone,
		a_parked_queue_whose_node_is_away_stops_nothing_else,
		a_message_given_out_too_often_is_parked_with_its_reason,
		without_the_exchange_type_auto_takes_the_levels_and_plugin_says_so,
	};

	sandbox_need_servers();
	return runner_run_with("topology", &fixture, tests, ARRAY_LENGTH(tests));
}
