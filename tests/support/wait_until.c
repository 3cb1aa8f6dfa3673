#include "tests/support/wait_until.h"

#include "common/base/clock.h"

enum {
	POLL_MIN_MS = 5,
	POLL_MAX_MS = 50
};

bool wait_until(bool (*condition)(void *context), void *context, uint64_t limit_ms)
{
	uint64_t end_ms = clock_now_ms() + limit_ms;
	uint64_t pause_ms = POLL_MIN_MS;

	for (;;) {
		if (condition(context))
			return true;
		if (clock_now_ms() >= end_ms)
			return false;
		clock_wait_ms(pause_ms);
		pause_ms = pause_ms * 2 < POLL_MAX_MS ? pause_ms * 2 : POLL_MAX_MS;
	}
}
