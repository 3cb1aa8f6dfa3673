#include "ctl/table.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/result.h"
#include "common/base/text.h"
#include "common/io/json.h"

enum {
	JSON_VALUE_MAX = 1048576
};

struct table {
	const struct table_column *columns;
	size_t column_count;
	char **values; /* row by row */
	size_t row_count;
	size_t row_room;
};

struct table *table_create(const struct table_column *columns, size_t column_count)
{
	struct table *table = memory_allocate(sizeof(*table));

	REQUIRE(column_count > 0 && column_count <= TABLE_COLUMN_MAX);
	table->columns = columns;
	table->column_count = column_count;
	return table;
}

void table_destroy(struct table **table)
{
	if (*table == NULL)
		return;
	for (size_t i = 0; i < (*table)->row_count * (*table)->column_count; i++)
		free((*table)->values[i]);
	free((*table)->values);
	free(*table);
	*table = NULL;
}

void table_add(struct table *table, const char *const *values)
{
	if (table->row_count == table->row_room) {
		table->row_room = table->row_room == 0 ? 16 : table->row_room * 2;
		table->values = memory_resize_array(
			table->values, table->row_room * table->column_count, sizeof(char *));
	}
	for (size_t i = 0; i < table->column_count; i++)
		table->values[table->row_count * table->column_count + i] =
			memory_copy_text(values[i]);
	table->row_count++;
}

size_t table_column_count(const struct table *table)
{
	return table->column_count;
}

size_t table_count(const struct table *table)
{
	return table->row_count;
}

static const char *value_at(const struct table *table, size_t row, size_t column)
{
	return table->values[row * table->column_count + column];
}

/* Characters, not bytes: a byte 10xxxxxx goes on with the one before it. */
static size_t count_characters(const char *text)
{
	size_t count = 0;

	for (; *text != '\0'; text++)
		count += ((unsigned char)*text & 0xC0U) != 0x80U;
	return count;
}

/* What is stored may hold anything; a line of output stays one line of printable text. */
static char *clean_value(const char *value)
{
	const char *text = value == NULL ? "-" : value;
	size_t size = strlen(text);
	char *clean = memory_allocate(size + 1);

	(void)text_clip(clean, size + 1, text, size);
	return clean;
}

static void measure(const struct table *table, size_t widths[TABLE_COLUMN_MAX])
{
	for (size_t column = 0; column < table->column_count; column++)
		widths[column] = strlen(table->columns[column].name);
	for (size_t i = 0; i < table->row_count * table->column_count; i++) {
		size_t *widest = &widths[i % table->column_count];
		char *clean = clean_value(table->values[i]);
		size_t width = count_characters(clean);

		if (width > *widest)
			*widest = width;
		free(clean);
	}
}

static void print_padding(size_t count, FILE *file)
{
	while (count-- > 0)
		(void)fputc(' ', file);
}

static void print_heading(const struct table *table, const size_t *widths, FILE *file)
{
	for (size_t column = 0; column < table->column_count; column++) {
		const char *name = table->columns[column].name;

		for (size_t i = 0; name[i] != '\0'; i++)
			(void)fputc(name[i] == '_' ? ' ' : toupper((unsigned char)name[i]), file);
		if (column + 1 < table->column_count)
			print_padding(widths[column] - strlen(name) + 2, file);
	}
	(void)fputc('\n', file);
}

/* widths NULL: tabs. */
static void print_row(const struct table *table, size_t row, const size_t *widths, FILE *file)
{
	for (size_t column = 0; column < table->column_count; column++) {
		char *clean = clean_value(value_at(table, row, column));

		(void)fputs(clean, file);
		if (column + 1 < table->column_count && widths == NULL)
			(void)fputc('\t', file);
		else if (column + 1 < table->column_count)
			print_padding(widths[column] - count_characters(clean) + 2, file);
		free(clean);
	}
	(void)fputc('\n', file);
}

static void set_json_value(
	struct json *object, const struct table_column *column, const char *value)
{
	int64_t number = 0;
	uint64_t positive = 0;
	struct json *document = NULL;

	switch (column->kind) {
	case TABLE_KIND_TEXT:
		break;
	case TABLE_KIND_NUMBER:
		if (value == NULL || !text_parse_uint(value[0] == '-' ? value + 1 : value, 0,
					     INT64_MAX, &positive))
			break;
		number = value[0] == '-' ? -(int64_t)positive : (int64_t)positive;
		json_set_int(object, column->name, number);
		return;
	case TABLE_KIND_BOOL:
		if (value == NULL)
			break;
		json_set_bool(object, column->name, text_equals(value, "yes"));
		return;
	case TABLE_KIND_JSON:
		if (value == NULL || json_parse(value, strlen(value), JSON_VALUE_MAX, &document,
					     NULL) != RESULT_OK)
			break;
		json_adopt(object, column->name, &document);
		return;
	}
	json_set_text(object, column->name, value);
}

struct json *table_row_to_json(const struct table *table, size_t row)
{
	struct json *object = json_create_object();

	for (size_t column = 0; column < table->column_count; column++)
		set_json_value(object, &table->columns[column], value_at(table, row, column));
	return object;
}

struct json *table_to_json(const struct table *table)
{
	struct json *array = json_create_array();

	for (size_t row = 0; row < table->row_count; row++) {
		struct json *object = table_row_to_json(table, row);

		json_append_adopt(array, &object);
	}
	return array;
}

static void print_json(const struct table *table, FILE *file)
{
	struct json *array = table_to_json(table);
	char *text = json_write(array);

	(void)fprintf(file, "%s\n", text);
	free(text);
	json_destroy(&array);
}

void table_print(const struct table *table, const struct output *output, FILE *file)
{
	size_t widths[TABLE_COLUMN_MAX] = { 0 };

	if (output->form == OUTPUT_FORM_JSON) {
		print_json(table, file);
		return;
	}
	measure(table, widths);
	if (output->form == OUTPUT_FORM_TEXT && table->row_count > 0)
		print_heading(table, widths, file);
	for (size_t row = 0; row < table->row_count; row++)
		print_row(table, row, output->form == OUTPUT_FORM_TEXT ? widths : NULL, file);
}

void table_print_record(const struct table *table, const struct output *output, FILE *file)
{
	if (output->form != OUTPUT_FORM_TEXT) {
		table_print(table, output, file);
		return;
	}
	for (size_t column = 0; table->row_count > 0 && column < table->column_count; column++) {
		char *clean = clean_value(value_at(table, 0, column));

		(void)fprintf(file, "%-17s %s\n", table->columns[column].name, clean);
		free(clean);
	}
}
