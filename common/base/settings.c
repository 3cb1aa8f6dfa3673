#include "common/base/settings.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/result.h"
#include "common/base/settings_names.h"
#include "common/base/text.h"

enum {
	SHOWN_SIZE = 256 /* of a value in words */
};

void settings_check_names(const struct settings_source *source, struct settings_report *report)
{
	for (size_t i = 0; i < settings_source_count(source); i++) {
		const char *name = settings_source_name(source, i);

		if (settings_names_has(name))
			continue;
		const char *nearest = settings_names_find_nearest(name);
		if (nearest == NULL)
			settings_report_add(report, "%.80s: unknown key", name);
		else
			settings_report_add(
				report, "%.80s: unknown key, did you mean %s?", name, nearest);
	}
}

static void read_number(const struct setting *setting, const char *value, void *field,
	struct settings_report *report)
{
	uint64_t number = 0;
	bool is_number = setting->kind == SETTING_KIND_DURATION
				 ? text_parse_duration(value, &number)
				 : text_parse_uint(value, 0, UINT64_MAX, &number);
	char low[24];
	char high[24];

	if (is_number && number >= setting->minimum && number <= setting->maximum) {
		memcpy(field, &number, sizeof(number));
		return;
	}
	if (setting->kind == SETTING_KIND_DURATION) {
		text_format_duration(low, sizeof(low), setting->minimum);
		text_format_duration(high, sizeof(high), setting->maximum);
	} else {
		(void)text_format(low, sizeof(low), "%" PRIu64, setting->minimum);
		(void)text_format(high, sizeof(high), "%" PRIu64, setting->maximum);
	}
	settings_report_add(report, "%s: \"%.40s\" is not %s from %s to %s", setting->name, value,
		setting->kind == SETTING_KIND_DURATION ? "a duration" : "a whole number", low,
		high);
}

/* Nobody would look at the file, and the default would hold without a word. */
static void check_no_file(const struct setting *setting, const struct settings_source *source,
	struct settings_report *report)
{
	if (setting->kind == SETTING_KIND_SECRET || setting->kind == SETTING_KIND_CUSTOM)
		return;
	if (settings_source_has_file(source, setting->name))
		settings_report_add(report, "%s_FILE: only secrets are read from files, set %s",
			setting->name, setting->name);
}

/* Reads one field.  A table inside the table has been opened by the walk. */
static void read_one(const struct setting *setting, const struct settings_source *source,
	void *field, struct settings_report *report)
{
	char *text = NULL;
	size_t mistakes = settings_report_count(report);
	const char *value = settings_source_find(source, setting->name);

	check_no_file(setting, source, report);
	switch (setting->kind) {
	case SETTING_KIND_CUSTOM:
		setting->custom->read(field, setting->name, setting->fallback, source, report);
		return;
	case SETTING_KIND_SECRET:
		text = settings_source_read_secret(source, setting->name, report);
		break;
	case SETTING_KIND_TEXT:
		text = memory_copy_text(value != NULL ? value : setting->fallback);
		break;
	case SETTING_KIND_UINT:
	case SETTING_KIND_DURATION:
		read_number(setting, value != NULL ? value : setting->fallback, field, report);
		return;
	case SETTING_KIND_CHOICE:
		settings_report_choose(report, setting->name, setting->choices,
			value != NULL ? value : setting->fallback, field);
		return;
	case SETTING_KIND_SHARED:
	case SETTING_KIND_END:
		return;
	}
	if (text == NULL && setting->is_required && settings_report_count(report) == mistakes)
		settings_report_add(report, "%s: is not set", setting->name);
	char **target = field;
	*target = text;
}

/* Goes through a table and, in its place, through each table inside it; those hold no tables. */
struct walk {
	const struct setting *outer;
	const struct setting *inner; /* NULL: not in an inner table */
	size_t base;                 /* where the struct of the inner table lies */
};

/* NULL behind the last setting. */
static const struct setting *walk_on(struct walk *walk, size_t *offset_out)
{
	while (walk->inner == NULL || walk->inner->kind == SETTING_KIND_END) {
		const struct setting *setting = walk->outer;

		walk->inner = NULL;
		if (setting->kind == SETTING_KIND_END)
			return NULL;
		walk->outer++;
		if (setting->kind != SETTING_KIND_SHARED) {
			*offset_out = setting->offset;
			return setting;
		}
		walk->inner = setting->shared;
		walk->base = setting->offset;
	}
	REQUIRE(walk->inner->kind != SETTING_KIND_SHARED);
	*offset_out = walk->base + walk->inner->offset;
	return walk->inner++;
}

void settings_read(const struct setting *table, const struct settings_source *source,
	void *settings, struct settings_report *report)
{
	struct walk walk = { .outer = table };
	const struct setting *setting = NULL;
	size_t offset = 0;

	while ((setting = walk_on(&walk, &offset)) != NULL)
		read_one(setting, source, (char *)settings + offset, report);
}

static void clear_text(void *field)
{
	char *text = NULL;

	memcpy(&text, field, sizeof(text));
	if (text != NULL)
		memory_wipe(text, strlen(text));
	free(text);
	memset(field, 0, sizeof(text));
}

static void clear_one(const struct setting *setting, void *field)
{
	if (setting->kind == SETTING_KIND_CUSTOM)
		setting->custom->clear(field);
	else if (setting->kind == SETTING_KIND_TEXT || setting->kind == SETTING_KIND_SECRET)
		clear_text(field);
}

void settings_clear(const struct setting *table, void *settings)
{
	struct walk walk = { .outer = table };
	const struct setting *setting = NULL;
	size_t offset = 0;

	while ((setting = walk_on(&walk, &offset)) != NULL)
		clear_one(setting, (char *)settings + offset);
}

/* Replaces the field when what is read is right; field NULL: only looks whether it is. */
static void reload_one(const struct setting *setting, const struct settings_source *source,
	void *field, struct settings_report *report)
{
	void *fresh = memory_allocate(setting->size);
	size_t mistakes = settings_report_count(report);

	read_one(setting, source, fresh, report);
	if (field != NULL && settings_report_count(report) == mistakes) {
		clear_one(setting, field);
		memcpy(field, fresh, setting->size);
	} else {
		clear_one(setting, fresh);
	}
	free(fresh);
}

/* settings NULL: only looks.  Custom fields hold secrets too: addresses of alert targets. */
static void reload_all(const struct setting *table, const struct settings_source *source,
	void *settings, struct settings_report *report)
{
	struct walk walk = { .outer = table };
	const struct setting *setting = NULL;
	size_t offset = 0;

	while ((setting = walk_on(&walk, &offset)) != NULL)
		if (setting->kind == SETTING_KIND_SECRET || setting->kind == SETTING_KIND_CUSTOM)
			reload_one(setting, source,
				settings == NULL ? NULL : (char *)settings + offset, report);
}

void settings_reload(const struct setting *table, const struct settings_source *source,
	void *settings, struct settings_report *report)
{
	reload_all(table, source, NULL, report);
	if (settings_report_count(report) == 0)
		reload_all(table, source, settings, report);
}

void settings_print_help(const struct setting *table, FILE *file)
{
	struct walk walk = { .outer = table };
	const struct setting *setting = NULL;
	size_t offset = 0;

	while ((setting = walk_on(&walk, &offset)) != NULL)
		(void)fprintf(file, "  %-26s %-14s %s\n", setting->name,
			setting->fallback == NULL ? "-" : setting->fallback, setting->help);
}

static const char *describe_value(
	const struct setting *setting, const struct settings_source *source)
{
	const char *value = settings_source_find(source, setting->name);

	if (setting->kind == SETTING_KIND_SECRET)
		return settings_source_has(source, setting->name) ? "set" : "unset";
	if (value != NULL)
		return value;
	return setting->fallback == NULL ? "unset" : setting->fallback;
}

void settings_print_values(
	const struct setting *table, const struct settings_source *source, FILE *file)
{
	struct walk walk = { .outer = table };
	const struct setting *setting = NULL;
	size_t offset = 0;

	while ((setting = walk_on(&walk, &offset)) != NULL)
		(void)fprintf(file, "%s=%s (%s)\n", setting->name, describe_value(setting, source),
			settings_source_origin(source, setting->name));
}

/* The value of a field; buffer is used for numbers. */
static const char *show_value(
	const struct setting *setting, const void *field, char *buffer, size_t buffer_size)
{
	const char *text = NULL;
	uint64_t number = 0;
	int choice = 0;

	switch (setting->kind) {
	case SETTING_KIND_TEXT:
		memcpy(&text, field, sizeof(text));
		return text == NULL ? "unset" : text;
	case SETTING_KIND_SECRET:
		memcpy(&text, field, sizeof(text));
		return text == NULL ? "unset" : "set";
	case SETTING_KIND_UINT:
		memcpy(&number, field, sizeof(number));
		(void)text_format(buffer, buffer_size, "%" PRIu64, number);
		return buffer;
	case SETTING_KIND_DURATION:
		memcpy(&number, field, sizeof(number));
		text_format_duration(buffer, buffer_size, number);
		return buffer;
	case SETTING_KIND_CHOICE:
		memcpy(&choice, field, sizeof(choice));
		return setting->choices[choice];
	case SETTING_KIND_CUSTOM:
		if (setting->custom->show == NULL)
			break;
		setting->custom->show(field, buffer, buffer_size);
		return buffer;
	case SETTING_KIND_SHARED:
	case SETTING_KIND_END:
		break;
	}
	return "custom";
}

void settings_each(const struct setting *table, const void *settings,
	void (*take)(void *context, const char *name, const char *value), void *context)
{
	struct walk walk = { .outer = table };
	const struct setting *setting = NULL;
	size_t offset = 0;
	char buffer[SHOWN_SIZE];

	while ((setting = walk_on(&walk, &offset)) != NULL)
		take(context, setting->name,
			show_value(
				setting, (const char *)settings + offset, buffer, sizeof(buffer)));
}
