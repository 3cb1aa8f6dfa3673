#include "common/base/clock.h"

#include <time.h>

static uint64_t read_us(clockid_t which)
{
	struct timespec now = { 0 };

	(void)clock_gettime(which, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

uint64_t clock_now_ms(void)
{
	return clock_now_us() / 1000;
}

uint64_t clock_now_us(void)
{
	return read_us(CLOCK_MONOTONIC);
}

uint64_t clock_epoch_ms(void)
{
	return read_us(CLOCK_REALTIME) / 1000;
}

void clock_wait_ms(uint64_t milliseconds)
{
	struct timespec wait = {
		.tv_sec = (time_t)(milliseconds / 1000),
		.tv_nsec = (long)(milliseconds % 1000) * 1000000,
	};

	(void)nanosleep(&wait, NULL);
}
