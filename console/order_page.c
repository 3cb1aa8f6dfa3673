#include "console/order_page.h"

#include "common/base/moment.h"
#include "common/base/text.h"
#include "common/io/json.h"
#include "common/order/act_order.h"
#include "common/order/extension.h"
#include "common/report/close_report.h"
#include "console/acts.h"
#include "console/ledger.h"
#include "console/page.h"
#include "console/record_page.h"
#include "console/respond.h"

enum {
	PATH_SIZE = 128
};

static void format_path(const struct visit *visit, const char *ending, char path[PATH_SIZE])
{
	(void)text_format(path, PATH_SIZE, "/orders/%s%s", visit->part, ending);
}

void order_page_write_acts(const struct visit *visit, struct html *html, const struct json *record)
{
	const struct json *order = json_get(record, "order");
	char path[PATH_SIZE];

	if (!visit_may(visit, ROLE_OPERATOR) ||
		!text_equals(record_page_text(order, "status"), "UNPAID"))
		return;
	html_open(html, "p", "class", "acts", HTML_END);
	format_path(visit, "/close", path);
	acts_write_link(visit, html, path, PHRASE("Close by hand…"));
	format_path(visit, "/extend", path);
	acts_write_link(visit, html, path, PHRASE("Move the deadline…"));
	html_close(html, "p");
}

/* The head of both pages; NULL: the visit has been answered. */
static struct html *begin(struct visit *visit, const char *title)
{
	struct json *record = record_page_read(visit, "order", visit->part);

	if (record == NULL)
		return NULL;
	struct html *html = page_begin(visit, title);
	record_page_write(visit, html, "order", json_get(record, "order"));
	record_page_write(visit, html, "items", json_get(record, "items"));
	json_destroy(&record);
	return html;
}

void order_page_ask_close(struct visit *visit)
{
	struct html *html = begin(visit, PHRASE("Close an order by hand"));
	char path[PATH_SIZE];

	if (html == NULL)
		return;
	page_element(visit, html, "p", NULL,
		PHRASE("The stock of these items is given back. A payment that is already on its "
		       "way will be refunded. This cannot be taken back."));
	format_path(visit, "/close", path);
	page_form(visit, html, path);
	page_field(visit, html, "confirm", PHRASE("Last 4 characters of the order number"), NULL,
		NULL);
	acts_write_reason(visit, html);
	page_form_end(visit, html, "danger", PHRASE("Close the order"));
	page_end(visit, 200, &html);
}

static void count_close(const struct act_close_effect *effect)
{
	struct close_request request = effect->request;
	struct close_report report = effect->report;

	if (!effect->was_tried)
		return;
	request.report = &report;
	close_report_count(&request, &effect->order, 1);
}

void order_page_close(struct visit *visit)
{
	const struct act_close request = {
		.order_no = visit->part,
		.typed = form_text(visit->form, "confirm"),
		.reason = form_text(visit->form, "reason"),
	};
	struct act_close_effect effect = { .was_tried = false };
	struct act_result outcome = { .words = "" };
	struct error error = { .text = "" };
	struct ledger_actor actor;
	char path[PATH_SIZE];

	if (!ledger_actor(visit, &actor))
		return;
	struct db *db = ledger_open(visit);
	if (db == NULL)
		return;
	enum result result = act_close_order(db, &request, &actor.actor, &effect, &outcome, &error);
	count_close(&effect);
	format_path(visit, "", path);
	ledger_answer(visit, "cancel", path, result, &outcome, &error);
}

void order_page_ask_extend(struct visit *visit)
{
	struct html *html = begin(visit, PHRASE("Move the deadline of an order"));
	char path[PATH_SIZE];

	if (html == NULL)
		return;
	page_element(visit, html, "p", NULL,
		PHRASE("Only to a later time, and only while the order is unpaid. Give a time or a "
		       "length."));
	format_path(visit, "/extend", path);
	page_form(visit, html, path);
	page_field(visit, html, "until", PHRASE("New deadline"), NULL, "2026-01-31T18:30:00Z");
	page_field(visit, html, "by", PHRASE("Or later by"), NULL, "30m");
	acts_write_reason(visit, html);
	page_form_end(visit, html, "primary", PHRASE("Move the deadline"));
	page_end(visit, 200, &html);
}

/* One of the two; false: the visit has been answered with 400. */
static bool read_extension(
	struct visit *visit, struct extension *extension, char moment[MOMENT_SIZE])
{
	const char *until = form_text(visit->form, "until");
	const char *by = form_text(visit->form, "by");

	if (until[0] != '\0' && by[0] == '\0' && moment_parse(until, moment)) {
		extension->until = moment;
		return true;
	}
	if (until[0] == '\0' && text_parse_duration(by, &extension->by_ms) && extension->by_ms > 0)
		return true;
	respond_problem(visit, 400, PHRASE("This cannot be asked for."),
		"until: 2026-01-31T18:30:00Z; by: 30m; one of them");
	return false;
}

void order_page_extend(struct visit *visit)
{
	struct extension extension = {
		.order_no = visit->part,
		.reason = form_text(visit->form, "reason"),
	};
	struct extension_result extended;
	struct act_result outcome = { .words = "" };
	struct error error = { .text = "" };
	struct ledger_actor actor;
	char moment[MOMENT_SIZE];
	char path[PATH_SIZE];

	if (!read_extension(visit, &extension, moment) || !ledger_actor(visit, &actor))
		return;
	struct db *db = ledger_open(visit);
	if (db == NULL)
		return;
	enum result result = act_extend(db, &extension, &actor.actor, &extended, &outcome, &error);
	format_path(visit, "", path);
	ledger_answer(visit, "extend", path, result, &outcome, &error);
}
