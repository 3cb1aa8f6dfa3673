/* The same message many times, early, for orders that are done: an order closes once, when due. */
#include <inttypes.h>
#include <string.h>

#include "common/base/text.h"
#include "tests/support/fleet.h"
#include "tests/support/http_client.h"
#include "tests/support/orders.h"
#include "tests/support/query.h"
#include "tests/support/rabbit.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/wait_until.h"

#define DUE "lapse.timeout.due"

static struct fleet *fleet;

static const struct fleet_expectation all_is_well = { .latest_ms = FLEET_ANY_LATENESS };

static void set_up(void)
{
	fleet_create(&fleet);
}

static void tear_down(void)
{
	fleet_destroy(&fleet);
}

static struct rabbit *rabbit(void)
{
	return sandbox_rabbit(fleet_sandbox(fleet));
}

/* The number in x-delay is what the plugin leaves in a delivered message. */
static const struct rabbit_header plugin_headers[] = { { "x-delay", NULL, -1800000 } };
static const struct rabbit_header giant_headers[] = {
	{ "x-delay", "18446744073707751616", 0 },
	{ "x-due", "soon", 0 },
	{ "x-death", "no table", 0 },
};
static const struct rabbit_header due_headers[] = { { "x-due", NULL, INT64_MAX },
	{ "x-delivery-count", NULL, -7 }, { "traceparent", "\xFF\xFE no trace \n", 0 } };

/* One of the shapes a timeout message may have; all of them name the order. */
static void publish_shape(const char *order_no, size_t shape)
{
	char body[256];
	struct rabbit_message message = { .routing_key = DUE, .body = body };

	(void)text_format(body, sizeof(body),
		shape % 2 == 0 ? "{\"order_no\":\"%s\"}"
			       : " { \"extra\" : [1,{}], \"order_no\" : \"%s\" } ",
		order_no);
	message.body_size = strlen(body);
	if (shape % 5 == 1) {
		message.headers = plugin_headers;
		message.header_count = ARRAY_LENGTH(plugin_headers);
	} else if (shape % 5 == 2) {
		message.headers = giant_headers;
		message.header_count = ARRAY_LENGTH(giant_headers);
	} else if (shape % 5 == 3) {
		message.headers = due_headers;
		message.header_count = ARRAY_LENGTH(due_headers);
	}
	if (shape % 3 == 0) {
		message.type = "order.timeout.v1";
		message.message_id = "always the same";
		message.content_type = "application/json";
	}
	rabbit_publish(rabbit(), &message);
}

START_TEST(any_number_of_messages_of_any_shape_close_an_order_once)
{
	const struct orders_plan plan = {
		.prefix = "D", .count = 150, .due_in_ms = -1000, .has_no_events = true
	};
	char order_no[32];

	sandbox_set(fleet_sandbox(fleet), "LAPSE_CLOSE_BATCH", "20");
	fleet_start(fleet);
	(void)fleet_start_one(fleet, FLEET_CONSUMER);
	fleet_await_ready(fleet, FLEET_CONSUMER, true);
	orders_insert_many(fleet_query(fleet), &plan);
	for (size_t shape = 0; shape < 6; shape++)
		for (uint32_t i = 0; i < plan.count; i++) {
			(void)text_format(order_no, sizeof(order_no), "D%" PRIu32, i);
			publish_shape(order_no, shape);
		}
	fleet_check(fleet, &all_is_well);
}
END_TEST

START_TEST(a_message_of_a_final_order_changes_nothing)
{
	struct query *query = fleet_query(fleet);
	char before[QUERY_TEXT_SIZE];
	char after[QUERY_TEXT_SIZE];

	orders_insert_one(query, "PAID", 60000);
	ck_assert(orders_pay(query, "PAID"));
	orders_insert_one(query, "CLOSED", -1000);
	fleet_start(fleet);
	fleet_await_ready(fleet, FLEET_CONSUMER, true);
	fleet_settle(fleet);
	query_text(query, before, "CHECKSUM TABLE t_order, t_order_item, t_compensation");
	for (size_t shape = 0; shape < 20; shape++) {
		publish_shape("PAID", shape);
		publish_shape("CLOSED", shape);
	}
	orders_insert_one(query, "LAST", -1000);
	publish_shape("LAST", 0);
	fleet_settle(fleet);
	query_run(query, "DELETE FROM t_compensation WHERE order_no = 'LAST'");
	query_run(query, "DELETE FROM t_order WHERE order_no = 'LAST'");
	query_text(query, after, "CHECKSUM TABLE t_order, t_order_item, t_compensation");
	ck_assert_str_eq(before, after);
}
END_TEST

static bool is_parked(void *context)
{
	const int64_t *wanted = context;

	return rabbit_count(rabbit(), "lapse.parked") == *wanted;
}

START_TEST(a_message_of_an_unknown_order_is_parked_and_touches_no_other)
{
	/* Names that lenient comparing would take for A1. */
	static const char *const unknown[] = { "a1", "A01", "A1x", "A.1", "A1-" };
	int64_t wanted = ARRAY_LENGTH(unknown);

	orders_insert_one(fleet_query(fleet), "A1", 3600000);
	fleet_start(fleet);
	fleet_await_ready(fleet, FLEET_CONSUMER, true);
	for (size_t i = 0; i < ARRAY_LENGTH(unknown); i++)
		publish_shape(unknown[i], i);
	ck_assert(wait_until(is_parked, &wanted, WAIT_LIMIT_MS));
	ck_assert(orders_is(fleet_query(fleet), "A1", "UNPAID"));
	sandbox_expect_all_alive(fleet_sandbox(fleet));
}
END_TEST

static double count_deliveries(uint16_t port)
{
	return http_client_metric(port, "lapse_amqp_deliveries_total{queue=\"lapse.timeout.due\","
					"redelivered=\"false\"}");
}

START_TEST(early_messages_leave_the_order_open_without_a_tight_loop)
{
	orders_insert_one(fleet_query(fleet), "EARLY", 4000);
	fleet_start(fleet);
	fleet_await_ready(fleet, FLEET_CONSUMER, true);
	uint16_t port = fleet_ops_port(fleet, FLEET_CONSUMER);
	for (size_t shape = 0; shape < 20; shape++)
		publish_shape("EARLY", shape);
	fleet_settle(fleet);
	ck_assert_int_eq(fleet_count_closed(fleet, "EARLY", "message"), 1);
	/* Each came once, and once more when the order was due; the producer's own beside them. */
	double deliveries = count_deliveries(port);
	ck_assert_msg(deliveries >= 21 && deliveries <= 80, "deliveries: %f", deliveries);
	fleet_check(fleet, &all_is_well);
}
END_TEST

START_TEST(an_order_without_a_deadline_is_left_alone)
{
	const struct order_plan plan = {
		.order_no = "NEVER", .has_no_deadline = true, .has_no_event = true
	};

	orders_insert(fleet_query(fleet), &plan);
	fleet_start(fleet);
	fleet_await_ready(fleet, FLEET_CONSUMER, true);
	uint16_t port = fleet_ops_port(fleet, FLEET_CONSUMER);
	for (size_t shape = 0; shape < 5; shape++)
		publish_shape("NEVER", shape);
	/* An order that closes by sweep later on shows that sweeps went over both. */
	const struct order_plan other = {
		.order_no = "SWEPT", .due_in_ms = 5000, .has_no_event = true
	};
	orders_insert(fleet_query(fleet), &other);
	fleet_settle(fleet);
	ck_assert(orders_is(fleet_query(fleet), "NEVER", "UNPAID"));
	double deliveries = count_deliveries(port);
	ck_assert_msg(deliveries >= 5 && deliveries <= 5, "deliveries: %f", deliveries);
	ck_assert(orders_pay(fleet_query(fleet), "NEVER"));
	fleet_check(fleet, &all_is_well);
}
END_TEST

START_TEST(a_deadline_that_moves_is_followed)
{
	struct query *query = fleet_query(fleet);

	sandbox_set(fleet_sandbox(fleet), "LAPSE_DELAY", "levels");
	(void)fleet_start_one(fleet, FLEET_PRODUCER);
	(void)fleet_start_one(fleet, FLEET_CONSUMER);
	(void)fleet_start_one(fleet, FLEET_RETRY);
	fleet_await_ready(fleet, FLEET_CONSUMER, true);
	orders_insert_one(query, "MOVES", 2000);
	for (int i = 0; i < 4; i++) {
		query_run(query, "SELECT SLEEP(1.5)");
		query_run(query, "UPDATE t_order SET expire_time = expire_time + INTERVAL 2 SECOND "
				 "WHERE order_no = 'MOVES' AND status = 'UNPAID'");
	}
	fleet_settle(fleet);
	ck_assert_int_eq(fleet_count_closed(fleet, "MOVES", "message"), 1);
	fleet_check(fleet, &(struct fleet_expectation){ .latest_ms = 2000 });
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		any_number_of_messages_of_any_shape_close_an_order_once,
		a_message_of_a_final_order_changes_nothing,
		a_message_of_an_unknown_order_is_parked_and_touches_no_other,
		early_messages_leave_the_order_open_without_a_tight_loop,
		an_order_without_a_deadline_is_left_alone,
		a_deadline_that_moves_is_followed,
	};
	const struct runner_fixture fixture = { set_up, tear_down };

	sandbox_need_servers();
	return runner_run_with("double_delivery", &fixture, tests, ARRAY_LENGTH(tests));
}
