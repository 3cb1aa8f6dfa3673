#include "tests/support/scratch.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/result.h"
#include "common/base/text.h"

static char folder[PATH_MAX];

const char *scratch_folder(void)
{
	if (folder[0] != '\0')
		return folder;
	(void)mkdir(TEST_SCRATCH_DIR, 0700);
	(void)text_format(folder, sizeof(folder), "%s/run.XXXXXX", TEST_SCRATCH_DIR);
	REQUIRE(mkdtemp(folder) != NULL);
	return folder;
}

/* There are only files in it. */
static void remove_folder(void)
{
	DIR *directory = opendir(folder);
	const struct dirent *entry = NULL;
	char path[2 * PATH_MAX];

	if (directory == NULL)
		return;
	while ((entry = readdir(directory)) != NULL) {
		if (text_equals(entry->d_name, ".") || text_equals(entry->d_name, ".."))
			continue;
		(void)text_format(path, sizeof(path), "%s/%s", folder, entry->d_name);
		(void)unlink(path);
	}
	(void)closedir(directory);
	(void)rmdir(folder);
}

void scratch_leave(bool is_failed)
{
	if (folder[0] == '\0')
		return;
	if (is_failed)
		(void)printf("what the programs wrote is in %s\n", folder);
	else
		remove_folder();
	folder[0] = '\0';
}

void scratch_write(const char *name, const char *content, char *path_out)
{
	(void)text_format(path_out, PATH_MAX, "%s/%s", scratch_folder(), name);
	FILE *file = fopen(path_out, "we");
	REQUIRE(file != NULL);
	REQUIRE(fputs(content, file) >= 0);
	REQUIRE(fclose(file) == 0);
}
