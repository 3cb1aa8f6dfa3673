#include "console/bulk_page.h"

#include <inttypes.h>
#include <string.h>

#include "common/base/text.h"
#include "common/io/json.h"
#include "console/buffer.h"
#include "console/bulk.h"
#include "console/bulk_preview.h"
#include "console/ledger.h"
#include "console/list.h"
#include "console/page.h"
#include "console/respond.h"

enum {
	PATH_SIZE = 128,
	NUMBER_SIZE = 24,
};

static const char *const state_words[] = { PHRASE("preview"), PHRASE("running"), PHRASE("stopped"),
	PHRASE("done") };

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

/* The number that was typed stands for having read the page. */
void bulk_page_start(struct visit *visit)
{
	struct bulk_job *job = bulk_find(visit->context->bulk, form_text(visit->form, "bulk_id"));
	struct ledger_actor actor;
	uint64_t typed = 0;

	if (job == NULL || !text_equals(job->owner.name, visit->who.name)) {
		respond_problem(visit, 409,
			PHRASE("This preview is not here any more. Look at the selection again."),
			NULL);
		return;
	}
	if (!ledger_actor(visit, &actor))
		return;
	if (job->state != BULK_STATE_PREVIEW) {
		answer_started(visit, job);
		return;
	}
	if (!text_parse_uint(form_text(visit->form, "count"), 0, UINT32_MAX, &typed) ||
		typed != job->count || typed > bulk_preview_limit(visit)) {
		respond_problem(visit, 422,
			PHRASE("The number typed is not the number of rows. Nothing was started."),
			NULL);
		return;
	}
	bulk_start(job, actor.request_id);
	answer_started(visit, job);
}

static void answer_json(struct visit *visit, const struct bulk_job *job)
{
	struct json *root = json_create_object();

	json_set_text(root, "bulk_id", job->id);
	json_set_text(root, "state", state_words[job->state]);
	json_set_text(root, "filter", job->words);
	json_set_int(root, "count", (int64_t)job->count);
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
	for (size_t i = 0; i < job->next; i++) {
		const struct bulk_row *row = &job->rows[i];
		char id[NUMBER_SIZE];

		if (row->outcome == ACT_OUTCOME_DONE)
			continue;
		(void)text_format(id, sizeof(id), "%" PRIu64, row->task.id);
		html_open(html, "li", HTML_END);
		page_link_to(visit, html, "/tasks/", id, id);
		html_textf(html, ": %s. %s", act_outcome_names[row->outcome], row->why);
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
