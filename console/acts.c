#include "console/acts.h"

#include <inttypes.h>
#include <string.h>

#include "common/base/text.h"
#include "common/io/json.h"
#include "console/page.h"
#include "console/respond.h"

enum {
	ID_SIZE = 24,
	PATH_SIZE = 512
};

bool acts_read_id(struct visit *visit, uint64_t *id_out)
{
	if (text_parse_uint(visit->part, 1, UINT64_MAX, id_out))
		return true;
	respond_problem(visit, 404, PHRASE("There is no such row."), visit->part);
	return false;
}

/* "17", or "17:5" when the retry_count that was shown goes along. */
static bool read_tick(const char *text, struct act_task *task_out)
{
	const char *colon = strchr(text, ':');
	char id[ID_SIZE];
	uint64_t retries = UINT32_MAX;
	size_t size = colon == NULL ? strlen(text) : (size_t)(colon - text);

	if (size >= sizeof(id))
		return false;
	memcpy(id, text, size);
	id[size] = '\0';
	if (colon != NULL && !text_parse_uint(colon + 1, 0, UINT32_MAX - 1, &retries))
		return false;
	task_out->shown_retries = (uint32_t)retries;
	return text_parse_uint(id, 1, UINT64_MAX, &task_out->id);
}

static bool refuse_selection(struct visit *visit)
{
	respond_problem(visit, 400,
		PHRASE("The selection cannot be read, or is larger than 200 rows."), NULL);
	return false;
}

static bool has_some(struct visit *visit, size_t count)
{
	if (count == 0)
		respond_problem(visit, 400, PHRASE("Nothing is selected."), NULL);
	return count > 0;
}

bool acts_read_ids(struct visit *visit, const struct form *form, uint64_t *ids_out, size_t max,
	size_t *count_out)
{
	const char *text = NULL;

	for (*count_out = 0; (text = form_get_at(form, "id", *count_out)) != NULL; *count_out += 1)
		if (*count_out == max ||
			!text_parse_uint(text, 1, UINT64_MAX, &ids_out[*count_out]))
			return refuse_selection(visit);
	return has_some(visit, *count_out);
}

bool acts_read_ticks(struct visit *visit, const struct form *form, struct act_task *tasks_out,
	size_t max, size_t *count_out)
{
	const char *text = NULL;

	for (*count_out = 0; (text = form_get_at(form, "id", *count_out)) != NULL; *count_out += 1)
		if (*count_out == max || !read_tick(text, &tasks_out[*count_out]))
			return refuse_selection(visit);
	return has_some(visit, *count_out);
}

void acts_write_link(
	const struct visit *visit, struct html *html, const char *path, const char *english)
{
	char address[PATH_SIZE];

	(void)text_format(address, sizeof(address), "%s%s", visit->context->prefix, path);
	html_open(html, "a", "class", "button", "href", address, HTML_END);
	page_say(visit, html, english);
	html_close(html, "a");
	html_text(html, " ");
}

void acts_write_reason(const struct visit *visit, struct html *html)
{
	page_field(visit, html, "reason", PHRASE("Reason"), NULL,
		say(visit, PHRASE("5 to 500 characters")));
}

static void answer_json(struct visit *visit, const struct acts_row *rows, size_t count)
{
	struct json *root = json_create_object();
	struct json *list = json_create_array();

	for (size_t i = 0; i < count; i++) {
		struct json *row = json_create_object();

		json_set_id(row, "id", rows[i].id);
		json_set_text(row, "outcome", rows[i].outcome);
		json_set_text(row, "detail", rows[i].words);
		json_set_id(row, "audit_id", rows[i].audit_id);
		json_append_adopt(list, &row);
	}
	json_adopt(root, "rows", &list);
	respond_json(visit, 200, &root);
}

static void write_row(const struct visit *visit, struct html *html, const char *folder,
	const struct acts_row *row)
{
	char id[ID_SIZE];

	(void)text_format(id, sizeof(id), "%" PRIu64, row->id);
	html_open(html, "tr", HTML_END);
	html_open(html, "td", HTML_END);
	page_link_to(visit, html, folder, id, id);
	html_close(html, "td");
	html_element(html, "td", NULL, row->outcome);
	html_element(html, "td", NULL, row->words);
	html_open(html, "td", HTML_END);
	if (row->audit_id > 0) {
		(void)text_format(id, sizeof(id), "%" PRIu64, row->audit_id);
		page_link_to(visit, html, "/audit/", id, id);
	}
	html_close(html, "td");
	html_close(html, "tr");
}

static void write_head(const struct visit *visit, struct html *html)
{
	static const char *const names[] = { PHRASE("Row"), PHRASE("Result"), PHRASE("Why"),
		PHRASE("Audit row") };

	page_table_head(visit, html, names, ARRAY_LENGTH(names));
}

void acts_answer_rows(struct visit *visit, const char *title, const char *folder,
	const struct acts_row *rows, size_t count)
{
	if (visit->is_api) {
		answer_json(visit, rows, count);
		return;
	}
	struct html *html = page_begin(visit, title);
	html_open(html, "table", "id", "results", HTML_END);
	write_head(visit, html);
	html_open(html, "tbody", HTML_END);
	for (size_t i = 0; i < count; i++)
		write_row(visit, html, folder, &rows[i]);
	html_close(html, "tbody");
	html_close(html, "table");
	html_open(html, "p", "class", "on", HTML_END);
	page_link(visit, html, text_equals(folder, "/tasks/") ? "/tasks" : "/outbox",
		say(visit, PHRASE("Back to the list")));
	html_close(html, "p");
	page_end(visit, 200, &html);
}
