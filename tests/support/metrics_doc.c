#include "tests/support/metrics_doc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "common/base/compiler.h"
#include "common/base/memory.h"
#include "common/base/text.h"

enum {
	ROW_MAX = 128,
	LABEL_MAX = 4,
	VALUE_MAX = 48,
	WORD_SIZE = 96,
	LINE_SIZE = 1024,
	SERIES_SIZE = 512,
};

struct label {
	char name[WORD_SIZE];
	bool is_any; /* values come from settings */
	char values[VALUE_MAX][WORD_SIZE];
	size_t value_count;
};

struct row {
	char name[WORD_SIZE];
	char type[WORD_SIZE];
	bool is_optional;
	struct label labels[LABEL_MAX];
	size_t label_count;
	char programs[LINE_SIZE]; /* with blanks around each */
};

struct metrics_doc {
	struct row rows[ROW_MAX];
	size_t row_count;
};

/* ---- reading the document */

/* The next column of a table row, without its blanks; moves on behind it. */
static void take_column(const char **rest, char column[LINE_SIZE])
{
	const char *begin = *rest + strspn(*rest, " ");
	const char *end = strchr(begin, '|');

	ck_assert_ptr_nonnull(end);
	*rest = end + 1;
	while (end > begin && end[-1] == ' ')
		end--;
	ck_assert_uint_lt((size_t)(end - begin), LINE_SIZE);
	memcpy(column, begin, (size_t)(end - begin));
	column[end - begin] = '\0';
}

static void add_value(struct label *label, const char *value, size_t size)
{
	ck_assert(label->value_count < VALUE_MAX && size < WORD_SIZE);
	memcpy(label->values[label->value_count++], value, size);
}

/* `reason`=timeout,user_cancel `target`=* */
static void read_labels(struct row *row, const char *column)
{
	for (const char *at = strchr(column, '`'); at != NULL; at = strchr(at, '`')) {
		ck_assert_uint_lt(row->label_count, LABEL_MAX);
		struct label *label = &row->labels[row->label_count++];
		size_t size = strcspn(++at, "`");

		memcpy(label->name, at, size);
		at += size;
		ck_assert_msg(text_starts_with(at, "`="), "%s: %s", row->name, column);
		at += 2;
		label->is_any = *at == '*';
		while (!label->is_any && *at != '\0' && *at != ' ') {
			size = strcspn(at, ", ");
			add_value(label, at, size);
			at += size + (at[size] == ',' ? 1 : 0);
		}
	}
}

static void read_row(struct metrics_doc *doc, const char *line)
{
	struct row *row = &doc->rows[doc->row_count++];
	char column[LINE_SIZE];
	const char *rest = line + 1;

	ck_assert_uint_le(doc->row_count, ROW_MAX);
	take_column(&rest, column);
	row->is_optional = strstr(column, "(when known)") != NULL;
	memcpy(row->name, column + 1, strcspn(column + 1, "`"));
	take_column(&rest, column);
	(void)text_copy(row->type, sizeof(row->type), column);
	take_column(&rest, column);
	read_labels(row, column);
	take_column(&rest, column);
	(void)text_format(row->programs, sizeof(row->programs), " %s ", column);
}

void metrics_doc_create(struct metrics_doc **doc_out)
{
	struct metrics_doc *doc = memory_allocate(sizeof(*doc));
	FILE *file = fopen(TEST_SOURCE_DIR "/docs/metrics.md", "re");
	char line[LINE_SIZE];

	ck_assert_ptr_nonnull(file);
	/* The table of buckets has other columns. */
	while (fgets(line, sizeof(line), file) != NULL && !text_starts_with(line, "## Buckets"))
		if (text_starts_with(line, "| `"))
			read_row(doc, line);
	(void)fclose(file);
	ck_assert_uint_gt(doc->row_count, 0);
	*doc_out = doc;
}

void metrics_doc_destroy(struct metrics_doc **doc)
{
	free(*doc);
	*doc = NULL;
}

/* ---- looking at a page */

/* The next line that begins with text, behind at; NULL: none. */
static const char *find_line(const char *at, const char *text)
{
	while (at != NULL && !text_starts_with(at, text)) {
		at = strchr(at, '\n');
		at = at == NULL ? NULL : at + 1;
	}
	return at;
}

static size_t count_lines(const char *page, const char *text)
{
	size_t count = 0;

	for (const char *line = find_line(page, text); line != NULL;
		line = find_line(line + 1, text))
		count++;
	return count;
}

static const char *sample_ending(const struct row *row)
{
	return text_equals(row->type, "histogram") ? "_count" : "";
}

size_t metrics_doc_count(const char *page, const char *family)
{
	char text[LINE_SIZE];

	(void)text_format(text, sizeof(text), "%s{", family);
	size_t count = count_lines(page, text);
	(void)text_format(text, sizeof(text), "%s ", family);
	return count + count_lines(page, text);
}

static bool is_of(const struct row *row, const char *program)
{
	char word[WORD_SIZE];

	(void)text_format(word, sizeof(word), " %s ", program);
	return strstr(row->programs, word) != NULL || text_equals(row->programs, " all ");
}

/* Has one of the labels only values that the document does not list? */
static bool is_open(const struct row *row)
{
	for (size_t i = 0; i < row->label_count; i++)
		if (row->labels[i].is_any)
			return true;
	return false;
}

/* The number-th combination of the values of all labels, as it stands on the page. */
static void write_series(const struct row *row, size_t number, char series[SERIES_SIZE])
{
	size_t places[LABEL_MAX] = { 0 };

	for (size_t i = row->label_count; i-- > 0;) {
		ck_assert_uint_gt(row->labels[i].value_count, 0);
		places[i] = number % row->labels[i].value_count;
		number /= row->labels[i].value_count;
	}
	(void)text_format(series, SERIES_SIZE, "%s%s%s", row->name, sample_ending(row),
		row->label_count > 0 ? "{" : " ");
	for (size_t i = 0; i < row->label_count; i++) {
		size_t length = strlen(series);

		(void)text_format(series + length, SERIES_SIZE - length, "%s%s=\"%s\"%s",
			i > 0 ? "," : "", row->labels[i].name, row->labels[i].values[places[i]],
			i + 1 == row->label_count ? "} " : "");
	}
}

static void check_combinations(const struct row *row, const char *page)
{
	char series[SERIES_SIZE];
	char family[WORD_SIZE];
	size_t expected = 1;

	(void)text_format(family, sizeof(family), "%s%s", row->name, sample_ending(row));
	for (size_t i = 0; i < row->label_count; i++)
		expected *= row->labels[i].value_count;
	for (size_t i = 0; i < expected; i++) {
		write_series(row, i, series);
		ck_assert_msg(count_lines(page, series) == 1, "no series %s", series);
	}
	ck_assert_msg(metrics_doc_count(page, family) == expected, "%s has %zu series, not %zu",
		family, metrics_doc_count(page, family), expected);
}

/* Different values of a label among the series of a family. */
static size_t count_values(const char *page, const char *family, const char *label)
{
	char seen[VALUE_MAX * 4][WORD_SIZE];
	char start[SERIES_SIZE];
	char word[WORD_SIZE];
	size_t count = 0;

	(void)text_format(start, sizeof(start), "%s{", family);
	(void)text_format(word, sizeof(word), "%s=\"", label);
	for (const char *line = find_line(page, start); line != NULL;
		line = find_line(line + 1, start)) {
		const char *value = strstr(line, word);
		size_t known = 0;

		ck_assert_msg(value != NULL && value < strchr(line, '\n'), "%s without %s", family,
			label);
		value += strlen(word);
		while (known < count && (strncmp(seen[known], value, strlen(seen[known])) != 0 ||
						value[strlen(seen[known])] != '"'))
			known++;
		if (known < count)
			continue;
		ck_assert_uint_lt(count, ARRAY_LENGTH(seen));
		(void)text_format(
			seen[count++], WORD_SIZE, "%.*s", (int)strcspn(value, "\""), value);
	}
	return count;
}

/* Values come from settings, but all combinations of those are there. */
static void check_product(const struct row *row, const char *page)
{
	char family[WORD_SIZE];
	size_t product = 1;

	(void)text_format(family, sizeof(family), "%s%s", row->name, sample_ending(row));
	for (size_t i = 0; i < row->label_count; i++)
		product *= count_values(page, family, row->labels[i].name);
	ck_assert_msg(row->is_optional || metrics_doc_count(page, family) == product,
		"%s has %zu series, not %zu", family, metrics_doc_count(page, family), product);
}

static void check_row(const struct row *row, const char *page)
{
	char head[SERIES_SIZE];

	(void)text_format(head, sizeof(head), "# TYPE %s %s\n", row->name, row->type);
	size_t count = count_lines(page, head);
	if (count == 0 && row->is_optional)
		return;
	ck_assert_msg(count == 1, "%zu times %s", count, head);
	(void)text_format(head, sizeof(head), "# HELP %s ", row->name);
	ck_assert_msg(count_lines(page, head) == 1, "no %s", head);
	if (is_open(row))
		check_product(row, page);
	else
		check_combinations(row, page);
}

static bool is_known(const struct metrics_doc *doc, const char *program, const char *name)
{
	for (size_t i = 0; i < doc->row_count; i++)
		if (text_equals(doc->rows[i].name, name) && is_of(&doc->rows[i], program))
			return true;
	return false;
}

void metrics_doc_check(const struct metrics_doc *doc, const char *program, const char *page)
{
	static const char type[] = "# TYPE ";

	for (size_t i = 0; i < doc->row_count; i++)
		if (is_of(&doc->rows[i], program))
			check_row(&doc->rows[i], page);
	for (const char *line = find_line(page, type); line != NULL;
		line = find_line(line + 1, type)) {
		const char *begin = line + strlen(type);
		char name[WORD_SIZE];

		(void)text_format(name, sizeof(name), "%.*s", (int)strcspn(begin, " "), begin);
		ck_assert_msg(is_known(doc, program, name), "docs/metrics.md knows no %s of %s",
			name, program);
	}
}
