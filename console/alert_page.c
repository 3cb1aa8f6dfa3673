#include "console/alert_page.h"

#include <inttypes.h>

#include "common/base/text.h"
#include "common/io/json.h"
#include "common/order/act_alert.h"
#include "console/acts.h"
#include "console/ledger.h"
#include "console/page.h"
#include "console/record_page.h"
#include "console/respond.h"
#include "console/settings.h"

enum {
	PATH_SIZE = 128
};

static void format_path(uint64_t id, const char *ending, char path[PATH_SIZE])
{
	(void)text_format(path, PATH_SIZE, "/alerts/%" PRIu64 "%s", id, ending);
}

/* The address leaves the console; it is the operator's own, from the settings. */
static void write_runbook(const struct visit *visit, struct html *html)
{
	const char *runbook = visit->context->settings->runbook_url;

	if (runbook == NULL ||
		!(text_starts_with(runbook, "https://") || text_starts_with(runbook, "http://")))
		return;
	html_open(html, "p", "class", "acts", HTML_END);
	html_link(html, runbook, say(visit, PHRASE("Runbook")));
	html_close(html, "p");
}

void alert_page_write_acts(const struct visit *visit, struct html *html)
{
	write_runbook(visit, html);
	if (!visit_may(visit, ROLE_ADMIN))
		return;
	page_form(visit, html, "/alerts/test");
	page_form_end(visit, html, "button", PHRASE("Send a test alert"));
}

void alert_page_write_row_acts(
	const struct visit *visit, struct html *html, const struct json *record)
{
	const char *state = record_page_text(json_get(record, "alert"), "state");
	char path[PATH_SIZE];

	if (!visit_may(visit, ROLE_OPERATOR))
		return;
	html_open(html, "div", "class", "acts", HTML_END);
	(void)text_format(path, sizeof(path), "/alerts/%s/silence", visit->part);
	acts_write_link(visit, html, path, PHRASE("Silence…"));
	if (text_equals(state, "FIRING")) {
		(void)text_format(path, sizeof(path), "/alerts/%s/resend", visit->part);
		page_form(visit, html, path);
		page_form_end(visit, html, "button", PHRASE("Send again"));
	}
	html_close(html, "div");
}

void alert_page_ask_silence(struct visit *visit)
{
	struct json *record = record_page_read(visit, "alert", visit->part);
	char path[PATH_SIZE];

	if (record == NULL)
		return;
	struct html *html = page_begin(visit, PHRASE("Silence an alert"));
	record_page_write(visit, html, "alert", json_get(record, "alert"));
	page_element(visit, html, "p", NULL,
		PHRASE("This alert alone is not delivered meanwhile, for a day at most. Another "
		       "one of the same kind still rings. 0 ends a silence."));
	(void)text_format(path, sizeof(path), "/alerts/%s/silence", visit->part);
	page_form(visit, html, path);
	page_field(visit, html, "for", PHRASE("For how long"), "2h", "2h");
	acts_write_reason(visit, html);
	page_form_end(visit, html, "primary", PHRASE("Silence"));
	page_end(visit, 200, &html);
	json_destroy(&record);
}

void alert_page_silence(struct visit *visit)
{
	struct act_silence request = { .reason = form_text(visit->form, "reason") };
	struct act_result outcome = { .words = "" };
	struct error error = { .text = "" };
	struct ledger_actor actor;
	uint64_t length_ms = 0;
	char path[PATH_SIZE];

	if (!acts_read_id(visit, &request.alert_id))
		return;
	if (!text_parse_duration(form_text(visit->form, "for"), &length_ms)) {
		respond_problem(visit, 400, PHRASE("This cannot be asked for."), "for: 2h");
		return;
	}
	if (!ledger_actor(visit, &actor))
		return;
	struct db *db = ledger_open(visit);
	if (db == NULL)
		return;
	request.duration_s = length_ms / 1000;
	enum result result = act_silence_alert(db, &request, &actor.actor, &outcome, &error);
	format_path(request.alert_id, "", path);
	ledger_answer(visit, "silence", path, result, &outcome, &error);
}

void alert_page_resend(struct visit *visit)
{
	struct act_result outcome = { .words = "" };
	struct error error = { .text = "" };
	struct ledger_actor actor;
	char path[PATH_SIZE];
	uint64_t id = 0;

	if (!acts_read_id(visit, &id) || !ledger_actor(visit, &actor))
		return;
	struct db *db = ledger_open(visit);
	if (db == NULL)
		return;
	enum result result = act_resend_alert(db, id, &actor.actor, &outcome, &error);
	format_path(id, "", path);
	ledger_answer(visit, "resend", path, result, &outcome, &error);
}

void alert_page_test(struct visit *visit)
{
	struct act_result outcome = { .words = "" };
	struct error error = { .text = "" };
	struct ledger_actor actor;

	if (!ledger_actor(visit, &actor))
		return;
	struct db *db = ledger_open(visit);
	if (db == NULL)
		return;
	enum result result = act_test_alerts(db, &actor.actor, &outcome, &error);
	ledger_answer(visit, "test", "/alerts", result, &outcome, &error);
}
