#include "common/base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	DISTANCE_TEXT_MAX = 63,
	DAYS_OF_ERA = 146097,   /* 400 years of the calendar */
	DAYS_TO_EPOCH = 719468, /* from the first of March of the year 0 */
};

struct duration_unit {
	const char *name;
	uint64_t milliseconds;
};

/* Largest first, so that formatting finds the shortest form. */
static const struct duration_unit duration_units[] = {
	{ "d", 86400000 },
	{ "h", 3600000 },
	{ "m", 60000 },
	{ "s", 1000 },
	{ "ms", 1 },
};

bool text_copy(char *target, size_t target_size, const char *source)
{
	return text_format(target, target_size, "%s", source);
}

bool text_format(char *target, size_t target_size, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	int length = vsnprintf(target, target_size, format, arguments);
	va_end(arguments);
	return length >= 0 && (size_t)length < target_size;
}

/* Bytes announced by the first byte of a UTF-8 sequence; 0 for a byte that cannot start one. */
static size_t sequence_size(uint8_t first)
{
	if (first < 0x80)
		return 1;
	if (first >= 0xC2 && first <= 0xDF)
		return 2;
	if (first >= 0xE0 && first <= 0xEF)
		return 3;
	if (first >= 0xF0 && first <= 0xF4)
		return 4;
	return 0;
}

/* The second byte has narrower bounds: no overlong sequence, no surrogate, none too big. */
static bool is_second_byte_valid(uint8_t first, uint8_t second)
{
	uint8_t low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
	uint8_t high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;

	return second >= low && second <= high;
}

/* Size of the valid character at bytes, 0 when there is none. */
static size_t character_size(const uint8_t *bytes, size_t size)
{
	size_t wanted = sequence_size(bytes[0]);

	if (wanted == 0 || wanted > size)
		return 0;
	if (wanted == 1)
		return bytes[0] >= 0x20 && bytes[0] != 0x7F ? 1 : 0;
	if (!is_second_byte_valid(bytes[0], bytes[1]))
		return 0;
	for (size_t i = 2; i < wanted; i++)
		if ((bytes[i] & 0xC0) != 0x80)
			return 0;
	return wanted;
}

size_t text_clip(char *target, size_t target_size, const void *source, size_t source_size)
{
	const uint8_t *bytes = source;
	size_t written = 0;

	for (size_t read = 0; read < source_size;) {
		size_t size = character_size(bytes + read, source_size - read);
		size_t needed = size == 0 ? 1 : size;

		if (written + needed >= target_size)
			break;
		if (size == 0)
			target[written] = '?';
		else
			memcpy(target + written, bytes + read, size);
		written += needed;
		read += needed;
	}
	if (target_size > 0)
		target[written] = '\0';
	return written;
}

bool text_parse_uint(const char *text, uint64_t minimum, uint64_t maximum, uint64_t *value_out)
{
	uint64_t value = 0;

	if (text[0] == '\0')
		return false;
	for (const char *digit = text; *digit != '\0'; digit++) {
		if (*digit < '0' || *digit > '9')
			return false;
		uint64_t next = (uint64_t)(*digit - '0');
		if (value > (UINT64_MAX - next) / 10)
			return false;
		value = value * 10 + next;
	}
	if (value < minimum || value > maximum)
		return false;
	*value_out = value;
	return true;
}

bool text_parse_duration(const char *text, uint64_t *milliseconds_out)
{
	char digits[16];
	size_t length = strspn(text, "0123456789");
	uint64_t number;

	if (text_equals(text, "0")) {
		*milliseconds_out = 0; /* nothing needs no unit */
		return true;
	}
	if (length == 0 || length >= sizeof(digits))
		return false;
	memcpy(digits, text, length);
	digits[length] = '\0';
	if (!text_parse_uint(digits, 0, UINT64_MAX, &number))
		return false;
	for (size_t i = 0; i < ARRAY_LENGTH(duration_units); i++) {
		if (!text_equals(text + length, duration_units[i].name))
			continue;
		if (number > UINT64_MAX / duration_units[i].milliseconds)
			return false;
		*milliseconds_out = number * duration_units[i].milliseconds;
		return true;
	}
	return false;
}

void text_format_duration(char *target, size_t target_size, uint64_t milliseconds)
{
	const struct duration_unit *unit = duration_units;

	while (unit->milliseconds > 1 &&
		(milliseconds == 0 || milliseconds % unit->milliseconds != 0))
		unit++;
	(void)text_format(target, target_size, "%" PRIu64 "%s", milliseconds / unit->milliseconds,
		unit->name);
}

static bool is_key_character(char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
	       (c != '\0' && strchr("._:-", c) != NULL);
}

void text_format_time(char *target, size_t target_size, uint64_t epoch_ms)
{
	time_t seconds = (time_t)(epoch_ms / 1000);
	struct tm parts = { 0 };
	char date[24];

	(void)gmtime_r(&seconds, &parts);
	(void)strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &parts);
	(void)text_format(target, target_size, "%s.%03uZ", date, (unsigned int)(epoch_ms % 1000));
}

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

static bool read_digits(const char **place, size_t digits, int64_t *value_out)
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

bool text_parse_time(const char *text, int64_t *epoch_ms_out)
{
	int64_t year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, rest = 0;
	const char *place = text;

	if (!read_digits(&place, 4, &year) || !read_sign(&place, '-') ||
		!read_digits(&place, 2, &month) || !read_sign(&place, '-') ||
		!read_digits(&place, 2, &day) || !read_sign(&place, 'T') ||
		!read_digits(&place, 2, &hour) || !read_sign(&place, ':') ||
		!read_digits(&place, 2, &minute) || !read_sign(&place, ':') ||
		!read_digits(&place, 2, &second) || !read_fraction(&place, &rest))
		return false;
	if (!text_equals(place, "Z") || month < 1 || month > 12)
		return false;
	*epoch_ms_out = days_of(year, month, day) * 86400000 + hour * 3600000 + minute * 60000 +
			second * 1000 + rest;
	return true;
}

bool text_is_key(const void *text, size_t size, size_t size_max)
{
	const char *characters = text;

	if (size == 0 || size > size_max)
		return false;
	for (size_t i = 0; i < size; i++)
		if (!is_key_character(characters[i]))
			return false;
	return true;
}

bool text_equals(const char *left, const char *right)
{
	return strcmp(left, right) == 0;
}

bool text_starts_with(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

size_t text_find(const char *const *words, const char *word)
{
	size_t place = 0;

	while (words[place] != NULL && (word == NULL || !text_equals(words[place], word)))
		place++;
	return place;
}

bool text_is_one_of(const char *const *words, const char *word)
{
	return words[text_find(words, word)] != NULL;
}

static size_t smallest(size_t a, size_t b, size_t c)
{
	size_t least = a < b ? a : b;

	return least < c ? least : c;
}

/* Levenshtein's distance with one row kept (Wagner and Fischer, 1974). */
size_t text_distance(const char *left, const char *right)
{
	size_t row[DISTANCE_TEXT_MAX + 1];
	size_t right_length = strnlen(right, DISTANCE_TEXT_MAX);
	size_t left_length = strnlen(left, DISTANCE_TEXT_MAX);

	for (size_t j = 0; j <= right_length; j++)
		row[j] = j;
	for (size_t i = 1; i <= left_length; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= right_length; j++) {
			size_t replaced = diagonal + (left[i - 1] == right[j - 1] ? 0 : 1);

			diagonal = row[j];
			row[j] = smallest(row[j] + 1, row[j - 1] + 1, replaced);
		}
	}
	return row[right_length];
}

void text_hex(char *target, const uint8_t *bytes, size_t size)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < size; i++) {
		target[2 * i] = digits[bytes[i] >> 4];
		target[2 * i + 1] = digits[bytes[i] & 0x0F];
	}
	target[2 * size] = '\0';
}

uint64_t text_hash(uint64_t hash, const char *text)
{
	for (; *text != '\0'; text++)
		hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return hash;
}
