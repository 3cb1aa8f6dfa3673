/*
 * moment - a time as an operator writes it, 2026-01-31T18:30:00Z, in the form the database reads.
 */
#ifndef COMMON_BASE_MOMENT_H
#define COMMON_BASE_MOMENT_H

#include <stdbool.h>

enum {
	MOMENT_SIZE = 32
};

/*
 * Takes a date, "T", hours and minutes, and perhaps seconds and milliseconds; "Z" at the end says
 * that it is UTC, which is asked for because nothing else is taken.  false: it is no such time.
 */
bool moment_parse(const char *text, char moment_out[MOMENT_SIZE]);

#endif
