/* payments: come out in the order of their time, and not before it. */
#include <check.h>

#include "common/base/compiler.h"
#include "demo/shop/payments.h"
#include "tests/support/runner.h"

enum {
	MANY = 2000,
	LATEST_MS = 500
};

static struct payments *payments;

static void set_up(void)
{
	payments_create(&payments);
}

static void tear_down(void)
{
	payments_destroy(&payments);
	ck_assert_ptr_null(payments);
	payments_destroy(&payments);
}

START_TEST(without_payments_nothing_is_due)
{
	char order_no[TEXT_KEY_SIZE];

	ck_assert_uint_eq(payments_next_ms(payments), UINT64_MAX);
	ck_assert(!payments_take_due(payments, UINT64_MAX - 1, order_no));
}
END_TEST

START_TEST(a_payment_is_not_taken_before_its_time)
{
	char order_no[TEXT_KEY_SIZE];

	payments_add(payments, "A1", 100);
	ck_assert_uint_eq(payments_next_ms(payments), 100);
	ck_assert(!payments_take_due(payments, 99, order_no));
	ck_assert(payments_take_due(payments, 100, order_no));
	ck_assert_str_eq(order_no, "A1");
	ck_assert_uint_eq(payments_count(payments), 0);
}
END_TEST

START_TEST(payments_come_out_by_their_time)
{
	char order_no[TEXT_KEY_SIZE];
	uint64_t last_ms = 0;

	for (size_t i = 0; i < MANY; i++)
		payments_add(payments, "A1", runner_random(LATEST_MS));
	for (size_t i = 0; i < MANY; i++) {
		uint64_t next_ms = payments_next_ms(payments);

		ck_assert_uint_ge(next_ms, last_ms);
		last_ms = next_ms;
		ck_assert(payments_take_due(payments, LATEST_MS, order_no));
	}
	ck_assert_uint_eq(payments_count(payments), 0);
}
END_TEST

int main(void)
{
	const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = {
		without_payments_nothing_is_due,
		a_payment_is_not_taken_before_its_time,
		payments_come_out_by_their_time,
	};

	return runner_run_with("shop_payments", &fixture, tests, ARRAY_LENGTH(tests));
}
