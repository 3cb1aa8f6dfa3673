#include "common/base/settings_source.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/text.h"

enum {
	ENTRY_MAX = 512,       /* LAPSE_ keys in one source */
	FILE_SIZE_MAX = 65536, /* an env file or a secret file */
	NAME_SIZE = 64,
	PROBLEM_SIZE = 320,
	WHERE_SIZE = 256,
};

struct entry {
	char *name;
	char *value;
	const char *origin;
};

struct settings_source {
	struct entry entries[ENTRY_MAX];
	size_t count;
};

struct settings_report {
	char **problems;
	size_t count;
};

struct settings_report *settings_report_create(void)
{
	return memory_allocate(sizeof(struct settings_report));
}

void settings_report_destroy(struct settings_report **report)
{
	if (*report == NULL)
		return;
	for (size_t i = 0; i < (*report)->count; i++)
		free((*report)->problems[i]);
	free((*report)->problems);
	free(*report);
	*report = NULL;
}

void settings_report_add(struct settings_report *report, const char *format, ...)
{
	char problem[PROBLEM_SIZE];
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(problem, sizeof(problem), format, arguments);
	va_end(arguments);
	report->problems = memory_resize_array(report->problems, report->count + 1, sizeof(char *));
	report->problems[report->count++] = memory_copy_text(problem);
}

void settings_report_choose(struct settings_report *report, const char *name,
	const char *const *choices, const char *value, int *choice_out)
{
	size_t place = text_find(choices, value);
	char allowed[128] = "";

	if (choices[place] != NULL) {
		*choice_out = (int)place;
		return;
	}
	for (size_t i = 0; choices[i] != NULL; i++) {
		size_t used = strlen(allowed);

		(void)text_format(allowed + used, sizeof(allowed) - used, "%s%s",
			i == 0 ? "" : ", ", choices[i]);
	}
	settings_report_add(report, "%s: \"%.40s\" is not one of %s", name, value, allowed);
}

size_t settings_report_count(const struct settings_report *report)
{
	return report->count;
}

const char *settings_report_get(const struct settings_report *report, size_t index)
{
	return report->problems[index];
}

/* NULL when there is no such name. */
static const struct entry *find_entry(const struct settings_source *source, const char *name)
{
	for (size_t i = 0; i < source->count; i++)
		if (text_equals(source->entries[i].name, name))
			return &source->entries[i];
	return NULL;
}

const char *settings_source_find(const struct settings_source *source, const char *name)
{
	const struct entry *entry = find_entry(source, name);

	return entry == NULL || entry->value[0] == '\0' ? NULL : entry->value;
}

size_t settings_source_count(const struct settings_source *source)
{
	return source->count;
}

const char *settings_source_name(const struct settings_source *source, size_t index)
{
	return source->entries[index].name;
}

static void wipe_and_free(char *text)
{
	memory_wipe(text, strlen(text));
	free(text);
}

/* The first value that is not empty wins: the environment is added before the file. */
static void add_assignment(struct settings_source *source, const char *text, const char *origin,
	struct settings_report *report)
{
	const char *equals = strchr(text, '=');

	if (equals == NULL || !text_starts_with(text, "LAPSE_"))
		return;
	char *name = memory_copy_bytes(text, (size_t)(equals - text));
	size_t place = 0;
	while (place < source->count && !text_equals(source->entries[place].name, name))
		place++;
	struct entry *entry = &source->entries[place];
	if (place == ENTRY_MAX) {
		settings_report_add(report, "%s: more than %d keys", origin, ENTRY_MAX);
		free(name);
		return;
	}
	if (place < source->count && entry->value[0] != '\0') {
		free(name);
		return;
	}
	free(entry->name);
	free(entry->value);
	*entry = (struct entry){
		.name = name, .value = memory_copy_text(equals + 1), .origin = origin
	};
	source->count += place == source->count ? 1 : 0;
}

/* NULL, and a line in the report, when the file cannot be read.  what names who wants it. */
static char *read_file(const char *path, const char *what, struct settings_report *report)
{
	FILE *file = fopen(path, "re");
	char *content = NULL;

	if (file == NULL) {
		settings_report_add(
			report, "%s: %s: cannot be read: %s", what, path, strerror(errno));
		return NULL;
	}
	content = memory_allocate(FILE_SIZE_MAX + 1);
	size_t size = fread(content, 1, FILE_SIZE_MAX + 1, file);
	if (ferror(file) != 0 || size > FILE_SIZE_MAX || memchr(content, '\0', size) != NULL) {
		settings_report_add(report, "%s: %s: is no text of at most 64 KiB", what, path);
		free(content);
		content = NULL;
	} else {
		content[size] = '\0';
	}
	(void)fclose(file);
	return content;
}

static char *skip_blanks(char *text)
{
	return text + strspn(text, " \t");
}

static void cut_blanks(char *text)
{
	size_t length = strlen(text);

	while (length > 0 && strchr(" \t\r\n", text[length - 1]) != NULL)
		text[--length] = '\0';
}

/* KEY=VALUE, optionally behind "export", optionally in quotes; blank lines and # are skipped. */
static void read_env_line(struct settings_source *source, char *line, const char *where,
	struct settings_report *report)
{
	char *text = skip_blanks(line);

	cut_blanks(text);
	if (text[0] == '\0' || text[0] == '#')
		return;
	if (text_starts_with(text, "export "))
		text = skip_blanks(text + strlen("export "));
	char *equals = strchr(text, '=');
	if (equals == NULL) {
		settings_report_add(report, "%s: is not KEY=VALUE", where);
		return;
	}
	size_t length = strlen(equals + 1);
	char quote = equals[1];
	if (length >= 2 && (quote == '"' || quote == '\'') && equals[length] == quote) {
		equals[length] = '\0';
		memmove(equals + 1, equals + 2, length - 1);
	}
	add_assignment(source, text, "env file", report);
}

static void read_env_file(
	struct settings_source *source, const char *path, struct settings_report *report)
{
	char *content = read_file(path, "--env-file", report);
	char *rest = content;

	for (size_t number = 1; rest != NULL && *rest != '\0'; number++) {
		char *end = strchr(rest, '\n');
		char where[WHERE_SIZE];

		if (end != NULL)
			*end = '\0';
		(void)text_format(where, sizeof(where), "%.200s, line %zu", path, number);
		read_env_line(source, rest, where, report);
		rest = end == NULL ? NULL : end + 1;
	}
	memory_wipe(content, content == NULL ? 0 : FILE_SIZE_MAX);
	free(content);
}

struct settings_source *settings_source_create(
	char *const *environment, const char *env_file, struct settings_report *report)
{
	struct settings_source *source = memory_allocate(sizeof(*source));

	for (size_t i = 0; environment != NULL && environment[i] != NULL; i++)
		add_assignment(source, environment[i], "environment", report);
	if (env_file != NULL)
		read_env_file(source, env_file, report);
	return source;
}

void settings_source_destroy(struct settings_source **source)
{
	if (*source == NULL)
		return;
	for (size_t i = 0; i < (*source)->count; i++) {
		wipe_and_free((*source)->entries[i].value);
		free((*source)->entries[i].name);
	}
	free(*source);
	*source = NULL;
}

bool settings_source_has_file(const struct settings_source *source, const char *name)
{
	char file_name[NAME_SIZE];

	(void)text_format(file_name, sizeof(file_name), "%s_FILE", name);
	return settings_source_find(source, file_name) != NULL;
}

bool settings_source_has(const struct settings_source *source, const char *name)
{
	return settings_source_find(source, name) != NULL || settings_source_has_file(source, name);
}

const char *settings_source_origin(const struct settings_source *source, const char *name)
{
	const struct entry *entry = find_entry(source, name);

	if (entry != NULL && entry->value[0] != '\0')
		return entry->origin;
	return settings_source_has(source, name) ? "secret file" : "default";
}

static void cut_last_newline(char *text)
{
	size_t length = strlen(text);

	if (length > 0 && text[length - 1] == '\n')
		text[--length] = '\0';
	if (length > 0 && text[length - 1] == '\r')
		text[length - 1] = '\0';
}

char *settings_source_read_secret(
	const struct settings_source *source, const char *name, struct settings_report *report)
{
	char file_name[NAME_SIZE];
	const char *value = settings_source_find(source, name);

	(void)text_format(file_name, sizeof(file_name), "%s_FILE", name);
	const char *path = settings_source_find(source, file_name);
	if (value != NULL && path != NULL) {
		settings_report_add(report, "%s and %s are both set", name, file_name);
		return NULL;
	}
	if (path == NULL)
		return memory_copy_text(value);
	char *content = read_file(path, file_name, report);
	if (content == NULL)
		return NULL;
	cut_last_newline(content);
	char *secret = content[0] == '\0' ? NULL : memory_copy_text(content);
	memory_wipe(content, FILE_SIZE_MAX);
	free(content);
	return secret;
}
