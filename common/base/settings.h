/*
 * settings - environment, secret files and --env-file into a struct, by table.
 *
 * Each program has one table of struct setting; what many programs need (MySQL, AMQP, ops port,
 * log) are tables of their own that it includes.  A secret is also read from the file that
 * NAME_FILE names.  An empty value counts as not set.  A key that starts with LAPSE_ and that no
 * program of the fleet knows is a mistake; all mistakes are reported together.
 */
#ifndef COMMON_BASE_SETTINGS_H
#define COMMON_BASE_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/base/compiler.h"
#include "common/base/settings_source.h"

enum setting_kind {
	SETTING_KIND_END,
	SETTING_KIND_TEXT,     /* char *, owned by the struct, NULL when not set and no default */
	SETTING_KIND_SECRET,   /* the same, never printed */
	SETTING_KIND_UINT,     /* uint64_t */
	SETTING_KIND_DURATION, /* uint64_t, milliseconds */
	SETTING_KIND_CHOICE,   /* int: the place in choices */
	SETTING_KIND_CUSTOM,   /* read by a function of its owner */
	SETTING_KIND_SHARED,   /* a table of its own for a struct inside the struct */
};

struct setting_custom {
	/* From source; mistakes go into report.  show, for settings_each, may be NULL. */
	void (*read)(void *field, const char *name, const char *fallback,
		const struct settings_source *source, struct settings_report *report);
	void (*clear)(void *field);
	void (*show)(const void *field, char *text_out, size_t text_size);
};

struct setting {
	enum setting_kind kind;
	bool is_required;
	size_t offset;
	size_t size; /* of the field, where a reload needs to know it */
	const char *name;
	const char *fallback;                /* NULL: may stay unset, or is needed if required */
	uint64_t minimum, maximum;           /* of a UINT, or of a DURATION in milliseconds */
	const char *const *choices;          /* of a CHOICE, ended by NULL */
	const struct setting *shared;        /* of a SHARED, ended by SETTING_KIND_END */
	const struct setting_custom *custom; /* of a CUSTOM */
	const char *help;
};

#define SETTING_TEXT(type, field, key, default_, help_)                                    \
	{                                                                                  \
		.kind = SETTING_KIND_TEXT, .offset = offsetof(type, field), .name = (key), \
		.fallback = (default_), .help = (help_)                                    \
	}
#define SETTING_SECRET(type, field, key, required_, help_)                                     \
	{                                                                                      \
		.kind = SETTING_KIND_SECRET, .offset = offsetof(type, field),                  \
		.size = sizeof(((type *)0)->field), .name = (key), .is_required = (required_), \
		.help = (help_)                                                                \
	}
#define SETTING_UINT(type, field, key, default_, min_, max_, help_)                           \
	{                                                                                     \
		.kind = SETTING_KIND_UINT, .offset = offsetof(type, field), .name = (key),    \
		.fallback = (default_), .minimum = (min_), .maximum = (max_), .help = (help_) \
	}
#define SETTING_DURATION(type, field, key, default_, min_ms_, max_ms_, help_)                  \
	{                                                                                      \
		.kind = SETTING_KIND_DURATION, .offset = offsetof(type, field), .name = (key), \
		.fallback = (default_), .minimum = (min_ms_), .maximum = (max_ms_),            \
		.help = (help_)                                                                \
	}
#define SETTING_CHOICE(type, field, key, default_, choices_, help_)                          \
	{                                                                                    \
		.kind = SETTING_KIND_CHOICE, .offset = offsetof(type, field), .name = (key), \
		.fallback = (default_), .choices = (choices_), .help = (help_)               \
	}
#define SETTING_CUSTOM(type, field, key, default_, custom_, help_)                         \
	{                                                                                  \
		.kind = SETTING_KIND_CUSTOM, .offset = offsetof(type, field),              \
		.size = sizeof(((type *)0)->field), .name = (key), .fallback = (default_), \
		.custom = (custom_), .help = (help_)                                       \
	}
#define SETTINGS_SHARED(type, field, table_)                                                     \
	{                                                                                        \
		.kind = SETTING_KIND_SHARED, .offset = offsetof(type, field), .shared = (table_) \
	}
#define SETTING_END                      \
	{                                \
		.kind = SETTING_KIND_END \
	}

#define MILLISECONDS(n) (UINT64_C(1) * (n))
#define SECONDS(n)      (UINT64_C(1000) * (n))
#define MINUTES(n)      (UINT64_C(60000) * (n))
#define HOURS(n)        (UINT64_C(3600000) * (n))
#define DAYS(n)         (UINT64_C(86400000) * (n))

/* Fills settings, all zero before; mistakes go into report.  Clear it in any case. */
void settings_read(const struct setting *table, const struct settings_source *source,
	void *settings, struct settings_report *report);
/* Reports every LAPSE_ key of source that nobody knows, with the nearest known one. */
void settings_check_names(const struct settings_source *source, struct settings_report *report);
/* Reads again and replaces the secrets and custom fields of settings when nothing is wrong;
 * mistakes leave them as they are.  Pointers taken from those fields before are void. */
void settings_reload(const struct setting *table, const struct settings_source *source,
	void *settings, struct settings_report *report);
/* Wipes secrets, frees, zeroes. */
void settings_clear(const struct setting *table, void *settings);
/* One line per setting: key, default, help. */
void settings_print_help(const struct setting *table, FILE *file);
/* Every setting as it is in effect, for people: secrets "set" or "unset", others "custom". */
void settings_each(const struct setting *table, const void *settings,
	void (*take)(void *context, const char *name, const char *value), void *context);
/* One line per setting: key, value (secrets as "set" or "unset"), where it comes from. */
void settings_print_values(
	const struct setting *table, const struct settings_source *source, FILE *file);
#endif
