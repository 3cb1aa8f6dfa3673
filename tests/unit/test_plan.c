/* plan: every order stays inside what the settings allow. */
#include <string.h>

#include <check.h>

#include "common/base/compiler.h"
#include "demo/shop/plan.h"
#include "tests/support/runner.h"

enum {
	MANY = 5000
};

static struct shop_settings settings;

static void set_up(void)
{
	memset(&settings, 0, sizeof(settings));
	settings.timeout_ms = 1000;
	settings.jitter_ms = 500;
	settings.sku_count = 3;
	settings.item_min = 1;
	settings.item_max = 4;
}

START_TEST(an_order_stays_inside_the_settings)
{
	for (uint64_t i = 1; i <= MANY; i++) {
		struct plan_order order;

		plan_order(&settings, "shop", i, &order);
		ck_assert(text_is_key(order.order_no, strlen(order.order_no), TEXT_KEY_MAX));
		ck_assert_uint_ge(order.timeout_ms, 1000);
		ck_assert_uint_le(order.timeout_ms, 1500);
		ck_assert_uint_ge(order.item_count, 1);
		ck_assert_uint_le(order.item_count, 4);
		ck_assert_int_gt(order.amount_cents, 0);
		ck_assert(!order.is_paid);
		for (size_t j = 0; j < order.item_count; j++) {
			ck_assert(text_starts_with(order.items[j].sku_id, "SKU-"));
			ck_assert_uint_ge(order.items[j].quantity, 1);
		}
	}
}
END_TEST

START_TEST(numbers_count_behind_the_prefix)
{
	struct plan_order order;

	plan_order(&settings, "shop", 17, &order);
	ck_assert_str_eq(order.order_no, "shop-17");
}
END_TEST

START_TEST(the_longest_prefix_leaves_room_for_the_number)
{
	char prefix[SHOP_PREFIX_SIZE];
	struct plan_order order;

	memset(prefix, 'p', sizeof(prefix) - 1);
	prefix[sizeof(prefix) - 1] = '\0';
	plan_order(&settings, prefix, UINT32_MAX, &order);
	ck_assert_ptr_nonnull(strstr(order.order_no, "-4294967295"));
}
END_TEST

START_TEST(a_payment_comes_before_the_deadline_unless_it_is_a_last_moment_one)
{
	settings.pay_share = SHOP_MILLION;
	for (uint64_t i = 1; i <= MANY; i++) {
		struct plan_order order;

		settings.last_moment_share = i % 2 == 0 ? SHOP_MILLION : 0;
		plan_order(&settings, "shop", i, &order);
		ck_assert(order.is_paid);
		if (i % 2 == 0) {
			ck_assert_uint_ge(order.pay_after_ms, order.timeout_ms - 20);
			ck_assert_uint_le(order.pay_after_ms, order.timeout_ms + 20);
		} else {
			ck_assert_uint_le(order.pay_after_ms, order.timeout_ms * 8 / 10);
		}
	}
}
END_TEST

START_TEST(an_order_may_be_due_at_once_and_without_items)
{
	struct plan_order order;

	settings.timeout_ms = 0;
	settings.jitter_ms = 0;
	settings.item_min = 0;
	settings.item_max = 0;
	settings.pay_share = SHOP_MILLION;
	plan_order(&settings, "shop", 1, &order);
	ck_assert_uint_eq(order.timeout_ms, 0);
	ck_assert_uint_eq(order.item_count, 0);
	ck_assert_uint_eq(order.pay_after_ms, 0);
}
END_TEST

int main(void)
{
	const struct runner_fixture fixture = { set_up, NULL };
	const TTest *const tests[] = {
		an_order_stays_inside_the_settings,
		numbers_count_behind_the_prefix,
		the_longest_prefix_leaves_room_for_the_number,
		a_payment_comes_before_the_deadline_unless_it_is_a_last_moment_one,
		an_order_may_be_due_at_once_and_without_items,
	};

	return runner_run_with("plan", &fixture, tests, ARRAY_LENGTH(tests));
}
