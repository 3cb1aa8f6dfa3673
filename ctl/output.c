#include "ctl/output.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/base/text.h"

enum {
	LINE_SIZE = 1024
};

/* What came from a server may hold anything; a terminal gets only printable text. */
static void write_line(const char *start, const char *end, const char *format, va_list arguments)
	__attribute__((format(printf, 3, 0)));

static void write_line(const char *start, const char *end, const char *format, va_list arguments)
{
	char text[LINE_SIZE];
	char clean[LINE_SIZE];

	/* The caller has started the list; the analyzer loses sight of that. */
	/* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized) */
	(void)vsnprintf(text, sizeof(text), format, arguments);
	(void)text_clip(clean, sizeof(clean), text, strlen(text));
	(void)fprintf(stderr, "%s%s%s", start, clean, end);
}

void output_say(const struct output *output, const char *format, ...)
{
	va_list arguments;

	if (output->is_quiet)
		return;
	va_start(arguments, format);
	write_line("", "\n", format, arguments);
	va_end(arguments);
}

void output_detail(const struct output *output, const char *format, ...)
{
	va_list arguments;

	if (!output->is_verbose)
		return;
	va_start(arguments, format);
	write_line("", "\n", format, arguments);
	va_end(arguments);
}

void output_complain(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	write_line("lapsectl: ", "\n", format, arguments);
	va_end(arguments);
}

void output_progress(const struct output *output, const char *format, ...)
{
	va_list arguments;

	if (output->is_quiet || !output->has_terminal)
		return;
	va_start(arguments, format);
	write_line("\r\033[K", "", format, arguments);
	va_end(arguments);
	(void)fflush(stderr);
}

void output_end_progress(const struct output *output)
{
	if (!output->is_quiet && output->has_terminal)
		(void)fprintf(stderr, "\r\033[K");
}

const char *output_color(const struct output *output, enum output_color color)
{
	if (!output->has_color)
		return "";
	switch (color) {
	case OUTPUT_COLOR_GREEN:
		return "\033[32m";
	case OUTPUT_COLOR_YELLOW:
		return "\033[33m";
	case OUTPUT_COLOR_RED:
		return "\033[31m";
	}
	return "";
}

const char *output_no_color(const struct output *output)
{
	return output->has_color ? "\033[0m" : "";
}
