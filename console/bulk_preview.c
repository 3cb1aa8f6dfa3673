#include "console/bulk_preview.h"

#include <inttypes.h>

#include "common/base/text.h"
#include "common/io/json.h"
#include "common/report/listing.h"
#include "console/bulk.h"
#include "console/instant.h"
#include "console/ledger.h"
#include "console/list.h"
#include "console/page.h"
#include "console/respond.h"
#include "console/settings.h"

enum {
	SAMPLE = 10,
	NUMBER_SIZE = 24,
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

static size_t find_column(const struct listing_kind *kind, const char *name)
{
	size_t count = 0;
	const struct listing_column *columns = listing_columns(kind, &count);

	for (size_t i = 0; i < count; i++)
		if (text_equals(columns[i].name, name))
			return i;
	REQUIRE(false); /* the list of tasks has it */
	return 0;
}

/* Freezes the rows of one page.  false: more than may be taken. */
static bool take_rows(struct bulk_job *job, const struct listing_kind *kind,
	const struct listing_page *page, size_t limit)
{
	size_t id_column = find_column(kind, "id");
	size_t retries_column = find_column(kind, "retry_count");

	for (size_t row = 0; row < listing_page_count(page); row++) {
		uint64_t id = 0;
		uint64_t retries = 0;

		if (job->count == limit)
			return false;
		(void)text_parse_uint(listing_page_value(page, row, id_column), 1, UINT64_MAX, &id);
		(void)text_parse_uint(
			listing_page_value(page, row, retries_column), 0, UINT32_MAX, &retries);
		(void)bulk_add_row(job, &(struct act_task){ id, (uint32_t)retries });
	}
	return true;
}

/* OK with all rows; PERMANENT: too many. */
static enum result freeze(struct visit *visit, struct db *db, struct list_request *request,
	struct bulk_job *job, struct error *error)
{
	const struct listing_kind *kind = listing_find("tasks");
	char place[LISTING_CURSOR_SIZE] = "";
	enum result result = RESULT_OK;
	bool has_room = true;

	request->request.limit = LISTING_PAGE_MAX;
	do {
		struct listing_page *page = NULL;

		request->request.after = place;
		result = listing_read(db, kind, &request->request, &page, error);
		request->request.after = NULL;
		if (result != RESULT_OK)
			return result;
		if (job->words[0] == '\0')
			(void)text_copy(job->words, sizeof(job->words), listing_page_words(page));
		has_room = take_rows(job, kind, page, bulk_preview_limit(visit));
		(void)text_copy(place, sizeof(place), listing_page_next(page));
		listing_page_destroy(&page);
	} while (has_room && place[0] != '\0');
	if (!has_room)
		return error_set(RESULT_PERMANENT, error,
			"more than %zu rows match: narrow the filter", bulk_preview_limit(visit));
	return RESULT_OK;
}

static uint64_t find_highest(const struct bulk_job *job)
{
	uint64_t highest = 0;

	for (size_t i = 0; i < job->count; i++)
		if (job->rows[i].task.id > highest)
			highest = job->rows[i].task.id;
	return highest;
}

static void write_facts(const struct visit *visit, struct html *html, const struct bulk_job *job)
{
	char count[NUMBER_SIZE];
	char highest[NUMBER_SIZE];
	char now[INSTANT_SIZE] = "";
	int64_t now_ms = 0;

	(void)text_format(count, sizeof(count), "%zu", job->count);
	(void)text_format(highest, sizeof(highest), "%" PRIu64, find_highest(job));
	if (instant_now(visit->context->database, &now_ms))
		text_format_time(now, sizeof(now), (uint64_t)now_ms);
	html_open(html, "dl", HTML_END);
	html_element(html, "dt", NULL, say(visit, PHRASE("Filter")));
	html_element(html, "dd", NULL, job->words);
	html_element(html, "dt", NULL, say(visit, PHRASE("Rows")));
	html_open(html, "dd", HTML_END);
	html_open(html, "strong", "id", "count", HTML_END);
	html_text(html, count);
	html_close(html, "strong");
	html_close(html, "dd");
	html_element(html, "dt", NULL, say(visit, PHRASE("Highest id")));
	html_element(html, "dd", NULL, highest);
	html_element(html, "dt", NULL, say(visit, PHRASE("Frozen at")));
	html_element(html, "dd", NULL, now);
	html_close(html, "dl");
}

static void write_sample(const struct visit *visit, struct html *html, const struct bulk_job *job)
{
	html_element(html, "h2", NULL, say(visit, PHRASE("The oldest of them")));
	html_open(html, "ul", HTML_END);
	for (size_t i = 0; i < job->count && i < SAMPLE; i++) {
		char id[NUMBER_SIZE];

		(void)text_format(id, sizeof(id), "%" PRIu64, job->rows[i].task.id);
		html_open(html, "li", HTML_END);
		page_link_to(visit, html, "/tasks/", id, id);
		html_close(html, "li");
	}
	html_close(html, "ul");
}

static void answer_json(struct visit *visit, const struct bulk_job *job)
{
	struct json *root = json_create_object();

	json_set_text(root, "bulk_id", job->id);
	json_set_text(root, "filter", job->words);
	json_set_int(root, "count", (int64_t)job->count);
	json_set_id(root, "highest_id", find_highest(job));
	respond_json(visit, 200, &root);
}

static void answer_page(struct visit *visit, const struct bulk_job *job)
{
	struct html *html = page_begin(visit, PHRASE("Bulk requeue"));

	write_facts(visit, html, job);
	if (job->count == 0) {
		page_empty(html, "empty none", say(visit, PHRASE("Nothing matches.")), NULL);
		page_end(visit, 200, &html);
		return;
	}
	page_element(visit, html, "p", NULL,
		PHRASE("Exactly these rows are requeued, 20 a second; rows that die later are not "
		       "touched. Type the number of rows to start."));
	page_form(visit, html, "/tasks/bulk");
	page_hidden(html, "bulk_id", job->id);
	page_field(visit, html, "count", PHRASE("Number of rows"), NULL, NULL);
	page_form_end(visit, html, "danger", PHRASE("Start"));
	write_sample(visit, html, job);
	page_end(visit, 200, &html);
}

static void show_filter(struct visit *visit, struct list_request *request)
{
	struct error error = { .text = "" };
	struct db *db = ledger_open(visit);

	if (db == NULL)
		return;
	struct bulk_job *job = bulk_add(visit->context->bulk, &visit->who);
	if (job == NULL) {
		respond_problem(visit, 503, PHRASE("Other bulks are still running."), NULL);
		return;
	}
	enum result result = freeze(visit, db, request, job, &error);
	ledger_close(visit, result, &error);
	if (result != RESULT_OK) {
		bulk_forget(job);
		if (result == RESULT_PERMANENT)
			respond_problem(visit, 422, PHRASE("A rule says no. Nothing was changed."),
				error.text);
		else
			respond_failure(visit, result, &error);
		return;
	}
	if (visit->is_api)
		answer_json(visit, job);
	else
		answer_page(visit, job);
}

void bulk_preview_show(struct visit *visit)
{
	struct list_request request;
	struct error error = { .text = "" };

	if (bulk_preview_limit(visit) == 0) {
		respond_problem(visit, 403, PHRASE("Bulk is switched off."), "LAPSE_BULK_MAX");
		return;
	}
	if (read_filter(visit, &request, &error) != RESULT_OK) {
		respond_problem(visit, 400, PHRASE("This filter cannot be."), error.text);
		return;
	}
	show_filter(visit, &request);
}
