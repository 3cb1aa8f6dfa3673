/*
 * script - one SQL file into its statements, cut the way the mysql client does.
 *
 * Knows quotes, comments and lines that say DELIMITER.  A piece that holds only comments is no
 * statement.
 */
#ifndef CTL_SCRIPT_H
#define CTL_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>

enum {
	SCRIPT_DELIMITER_SIZE = 16
};

/* Plain data: where the reading stands. */
struct script {
	const char *text; /* borrowed; not NUL-terminated */
	size_t size;
	size_t place;
	char delimiter[SCRIPT_DELIMITER_SIZE];
};

void script_begin(struct script *script, const char *text, size_t size);
/*
 * The next statement without its delimiter and without the blanks and comments in front of it;
 * borrowed from the text, not NUL-terminated.  false: there is none left.
 */
bool script_next(struct script *script, const char **statement_out, size_t *size_out);

#endif
