/*
 * settings_source - where settings come from: the environment, then the env file, and for secrets
 * the files they name; and the report of all mistakes.
 *
 * Only names that start with LAPSE_ count.  An empty value counts as not set.
 */
#ifndef COMMON_BASE_SETTINGS_SOURCE_H
#define COMMON_BASE_SETTINGS_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/compiler.h"

struct settings_source;
struct settings_report;

/* env_file may be NULL.  Never fails: a file that cannot be read is a mistake in the report. */
MUST_USE struct settings_source *settings_source_create(
	char *const *environment, const char *env_file, struct settings_report *report);
void settings_source_destroy(struct settings_source **source);
/* NULL when not set; borrowed from source. */
const char *settings_source_find(const struct settings_source *source, const char *name);
/* Is NAME_FILE set? */
bool settings_source_has_file(const struct settings_source *source, const char *name);
/* Is NAME set, or NAME_FILE? */
bool settings_source_has(const struct settings_source *source, const char *name);
/* "environment", "env file", "secret file" or "default". */
const char *settings_source_origin(const struct settings_source *source, const char *name);
/* A copy, owned by the caller, of NAME or of the content of NAME_FILE without its last newline;
 * NULL when not set.  Both at once, and a file that cannot be read, are mistakes. */
MUST_USE char *settings_source_read_secret(
	const struct settings_source *source, const char *name, struct settings_report *report);
/* Every name once, set or empty, by number; borrowed. */
size_t settings_source_count(const struct settings_source *source);
const char *settings_source_name(const struct settings_source *source, size_t index);

MUST_USE struct settings_report *settings_report_create(void);
void settings_report_destroy(struct settings_report **report);
void settings_report_add(struct settings_report *report, const char *format, ...) PRINTF_LIKE(2, 3);
/* The place of value among choices, which are ended by NULL; else a line in the report, and
 * choice_out stays what it is. */
void settings_report_choose(struct settings_report *report, const char *name,
	const char *const *choices, const char *value, int *choice_out);
size_t settings_report_count(const struct settings_report *report);
/* Borrowed from the report. */
const char *settings_report_get(const struct settings_report *report, size_t index);

#endif
