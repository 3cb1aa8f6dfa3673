#include "common/base/text_file.h"

#include <string.h>

bool text_file_line(FILE *file, char *line_out, size_t size)
{
	if (fgets(line_out, (int)size, file) == NULL)
		return false;
	bool is_whole = strchr(line_out, '\n') != NULL;
	line_out[strcspn(line_out, "\r\n")] = '\0';
	while (!is_whole && !feof(file))
		is_whole = getc(file) == '\n';
	return true;
}
