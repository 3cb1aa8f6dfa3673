#include "tests/support/dashboard.h"

#include <stdio.h>
#include <stdlib.h>

#include <check.h>

#include "common/base/memory.h"
#include "common/io/json.h"

enum {
	DASHBOARD_MAX = 1048576
};

struct json *dashboard_read(void)
{
	static const char path[] = TEST_SOURCE_DIR "/deploy/grafana/dashboards/lapse.json";
	FILE *file = fopen(path, "re");
	char *text = memory_allocate(DASHBOARD_MAX);
	struct json *root = NULL;

	ck_assert_ptr_nonnull(file);
	size_t size = fread(text, 1, DASHBOARD_MAX, file);
	(void)fclose(file);
	ck_assert_int_eq(json_parse(text, size, DASHBOARD_MAX, &root, NULL), RESULT_OK);
	free(text);
	return root;
}
