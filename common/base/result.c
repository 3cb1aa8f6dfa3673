#include "common/base/result.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const result_names[] = { "ok", "none", "conflict", "temporary", "permanent" };

static_assert(ARRAY_LENGTH(result_names) == RESULT_PERMANENT + 1, "one name per result");

enum result error_set(enum result result, struct error *error, const char *format, ...)
{
	va_list arguments;

	if (error == NULL)
		return result;
	va_start(arguments, format);
	(void)vsnprintf(error->text, sizeof(error->text), format, arguments);
	va_end(arguments);
	return result;
}

enum result error_context(enum result result, struct error *error, const char *format, ...)
{
	struct error outer;
	va_list arguments;

	if (error == NULL || result == RESULT_OK || result == RESULT_NONE)
		return result;
	va_start(arguments, format);
	int used = vsnprintf(outer.text, sizeof(outer.text), format, arguments);
	va_end(arguments);
	if (used < 0 || (size_t)used + sizeof(": ") > sizeof(outer.text))
		return result;
	size_t length = (size_t)used + strlen(": ");
	size_t room = sizeof(outer.text) - length - 1;
	(void)memcpy(outer.text + used, ": ", strlen(": "));
	size_t kept = strnlen(error->text, room);
	memcpy(outer.text + length, error->text, kept);
	outer.text[length + kept] = '\0';
	*error = outer;
	return result;
}

const char *result_name(enum result result)
{
	return result_names[result];
}

void require_failed(const char *condition, const char *file, int line)
{
	(void)fprintf(stderr, "bug: %s:%d: %s does not hold\n", file, line, condition);
	_Exit(EXIT_STATUS_BUG);
}
