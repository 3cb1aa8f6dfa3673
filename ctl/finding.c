#include "ctl/finding.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "ctl/table.h"

enum {
	TEXT_SIZE = 1024
};

enum level {
	LEVEL_OK,
	LEVEL_WARN,
	LEVEL_FAIL,
};

static const char *const level_names[] = { "ok", "warn", "fail" };

struct finding {
	const char *name;
	enum level level;
	char text[TEXT_SIZE];
};

struct finding_list {
	struct finding *findings;
	size_t count;
};

struct finding_list *finding_list_create(void)
{
	return memory_allocate(sizeof(struct finding_list));
}

void finding_list_destroy(struct finding_list **list)
{
	if (*list == NULL)
		return;
	free((*list)->findings);
	free(*list);
	*list = NULL;
}

static void add(struct finding_list *list, enum level level, const char *name, const char *format,
	va_list arguments) __attribute__((format(printf, 4, 0)));

static void add(struct finding_list *list, enum level level, const char *name, const char *format,
	va_list arguments)
{
	char text[TEXT_SIZE];

	list->findings =
		memory_resize_array(list->findings, list->count + 1, sizeof(*list->findings));
	struct finding *finding = &list->findings[list->count++];
	*finding = (struct finding){ .name = name, .level = level };
	/* The caller has started the list; the analyzer loses sight of that. */
	/* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized) */
	(void)vsnprintf(text, sizeof(text), format, arguments);
	(void)text_clip(finding->text, sizeof(finding->text), text, strlen(text));
}

void finding_ok(struct finding_list *list, const char *name, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	add(list, LEVEL_OK, name, format, arguments);
	va_end(arguments);
}

void finding_warn(struct finding_list *list, const char *name, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	add(list, LEVEL_WARN, name, format, arguments);
	va_end(arguments);
}

void finding_fail(struct finding_list *list, const char *name, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	add(list, LEVEL_FAIL, name, format, arguments);
	va_end(arguments);
}

static bool has_level(const struct finding_list *list, enum level level)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->findings[i].level == level)
			return true;
	return false;
}

bool finding_list_has_failed(const struct finding_list *list)
{
	return has_level(list, LEVEL_FAIL);
}

bool finding_list_has_warned(const struct finding_list *list)
{
	return has_level(list, LEVEL_WARN);
}

static const char *find_color(const struct output *output, enum level level)
{
	switch (level) {
	case LEVEL_OK:
		return output_color(output, OUTPUT_COLOR_GREEN);
	case LEVEL_WARN:
		return output_color(output, OUTPUT_COLOR_YELLOW);
	case LEVEL_FAIL:
		return output_color(output, OUTPUT_COLOR_RED);
	}
	return "";
}

static void print_for_people(const struct finding *finding, const struct output *output)
{
	const char *level = level_names[finding->level];

	(void)printf("%s[%s]%s%*s %s: %s\n", find_color(output, finding->level), level,
		output_no_color(output), (int)(sizeof("fail") - 1 - strlen(level)), "",
		finding->name, finding->text);
}

static void print_as_table(const struct finding_list *list, const struct output *output)
{
	static const struct table_column columns[] = { { "check", TABLE_KIND_TEXT },
		{ "level", TABLE_KIND_TEXT }, { "text", TABLE_KIND_TEXT } };
	struct table *table = table_create(columns, ARRAY_LENGTH(columns));

	for (size_t i = 0; i < list->count; i++) {
		const struct finding *finding = &list->findings[i];
		const char *const values[] = { finding->name, level_names[finding->level],
			finding->text };

		table_add(table, values);
	}
	table_print(table, output, stdout);
	table_destroy(&table);
}

void finding_list_print(const struct finding_list *list, const struct output *output)
{
	if (output->form != OUTPUT_FORM_TEXT) {
		print_as_table(list, output);
		return;
	}
	for (size_t i = 0; i < list->count; i++)
		print_for_people(&list->findings[i], output);
}
