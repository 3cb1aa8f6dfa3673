#include "common/base/moment.h"

#include <string.h>

#include "common/base/text.h"

/* 0 is a digit; the longest form, of which the shorter ones are the beginning. */
static const char form[] = "0000-00-00T00:00:00.000";

enum {
	WITH_MINUTES = 16,
	WITH_SECONDS = 19,
	WITH_MILLISECONDS = 23,
	YEAR_MIN = 1970,
	YEAR_MAX = 9998
};

static bool has_form(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		bool is_digit = text[i] >= '0' && text[i] <= '9';

		if (form[i] == '0' ? !is_digit : text[i] != form[i])
			return false;
	}
	return true;
}

static int number_at(const char *text, size_t place, size_t digits)
{
	int number = 0;

	for (size_t i = 0; i < digits; i++)
		number = number * 10 + (text[place + i] - '0');
	return number;
}

static int count_days(int year, int month)
{
	static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

	return days[month - 1] + (month == 2 && is_leap ? 1 : 0);
}

static bool is_date(const char *text)
{
	int year = number_at(text, 0, 4);
	int month = number_at(text, 5, 2);
	int day = number_at(text, 8, 2);

	return year >= YEAR_MIN && year <= YEAR_MAX && month >= 1 && month <= 12 && day >= 1 &&
	       day <= count_days(year, month);
}

bool moment_parse(const char *text, char moment_out[MOMENT_SIZE])
{
	size_t size = strlen(text);

	if (size == 0 || text[size - 1] != 'Z')
		return false;
	size--;
	if ((size != WITH_MINUTES && size != WITH_SECONDS && size != WITH_MILLISECONDS) ||
		!has_form(text, size) || !is_date(text))
		return false;
	if (number_at(text, 11, 2) > 23 || number_at(text, 14, 2) > 59 ||
		(size >= WITH_SECONDS && number_at(text, 17, 2) > 59))
		return false;
	(void)text_format(moment_out, MOMENT_SIZE, "%.10s %.*s%s", text,
		(int)(size - strlen("0000-00-00T")), text + strlen("0000-00-00T"),
		size == WITH_MINUTES ? ":00" : "");
	return true;
}
