#include "console/bulk_page.h"

#include <inttypes.h>
#include <string.h>

#include "common/base/text.h"
#include "common/io/json.h"
#include "console/buffer.h"
#include "console/bulk.h"
#include "console/bulk_preview.h"
#include "console/bulk_selection.h"
#include "console/ledger.h"
#include "console/list.h"
#include "console/page.h"
#include "console/respond.h"

enum {
	PATH_SIZE = 128,
	NUMBER_SIZE = 24,
};

static const char *const state_words[] = {
	[BULK_STATE_EMPTY] = "",
	[BULK_STATE_RUNNING] = PHRASE("running"),
	[BULK_STATE_STOPPED] = PHRASE("stopped"),
	[BULK_STATE_DONE] = PHRASE("done"),
};

void bulk_page_write_link(const struct visit *visit, struct html *html)
{
	struct list_request request;
	struct error error = { .text = "" };
	struct buffer address = { .text = NULL };

	if (!visit_may(visit, ROLE_OPERATOR) || bulk_preview_limit(visit) == 0 ||
		list_read_request(visit, &request, &error) != RESULT_OK)
		return;
	list_add_address("/tasks/bulk", &request, &address);
	html_open(html, "p", "class", "acts", HTML_END);
	page_link(visit, html, buffer_text(&address), say(visit, PHRASE("Bulk requeue…")));
	html_close(html, "p");
	buffer_clear(&address);
}

void bulk_page_preview(struct visit *visit)
{
	bulk_preview_show(visit);
}

static void answer_started(struct visit *visit, const struct bulk_job *job)
{
	char path[PATH_SIZE];

	if (visit->is_api) {
		struct json *root = json_create_object();

		json_set_text(root, "bulk_id", job->id);
		json_set_int(root, "count", (int64_t)job->count);
		respond_json(visit, 202, &root);
		return;
	}
	(void)text_format(path, sizeof(path), "/bulk/%s", job->id);
	respond_redirect(visit, path);
}

/* Takes the rows of one page.  false: more than were shown. */
static bool take_rows(struct bulk_job *job, const struct listing_page *page)
{
	bool has_room = true;

	for (size_t row = 0; has_room && row < listing_page_count(page); row++) {
		uint64_t id = 0;
		uint64_t retries = 0;

		(void)text_parse_uint(listing_page_named(page, row, "id"), 1, UINT64_MAX, &id);
		(void)text_parse_uint(
			listing_page_named(page, row, "retry_count"), 0, UINT32_MAX, &retries);
		has_room = bulk_add_row(job, &(struct act_task){ id, (uint32_t)retries });
	}
	return has_room;
}

/* The rows that are still as they were shown.  CONFLICT: there are more than those. */
static enum result fill(struct db *db, const struct bulk_selection *selection, struct bulk_job *job,
	struct error *error)
{
	struct listing_request request = selection->list.request;
	char place[LISTING_CURSOR_SIZE] = "";
	bool has_room = true;

	request.limit = LISTING_PAGE_MAX;
	request.after = place;
	do {
		struct listing_page *page = NULL;
		enum result result =
			listing_read(db, listing_find("tasks"), &request, &page, error);

		if (result != RESULT_OK)
			return result;
		(void)text_copy(job->words, sizeof(job->words), listing_page_words(page));
		has_room = take_rows(job, page);
		(void)text_copy(place, sizeof(place), listing_page_next(page));
		listing_page_destroy(&page);
	} while (has_room && place[0] != '\0');
	return has_room ? RESULT_OK
			: error_set(RESULT_CONFLICT, error, "more rows match than were shown");
}

static void start(struct visit *visit, struct bulk_selection *selection, const char *request_id)
{
	struct error error = { .text = "" };
	size_t count = (size_t)selection->count.count;
	struct db *db = ledger_open(visit);

	if (db == NULL)
		return;
	struct bulk_job *job = bulk_add(visit->context->bulk, &visit->who, count);
	if (job == NULL) {
		respond_problem(visit, 503, PHRASE("Other bulks are still running."), NULL);
		return;
	}
	enum result result = fill(db, selection, job, &error);
	ledger_close(visit, result, &error);
	if (result != RESULT_OK) {
		bulk_forget(job);
		respond_failure(visit, result, &error);
		return;
	}
	job->asked = count;
	bulk_start(job, request_id);
	answer_started(visit, job);
}

/* The number that was typed stands for having read the page. */
static void start_if_typed(
	struct visit *visit, struct bulk_selection *selection, const char *request_id)
{
	uint64_t typed = 0;

	if (!text_parse_uint(form_text(visit->form, "count"), 0, UINT32_MAX, &typed) ||
		typed != selection->count.count || typed > bulk_preview_limit(visit)) {
		respond_problem(visit, 422,
			PHRASE("The number typed is not the number of rows. Nothing was started."),
			NULL);
		return;
	}
	start(visit, selection, request_id);
}

void bulk_page_start(struct visit *visit)
{
	struct bulk_selection selection;
	struct ledger_actor actor;

	if (!ledger_actor(visit, &actor))
		return;
	const struct bulk_job *job =
		bulk_find_request(visit->context->bulk, visit->who.name, actor.request_id);
	if (job != NULL) {
		answer_started(visit, job);
		return;
	}
	if (!bulk_selection_open(visit, form_text(visit->form, "selection"), &selection))
		return;
	start_if_typed(visit, &selection, actor.request_id);
	bulk_selection_clear(&selection);
}

static void answer_json(struct visit *visit, const struct bulk_job *job)
{
	struct json *root = json_create_object();

	json_set_text(root, "bulk_id", job->id);
	json_set_text(root, "state", state_words[job->state]);
	json_set_text(root, "filter", job->words);
	json_set_int(root, "count", (int64_t)job->count);
	json_set_int(root, "asked", (int64_t)job->asked);
	json_set_int(root, "looked_at", (int64_t)job->next);
	for (size_t i = 0; i < ACT_OUTCOME_COUNT; i++)
		json_set_int(root, act_outcome_names[i], (int64_t)job->counts[i]);
	respond_json(visit, 200, &root);
}

static void write_progress(const struct visit *visit, struct html *html, const struct bulk_job *job)
{
	char next[NUMBER_SIZE];
	char count[NUMBER_SIZE];

	(void)text_format(next, sizeof(next), "%zu", job->next);
	(void)text_format(count, sizeof(count), "%zu", job->count);
	html_open(html, "p", HTML_END);
	html_open(html, "progress", "value", next, "max", count, HTML_END);
	html_close(html, "progress");
	html_text(html, " ");
	page_fill(visit, html, PHRASE("{1} of {2} rows"), next, count);
	html_text(html, " · ");
	html_open(html, "strong", "id", "state", HTML_END);
	page_say(visit, html, state_words[job->state]);
	html_close(html, "strong");
	html_close(html, "p");
	html_element(html, "p", "words", job->words);
	if (job->asked > job->count) {
		(void)text_format(count, sizeof(count), "%zu", job->asked - job->count);
		html_open(html, "p", HTML_END);
		page_fill(visit, html,
			PHRASE("{1} more had moved between the preview and the start."), count,
			NULL);
		html_close(html, "p");
	}
	html_open(html, "dl", HTML_END);
	for (size_t i = 0; i < ACT_OUTCOME_COUNT; i++) {
		if (job->counts[i] == 0)
			continue;
		(void)text_format(count, sizeof(count), "%zu", job->counts[i]);
		html_element(html, "dt", NULL, say(visit, act_outcome_names[i]));
		html_element(html, "dd", NULL, count);
	}
	html_close(html, "dl");
}

/* Rows that went well are in the audit; the others are named here. */
static void write_others(const struct visit *visit, struct html *html, const struct bulk_job *job)
{
	html_open(html, "ul", HTML_END);
	for (size_t i = 0; i < job->other_count; i++) {
		const struct bulk_other *other = &job->others[i];
		char id[NUMBER_SIZE];

		(void)text_format(id, sizeof(id), "%" PRIu64, other->id);
		html_open(html, "li", HTML_END);
		page_link_to(visit, html, "/tasks/", id, id);
		html_textf(html, ": %s. %s", act_outcome_names[other->outcome], other->why);
		html_close(html, "li");
	}
	html_close(html, "ul");
}

static void answer_page(struct visit *visit, const struct bulk_job *job)
{
	struct html *html = page_begin(visit, PHRASE("Bulk requeue"));
	char path[PATH_SIZE];

	write_progress(visit, html, job);
	if (job->state == BULK_STATE_RUNNING && visit_may(visit, ROLE_OPERATOR)) {
		(void)text_format(path, sizeof(path), "/bulk/%s/stop", job->id);
		page_form(visit, html, path);
		page_form_end(visit, html, "danger", PHRASE("Stop"));
	}
	write_others(visit, html, job);
	(void)text_format(path, sizeof(path), "/audit?bulk=%s", job->id);
	html_open(html, "p", "class", "on", HTML_END);
	page_link(visit, html, path, say(visit, PHRASE("Audit rows of this bulk")));
	html_close(html, "p");
	page_end(visit, 200, &html);
}

/* A bulk of another console, or of one that has ended: the audit knows what was done. */
static void answer_from_audit(struct visit *visit)
{
	char path[PATH_SIZE * 2];

	if (visit->is_api || !text_is_key(visit->part, strlen(visit->part), ULID_SIZE)) {
		respond_problem(visit, 404, PHRASE("There is no such row."), visit->part);
		return;
	}
	(void)text_format(path, sizeof(path), "/audit?bulk=%s", visit->part);
	respond_redirect(visit, path);
}

void bulk_page_show(struct visit *visit)
{
	const struct bulk_job *job = bulk_find(visit->context->bulk, visit->part);

	if (job == NULL)
		answer_from_audit(visit);
	else if (visit->is_api)
		answer_json(visit, job);
	else
		answer_page(visit, job);
}

void bulk_page_stop(struct visit *visit)
{
	struct bulk_job *job = bulk_find(visit->context->bulk, visit->part);
	char path[PATH_SIZE * 2];

	if (job == NULL) {
		answer_from_audit(visit);
		return;
	}
	bulk_stop(job);
	if (visit->is_api) {
		answer_json(visit, job);
		return;
	}
	(void)text_format(path, sizeof(path), "/bulk/%s", visit->part);
	respond_redirect(visit, path);
}
