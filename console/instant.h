/*
 * instant - moments of the database as milliseconds since 1970, and how long something takes.
 */
#ifndef CONSOLE_INSTANT_H
#define CONSOLE_INSTANT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct database;

enum {
	INSTANT_SIZE = 32,
	INSTANT_DURATION_SIZE = 48,
};

/* MySQL's clock; false: it is not known. */
bool instant_now(const struct database *database, int64_t *epoch_ms_out);

/* "40 ms", "12 s", "3 min", "2 h 5 min", "4 d 3 h". */
void instant_format_duration(uint64_t milliseconds, char text_out[INSTANT_DURATION_SIZE]);

#endif
