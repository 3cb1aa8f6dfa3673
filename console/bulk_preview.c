#include "console/bulk_preview.h"

#include <inttypes.h>

#include "common/base/text.h"
#include "common/io/json.h"
#include "common/report/listing.h"
#include "console/bulk.h"
#include "console/bulk_selection.h"
#include "console/ledger.h"
#include "console/list.h"
#include "console/page.h"
#include "console/respond.h"
#include "console/settings.h"

enum {
	SAMPLE = 10
};

size_t bulk_preview_limit(const struct visit *visit)
{
	size_t limit = (size_t)visit->context->settings->bulk_max;

	if (limit > 0 && visit->who.role == ROLE_ADMIN)
		return BULK_PREVIEW_ADMIN_MAX;
	return limit;
}

/* The filter of the list, for DEAD tasks only. */
static enum result read_filter(
	const struct visit *visit, struct list_request *request, struct error *error)
{
	enum result result = list_read_request(visit, request, error);

	if (result != RESULT_OK)
		return result;
	for (size_t i = 0; i < request->request.value_count; i++) {
		if (!text_equals(request->values[i].name, "state"))
			continue;
		if (text_equals(request->values[i].value, "DEAD"))
			return RESULT_OK;
		return error_set(RESULT_PERMANENT, error, "state: only DEAD tasks are requeued");
	}
	if (request->request.value_count == LIST_VALUE_MAX)
		return error_set(RESULT_PERMANENT, error, "there are too many filters");
	request->values[request->request.value_count++] = (struct listing_value){ "state", "DEAD" };
	return RESULT_OK;
}

/* OK with the frozen selection and the oldest of it, which is the caller's. */
static enum result freeze(struct visit *visit, struct db *db, struct bulk_selection *selection,
	struct listing_page **sample_out, struct error *error)
{
	const struct listing_kind *kind = listing_find("tasks");
	size_t limit = bulk_preview_limit(visit);
	enum result result =
		listing_count(db, kind, &selection->list.request, limit, &selection->count, error);

	if (result != RESULT_OK)
		return result;
	if (selection->count.is_more)
		return error_set(RESULT_PERMANENT, error,
			"more than %zu rows match: narrow the filter", limit);
	if (!bulk_selection_freeze(selection))
		return error_set(RESULT_PERMANENT, error, "there are too many filters");
	selection->list.request.limit = SAMPLE;
	return listing_read(db, kind, &selection->list.request, sample_out, error);
}

static void write_facts(const struct visit *visit, struct html *html,
	const struct bulk_selection *selection, const char *words)
{
	char count[BULK_NUMBER_SIZE];

	(void)text_format(count, sizeof(count), "%" PRIu64, selection->count.count);
	html_open(html, "dl", HTML_END);
	html_element(html, "dt", NULL, say(visit, PHRASE("Filter")));
	html_element(html, "dd", NULL, words);
	html_element(html, "dt", NULL, say(visit, PHRASE("Rows")));
	html_open(html, "dd", HTML_END);
	html_open(html, "strong", "id", "count", HTML_END);
	html_text(html, count);
	html_close(html, "strong");
	html_close(html, "dd");
	html_element(html, "dt", NULL, say(visit, PHRASE("Highest id")));
	html_element(html, "dd", NULL, selection->highest);
	html_element(html, "dt", NULL, say(visit, PHRASE("Frozen at")));
	html_element(html, "dd", NULL, selection->count.at);
	html_close(html, "dl");
}

static void write_sample(
	const struct visit *visit, struct html *html, const struct listing_page *sample)
{
	html_element(html, "h2", NULL, say(visit, PHRASE("The oldest of them")));
	html_open(html, "ul", HTML_END);
	for (size_t i = 0; i < listing_page_count(sample); i++) {
		const char *id = listing_page_named(sample, i, "id");

		html_open(html, "li", HTML_END);
		page_link_to(visit, html, "/tasks/", id, id);
		html_textf(html, " %s, %s", listing_page_named(sample, i, "kind"),
			listing_page_named(sample, i, "created_at"));
		html_close(html, "li");
	}
	html_close(html, "ul");
}

static void answer_json(
	struct visit *visit, const struct bulk_selection *selection, const char *words)
{
	struct json *root = json_create_object();
	struct buffer sealed = { .text = NULL };

	bulk_selection_seal(visit, selection, &sealed);
	json_set_text(root, "selection", buffer_text(&sealed));
	json_set_text(root, "filter", words);
	json_set_int(root, "count", (int64_t)selection->count.count);
	json_set_id(root, "highest_id", selection->count.highest_id);
	json_set_text(root, "at", selection->count.at);
	buffer_clear(&sealed);
	respond_json(visit, 200, &root);
}

static void write_form(
	const struct visit *visit, struct html *html, const struct bulk_selection *selection)
{
	struct buffer sealed = { .text = NULL };

	page_element(visit, html, "p", NULL,
		PHRASE("Exactly these rows are requeued, 20 a second; rows that die later are not "
		       "touched. Type the number of rows to start."));
	bulk_selection_seal(visit, selection, &sealed);
	page_form(visit, html, "/tasks/bulk");
	page_hidden(html, "selection", buffer_text(&sealed));
	page_field(visit, html, "count", PHRASE("Number of rows"), NULL, NULL);
	page_form_end(visit, html, "danger", PHRASE("Start"));
	buffer_clear(&sealed);
}

static void answer_page(struct visit *visit, const struct bulk_selection *selection,
	const struct listing_page *sample)
{
	struct html *html = page_begin(visit, PHRASE("Bulk requeue"));

	write_facts(visit, html, selection, listing_page_words(sample));
	if (selection->count.count == 0) {
		page_empty(html, "empty none", say(visit, PHRASE("Nothing matches.")), NULL);
		page_end(visit, 200, &html);
		return;
	}
	write_form(visit, html, selection);
	write_sample(visit, html, sample);
	page_end(visit, 200, &html);
}

static void show_filter(struct visit *visit, struct bulk_selection *selection)
{
	struct error error = { .text = "" };
	struct listing_page *sample = NULL;
	struct db *db = ledger_open(visit);

	if (db == NULL)
		return;
	enum result result = freeze(visit, db, selection, &sample, &error);
	ledger_close(visit, result, &error);
	if (result == RESULT_PERMANENT)
		respond_problem(
			visit, 422, PHRASE("A rule says no. Nothing was changed."), error.text);
	else if (result != RESULT_OK)
		respond_failure(visit, result, &error);
	else if (visit->is_api)
		answer_json(visit, selection, listing_page_words(sample));
	else
		answer_page(visit, selection, sample);
	listing_page_destroy(&sample);
}

void bulk_preview_show(struct visit *visit)
{
	struct bulk_selection selection = { .fields = NULL };
	struct error error = { .text = "" };

	if (bulk_preview_limit(visit) == 0) {
		respond_problem(visit, 403, PHRASE("Bulk is switched off."), "LAPSE_BULK_MAX");
		return;
	}
	if (read_filter(visit, &selection.list, &error) != RESULT_OK) {
		respond_problem(visit, 400, PHRASE("This filter cannot be."), error.text);
		return;
	}
	show_filter(visit, &selection);
}
