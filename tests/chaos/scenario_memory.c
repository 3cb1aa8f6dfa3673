/* Daemons are as small after two hundred thousand messages as after twenty thousand. */
#include <stdlib.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/broker.h"
#include "common/order/timeout_message.h"
#include "tests/support/daemon.h"
#include "tests/support/orders.h"
#include "tests/support/process.h"
#include "tests/support/query.h"
#include "tests/support/rabbit.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/wait_until.h"

#define DUE_QUEUE "lapse.timeout.due"
#define ACKED     "lapse_amqp_settled_total{queue=\"lapse.timeout.due\",outcome=\"ack\"}"

enum {
	ROOM_KIB = 2048,
	FIRST = 20000,
	ALL = 200000,
	WINDOW = 1000,
	SETTLE_LIMIT_MS = 240000,
};

static struct sandbox *sandbox;
static struct query *query;
static struct daemon daemon_under_test;

static void set_up(void)
{
	sandbox_create(SANDBOX_EVERYTHING, &sandbox);
	query = sandbox_query(sandbox);
	sandbox_set(sandbox, "LAPSE_DELAY", "none");
}

static void tear_down(void)
{
	sandbox_destroy(&sandbox);
}

static void expect(enum result result, const struct error *error)
{
	ck_assert_msg(result == RESULT_OK, "%s", error->text);
}

static void await_confirms(struct broker *broker, uint64_t wanted)
{
	struct broker_event event = { .number = 0 };
	struct error error = { .text = "" };

	while (event.number < wanted)
		expect(broker_next(broker, WAIT_LIMIT_MS, &event, &error), &error);
}

/* Messages about an order that is final, with every header there is. */
static void publish(uint32_t count)
{
	char *url = memory_copy_text(sandbox_amqp_url(sandbox));
	char prefix[] = "lapse";
	const struct broker_settings settings = { url, prefix, 20000 };
	char body[TIMEOUT_MESSAGE_SIZE];
	struct broker_message message = { .exchange = "",
		.routing_key = DUE_QUEUE,
		.type = TIMEOUT_MESSAGE_TYPE,
		.content_type = TIMEOUT_MESSAGE_CONTENT_TYPE,
		.message_id = "01KG9R2D8JQ4W2V8M3X7T5N6ZA",
		.trace_parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
		.has_delay = true,
		.delay_ms = 1,
		.has_due = true,
		.due_ms = 1,
		.reason = "a reason of some length, as they come",
		.origin = DUE_QUEUE,
		.body = body,
		.body_size = timeout_message_write(body, "A1") };
	struct broker *broker = NULL;
	struct error error = { .text = "" };
	uint64_t number = 0;

	broker_create(&settings, "test", &broker);
	expect(broker_ensure_connected(broker, &error), &error);
	expect(broker_enable_confirms(broker, &error), &error);
	for (uint32_t i = 1; i <= count; i++) {
		expect(broker_publish(broker, &message, &number, &error), &error);
		if (i % WINDOW == 0)
			await_confirms(broker, number);
	}
	broker_disconnect(broker);
	broker_destroy(&broker);
	free(url);
}

static bool has_acked(void *count)
{
	return daemon_metric(&daemon_under_test, ACKED) >= *(const int *)count;
}

/* Its size with so many messages behind it. */
static uint64_t size_after(int count)
{
	ck_assert(wait_until(has_acked, &count, SETTLE_LIMIT_MS));
	daemon_expect_well(&daemon_under_test);
	return process_resident_kib(daemon_under_test.process);
}

/* Buffers may still grow to their largest once; a leak of 16 bytes a message would be seen. */
static void expect_flat(uint64_t before_kib, uint64_t after_kib)
{
	ck_assert_msg(after_kib <= before_kib + ROOM_KIB, "it grew from %llu to %llu KiB",
		(unsigned long long)before_kib, (unsigned long long)after_kib);
}

START_TEST(a_consumer_does_not_grow)
{
	daemon_start_ready(sandbox, "lapse-consumer", &daemon_under_test);
	orders_insert(query,
		&(struct order_plan){ .order_no = "A1", .due_in_ms = -1000, .has_no_event = true });
	publish(FIRST);
	uint64_t before_kib = size_after(FIRST);
	publish(ALL - FIRST);
	expect_flat(before_kib, size_after(ALL));
	ck_assert(orders_is(query, "A1", "CLOSED"));
	ck_assert_int_eq(rabbit_count(sandbox_rabbit(sandbox), "lapse.parked"), 0);
}
END_TEST

static void insert_events(int thousands)
{
	query_run(query,
		"INSERT INTO t_outbox_event(event_type, order_no) "
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) "
		"SELECT 'ORDER_PAID', CONCAT('A', a.i, '-', b.i) FROM n a CROSS JOIN n b "
		"WHERE b.i <= %d",
		thousands);
}

static bool is_all_sent(void *context)
{
	(void)context;
	return query_number(query, "SELECT COUNT(*) FROM t_outbox_event FORCE INDEX "
				   "(idx_status_available) WHERE status = 'NEW'") == 0;
}

static uint64_t size_when_sent(void)
{
	ck_assert(wait_until(is_all_sent, NULL, SETTLE_LIMIT_MS));
	daemon_expect_well(&daemon_under_test);
	return process_resident_kib(daemon_under_test.process);
}

START_TEST(a_producer_does_not_grow)
{
	daemon_start_ready(sandbox, "lapse-producer", &daemon_under_test);
	insert_events(FIRST / 1000);
	uint64_t before_kib = size_when_sent();
	insert_events((ALL - FIRST) / 1000);
	expect_flat(before_kib, size_when_sent());
	ck_assert_int_eq(
		query_number(query, "SELECT COUNT(*) FROM t_outbox_event WHERE status = 'SENT'"),
		ALL);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		a_consumer_does_not_grow,
		a_producer_does_not_grow,
	};
	const struct runner_fixture fixture = { set_up, tear_down };

	sandbox_need_servers();
	return runner_run_with("memory", &fixture, tests, ARRAY_LENGTH(tests));
}
