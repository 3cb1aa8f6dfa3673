/* Orders that nobody pays close when they are due, by message, and their stock comes back. */
#include "tests/support/fleet.h"
#include "tests/support/http_client.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/shop.h"
#include "tests/support/stack.h"

static struct shop *shop;

static void set_up(void)
{
	shop_create(NULL, &shop);
}

static void tear_down(void)
{
	shop_destroy(&shop);
}

static void start_without_sweeper(const char *mode)
{
	struct fleet *fleet = shop_fleet(shop);

	sandbox_set(fleet_sandbox(fleet), "LAPSE_DELAY", "%s", mode);
	(void)fleet_start_one(fleet, FLEET_PRODUCER);
	(void)fleet_start_one(fleet, FLEET_CONSUMER);
	(void)fleet_start_one(fleet, FLEET_RETRY);
	fleet_await_ready(fleet, FLEET_PRODUCER, true);
	fleet_await_ready(fleet, FLEET_CONSUMER, true);
}

#define SUM "lapse_orders_closed_total{reason=\"timeout\",source=\"message\"}"

/* Some hundred orders, none paid: after it the shelves are as full as before. */
static void sell_nothing(const char *mode, const char *timeout)
{
	const char *const many[] = { "--orders=300", "--rate=150", "--pay", "0", "--timeout",
		timeout, "--jitter", "2s", NULL };
	struct fleet *fleet = shop_fleet(shop);

	start_without_sweeper(mode);
	int64_t before = shop_count_stock(shop);
	shop_sell(shop, many);
	shop_await_rest(shop);
	ck_assert_int_eq(shop_count_stock(shop), before);
	uint16_t port = fleet_ops_port(fleet, FLEET_CONSUMER);
	double closed = http_client_metric(port, SUM);
	double in_time = http_client_metric(
		port, "lapse_close_lag_seconds_bucket{source=\"message\",le=\"1\"}");
	ck_assert_msg(closed >= 300 && closed <= 300, "closed: %f", closed);
	ck_assert_msg(in_time >= closed, "within a second: %f of %f", in_time, closed);
	shop_verify(shop);
	sandbox_expect_all_alive(fleet_sandbox(fleet));
}

START_TEST(orders_close_within_a_second_through_the_levels)
{
	sell_nothing("levels", "3s");
}
END_TEST

START_TEST(orders_close_within_a_second_through_the_plugin)
{
	ck_assert(stack_has_delay_exchange());
	sell_nothing("plugin", "3s");
}
END_TEST

START_TEST(orders_of_different_length_do_not_wait_for_each_other)
{
	static const char *const slow[] = { "--orders=30", "--pay", "0", "--timeout", "20s",
		"--prefix", "SLOW", NULL };

	start_without_sweeper("levels");
	shop_sell(shop, slow);
	int64_t waiting = shop_status(shop, "orders_waiting");
	static const char *const fast[] = { "--orders=30", "--pay", "0", "--timeout", "2s",
		"--prefix", "FAST", NULL };
	shop_sell(shop, fast);
	ck_assert_int_eq(waiting, 30);
	shop_await_rest(shop);
	uint16_t port = fleet_ops_port(shop_fleet(shop), FLEET_CONSUMER);
	double in_time = http_client_metric(
		port, "lapse_close_lag_seconds_bucket{source=\"message\",le=\"1\"}");
	ck_assert_msg(in_time >= 60, "within a second: %f of 60", in_time);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		orders_close_within_a_second_through_the_levels,
		orders_close_within_a_second_through_the_plugin,
		orders_of_different_length_do_not_wait_for_each_other,
	};
	const struct runner_fixture fixture = { set_up, tear_down };

	sandbox_need_servers();
	return runner_run_with("order_closes", &fixture, tests, ARRAY_LENGTH(tests));
}
