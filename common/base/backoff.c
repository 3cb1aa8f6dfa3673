#include "common/base/backoff.h"

#include "common/base/random.h"

uint64_t backoff_limit_ms(uint32_t attempt, uint64_t base_ms, uint64_t cap_ms)
{
	uint64_t limit_ms = base_ms == 0 ? 1 : base_ms;

	for (uint32_t i = 0; i < attempt && limit_ms < cap_ms; i++)
		limit_ms = limit_ms > UINT64_MAX / 2 ? UINT64_MAX : limit_ms * 2;
	return limit_ms < cap_ms ? limit_ms : cap_ms;
}

uint64_t backoff_delay_ms(uint32_t attempt, uint64_t base_ms, uint64_t cap_ms)
{
	uint64_t limit_ms = backoff_limit_ms(attempt, base_ms, cap_ms);

	return limit_ms <= 1 ? 1 : 1 + random_up_to(limit_ms - 1);
}
