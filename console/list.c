#include "console/list.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/text.h"
#include "common/io/json.h"
#include "common/service/database.h"
#include "console/buffer.h"
#include "console/ledger.h"
#include "console/list_page.h"
#include "console/respond.h"

static void answer_json(struct visit *visit, const struct listing_page *page)
{
	struct json *root = json_create_object();
	struct json *rows = listing_page_to_json(page);
	const char *next = listing_page_next(page);

	json_adopt(root, "rows", &rows);
	json_set_text(root, "next", next[0] == '\0' ? NULL : next);
	json_set_text(root, "filter", listing_page_words(page));
	respond_json(visit, 200, &root);
}

/* A wrong filter is told with the allowed ones; nobody is asked. */
static bool read_request(
	struct visit *visit, const struct listing_kind *kind, struct list_request *request)
{
	struct error error = { .text = "" };
	enum result result = list_read_request(visit, request, &error);

	if (result == RESULT_OK)
		result = listing_check(kind, &request->request, &error);
	if (result != RESULT_OK)
		respond_problem(visit, 400, PHRASE("This filter cannot be."), error.text);
	return result == RESULT_OK;
}

void list_show(struct visit *visit)
{
	const struct list_view *view = list_find(visit);
	const struct listing_kind *kind = listing_find(view->kind);
	struct list_request request;
	struct listing_page *page = NULL;
	struct error error = { .text = "" };

	if (!read_request(visit, kind, &request))
		return;
	if (!visit->is_api && !database_is_there(visit->context->database)) {
		list_page_answer_unknown(
			visit, view, &request, database_trouble(visit->context->database));
		return;
	}
	struct db *db = ledger_open(visit);
	if (db == NULL)
		return;
	enum result result = listing_read(db, kind, &request.request, &page, &error);
	ledger_close(visit, result, &error);
	if (result == RESULT_OK && visit->is_api)
		answer_json(visit, page);
	else if (result == RESULT_OK)
		list_page_answer(visit, view, &request, page);
	else if (result == RESULT_TEMPORARY && !visit->is_api)
		list_page_answer_unknown(visit, view, &request, error.text);
	else
		respond_failure(visit, result, &error);
	listing_page_destroy(&page);
}

struct export_file {
	struct buffer text;
	const struct listing_column *columns;
	size_t column_count;
	bool is_csv;
};

/* A table program takes what begins with these for a formula. */
static void add_csv_cell(
	struct buffer *buffer, const struct listing_column *column, const char *value)
{
	bool is_text = column->type == LISTING_TYPE_TEXT;

	buffer_add_text(buffer, "\"");
	if (is_text && value != NULL && value[0] != '\0' && strchr("=+-@\t\r", value[0]) != NULL)
		buffer_add_text(buffer, "'");
	for (const char *place = value == NULL ? "" : value; *place != '\0'; place++)
		buffer_add(buffer, *place == '"' ? "\"\"" : place, *place == '"' ? 2 : 1);
	buffer_add_text(buffer, "\"");
}

static void add_csv_rows(struct export_file *export, const struct listing_page *page)
{
	for (size_t row = 0; row < listing_page_count(page); row++) {
		for (size_t i = 0; i < export->column_count; i++) {
			if (i > 0)
				buffer_add_text(&export->text, ",");
			add_csv_cell(&export->text, &export->columns[i],
				listing_page_value(page, row, i));
		}
		buffer_add_text(&export->text, "\r\n");
	}
}

static void add_json_rows(struct export_file *export, const struct listing_page *page)
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

static enum result take_page(void *context, const struct listing_page *page, struct error *error)
{
	struct export_file *export = context;

	(void)error;
	if (export->is_csv)
		add_csv_rows(export, page);
	else
		add_json_rows(export, page);
	return RESULT_OK;
}

static void add_csv_head(struct export_file *export)
{
	for (size_t i = 0; i < export->column_count; i++) {
		buffer_add_text(&export->text, i == 0 ? "" : ",");
		buffer_add_text(&export->text, export->columns[i].name);
	}
	buffer_add_text(&export->text, "\r\n");
}

static void answer_export(
	struct visit *visit, const struct list_view *view, struct export_file *export, bool is_cut)
{
	char disposition[64];
	size_t size = 0;
	char *text = buffer_take(&export->text, &size);

	(void)text_format(disposition, sizeof(disposition), "attachment; filename=\"%s.%s\"",
		view->kind, export->is_csv ? "csv" : "jsonl");
	httpd_add_header(visit->answer, "Content-Disposition", disposition);
	httpd_add_header(visit->answer, "X-Lapse-Cut", is_cut ? "true" : "false");
	respond_text(visit, 200,
		export->is_csv ? "text/csv; charset=utf-8" : "application/jsonl; charset=utf-8",
		text, size);
}

static void note_export(
	struct visit *visit, const struct list_view *view, const struct list_request *request)
{
	struct buffer filter = { .text = NULL };

	list_add_address(view->path, request, &filter);
	ledger_note(visit, "export", view->kind, buffer_text(&filter));
	buffer_clear(&filter);
}

void list_export(struct visit *visit)
{
	const struct list_view *view = list_find(visit);
	const struct listing_kind *kind = listing_find(view->kind);
	const char *format = visit_query(visit, "format");
	struct export_file export = { .is_csv = format == NULL || text_equals(format, "csv") };
	struct list_request request;
	struct error error = { .text = "" };
	bool is_cut = false;

	if (!export.is_csv && !text_equals(format, "jsonl")) {
		respond_problem(visit, 400, PHRASE("This filter cannot be."), "format: csv, jsonl");
		return;
	}
	if (!read_request(visit, kind, &request))
		return;
	struct db *db = ledger_open(visit);
	if (db == NULL)
		return;
	export.columns = listing_columns(kind, &export.column_count);
	if (export.is_csv)
		add_csv_head(&export);
	const struct listing_taker taker = { take_page, &export };
	enum result result = listing_export(db, kind, &request.request, &taker, &is_cut, &error);
	ledger_close(visit, result, &error);
	if (result == RESULT_OK) {
		note_export(visit, view, &request);
		answer_export(visit, view, &export, is_cut);
	} else {
		respond_failure(visit, result, &error);
	}
	buffer_clear(&export.text);
}
