#include "console/instant.h"

#include <inttypes.h>

#include "common/base/clock.h"
#include "common/base/text.h"
#include "common/service/database.h"

enum {
	DAY_MS = 86400000,
	HOUR_MS = 3600000,
	MINUTE_MS = 60000,
};

bool instant_now(const struct database *database, int64_t *epoch_ms_out)
{
	int64_t start_ms = 0;
	bool is_known = database_local_time(database, 0, &start_ms);

	*epoch_ms_out = (int64_t)clock_now_ms() - start_ms;
	return is_known;
}

void instant_format_duration(uint64_t milliseconds, char text_out[INSTANT_DURATION_SIZE])
{
	uint64_t minutes = milliseconds / MINUTE_MS;
	uint64_t hours = milliseconds / HOUR_MS;
	uint64_t days = milliseconds / DAY_MS;

	if (milliseconds < 1000)
		(void)text_format(text_out, INSTANT_DURATION_SIZE, "%" PRIu64 " ms", milliseconds);
	else if (milliseconds < 10000)
		(void)text_format(text_out, INSTANT_DURATION_SIZE, "%" PRIu64 ".%" PRIu64 " s",
			milliseconds / 1000, milliseconds / 100 % 10);
	else if (minutes == 0)
		(void)text_format(
			text_out, INSTANT_DURATION_SIZE, "%" PRIu64 " s", milliseconds / 1000);
	else if (hours == 0)
		(void)text_format(text_out, INSTANT_DURATION_SIZE, "%" PRIu64 " min", minutes);
	else if (days == 0)
		(void)text_format(text_out, INSTANT_DURATION_SIZE, "%" PRIu64 " h %" PRIu64 " min",
			hours, minutes % 60);
	else
		(void)text_format(text_out, INSTANT_DURATION_SIZE, "%" PRIu64 " d %" PRIu64 " h",
			days, hours % 24);
}
