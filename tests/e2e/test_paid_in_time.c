/* Orders that are paid stay paid, and their stock stays sold, whenever the payment came. */
#include <string.h>

#include "tests/support/fleet.h"
#include "tests/support/http_client.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/shop.h"

static struct shop *shop;

static void set_up(void)
{
	shop_create(NULL, &shop);
	fleet_start(shop_fleet(shop));
	fleet_await_ready(shop_fleet(shop), FLEET_CONSUMER, true);
}

static void tear_down(void)
{
	shop_destroy(&shop);
}

START_TEST(paid_orders_never_close)
{
	static const char *const words[] = { "--orders=200", "--rate=max", "--pay", "1",
		"--timeout", "4s", NULL };

	int64_t before = shop_count_stock(shop);
	shop_sell(shop, words);
	int64_t sold = shop_count_stock(shop);
	shop_await_rest(shop);
	ck_assert_int_eq(shop_status(shop, "closes_last_hour"), 0);
	ck_assert_int_lt(sold, before);
	ck_assert_int_eq(shop_count_stock(shop), sold);
	shop_verify(shop);
}
END_TEST

/* Half of the payments come in the last moment: one side wins, and the stock agrees with it. */
START_TEST(a_payment_in_the_last_moment_wins_or_loses_whole)
{
	static const char *const words[] = { "--orders=400", "--rate=200", "--pay", "0.8",
		"--last-moment", "0.8", "--timeout", "2s", "--items", "1-3", NULL };

	shop_sell(shop, words);
	shop_await_rest(shop);
	ck_assert_int_gt(shop_status(shop, "closes_last_hour"), 0);
	shop_verify(shop);
	sandbox_expect_all_alive(fleet_sandbox(shop_fleet(shop)));
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		paid_orders_never_close,
		a_payment_in_the_last_moment_wins_or_loses_whole,
	};
	const struct runner_fixture fixture = { set_up, tear_down };

	sandbox_need_servers();
	return runner_run_with("paid_in_time", &fixture, tests, ARRAY_LENGTH(tests));
}
