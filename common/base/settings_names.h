/*
 * settings_names - every LAPSE_ key of all programs, so that one file can serve the whole fleet.
 *
 * tests/checks/settings.sh compares the list with the tables of the programs.
 */
#ifndef COMMON_BASE_SETTINGS_NAMES_H
#define COMMON_BASE_SETTINGS_NAMES_H

#include <stdbool.h>

/* Is it a key of one of our programs, or such a key with _FILE behind it? */
bool settings_names_has(const char *name);
/* The known key that looks most like name; NULL when none does. */
const char *settings_names_find_nearest(const char *name);

#endif
