/*
 * text_file - files of short lines that people write: users, tokens.
 */
#ifndef COMMON_BASE_TEXT_FILE_H
#define COMMON_BASE_TEXT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* The next line without its end; one that does not fit is cut, and its rest skipped.  false: no
 * more. */
bool text_file_line(FILE *file, char *line_out, size_t size);

#endif
