/* One bad order, message or row in a good batch: it costs itself and nothing else. */
#include <string.h>

#include "common/base/text.h"
#include "tests/support/fleet.h"
#include "tests/support/orders.h"
#include "tests/support/process.h"
#include "tests/support/query.h"
#include "tests/support/rabbit.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/wait_until.h"

#define DUE    "lapse.timeout.due"
#define PARKED "lapse.parked"

static struct fleet *fleet;

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

/* Somebody else has used the key of this order's restore task: its close fails, always. */
static void insert_bad_order(const char *order_no, bool has_event)
{
	static const struct order_item items[] = { { "SKU-1", 1 }, { "SKU-2", 2 } };
	const struct order_plan plan = { .order_no = order_no,
		.due_in_ms = -2000,
		.has_no_event = !has_event,
		.items = items,
		.item_count = ARRAY_LENGTH(items) };

	orders_insert(fleet_query(fleet), &plan);
	query_run(fleet_query(fleet),
		"INSERT INTO t_compensation(kind,target,idempotency_key,order_no,payload,status,"
		"done_at) SELECT 'STOCK_RESTORE','stock',CONCAT('restore:%s:',i.id),'OTHER','{}',"
		"'RESOLVED',UTC_TIMESTAMP(3) FROM t_order_item i "
		"JOIN t_order o ON o.id = i.order_id "
		"WHERE o.order_no = '%s' AND i.sku_id = 'SKU-2'",
		order_no, order_no);
}

static void heal_bad_orders(void)
{
	query_run(fleet_query(fleet), "DELETE FROM t_compensation WHERE order_no = 'OTHER'");
}

static int64_t count_stuck_alerts(void)
{
	return query_number(
		fleet_query(fleet), "SELECT COUNT(*) FROM t_alert WHERE kind = 'ORDER_STUCK'");
}

static bool are_all_but_bad_closed(void *context)
{
	const int64_t *bad = context;

	return orders_count(fleet_query(fleet), "UNPAID") == *bad;
}

static bool are_parked(void *context)
{
	const int64_t *wanted = context;

	return rabbit_count(rabbit(), PARKED) == *wanted;
}

START_TEST(a_bad_order_is_parked_once_and_its_batch_closes)
{
	int64_t bad = 2;
	struct rabbit_delivery parked;

	fleet_feed(fleet, "G", 60, -3000, 1000);
	insert_bad_order("BAD1", true);
	insert_bad_order("BAD2", true);
	fleet_feed(fleet, "H", 60, -2000, 1000);
	(void)fleet_start_one(fleet, FLEET_PRODUCER);
	(void)fleet_start_one(fleet, FLEET_CONSUMER);
	(void)fleet_start_one(fleet, FLEET_RETRY);
	ck_assert(wait_until(are_all_but_bad_closed, &bad, WAIT_LIMIT_MS));
	ck_assert(wait_until(are_parked, &bad, WAIT_LIMIT_MS));
	ck_assert_int_eq(count_stuck_alerts(), 2);
	ck_assert(rabbit_get(rabbit(), PARKED, &parked));
	ck_assert(text_starts_with(parked.body, "{\"order_no\":\"BAD"));
	ck_assert_msg(strstr(parked.headers, "x-lapse-reason=") != NULL, "%s", parked.headers);
	heal_bad_orders();
	(void)fleet_start_one(fleet, FLEET_SWEEPER);
	fleet_check(
		fleet, &(struct fleet_expectation){ .latest_ms = FLEET_ANY_LATENESS, .parked = 1 });
}
END_TEST

START_TEST(a_sweep_goes_on_behind_a_bad_order)
{
	const struct orders_plan plan = {
		.prefix = "G", .count = 500, .due_in_ms = -1000, .has_no_events = true
	};
	int64_t bad = 3;

	sandbox_set(fleet_sandbox(fleet), "LAPSE_SWEEP_BATCH", "50");
	insert_bad_order("BAD1", false);
	insert_bad_order("BAD2", false);
	orders_insert_many(fleet_query(fleet), &plan);
	insert_bad_order("BAD3", false);
	fleet_start(fleet);
	ck_assert(wait_until(are_all_but_bad_closed, &bad, WAIT_LIMIT_MS));
	/* Some sweeps later there is still one alert for each, and new orders close as ever. */
	for (int i = 0; i < 3; i++) {
		char prefix[] = "N0-";

		prefix[1] = (char)('0' + i);
		fleet_feed(fleet, prefix, 20, 500, 500);
		ck_assert(wait_until(are_all_but_bad_closed, &bad, WAIT_LIMIT_MS));
	}
	ck_assert_int_eq(count_stuck_alerts(), 3);
	heal_bad_orders();
	fleet_check(fleet, &(struct fleet_expectation){ .latest_ms = FLEET_ANY_LATENESS });
}
END_TEST

/* A lock that somebody holds delays its own order and no other. */
START_TEST(a_locked_order_delays_only_itself)
{
	struct query *holder = NULL;
	int64_t locked = 1;

	query_create(sandbox_mysql_url(fleet_sandbox(fleet)), &holder);
	fleet_feed(fleet, "L", 200, -1000, 0);
	query_run(holder, "START TRANSACTION");
	query_run(holder, "SELECT * FROM t_order WHERE order_no = 'L77' FOR UPDATE");
	fleet_start(fleet);
	bool is_well = wait_until(are_all_but_bad_closed, &locked, WAIT_LIMIT_MS);
	query_run(holder, "ROLLBACK");
	query_destroy(&holder);
	ck_assert(is_well);
	fleet_check(fleet, &(struct fleet_expectation){ .latest_ms = FLEET_ANY_LATENESS });
}
END_TEST

struct bad_message {
	const char *body;
	size_t body_size;
	const char *type;
};

#define BAD(text)                              \
	{                                      \
		(text), sizeof(text) - 1, NULL \
	}

static const struct bad_message bad_messages[] = {
	BAD(""),
	BAD("{"),
	BAD("null"),
	BAD("[]"),
	BAD("\"A1\""),
	BAD("{}"),
	BAD("{\"order_no\":null}"),
	BAD("{\"order_no\":7}"),
	BAD("{\"order_no\":\"\"}"),
	BAD("{\"order_no\":\"A1 \"}"),
	BAD("{\"order_no\":\"A1\\n\"}"),
	BAD("{\"order_no\":\"A1\\u0000\"}"),
	BAD("{\"order_no\":\"A1\",\"order_no\":\"A2\"}"),
	BAD("{\"order_no\":\"../../A1\"}"),
	BAD("{\"order_no\":\"A1' OR '1'='1\"}"),
	BAD("{\"ORDER_NO\":\"A1\"}"),
	BAD("{\"order_no\":\"A1\"} trailing"),
	BAD("{\"order_no\":\"A1\"}\0"),
	BAD("\xEF\xBB\xBF{\"order_no\":\"A1\"}"),
	BAD("\xFF\xFE\x00"),
	BAD("[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["),
	{ "{\"order_no\":\"A1\"}", 17, "order.paid.v1" },
};

static void publish_bad(const struct bad_message *bad)
{
	const struct rabbit_message message = { .routing_key = DUE,
		.body = bad->body,
		.body_size = bad->body_size,
		.type = bad->type };

	rabbit_publish(rabbit(), &message);
}

static void publish_large(void)
{
	static char body[300000];
	struct rabbit_message message = { .routing_key = DUE, .body = body };

	(void)text_format(body, sizeof(body), "{\"order_no\":\"A1\"%*s}", 250000, "");
	message.body_size = strlen(body);
	rabbit_publish(rabbit(), &message);
}

START_TEST(bad_messages_are_parked_with_their_reason_and_good_ones_close)
{
	int64_t wanted = ARRAY_LENGTH(bad_messages) + 1;
	struct rabbit_delivery parked;

	orders_insert_one(fleet_query(fleet), "A1", 3600000);
	orders_insert_one(fleet_query(fleet), "A2", 3600000);
	fleet_start(fleet);
	fleet_await_ready(fleet, FLEET_CONSUMER, true);
	fleet_await_ready(fleet, FLEET_PRODUCER, true);
	for (size_t i = 0; i < ARRAY_LENGTH(bad_messages); i++)
		publish_bad(&bad_messages[i]);
	publish_large();
	fleet_feed(fleet, "G", 100, 1500, 500);
	ck_assert(wait_until(are_parked, &wanted, WAIT_LIMIT_MS));
	ck_assert(orders_is(fleet_query(fleet), "A1", "UNPAID"));
	ck_assert(orders_is(fleet_query(fleet), "A2", "UNPAID"));
	for (int64_t i = 0; i < wanted; i++) {
		ck_assert(rabbit_get(rabbit(), PARKED, &parked));
		ck_assert_msg(strstr(parked.headers, "x-lapse-reason=") != NULL, "%s: %s",
			parked.body, parked.headers);
	}
	ck_assert(orders_pay(fleet_query(fleet), "A1"));
	ck_assert(orders_pay(fleet_query(fleet), "A2"));
	fleet_check(fleet, &(struct fleet_expectation){ .latest_ms = FLEET_ANY_LATENESS });
}
END_TEST

/* What can never be published fails with its reason; what stands behind it goes out. */
START_TEST(a_bad_outbox_row_fails_and_the_others_are_sent)
{
	struct query *query = fleet_query(fleet);

	orders_insert_one(query, "A1", 1500);
	query_run(query,
		"INSERT INTO t_outbox_event(event_type,order_no) VALUES ('NO_SUCH_TYPE','A1')");
	query_run(query, "INSERT INTO t_outbox_event(event_type,order_no,payload) VALUES "
			 "('ORDER_CLOSED','A1',CONCAT('\"', REPEAT('x', 1200000), '\"'))");
	query_run(query, "INSERT INTO t_outbox_event(event_type,order_no) VALUES "
			 "('ORDER_CREATED','ABSENT')");
	fleet_feed(fleet, "G", 50, 1500, 500);
	fleet_start(fleet);
	fleet_settle(fleet);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_outbox_event "
					     "WHERE status = 'FAILED' AND order_no = 'A1' "
					     "AND last_error <> ''"),
		2);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_alert "
					     "WHERE kind = 'OUTBOX_FAILED'"),
		query_number(query, "SELECT COUNT(*) FROM t_outbox_event "
				    "WHERE status = 'FAILED'"));
	query_run(query, "DELETE FROM t_outbox_event WHERE status = 'FAILED'");
	sandbox_expect_all_alive(fleet_sandbox(fleet));
}
END_TEST

/* What is no key never gets into the tables, so it never gets into a URL or a log. */
START_TEST(a_key_that_walks_is_refused_by_the_schema)
{
	static const char *const bad[] = { "../admin/reset?x=1#", "A1 ", " A1", "A1\\n", "A/1", "",
		"A'1", "A1\\0", "\xC3\xA9" };
	struct query *query = fleet_query(fleet);

	orders_insert_one(query, "A1", 60000);
	for (size_t i = 0; i < ARRAY_LENGTH(bad); i++) {
		ck_assert_msg(!query_try(query,
				      "INSERT INTO t_order_item(order_id,sku_id,quantity) "
				      "SELECT id,\"%s\",1 FROM t_order WHERE order_no='A1'",
				      bad[i]),
			"SKU %s", bad[i]);
		ck_assert_msg(!query_try(query,
				      "INSERT INTO t_order(order_no,user_id,amount_cents) "
				      "VALUES (\"%s\",1,1)",
				      bad[i]),
			"order %s", bad[i]);
	}
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		a_bad_order_is_parked_once_and_its_batch_closes,
		a_sweep_goes_on_behind_a_bad_order,
		a_locked_order_delays_only_itself,
		bad_messages_are_parked_with_their_reason_and_good_ones_close,
		a_bad_outbox_row_fails_and_the_others_are_sent,
		a_key_that_walks_is_refused_by_the_schema,
	};
	const struct runner_fixture fixture = { set_up, tear_down };

	sandbox_need_servers();
	return runner_run_with("bad_order", &fixture, tests, ARRAY_LENGTH(tests));
}
