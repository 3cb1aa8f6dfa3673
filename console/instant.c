#include "console/instant.h"

#include <inttypes.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/text.h"
#include "common/service/database.h"

enum {
	DAY_MS = 86400000,
	HOUR_MS = 3600000,
	MINUTE_MS = 60000,
	DAYS_OF_ERA = 146097,   /* 400 years of the calendar */
	DAYS_TO_EPOCH = 719468, /* from the first of March of the year 0 */
};

/* Days since 1970, by counting years from March on. */
static int64_t days_of(int64_t year, int64_t month, int64_t day)
{
	int64_t y = month <= 2 ? year - 1 : year;
	int64_t era = y / 400;
	int64_t year_of_era = y - era * 400;
	int64_t day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
	int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;

	return era * DAYS_OF_ERA + day_of_era - DAYS_TO_EPOCH;
}

static bool read_number(const char **place, size_t digits, int64_t *value_out)
{
	*value_out = 0;
	for (size_t i = 0; i < digits; i++, (*place)++) {
		if (**place < '0' || **place > '9')
			return false;
		*value_out = *value_out * 10 + (**place - '0');
	}
	return true;
}

static bool read_sign(const char **place, char sign)
{
	if (**place != sign)
		return false;
	(*place)++;
	return true;
}

/* The first three digits behind the point count. */
static bool read_fraction(const char **place, int64_t *milliseconds_out)
{
	int64_t unit = 100;

	*milliseconds_out = 0;
	if (!read_sign(place, '.'))
		return true;
	for (; **place >= '0' && **place <= '9'; (*place)++) {
		*milliseconds_out += (**place - '0') * unit;
		unit /= 10;
	}
	return true;
}

bool instant_parse(const char *text, int64_t *epoch_ms_out)
{
	int64_t year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, rest = 0;
	const char *place = text;

	if (!read_number(&place, 4, &year) || !read_sign(&place, '-') ||
		!read_number(&place, 2, &month) || !read_sign(&place, '-') ||
		!read_number(&place, 2, &day) || !read_sign(&place, 'T') ||
		!read_number(&place, 2, &hour) || !read_sign(&place, ':') ||
		!read_number(&place, 2, &minute) || !read_sign(&place, ':') ||
		!read_number(&place, 2, &second) || !read_fraction(&place, &rest))
		return false;
	if (!text_equals(place, "Z") || month < 1 || month > 12)
		return false;
	*epoch_ms_out = days_of(year, month, day) * DAY_MS + hour * HOUR_MS + minute * MINUTE_MS +
			second * 1000 + rest;
	return true;
}

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
