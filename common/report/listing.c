#include "common/report/listing.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/json.h"
#include "common/report/listing_place.h"
#include "common/report/listing_time.h"

enum {
	COLUMNS_SIZE = 4096,
	PAGE_SQL_SIZE = 8192,
	NUMBER_SIZE = 24,
};

static const struct listing_kind *const kinds[] = { &listing_tasks, &listing_orders,
	&listing_outbox, &listing_payments, &listing_rules, &listing_alerts, &listing_audit };

const char *const listing_kind_names[] = { "tasks", "orders", "outbox", "payments", "rules",
	"alerts", "audit", NULL };

_Static_assert(
	ARRAY_LENGTH(listing_kind_names) == ARRAY_LENGTH(kinds) + 1, "each kind has its name");

struct listing_page {
	const struct listing_kind *kind;
	char **cells; /* row by row; NULL: SQL NULL */
	size_t row_count;
	char next[LISTING_CURSOR_SIZE];
	char words[LISTING_WORDS_SIZE];
};

const struct listing_kind *listing_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LENGTH(kinds); i++)
		if (text_equals(kinds[i]->name, name))
			return kinds[i];
	return NULL;
}

const char *listing_name(const struct listing_kind *kind)
{
	return kind->name;
}

const struct listing_column *listing_columns(const struct listing_kind *kind, size_t *count_out)
{
	*count_out = kind->column_count;
	return kind->columns;
}

const struct listing_filter *listing_filters(const struct listing_kind *kind, size_t *count_out)
{
	*count_out = kind->filter_count;
	return kind->filters;
}

enum result listing_check(
	const struct listing_kind *kind, const struct listing_request *request, struct error *error)
{
	struct listing_query query;

	return listing_query_read(kind, request, &query, error);
}

/* ---- a page */

static size_t find_column(const struct listing_kind *kind, const char *name)
{
	size_t i = 0;

	while (i < kind->column_count && !text_equals(kind->columns[i].name, name))
		i++;
	REQUIRE(i < kind->column_count);
	return i;
}

static void take_row(struct listing_page *page, const struct db_rows *rows)
{
	size_t count = page->kind->column_count;
	char **cells = &page->cells[page->row_count++ * count];

	for (size_t i = 0; i < count; i++)
		if (!db_rows_is_null(rows, i))
			cells[i] = memory_copy_text(db_rows_text(rows, i, NULL));
}

/* The last row that is shown says where the next page begins. */
static void note_next(struct listing_page *page, const struct listing_query *query, size_t stage)
{
	const struct listing_kind *kind = page->kind;
	char *const *cells = &page->cells[(page->row_count - 1) * kind->column_count];
	const char *key = cells[find_column(kind, query->stages[stage].order->shown)];
	const char *id = cells[find_column(kind, "id")];

	if (key != NULL && id != NULL)
		listing_place_write(query, stage, key, id, page->next);
}

static void write_columns(const struct listing_kind *kind, char columns[COLUMNS_SIZE])
{
	size_t used = 0;

	for (size_t i = 0; i < kind->column_count; i++) {
		REQUIRE(text_format(columns + used, COLUMNS_SIZE - used, "%s%s", i == 0 ? "" : ", ",
			kind->columns[i].sql));
		used += strlen(columns + used);
	}
}

static enum result read_stage(struct db *db, const struct listing_query *query, size_t stage,
	struct db_rows **rows_out, struct error *error)
{
	struct db_param params[LISTING_PARAM_MAX];
	char choice[LISTING_CHOICE_SIZE];
	char columns[COLUMNS_SIZE];
	char sort[LISTING_SORT_SIZE];
	char sql[PAGE_SQL_SIZE];
	size_t count = listing_place_choose(query, stage, choice, params);

	/* One more than is shown says whether there is a next page. */
	params[count++] = db_uint(query->limit + 1);
	write_columns(query->kind, columns);
	listing_place_sort(query->stages[stage].order, "x", sort);
	REQUIRE(text_format(sql, sizeof(sql),
		"%s" LISTING_TIME_SELECT "%s FROM (%s) k JOIN %s x ON x.id = k.id%s",
		listing_time_start(db), columns, choice, query->kind->table, sort));
	return listing_time_explain(
		db, db_query(db, sql, params, count, rows_out, error), query->kind->name, error);
}

static enum result read_stages(struct db *db, const struct listing_query *query,
	struct listing_page *page, struct error *error)
{
	size_t shown_stage = query->first_stage;

	for (size_t stage = query->first_stage; stage < query->stage_count; stage++) {
		struct db_rows *rows = NULL;
		enum result result = read_stage(db, query, stage, &rows, error);

		if (result != RESULT_OK && result != RESULT_NONE)
			return result;
		while (page->row_count < query->limit && db_rows_next(rows)) {
			take_row(page, rows);
			shown_stage = stage;
		}
		bool has_more = db_rows_next(rows);
		db_rows_destroy(&rows);
		if (has_more) {
			note_next(page, query, shown_stage);
			return RESULT_OK;
		}
	}
	return RESULT_OK;
}

/* ---- what is counted for all rows together */

struct listing_counts {
	const struct listing_tally *tally;
	void *counts;
};

enum result listing_counts_read(struct db *db, const struct listing_kind *kind,
	struct listing_counts **counts_out, struct error *error)
{
	void *counts = NULL;

	*counts_out = NULL;
	if (kind->tally == NULL)
		return RESULT_OK;
	enum result result = kind->tally->read(db, &counts, error);
	if (result != RESULT_OK)
		return result;
	*counts_out = memory_allocate(sizeof(**counts_out));
	**counts_out = (struct listing_counts){ kind->tally, counts };
	return RESULT_OK;
}

void listing_counts_destroy(struct listing_counts **counts)
{
	if (*counts == NULL)
		return;
	(*counts)->tally->destroy(&(*counts)->counts);
	free(*counts);
	*counts = NULL;
}

static void fill_in_counts(struct listing_page *page, const struct listing_counts *counts)
{
	const struct listing_kind *kind = page->kind;
	char text[NUMBER_SIZE];
	uint64_t id = 0;
	uint64_t count = 0;

	if (counts == NULL)
		return;
	size_t id_column = find_column(kind, "id");
	size_t column = find_column(kind, counts->tally->column);
	for (size_t row = 0; row < page->row_count; row++) {
		char **cells = &page->cells[row * kind->column_count];

		if (cells[id_column] == NULL ||
			!text_parse_uint(cells[id_column], 0, UINT64_MAX, &id) ||
			!counts->tally->find(counts->counts, id, &count))
			continue;
		(void)text_format(text, sizeof(text), "%" PRIu64, count);
		cells[column] = memory_copy_text(text);
	}
}

enum result listing_read_counted(struct db *db, const struct listing_kind *kind,
	const struct listing_request *request, const struct listing_counts *counts,
	struct listing_page **page_out, struct error *error)
{
	struct listing_query query;
	enum result result = listing_query_read(kind, request, &query, error);

	*page_out = NULL;
	if (result != RESULT_OK)
		return result;
	struct listing_page *page = memory_allocate(sizeof(*page));
	page->kind = kind;
	page->cells = memory_allocate_array(
		(size_t)query.limit * kind->column_count, sizeof(*page->cells));
	(void)text_copy(page->words, sizeof(page->words), query.words);
	result = read_stages(db, &query, page, error);
	if (result == RESULT_OK) {
		fill_in_counts(page, counts);
		*page_out = page;
	} else {
		listing_page_destroy(&page);
	}
	return result;
}

enum result listing_read(struct db *db, const struct listing_kind *kind,
	const struct listing_request *request, struct listing_page **page_out, struct error *error)
{
	struct listing_counts *counts = NULL;
	enum result result = listing_check(kind, request, error);

	*page_out = NULL;
	if (result == RESULT_OK)
		result = listing_counts_read(db, kind, &counts, error);
	if (result == RESULT_OK)
		result = listing_read_counted(db, kind, request, counts, page_out, error);
	listing_counts_destroy(&counts);
	return result;
}

void listing_page_destroy(struct listing_page **page)
{
	if (*page == NULL)
		return;
	for (size_t i = 0; i < (*page)->row_count * (*page)->kind->column_count; i++)
		free((*page)->cells[i]);
	free((*page)->cells);
	free(*page);
	*page = NULL;
}

size_t listing_page_count(const struct listing_page *page)
{
	return page->row_count;
}

const char *listing_page_value(const struct listing_page *page, size_t row, size_t column)
{
	REQUIRE(row < page->row_count && column < page->kind->column_count);
	return page->cells[row * page->kind->column_count + column];
}

const char *listing_page_named(const struct listing_page *page, size_t row, const char *name)
{
	return listing_page_value(page, row, find_column(page->kind, name));
}

const char *listing_page_next(const struct listing_page *page)
{
	return page->next;
}

const char *listing_page_words(const struct listing_page *page)
{
	return page->words;
}

static void set_value(struct json *object, const struct listing_column *column, const char *value)
{
	int64_t number = 0;

	switch (column->type) {
	case LISTING_TYPE_NUMBER:
	case LISTING_TYPE_COUNT:
		if (value == NULL)
			break;
		number = strtoll(value, NULL, 10); /* the server wrote it */
		json_set_int(object, column->name, number);
		return;
	case LISTING_TYPE_BOOL:
		json_set_bool(object, column->name, value != NULL && text_equals(value, "1"));
		return;
	case LISTING_TYPE_TEXT:
	case LISTING_TYPE_TIME:
	case LISTING_TYPE_ID:
		break;
	}
	json_set_text(object, column->name, value);
}

struct json *listing_page_to_json(const struct listing_page *page)
{
	struct json *array = json_create_array();

	for (size_t row = 0; row < page->row_count; row++) {
		struct json *object = json_create_object();

		for (size_t i = 0; i < page->kind->column_count; i++)
			set_value(
				object, &page->kind->columns[i], listing_page_value(page, row, i));
		json_append_adopt(array, &object);
	}
	return array;
}
