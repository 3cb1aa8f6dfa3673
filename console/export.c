#include "console/export.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/json.h"
#include "common/report/listing.h"
#include "common/service/database.h"
#include "console/buffer.h"
#include "console/ledger.h"
#include "console/list.h"
#include "console/respond.h"

enum {
	PART_ROWS = 100,
	DISPOSITION_SIZE = 64,
};

/* One that is under way; nothing of it is borrowed from the visit, which has ended. */
struct export
{
	struct database *database;
	const struct listing_kind *kind;
	struct form *filter;
	struct listing_counts *counts; /* of all rows, counted before the first */
	char after[LISTING_CURSOR_SIZE];
	bool is_csv;
	bool is_last;       /* nothing comes behind text */
	size_t count;       /* rows so far */
	struct buffer text; /* of the rows that are being sent */
	size_t sent;        /* bytes of it */
};

/* A table program takes what begins with these for a formula. */
static void add_csv_cell(
	struct buffer *buffer, const struct listing_column *column, const char *value)
{
	bool is_text = column->type == LISTING_TYPE_TEXT;

	/* An empty cell would be read as 0 in a sum. */
	if (value == NULL && column->type == LISTING_TYPE_COUNT)
		value = "unknown";
	buffer_add_text(buffer, "\"");
	if (is_text && value != NULL && value[0] != '\0' && strchr("=+-@\t\r", value[0]) != NULL)
		buffer_add_text(buffer, "'");
	for (const char *place = value == NULL ? "" : value; *place != '\0'; place++)
		buffer_add(buffer, *place == '"' ? "\"\"" : place, *place == '"' ? 2 : 1);
	buffer_add_text(buffer, "\"");
}

static void add_csv_rows(struct export *export, const struct listing_page *page)
{
	size_t column_count = 0;
	const struct listing_column *columns = listing_columns(export->kind, &column_count);

	for (size_t row = 0; row < listing_page_count(page); row++) {
		for (size_t i = 0; i < column_count; i++) {
			if (i > 0)
				buffer_add_text(&export->text, ",");
			add_csv_cell(&export->text, &columns[i], listing_page_value(page, row, i));
		}
		buffer_add_text(&export->text, "\r\n");
	}
}

static void add_csv_head(struct export *export)
{
	size_t column_count = 0;
	const struct listing_column *columns = listing_columns(export->kind, &column_count);

	for (size_t i = 0; i < column_count; i++) {
		buffer_add_text(&export->text, i == 0 ? "" : ",");
		buffer_add_text(&export->text, columns[i].name);
	}
	buffer_add_text(&export->text, "\r\n");
}

static void add_json_rows(struct export *export, const struct listing_page *page)
{
	struct json *rows = listing_page_to_json(page);

	for (size_t row = 0; row < json_count(rows); row++) {
		char *line = json_write(json_at(rows, row));

		buffer_add_text(&export->text, line);
		buffer_add_text(&export->text, "\n");
		free(line);
	}
	json_destroy(&rows);
}

static enum result read_part(struct export *export, struct error *error)
{
	struct listing_value values[LIST_VALUE_MAX];
	const struct listing_request request = { .values = values,
		.value_count = form_count(export->filter),
		.after = export->after,
		.limit = PART_ROWS };
	struct db *db = database_db(export->database);
	struct listing_page *page = NULL;

	for (size_t i = 0; i < request.value_count; i++)
		values[i] = (struct listing_value){ form_name_at(export->filter, i),
			form_value_at(export->filter, i) };
	enum result result =
		listing_read_counted(db, export->kind, &request, export->counts, &page, error);

	if (result != RESULT_OK)
		return result;
	if (export->is_csv)
		add_csv_rows(export, page);
	else
		add_json_rows(export, page);
	(void)text_copy(export->after, sizeof(export->after), listing_page_next(page));
	export->count += listing_page_count(page);
	export->is_last = export->after[0] == '\0' || export->count >= EXPORT_ROW_MAX;
	listing_page_destroy(&page);
	return RESULT_OK;
}

/* Everything of the part before has been sent. */
static enum result read_next_part(struct export *export)
{
	struct error error = { .text = "" };
	enum result result = RESULT_TEMPORARY;

	buffer_clear(&export->text);
	export->sent = 0;
	if (database_is_there(export->database))
		result = read_part(export, &error);
	if (result == RESULT_TEMPORARY && !db_is_connected(database_db(export->database)))
		database_note(export->database, result, &error);
	if (result != RESULT_OK)
		log_warn(log_event("export_broken"), log_text("kind", listing_name(export->kind)),
			log_uint("rows", export->count),
			log_text("error", error.text[0] == '\0' ? database_trouble(export->database)
								: error.text));
	return result;
}

static long read_bytes(void *context, char *bytes_out, size_t size)
{
	struct export *export = context;

	while (export->sent == export->text.size) {
		if (export->is_last)
			return 0;
		if (read_next_part(export) != RESULT_OK)
			return HTTPD_SOURCE_BROKEN;
	}
	size_t left = export->text.size - export->sent;
	size_t count = left < size ? left : size;
	memcpy(bytes_out, export->text.text + export->sent, count);
	export->sent += count;
	return (long)count;
}

static void destroy(void *context)
{
	struct export *export = context;

	form_destroy(&export->filter);
	listing_counts_destroy(&export->counts);
	buffer_clear(&export->text);
	free(export);
}

static struct export *create(const struct visit *visit, const struct listing_kind *kind,
	const struct list_request *request)
{
	struct export *export = memory_allocate(sizeof(*export));
	const char *format = visit_query(visit, "format");

	export->database = visit->context->database;
	export->kind = kind;
	export->is_csv = format == NULL || text_equals(format, "csv");
	form_create(&export->filter);
	for (size_t i = 0; i < request->request.value_count; i++)
		form_add(export->filter, request->values[i].name, request->values[i].value);
	if (request->request.after != NULL)
		(void)text_copy(export->after, sizeof(export->after), request->request.after);
	return export;
}

/* Before the first row leaves the house. */
static void note_export(
	struct visit *visit, const struct list_view *view, const struct list_request *request)
{
	struct buffer filter = { .text = NULL };

	list_add_address(view->path, request, &filter);
	ledger_note(visit, "export", view->kind, buffer_text(&filter));
	buffer_clear(&filter);
}

static void answer(struct visit *visit, const struct list_view *view, struct export *export)
{
	char disposition[DISPOSITION_SIZE];

	(void)text_format(disposition, sizeof(disposition), "attachment; filename=\"%s.%s\"",
		view->kind, export->is_csv ? "csv" : "jsonl");
	httpd_add_header(visit->answer, "Content-Disposition", disposition);
	visit->answer->status = 200;
	visit->answer->content_type =
		export->is_csv ? "text/csv; charset=utf-8" : "application/jsonl; charset=utf-8";
	visit->answer->source = (struct httpd_source){ read_bytes, destroy, export };
}

/* The first part is read at once, so that most of what may go wrong is told with its status. */
void export_send(struct visit *visit)
{
	const struct list_view *view = list_find(visit);
	const struct listing_kind *kind = listing_find(view->kind);
	const char *format = visit_query(visit, "format");
	struct list_request request;
	struct error error = { .text = "" };

	if (format != NULL && !text_equals(format, "csv") && !text_equals(format, "jsonl")) {
		respond_problem(visit, 400, PHRASE("This filter cannot be."), "format: csv, jsonl");
		return;
	}
	if (!list_read_and_check(visit, kind, &request) || ledger_open(visit) == NULL)
		return;
	struct export *export = create(visit, kind, &request);
	if (export->is_csv)
		add_csv_head(export);
	enum result result =
		listing_counts_read(database_db(export->database), kind, &export->counts, &error);
	if (result == RESULT_OK)
		result = read_part(export, &error);
	ledger_close(visit, result, &error);
	if (result != RESULT_OK) {
		destroy(export);
		respond_failure(visit, result, &error);
		return;
	}
	note_export(visit, view, &request);
	answer(visit, view, export);
}
