#include <stdio.h>
#include <string.h>

#include "common/base/compiler.h"
#include "common/base/text_file.h"
#include "tests/support/runner.h"

START_TEST(lines_come_without_their_ends_and_long_ones_are_cut)
{
	static char text[] = "one\r\n\ntoo long for it\nlast";
	static const char *const wanted[] = { "one", "", "too lon", "last" };
	FILE *file = fmemopen(text, strlen(text), "r");
	char line[8];

	ck_assert_ptr_nonnull(file);
	for (size_t i = 0; i < ARRAY_LENGTH(wanted); i++) {
		ck_assert(text_file_line(file, line, sizeof(line)));
		ck_assert_str_eq(line, wanted[i]);
	}
	ck_assert(!text_file_line(file, line, sizeof(line)));
	(void)fclose(file);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = { lines_come_without_their_ends_and_long_ones_are_cut };

	return runner_run("text_file", tests, ARRAY_LENGTH(tests));
}
