#include <stdio.h>
#include <stdlib.h>

#include "common/base/compiler.h"
#include "ctl/table.h"
#include "tests/support/runner.h"

static const struct table_column columns[] = {
	{ "id", TABLE_KIND_TEXT },
	{ "count", TABLE_KIND_NUMBER },
	{ "is_red", TABLE_KIND_BOOL },
	{ "payload", TABLE_KIND_JSON },
};

static char *print(const struct table *table, enum output_form form)
{
	const struct output output = { .form = form };
	char *text = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&text, &size);

	ck_assert_ptr_nonnull(file);
	table_print(table, &output, file);
	(void)fclose(file);
	return text;
}

static void check_print(const struct table *table, enum output_form form, const char *expected)
{
	char *text = print(table, form);

	ck_assert_str_eq(text, expected);
	free(text);
}

static struct table *create_example(void)
{
	static const char *const first[] = { "9223372036854775807", "-12", "yes", "{\"a\":[1]}" };
	static const char *const second[] = { "a\tb\nc", NULL, "no", "broken" };
	struct table *table = table_create(columns, ARRAY_LENGTH(columns));

	table_add(table, first);
	table_add(table, second);
	return table;
}

START_TEST(an_empty_table_is_an_empty_list)
{
	struct table *table = table_create(columns, ARRAY_LENGTH(columns));

	check_print(table, OUTPUT_FORM_JSON, "[]\n");
	check_print(table, OUTPUT_FORM_PLAIN, "");
	check_print(table, OUTPUT_FORM_TEXT, "");
	table_destroy(&table);
	table_destroy(&table);
}
END_TEST

START_TEST(json_keeps_ids_as_text_and_numbers_as_numbers)
{
	struct table *table = create_example();

	check_print(table, OUTPUT_FORM_JSON,
		"[{\"id\":\"9223372036854775807\",\"count\":-12,\"is_red\":true,\"payload\":{\"a\":"
		"[1]}},{\"id\":\"a\\tb\\nc\",\"count\":null,\"is_red\":false,\"payload\":\"broken\""
		"}]\n");
	table_destroy(&table);
}
END_TEST

START_TEST(a_row_stays_one_line_whatever_it_holds)
{
	struct table *table = create_example();

	check_print(table, OUTPUT_FORM_PLAIN,
		"9223372036854775807\t-12\tyes\t{\"a\":[1]}\na?b?c\t-\tno\tbroken\n");
	check_print(table, OUTPUT_FORM_TEXT,
		"ID                   COUNT  IS RED  PAYLOAD\n"
		"9223372036854775807  -12    yes     {\"a\":[1]}\n"
		"a?b?c                -      no      broken\n");
	table_destroy(&table);
}
END_TEST

START_TEST(columns_align_by_characters_not_bytes)
{
	static const struct table_column two[] = { { "name", TABLE_KIND_TEXT },
		{ "x", TABLE_KIND_TEXT } };
	static const char *const first[] = { "\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9", "1" };
	static const char *const second[] = { "\xFF\xFF", "2" };
	struct table *table = table_create(two, ARRAY_LENGTH(two));

	table_add(table, first);
	table_add(table, second);
	check_print(table, OUTPUT_FORM_TEXT,
		"NAME   X\n"
		"\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9  1\n"
		"??     2\n");
	table_destroy(&table);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		an_empty_table_is_an_empty_list,
		json_keeps_ids_as_text_and_numbers_as_numbers,
		a_row_stays_one_line_whatever_it_holds,
		columns_align_by_characters_not_bytes,
	};

	return runner_run("table", tests, ARRAY_LENGTH(tests));
}
