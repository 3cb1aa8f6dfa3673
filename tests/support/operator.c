#include "tests/support/operator.h"

#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "common/base/text.h"
#include "tests/support/sandbox.h"

enum {
	LINE_SIZE = 512,
	WORDS_MAX = 24
};

int operator_run(struct sandbox *sandbox, const char *line, const char *says)
{
	char copy[LINE_SIZE];
	const char *words[WORDS_MAX + 1] = { NULL };
	size_t count = 0;
	char *output = NULL;

	ck_assert(text_copy(copy, sizeof(copy), line));
	for (char *word = copy; word != NULL && *word != '\0';) {
		char *blank = strchr(word, ' ');

		ck_assert_uint_lt(count, WORDS_MAX);
		words[count++] = word;
		if (blank != NULL)
			*blank++ = '\0';
		word = blank;
	}
	int status = sandbox_run(sandbox, "lapsectl", words, &output);
	if (says != NULL)
		ck_assert_msg(strstr(output, says) != NULL, "%s: \"%s\" is not in: %s", line, says,
			output);
	free(output);
	return status;
}

void operator_expect(struct sandbox *sandbox, int status, const char *line, const char *says)
{
	int got = operator_run(sandbox, line, says);

	ck_assert_msg(got == status, "%s: %d, not %d", line, got, status);
}
