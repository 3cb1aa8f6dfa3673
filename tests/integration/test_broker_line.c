/* What broker does when the line or the broker is in trouble: it drops, says why, goes on. */
#include <string.h>

#include "common/base/clock.h"
#include "common/base/text.h"
#include "common/io/broker.h"
#include "tests/support/connection.h"
#include "tests/support/proxy.h"
#include "tests/support/rabbit.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/stack.h"
#include "tests/support/wait_until.h"

enum {
	HEARTBEAT_MS = 2000,
	GOOD_BYE_MS = 1000,
	SPARE_MS = 3000, /* of a busy machine */
	LARGE_SIZE = 100000,
	BURST = 2000
};

static struct sandbox *sandbox;
static struct proxy *proxy;
static struct connection *line;

static void set_up(void)
{
	char url[512];
	const char *direct;

	sandbox_create(SANDBOX_NO_SCHEMA, &sandbox);
	proxy = sandbox_proxy_amqp(sandbox);
	direct = sandbox_amqp_url(sandbox);
	ck_assert(text_format(url, sizeof(url), "%.*s@127.0.0.1:%u/%s",
		(int)(strchr(direct, '@') - direct), direct, (unsigned)proxy_port(proxy),
		sandbox_name(sandbox)));
	connection_create(url, &line);
	rabbit_declare_queue(sandbox_rabbit(sandbox), "q");
}

static void tear_down(void)
{
	connection_destroy(&line);
	sandbox_destroy(&sandbox);
}

static enum result try_to_publish(const char *key, const void *body, size_t size)
{
	const struct broker_message message = { .exchange = "",
		.routing_key = key,
		.is_mandatory = true,
		.message_id = "id-1",
		.body = body,
		.body_size = size };
	uint64_t number;

	return broker_publish(line->broker, &message, &number, &line->error);
}

static bool can_connect(void *context)
{
	(void)context;
	return broker_ensure_connected(line->broker, &line->error) == RESULT_OK;
}

START_TEST(a_cut_line_is_noticed_and_a_new_one_has_the_next_number)
{
	connection_expect(line, broker_consume(line->broker, "q", 10, &line->error), RESULT_OK);
	proxy_cut(proxy);
	connection_expect(line,
		broker_next(line->broker, WAIT_LIMIT_MS, &line->event, &line->error),
		RESULT_TEMPORARY);
	ck_assert(!broker_is_connected(line->broker));
	ck_assert(!broker_is_consuming(line->broker));
	WAIT_UNTIL(can_connect, NULL);
	ck_assert_uint_eq(broker_epoch(line->broker), 2);
	connection_expect(line, broker_consume(line->broker, "q", 10, &line->error), RESULT_OK);
	connection_expect(line, try_to_publish("q", "x", 1), RESULT_OK);
	connection_expect(line,
		broker_next(line->broker, WAIT_LIMIT_MS, &line->event, &line->error), RESULT_OK);
	ck_assert_uint_eq(line->event.delivery.epoch, 2);
}
END_TEST

START_TEST(a_line_cut_inside_a_message_is_never_written_to_again)
{
	static char body[LARGE_SIZE];
	size_t mark = stack_mark_broker_log();
	enum result result = RESULT_OK;

	for (int round = 0; round < 5; round++) {
		WAIT_UNTIL(can_connect, NULL);
		proxy_cut_after(proxy, LARGE_SIZE / 2);
		result = RESULT_OK;
		while (result == RESULT_OK || result == RESULT_NONE) {
			result = try_to_publish("q", body, sizeof(body));
			if (result == RESULT_OK)
				result = broker_next(line->broker, 10, &line->event, &line->error);
		}
		connection_expect(line, result, RESULT_TEMPORARY);
		ck_assert(!broker_is_connected(line->broker));
	}
	ck_assert_uint_eq(stack_count_in_broker_log(mark, "unexpected"), 0);
}
END_TEST

START_TEST(silence_of_two_heartbeats_is_a_lost_connection)
{
	connection_expect(line, broker_consume(line->broker, "q", 10, &line->error), RESULT_OK);
	uint64_t start = clock_now_ms();
	proxy_freeze(proxy, true);
	enum result result = RESULT_NONE;
	while (result == RESULT_NONE && clock_now_ms() - start < WAIT_LIMIT_MS)
		result = broker_next(line->broker, 1000, &line->event, &line->error);
	connection_expect(line, result, RESULT_TEMPORARY);
	ck_assert_uint_lt(clock_now_ms() - start, 3 * HEARTBEAT_MS + SPARE_MS);
	proxy_freeze(proxy, false);
	WAIT_UNTIL(can_connect, NULL);
}
END_TEST

START_TEST(a_connection_that_only_keeps_alive_is_not_lost)
{
	size_t mark = stack_mark_broker_log();
	uint64_t end = clock_now_ms() + UINT64_C(3) * HEARTBEAT_MS;

	/* The one place where time itself is what is tested. */
	while (clock_now_ms() < end) {
		connection_expect(line, broker_keep_alive(line->broker, &line->error), RESULT_OK);
		clock_wait_ms(HEARTBEAT_MS / 4);
	}
	connection_expect(line, try_to_publish("q", "x", 1), RESULT_OK);
	connection_expect(line, broker_flush(line->broker, &line->error), RESULT_OK);
	ck_assert_uint_eq(stack_count_in_broker_log(mark, "missed heartbeats"), 0);
}
END_TEST

START_TEST(a_write_that_gets_stuck_ends_within_the_heartbeat)
{
	static char body[LARGE_SIZE];
	enum result result = RESULT_OK;
	uint64_t start;

	proxy_freeze(proxy, true);
	/* Until the buffers of all sockets are full; only the last call waits. */
	do {
		start = clock_now_ms();
		result = try_to_publish("q", body, sizeof(body));
	} while (result == RESULT_OK);
	connection_expect(line, result, RESULT_TEMPORARY);
	ck_assert_uint_lt(clock_now_ms() - start, HEARTBEAT_MS + SPARE_MS);
	ck_assert(!broker_is_connected(line->broker));
}
END_TEST

START_TEST(a_good_bye_on_a_dead_line_does_not_hang)
{
	proxy_freeze(proxy, true);
	uint64_t start = clock_now_ms();
	broker_disconnect(line->broker);
	ck_assert_uint_lt(clock_now_ms() - start, 2 * GOOD_BYE_MS + SPARE_MS);
	ck_assert(!broker_is_connected(line->broker));
}
END_TEST

static bool hears_of(enum broker_event_kind kind)
{
	while (broker_next(line->broker, 0, &line->event, &line->error) == RESULT_OK)
		if (line->event.kind == kind)
			return true;
	return false;
}

static bool hears_blocked(void *context)
{
	(void)context;
	/* The broker says so only after the first publish under the alarm. */
	if (!broker_is_blocked(line->broker))
		connection_expect(line, try_to_publish("q", "x", 1), RESULT_OK);
	return hears_of(BROKER_EVENT_BLOCKED);
}

static bool hears_unblocked(void *context)
{
	(void)context;
	return hears_of(BROKER_EVENT_UNBLOCKED);
}

START_TEST(an_alarm_of_the_broker_stops_publishing_until_it_ends)
{
	connection_expect(line, broker_enable_confirms(line->broker, &line->error), RESULT_OK);
	stack_do("block-broker");
	WAIT_UNTIL(hears_blocked, NULL);
	ck_assert(broker_is_blocked(line->broker));
	connection_expect(line, try_to_publish("q", "x", 1), RESULT_TEMPORARY);
	ck_assert(broker_is_connected(line->broker));
	stack_do("unblock-broker");
	WAIT_UNTIL(hears_unblocked, NULL);
	ck_assert(!broker_is_blocked(line->broker));
	connection_expect(line, try_to_publish("q", "x", 1), RESULT_OK);
}
END_TEST

static bool has_all(void *context)
{
	(void)context;
	return rabbit_count(sandbox_rabbit(sandbox), "q") == BURST;
}

START_TEST(a_good_bye_takes_what_was_gathered_along)
{
	for (int i = 0; i < BURST; i++)
		connection_expect(line, try_to_publish("q", "x", 1), RESULT_OK);
	broker_disconnect(line->broker);
	WAIT_UNTIL(has_all, NULL);
}
END_TEST

START_TEST(a_broker_that_restarts_is_found_again)
{
	connection_expect(line, broker_consume(line->broker, "q", 10, &line->error), RESULT_OK);
	stack_do("kill-broker");
	connection_expect(line,
		broker_next(line->broker, WAIT_LIMIT_MS, &line->event, &line->error),
		RESULT_TEMPORARY);
	connection_expect(
		line, broker_ensure_connected(line->broker, &line->error), RESULT_TEMPORARY);
	stack_do("start-broker");
	WAIT_UNTIL(can_connect, NULL);
	connection_expect(line, broker_consume(line->broker, "q", 10, &line->error), RESULT_OK);
}
END_TEST

int main(void)
{
	const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = {
		a_cut_line_is_noticed_and_a_new_one_has_the_next_number,
		a_line_cut_inside_a_message_is_never_written_to_again,
		silence_of_two_heartbeats_is_a_lost_connection,
		a_connection_that_only_keeps_alive_is_not_lost,
		a_write_that_gets_stuck_ends_within_the_heartbeat,
		a_good_bye_on_a_dead_line_does_not_hang,
		an_alarm_of_the_broker_stops_publishing_until_it_ends,
		a_good_bye_takes_what_was_gathered_along,
		a_broker_that_restarts_is_found_again,
	};

	sandbox_need_servers();
	return runner_run_with("broker_line", &fixture, tests, ARRAY_LENGTH(tests));
}
