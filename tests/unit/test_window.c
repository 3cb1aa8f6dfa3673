#include <stdlib.h>

#include "common/base/window.h"
#include "tests/support/runner.h"

enum {
	CAPACITY = 8
};

static struct window *window;
static uint64_t values[CAPACITY];

static void set_up(void)
{
	window_create(CAPACITY, &window);
}

static void tear_down(void)
{
	window_destroy(&window);
	ck_assert_ptr_null(window);
	window_destroy(&window);
}

/* Numbers from first to last, each with a hundredfold value. */
static void add(uint64_t first, uint64_t last)
{
	for (uint64_t number = first; number <= last; number++)
		window_add(window, number, 100 * number);
}

static void settle(uint64_t number, bool is_multiple, size_t expected)
{
	ck_assert_uint_eq(window_settle(window, number, is_multiple, values), expected);
}

START_TEST(a_confirm_gives_its_value_back_once)
{
	add(1, 3);
	settle(2, false, 1);
	ck_assert_uint_eq(values[0], 200);
	settle(2, false, 0);
	ck_assert_uint_eq(window_count(window), 2);
}
END_TEST

START_TEST(a_multiple_confirm_gives_all_open_values_up_to_it)
{
	add(1, 5);
	settle(2, false, 1);
	settle(4, true, 3);
	ck_assert_uint_eq(values[0], 100);
	ck_assert_uint_eq(values[1], 300);
	ck_assert_uint_eq(values[2], 400);
	settle(4, true, 0);
	settle(5, true, 1);
	ck_assert_uint_eq(window_count(window), 0);
}
END_TEST

START_TEST(confirms_of_numbers_that_are_not_open_give_nothing)
{
	settle(1, true, 0);
	add(1, 2);
	settle(0, true, 0);
	settle(3, true, 0);
	settle(3, false, 0);
	settle(UINT64_MAX, false, 0);
	ck_assert_uint_eq(window_count(window), 2);
}
END_TEST

START_TEST(one_late_confirm_takes_room_that_others_have_freed)
{
	add(1, CAPACITY);
	ck_assert(window_is_full(window));
	ck_assert_uint_eq(window_room(window), 0);
	for (uint64_t number = 2; number <= CAPACITY; number++)
		settle(number, false, 1);
	ck_assert_uint_eq(window_count(window), 1);
	ck_assert(window_is_full(window));
	ck_assert_uint_eq(window_room(window), 0);
	settle(1, false, 1);
	ck_assert_uint_eq(window_room(window), CAPACITY);
	ck_assert(!window_is_full(window));
}
END_TEST

START_TEST(a_window_goes_round_for_ever)
{
	for (uint64_t number = 1; number < 1000; number++) {
		window_add(window, number, number);
		if (number % 3 == 0)
			settle(number, true, 3);
	}
	ck_assert_uint_eq(window_count(window), 0);
	ck_assert_uint_eq(window_room(window), CAPACITY);
}
END_TEST

START_TEST(a_new_connection_starts_again_with_one)
{
	add(1, 5);
	window_reset(window);
	ck_assert_uint_eq(window_count(window), 0);
	settle(5, true, 0);
	add(1, CAPACITY);
	settle(CAPACITY, true, CAPACITY);
}
END_TEST

START_TEST(an_empty_window_takes_any_number)
{
	add(41, 42);
	settle(42, true, 2);
	add(7, 7);
	settle(7, false, 1);
	ck_assert_uint_eq(values[0], 700);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		a_confirm_gives_its_value_back_once,
		a_multiple_confirm_gives_all_open_values_up_to_it,
		confirms_of_numbers_that_are_not_open_give_nothing,
		one_late_confirm_takes_room_that_others_have_freed,
		a_window_goes_round_for_ever,
		a_new_connection_starts_again_with_one,
		an_empty_window_takes_any_number,
	};
	const struct runner_fixture fixture = { set_up, tear_down };

	return runner_run_with("window", &fixture, tests, ARRAY_LENGTH(tests));
}
