#include "ctl/figure.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/json.h"

enum {
	LABEL_SIZE = 48,
	TEXT_SIZE = 256,
};

enum figure_kind {
	FIGURE_KIND_TEXT,
	FIGURE_KIND_COUNT,
	FIGURE_KIND_TIME,
	FIGURE_KIND_UNKNOWN,
};

struct figure {
	const char *name;
	enum figure_kind kind;
	enum figure_level level;
	int64_t number;
	char text[TEXT_SIZE];
};

struct figure_list {
	struct figure *figures;
	size_t count;
};

struct figure_list *figure_list_create(void)
{
	return memory_allocate(sizeof(struct figure_list));
}

void figure_list_destroy(struct figure_list **list)
{
	if (*list == NULL)
		return;
	free((*list)->figures);
	free(*list);
	*list = NULL;
}

static struct figure *add(struct figure_list *list, const char *name, enum figure_level level)
{
	list->figures = memory_resize_array(list->figures, list->count + 1, sizeof(*list->figures));
	struct figure *figure = &list->figures[list->count++];

	*figure = (struct figure){ .name = name, .level = level };
	return figure;
}

void figure_add_text(
	struct figure_list *list, const char *name, const char *text, enum figure_level level)
{
	struct figure *figure = add(list, name, level);

	figure->kind = FIGURE_KIND_TEXT;
	(void)text_clip(figure->text, sizeof(figure->text), text, strlen(text));
}

void figure_add_count(
	struct figure_list *list, const char *name, uint64_t count, enum figure_level level)
{
	struct figure *figure = add(list, name, level);

	figure->kind = FIGURE_KIND_COUNT;
	figure->number = (int64_t)count;
}

void figure_add_time(
	struct figure_list *list, const char *name, int64_t ms, enum figure_level level)
{
	struct figure *figure = add(list, name, level);

	figure->kind = FIGURE_KIND_TIME;
	figure->number = ms;
}

void figure_add_unknown(
	struct figure_list *list, const char *name, const char *why, enum figure_level level)
{
	struct figure *figure = add(list, name, level);

	figure->kind = FIGURE_KIND_UNKNOWN;
	(void)text_clip(figure->text, sizeof(figure->text), why, strlen(why));
}

/* Two parts at most: "3 d 4 h", "2 h 5 min", "41 ms". */
static void write_time(char text[TEXT_SIZE], int64_t ms)
{
	static const struct {
		int64_t ms;
		const char *unit;
	} units[] = { { 86400000, "d" }, { 3600000, "h" }, { 60000, "min" }, { 1000, "s" },
		{ 1, "ms" } };
	size_t i = 0;

	while (i + 1 < ARRAY_LENGTH(units) && ms < units[i].ms)
		i++;
	if (i + 1 < ARRAY_LENGTH(units) && ms % units[i].ms >= units[i + 1].ms)
		(void)text_format(text, TEXT_SIZE, "%" PRId64 " %s %" PRId64 " %s",
			ms / units[i].ms, units[i].unit, ms % units[i].ms / units[i + 1].ms,
			units[i + 1].unit);
	else
		(void)text_format(
			text, TEXT_SIZE, "%" PRId64 " %s", ms / units[i].ms, units[i].unit);
}

static void write_value(const struct figure *figure, char text[TEXT_SIZE], bool for_people)
{
	switch (figure->kind) {
	case FIGURE_KIND_TEXT:
		(void)text_copy(text, TEXT_SIZE, figure->text);
		return;
	case FIGURE_KIND_TIME:
		if (for_people) {
			write_time(text, figure->number);
			return;
		}
		(void)text_format(text, TEXT_SIZE, "%" PRId64, figure->number);
		return;
	case FIGURE_KIND_COUNT:
		(void)text_format(text, TEXT_SIZE, "%" PRId64, figure->number);
		return;
	case FIGURE_KIND_UNKNOWN:
		(void)text_format(
			text, TEXT_SIZE, for_people ? "unknown: %.240s" : "unknown", figure->text);
		return;
	}
}

/* "overdue_oldest_ms" reads "overdue oldest". */
static void write_label(const struct figure *figure, char label[LABEL_SIZE])
{
	(void)text_copy(label, LABEL_SIZE, figure->name);
	size_t length = strlen(label);

	if (length > 3 && text_equals(label + length - 3, "_ms"))
		label[length - 3] = '\0';
	for (char *place = label; *place != '\0'; place++)
		if (*place == '_')
			*place = ' ';
}

static const char *find_color(const struct output *output, const struct figure *figure)
{
	switch (figure->level) {
	case FIGURE_LEVEL_GREEN:
		return "";
	case FIGURE_LEVEL_YELLOW:
		return output_color(output, OUTPUT_COLOR_YELLOW);
	case FIGURE_LEVEL_RED:
		return output_color(output, OUTPUT_COLOR_RED);
	}
	return "";
}

static const char *level_word(enum figure_level level)
{
	static const char *const words[] = { "green", "yellow", "red" };

	return words[level];
}

/* The colour is a word too, for those who do not see it. */
static void print_for_people(const struct figure *figure, const struct output *output)
{
	char label[LABEL_SIZE];
	char value[TEXT_SIZE];
	bool is_green = figure->level == FIGURE_LEVEL_GREEN;

	write_label(figure, label);
	write_value(figure, value, true);
	(void)printf("%-34s %s%s%s%s%s\n", label, find_color(output, figure), value,
		is_green ? "" : "  <- ", is_green ? "" : level_word(figure->level),
		is_green ? "" : output_no_color(output));
}

static void print_plain(const struct figure *figure)
{
	char value[TEXT_SIZE];

	write_value(figure, value, false);
	(void)printf("%s\t%s\t%s\n", figure->name, value, level_word(figure->level));
}

static void set_json(struct json *object, const struct figure *figure)
{
	switch (figure->kind) {
	case FIGURE_KIND_TEXT:
		json_set_text(object, figure->name, figure->text);
		return;
	case FIGURE_KIND_COUNT:
	case FIGURE_KIND_TIME:
		json_set_int(object, figure->name, figure->number);
		return;
	case FIGURE_KIND_UNKNOWN:
		json_set_text(object, figure->name, NULL);
		return;
	}
}

static enum figure_level find_worst(const struct figure_list *list)
{
	enum figure_level worst = FIGURE_LEVEL_GREEN;

	for (size_t i = 0; i < list->count; i++)
		if (list->figures[i].level > worst)
			worst = list->figures[i].level;
	return worst;
}

static void print_json(const struct figure_list *list)
{
	struct json *root = json_create_object();
	struct json *levels = json_create_object();

	for (size_t i = 0; i < list->count; i++) {
		const struct figure *figure = &list->figures[i];

		set_json(root, figure);
		if (figure->level != FIGURE_LEVEL_GREEN)
			json_set_text(levels, figure->name, level_word(figure->level));
	}
	json_set_text(root, "level", level_word(find_worst(list)));
	json_adopt(root, "levels", &levels);
	char *text = json_write(root);
	(void)printf("%s\n", text);
	free(text);
	json_destroy(&root);
}

void figure_list_print(const struct figure_list *list, const struct output *output)
{
	if (output->form == OUTPUT_FORM_JSON) {
		print_json(list);
		return;
	}
	for (size_t i = 0; i < list->count; i++) {
		if (output->form == OUTPUT_FORM_PLAIN)
			print_plain(&list->figures[i]);
		else
			print_for_people(&list->figures[i], output);
	}
}

bool figure_list_has_red(const struct figure_list *list)
{
	return find_worst(list) == FIGURE_LEVEL_RED;
}
