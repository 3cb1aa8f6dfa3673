#include "tests/support/fake_clock.h"

#include "common/base/clock.h"

static uint64_t now_ms;

void fake_clock_set_ms(uint64_t milliseconds)
{
	now_ms = milliseconds;
}

void fake_clock_advance_ms(uint64_t milliseconds)
{
	now_ms += milliseconds;
}

uint64_t clock_now_ms(void)
{
	return now_ms;
}

uint64_t clock_now_us(void)
{
	return now_ms * 1000;
}

uint64_t clock_epoch_ms(void)
{
	return now_ms;
}

void clock_wait_ms(uint64_t milliseconds)
{
	now_ms += milliseconds;
}
