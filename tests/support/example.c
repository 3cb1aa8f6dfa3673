#include "tests/support/example.h"

#include <stdio.h>
#include <stdlib.h>

#include <check.h>

#include "common/base/text.h"
#include "common/io/json.h"

enum {
	SIZE_LIMIT = 65536,
	PATH_SIZE = 512
};

char *example_read(const char *name)
{
	static char text[SIZE_LIMIT];
	char path[PATH_SIZE];
	struct json *root = NULL;

	ck_assert(text_format(path, sizeof(path), "%s/tests/data/%s.json", TEST_SOURCE_DIR, name));
	FILE *file = fopen(path, "r");
	ck_assert_msg(file != NULL, "there is no %s", path);
	size_t size = fread(text, 1, sizeof(text), file);
	(void)fclose(file);
	ck_assert_msg(json_parse(text, size, sizeof(text), &root, NULL) == RESULT_OK,
		"%s is no JSON", path);
	char *compact = json_write(root);
	json_destroy(&root);
	return compact;
}

void example_expect(const char *name, const char *text)
{
	char *example = example_read(name);

	ck_assert_str_eq(text, example);
	free(example);
}
