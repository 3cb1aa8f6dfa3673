#include "ctl/question.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/base/text.h"

enum {
	ANSWER_SIZE = 128
};

bool question_can_ask(const struct option_set *options)
{
	return !option_is_given(options, OPTION_NO_INPUT) && isatty(STDIN_FILENO) == 1 &&
	       isatty(STDERR_FILENO) == 1;
}

bool question_ask(const char *expected, const char *format, ...)
{
	char answer[ANSWER_SIZE];
	va_list arguments;

	va_start(arguments, format);
	/* The list is started one line above; the analyzer loses sight of that. */
	/* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized) */
	(void)vfprintf(stderr, format, arguments);
	va_end(arguments);
	(void)fprintf(stderr, " Type %s to go on: ", expected);
	(void)fflush(stderr);
	if (fgets(answer, sizeof(answer), stdin) == NULL)
		return false;
	answer[strcspn(answer, "\r\n")] = '\0';
	return text_equals(answer, expected);
}
