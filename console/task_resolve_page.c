/* The part of task_page that resolves. */
#include <inttypes.h>

#include "common/base/text.h"
#include "common/io/json.h"
#include "common/order/act_task.h"
#include "common/order/compensation.h"
#include "console/acts.h"
#include "console/ledger.h"
#include "console/page.h"
#include "console/record_page.h"
#include "console/respond.h"
#include "console/task_page.h"

enum {
	PATH_SIZE = 128
};

struct check {
	const char *english;
	bool is_good;
};

static void write_check(const struct visit *visit, struct html *html, const struct check *check)
{
	html_open(html, "li", "class", check->is_good ? "good" : "bad", HTML_END);
	html_element(
		html, "strong", NULL, say(visit, check->is_good ? PHRASE("yes") : PHRASE("no")));
	html_text(html, " – ");
	page_say(visit, html, check->english);
	html_close(html, "li");
}

static void write_checks(
	const struct visit *visit, struct html *html, const struct act_checks *checks)
{
	const struct check list[] = {
		{ PHRASE("The order is in a final state."), checks->is_order_final },
		{ PHRASE("No other task of the order is pending, running or dead."),
			checks->has_no_open_sibling },
		{ PHRASE("A refund names its reference in the text (looked at when you send it)."),
			checks->has_refund_reference },
	};

	html_open(html, "ul", "class", "checks", HTML_END);
	for (size_t i = 0; i < ARRAY_LENGTH(list); i++)
		write_check(visit, html, &list[i]);
	html_close(html, "ul");
	page_element(visit, html, "p", NULL,
		PHRASE("With one \"no\" only an admin may resolve it, who types the "
		       "order number."));
}

static void answer_page(struct visit *visit, const struct act_checks *checks)
{
	char path[PATH_SIZE];
	struct html *html = page_begin(visit, PHRASE("Resolve a task"));

	html_open(html, "p", "class", "subject", HTML_END);
	page_link_to(visit, html, "/tasks/", visit->part, visit->part);
	html_text(html, " · ");
	page_link_to(visit, html, "/orders/", checks->order_no, checks->order_no);
	html_close(html, "p");
	write_checks(visit, html, checks);
	(void)text_format(path, sizeof(path), "/tasks/%s/resolve", visit->part);
	page_form(visit, html, path);
	page_choice(visit, html, "code", PHRASE("What was done"), compensation_resolve_codes, NULL);
	acts_write_reason(visit, html);
	page_field(
		visit, html, "order_no", PHRASE("Order number, when a check says no"), NULL, NULL);
	page_form_end(visit, html, "primary", PHRASE("Resolve"));
	page_end(visit, 200, &html);
}

void task_page_ask_resolve(struct visit *visit)
{
	struct act_resolve request = { .task_id = 0 };
	struct act_checks checks;
	struct error error = { .text = "" };

	if (!acts_read_id(visit, &request.task_id))
		return;
	struct db *db = ledger_open(visit);
	if (db == NULL)
		return;
	enum result result = act_check_resolve(db, &request, &checks, &error);
	ledger_close(visit, result, &error);
	if (result == RESULT_OK)
		answer_page(visit, &checks);
	else
		respond_failure(visit, result, &error);
}

void task_page_resolve(struct visit *visit)
{
	struct act_resolve request = {
		.code = form_text(visit->form, "code"),
		.text = form_text(visit->form, "reason"),
		.typed_order_no = form_get(visit->form, "order_no"),
	};
	struct act_result outcome = { .words = "" };
	struct error error = { .text = "" };
	struct ledger_actor actor;
	char path[PATH_SIZE];

	if (!acts_read_id(visit, &request.task_id) || !ledger_actor(visit, &actor))
		return;
	struct db *db = ledger_open(visit);
	if (db == NULL)
		return;
	enum result result = act_resolve(db, &request, &actor.actor, &outcome, &error);
	(void)text_format(path, sizeof(path), "/tasks/%" PRIu64, request.task_id);
	ledger_answer(visit, "resolve", path, result, &outcome, &error);
}
