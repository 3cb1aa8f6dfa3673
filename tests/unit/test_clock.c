#include <signal.h>
#include <sys/time.h>
#include <time.h>

#include "common/base/clock.h"
#include "tests/support/runner.h"

START_TEST(the_clock_never_goes_back)
{
	uint64_t last_us = clock_now_us();

	for (int i = 0; i < 10000; i++) {
		uint64_t now_us = clock_now_us();

		ck_assert_uint_ge(now_us, last_us);
		last_us = now_us;
	}
	ck_assert_uint_ge(clock_now_ms(), last_us / 1000);
}
END_TEST

START_TEST(the_epoch_is_that_of_the_machine)
{
	uint64_t before_ms = (uint64_t)time(NULL) * 1000;
	uint64_t now_ms = clock_epoch_ms();

	ck_assert_uint_ge(now_ms, before_ms);
	ck_assert_uint_lt(now_ms, before_ms + 60000);
}
END_TEST

START_TEST(a_wait_takes_its_time)
{
	uint64_t start_us = clock_now_us();

	clock_wait_ms(3);
	ck_assert_uint_ge(clock_now_us() - start_us, 3000);
	clock_wait_ms(0);
}
END_TEST

static void do_nothing(int number)
{
	(void)number;
}

START_TEST(a_signal_ends_a_wait)
{
	const struct sigaction action = { .sa_handler = do_nothing };
	const struct itimerval soon = { .it_value = { .tv_usec = 5000 } };
	uint64_t start_ms = clock_now_ms();

	(void)sigaction(SIGALRM, &action, NULL);
	(void)setitimer(ITIMER_REAL, &soon, NULL);
	clock_wait_ms(30000);
	ck_assert_uint_lt(clock_now_ms() - start_ms, 20000);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		the_clock_never_goes_back,
		the_epoch_is_that_of_the_machine,
		a_wait_takes_its_time,
		a_signal_ends_a_wait,
	};

	return runner_run("clock", tests, ARRAY_LENGTH(tests));
}
