#include "console/flash.h"

#include "common/base/text.h"
#include "common/io/db.h"
#include "common/io/json.h"
#include "common/report/record.h"
#include "common/service/database.h"
#include "console/page.h"

static const char *text_of(const struct json *row, const char *key)
{
	const char *text = json_get_text(row, key);

	return text == NULL ? "" : text;
}

static void write_row(struct visit *visit, struct html *html, const struct json *row)
{
	const char *result = text_of(row, "result");
	bool is_done = text_equals(result, "ok");

	html_open(html, "p", "class", is_done ? "notice good" : "notice bad", "role", "status",
		"id", "flash", HTML_END);
	html_open(html, "strong", HTML_END);
	html_textf(html, "%s %s %s", text_of(row, "action"), text_of(row, "target_type"),
		text_of(row, "target_id"));
	html_close(html, "strong");
	html_textf(html, ": %s. ", result);
	if (!is_done)
		html_textf(html, "%s ", text_of(row, "error"));
	page_link_to(visit, html, "/audit/", text_of(row, "id"), say(visit, PHRASE("Audit row")));
	html_textf(
		html, " %s, %s, %s", text_of(row, "id"), text_of(row, "actor"), text_of(row, "at"));
	html_close(html, "p");
}

void flash_write(struct visit *visit, struct html *html)
{
	const char *id = visit_query(visit, "audit");
	struct json *record = NULL;
	struct error error = { .text = "" };

	if (id == NULL || !visit->is_welcome || !database_is_there(visit->context->database))
		return;
	if (record_read(database_db(visit->context->database), "audit", id, false, &record,
		    &error) == RESULT_OK)
		write_row(visit, html, json_get(record, "audit"));
	json_destroy(&record);
}
