#include "console/record_page.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/text.h"
#include "common/io/json.h"
#include "common/report/record.h"
#include "console/alert_page.h"
#include "console/cell.h"
#include "console/ledger.h"
#include "console/list.h"
#include "console/order_page.h"
#include "console/outbox_page.h"
#include "console/page.h"
#include "console/respond.h"
#include "console/rule_page.h"
#include "console/task_page.h"

enum {
	SCALAR_SIZE = 32,
	COLUMN_MAX = 24,
};

/* The kinds: name of the record, list it belongs to, what can be done with it. */
struct kind {
	const char *folder;
	const char *name;
	const char *title;
	void (*write_acts)(const struct visit *visit, struct html *html, const struct json *record);
};

static const struct kind kinds[] = {
	{ "/tasks", "task", PHRASE("Task"), task_page_write_acts },
	{ "/orders", "order", PHRASE("Order"), order_page_write_acts },
	{ "/outbox", "outbox", PHRASE("Outbox row"), outbox_page_write_acts },
	{ "/payments", "payment", PHRASE("Payment"), NULL },
	{ "/rules", "rule", PHRASE("Timeout rule"), rule_page_write_row_acts },
	{ "/alerts", "alert", PHRASE("Alert"), alert_page_write_row_acts },
	{ "/audit", "audit", PHRASE("Audit row"), NULL },
};

/* Where the rows of a member lead: their column id, in this folder. */
static const struct {
	const char *member;
	const char *folder;
} links[] = {
	{ "tasks", "/tasks/" },
	{ "task", "/tasks/" },
	{ "outbox", "/outbox/" },
	{ "payments", "/payments/" },
	{ "payment", "/payments/" },
	{ "rule", "/rules/" },
	{ "takes_from", "/rules/" },
	{ "loses_to", "/rules/" },
	{ "taken_over_by", "/rules/" },
	{ "alert", "/alerts/" },
	{ "audit", "/audit/" },
};

const char *record_page_text(const struct json *object, const char *key)
{
	const char *text = json_get_text(object, key);

	return text == NULL ? "" : text;
}

static const char *find_folder(const char *member)
{
	for (size_t i = 0; i < ARRAY_LENGTH(links); i++)
		if (text_equals(links[i].member, member))
			return links[i].folder;
	return NULL;
}

/* A text, a number or a truth as text; NULL for null and for what has parts. */
static const char *scalar_text(
	const struct visit *visit, const struct json *value, char buffer[SCALAR_SIZE])
{
	int64_t whole = 0;
	bool is_true = false;

	if (json_as_text(value) != NULL)
		return json_as_text(value);
	if (json_as_int(value, &whole)) {
		(void)text_format(buffer, SCALAR_SIZE, "%" PRId64, whole);
		return buffer;
	}
	if (json_as_bool(value, &is_true))
		return say(visit, is_true ? PHRASE("yes") : PHRASE("no"));
	return NULL;
}

static const char timeline[] = "timeline";
static const char why[] = "why";

struct writing {
	const struct visit *visit;
	struct html *html;
	const char *folder;  /* of the ids */
	const char *subject; /* the member the page is about */
	const char *columns[COLUMN_MAX];
	size_t column_count;
};

static void write_value(struct writing *writing, const char *name, const struct json *value)
{
	char buffer[SCALAR_SIZE];
	const char *text = scalar_text(writing->visit, value, buffer);

	if (text == NULL && (json_is_object(value) || json_is_array(value))) {
		char *whole = json_write(value);

		cell_write_long(writing->visit, writing->html, whole);
		free(whole);
	} else if (text != NULL && text_equals(name, "id") && writing->folder != NULL) {
		page_link_to(writing->visit, writing->html, writing->folder, text, text);
	} else {
		cell_write_value(writing->visit, writing->html, name, text);
	}
}

static void write_property(void *context, const char *name, const struct json *value)
{
	struct writing *writing = context;

	html_open(writing->html, "dt", HTML_END);
	page_name(writing->visit, writing->html, name);
	html_close(writing->html, "dt");
	html_open(writing->html, "dd", HTML_END);
	write_value(writing, name, value);
	html_close(writing->html, "dd");
}

static void take_column(void *context, const char *name, const struct json *value)
{
	struct writing *writing = context;

	(void)value;
	if (writing->column_count < COLUMN_MAX)
		writing->columns[writing->column_count++] = name;
}

static void write_head(struct writing *writing)
{
	html_open(writing->html, "thead", HTML_END);
	html_open(writing->html, "tr", HTML_END);
	for (size_t i = 0; i < writing->column_count; i++) {
		html_open(writing->html, "th", "scope", "col", HTML_END);
		page_name(writing->visit, writing->html, writing->columns[i]);
		html_close(writing->html, "th");
	}
	html_close(writing->html, "tr");
	html_close(writing->html, "thead");
}

/* All rows of a record have the same members. */
static void write_table(struct writing *writing, const struct json *rows)
{
	if (json_count(rows) == 0) {
		html_element(writing->html, "p", "muted", "–");
		return;
	}
	json_each(json_at(rows, 0), take_column, writing);
	html_open(writing->html, "div", "class", "wide", HTML_END);
	html_open(writing->html, "table", HTML_END);
	write_head(writing);
	html_open(writing->html, "tbody", HTML_END);
	for (size_t row = 0; row < json_count(rows); row++) {
		html_open(writing->html, "tr", HTML_END);
		for (size_t i = 0; i < writing->column_count; i++) {
			html_open(writing->html, "td", HTML_END);
			write_value(writing, writing->columns[i],
				json_get(json_at(rows, row), writing->columns[i]));
			html_close(writing->html, "td");
		}
		html_close(writing->html, "tr");
	}
	html_close(writing->html, "tbody");
	html_close(writing->html, "table");
	html_close(writing->html, "div");
}

void record_page_write(
	const struct visit *visit, struct html *html, const char *name, const struct json *value)
{
	struct writing writing = { .visit = visit, .html = html, .folder = find_folder(name) };
	char buffer[SCALAR_SIZE];

	html_open(html, "section", HTML_END);
	html_open(html, "h2", HTML_END);
	page_name(visit, html, name);
	html_close(html, "h2");
	if (json_is_array(value)) {
		write_table(&writing, value);
	} else if (json_is_object(value)) {
		html_open(html, "dl", HTML_END);
		json_each(value, write_property, &writing);
		html_close(html, "dl");
	} else {
		html_open(html, "p", HTML_END);
		const char *text = scalar_text(visit, value, buffer);

		cell_write_value(visit, html, name, text == NULL ? NULL : say(visit, text));
		html_close(html, "p");
	}
	html_close(html, "section");
}

/* What has been written before the others, which come in their own order. */
static bool is_first(const struct writing *writing, const char *name)
{
	return text_equals(name, writing->subject) || text_equals(name, timeline) ||
	       text_equals(name, why);
}

static void write_member(void *context, const char *name, const struct json *value)
{
	struct writing *writing = context;

	if (is_first(writing, name))
		return;
	record_page_write(writing->visit, writing->html, name, value);
}

struct json *record_page_read(struct visit *visit, const char *kind, const char *id)
{
	const char *unmask = visit_query(visit, "unmask");
	bool is_unmasked =
		visit->who.role == ROLE_ADMIN && unmask != NULL && text_equals(unmask, "1");
	struct json *record = NULL;
	struct error error = { .text = "" };

	struct db *db = ledger_open(visit);
	if (db == NULL)
		return NULL;
	enum result result = record_read(db, kind, id, is_unmasked, &record, &error);
	ledger_close(visit, result, &error);
	if (result != RESULT_OK) {
		respond_failure(visit, result, &error);
		return NULL;
	}
	if (is_unmasked)
		ledger_note(visit, "unmask", kind, id);
	return record;
}

static const struct kind *find_kind(const struct visit *visit)
{
	for (size_t i = 0; i < ARRAY_LENGTH(kinds); i++)
		if (text_starts_with(visit->path, kinds[i].folder))
			return &kinds[i];
	return NULL;
}

void record_page_write_now(struct visit *visit, struct html *html, struct db *db)
{
	const struct kind *kind = find_kind(visit);
	struct json *record = NULL;
	struct error error = { .text = "" };

	if (kind != NULL && visit->part[0] != '\0' &&
		record_read(db, kind->name, visit->part, false, &record, &error) == RESULT_OK) {
		html_element(html, "h2", NULL, say(visit, PHRASE("What it is now")));
		record_page_write(visit, html, kind->name, json_get(record, kind->name));
		html_element(html, "h2", NULL, say(visit, PHRASE("Acts by hand")));
		record_page_write(visit, html, "audit", json_get(record, "audit"));
	}
	json_destroy(&record);
}

void record_page_show(struct visit *visit)
{
	const struct kind *kind = find_kind(visit);

	REQUIRE(kind != NULL); /* only the routes of these kinds lead here */
	struct json *record = record_page_read(visit, kind->name, visit->part);
	if (record == NULL)
		return;
	if (visit->is_api) {
		respond_json(visit, 200, &record);
		return;
	}
	struct html *html = page_begin(visit, kind->title);
	html_element(html, "p", "subject", visit->part);
	if (kind->write_acts != NULL)
		kind->write_acts(visit, html, record);
	struct writing writing = { .visit = visit, .html = html, .subject = kind->name };
	if (json_get_text(record, why) != NULL)
		html_element(html, "p", NULL, say(visit, json_get_text(record, why)));
	record_page_write(visit, html, kind->name, json_get(record, kind->name));
	if (json_get(record, timeline) != NULL)
		record_page_write(visit, html, timeline, json_get(record, timeline));
	json_each(record, write_member, &writing);
	html_open(html, "p", "class", "on", HTML_END);
	char path[VISIT_PATH_SIZE + 16];
	(void)text_format(path, sizeof(path), "/api/v1%s", visit->path);
	page_link(visit, html, path, say(visit, PHRASE("As JSON")));
	html_close(html, "p");
	page_end(visit, 200, &html);
	json_destroy(&record);
}
