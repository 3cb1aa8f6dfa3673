#include "console/task_page.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/json.h"
#include "common/order/act_task.h"
#include "common/report/task_summary.h"
#include "console/acts.h"
#include "console/counts.h"
#include "console/instant.h"
#include "console/ledger.h"
#include "console/page.h"
#include "console/record_page.h"
#include "console/respond.h"

enum {
	PATH_SIZE = 128,
	NUMBER_SIZE = 24
};

static void format_path(const struct visit *visit, const char *ending, char path[PATH_SIZE])
{
	(void)text_format(path, PATH_SIZE, "/tasks/%s%s", visit->part, ending);
}

void task_page_write_acts(const struct visit *visit, struct html *html, const struct json *record)
{
	const struct json *task = json_get(record, "task");
	char path[PATH_SIZE];

	if (!visit_may(visit, ROLE_OPERATOR) ||
		!text_equals(record_page_text(task, "status"), "DEAD"))
		return;
	html_open(html, "p", "class", "acts", HTML_END);
	format_path(visit, "/requeue", path);
	acts_write_link(visit, html, path, PHRASE("Requeue…"));
	format_path(visit, "/resolve", path);
	acts_write_link(visit, html, path, PHRASE("Resolve…"));
	html_close(html, "p");
}

static void write_summary(const struct visit *visit, struct html *html, const struct json *task)
{
	static const char *const names[] = { "id", "kind", "order_no", "status", "calls",
		"retry_count", "max_retries", "last_error" };
	struct json *summary = json_create_object();

	for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
		int64_t number = 0;

		if (json_get_int(task, names[i], &number))
			json_set_int(summary, names[i], number);
		else
			json_set_text(summary, names[i], json_get_text(task, names[i]));
	}
	record_page_write(visit, html, "task", summary);
	json_destroy(&summary);
}

void task_page_ask_requeue(struct visit *visit)
{
	struct json *record = record_page_read(visit, "task", visit->part);
	char path[PATH_SIZE];
	char retries[NUMBER_SIZE];
	int64_t number = 0;

	if (record == NULL)
		return;
	const struct json *task = json_get(record, "task");
	struct html *html = page_begin(visit, PHRASE("Requeue a task"));
	write_summary(visit, html, task);
	page_element(visit, html, "p", NULL,
		PHRASE("It gets 5 more retries and runs now; its history stays, and its alert is "
		       "resolved."));
	format_path(visit, "/requeue", path);
	page_form(visit, html, path);
	(void)json_get_int(task, "retry_count", &number);
	(void)text_format(retries, sizeof(retries), "%" PRId64, number);
	page_hidden(html, "retry_count", retries);
	page_form_end(visit, html, "primary", PHRASE("Requeue"));
	page_end(visit, 200, &html);
	json_destroy(&record);
}

static uint32_t read_retries(const char *text)
{
	uint64_t number = 0;

	return text != NULL && text_parse_uint(text, 0, UINT32_MAX - 1, &number) ? (uint32_t)number
										 : UINT32_MAX;
}

void task_page_requeue(struct visit *visit)
{
	struct act_task task = { .shown_retries =
					 read_retries(form_get(visit->form, "retry_count")) };
	struct act_result outcome = { .words = "" };
	struct error error = { .text = "" };
	struct ledger_actor actor;
	char path[PATH_SIZE];

	if (!acts_read_id(visit, &task.id) || !ledger_actor(visit, &actor))
		return;
	struct db *db = ledger_open(visit);
	if (db == NULL)
		return;
	enum result result = act_requeue(db, &task, 0, &actor.actor, &outcome, &error);
	format_path(visit, "", path);
	ledger_answer(visit, "requeue", path, result, &outcome, &error);
}

/* As it came, so that the act sees what the person saw. */
static void format_tick(const struct act_task *task, char text[2 * NUMBER_SIZE])
{
	if (task->shown_retries == UINT32_MAX)
		(void)text_format(text, 2 * (size_t)NUMBER_SIZE, "%" PRIu64, task->id);
	else
		(void)text_format(text, 2 * (size_t)NUMBER_SIZE, "%" PRIu64 ":%" PRIu32, task->id,
			task->shown_retries);
}

/* false: the visit has been answered. */
static bool read_summary(struct visit *visit, const struct act_task *tasks, size_t count,
	struct task_summary *summary_out)
{
	uint64_t ids[ACT_SELECTION_MAX];
	struct error error = { .text = "" };
	struct db *db = ledger_open(visit);

	if (db == NULL)
		return false;
	for (size_t i = 0; i < count; i++)
		ids[i] = tasks[i].id;
	enum result result = task_summary_read(db, ids, count, summary_out, &error);
	ledger_close(visit, result, &error);
	if (result != RESULT_OK)
		respond_failure(visit, result, &error);
	return result == RESULT_OK;
}

static void write_selection(
	const struct visit *visit, struct html *html, const struct task_summary *summary)
{
	char age[INSTANT_DURATION_SIZE];

	instant_format_duration(summary->oldest_age_s * 1000, age);
	html_open(html, "dl", HTML_END);
	html_element(html, "dt", NULL, say(visit, PHRASE("Kinds")));
	html_element(html, "dd", NULL, summary->kinds[0] == '\0' ? "–" : summary->kinds);
	html_element(html, "dt", NULL, say(visit, PHRASE("Oldest")));
	html_open(html, "dd", HTML_END);
	html_text(html, summary->kinds[0] == '\0' ? "–" : summary->oldest_at);
	if (summary->kinds[0] != '\0') {
		html_text(html, ", ");
		page_fill(visit, html, PHRASE("{1} ago"), age, NULL);
	}
	html_close(html, "dd");
	html_close(html, "dl");
}

void task_page_ask_requeue_selected(struct visit *visit)
{
	struct act_task tasks[ACT_SELECTION_MAX];
	struct task_summary summary;
	size_t count = 0;
	char number[2 * NUMBER_SIZE];

	if (!acts_read_ticks(visit, visit->query, tasks, ACT_SELECTION_MAX, &count) ||
		!read_summary(visit, tasks, count, &summary))
		return;
	struct html *html = page_begin(visit, PHRASE("Requeue the selected tasks"));
	(void)text_format(number, sizeof(number), "%zu", count);
	html_open(html, "p", HTML_END);
	page_fill(visit, html,
		PHRASE("{1} tasks are selected. Each one that is DEAD gets 5 more retries and runs "
		       "now; one that has moved meanwhile is left alone and named."),
		number, NULL);
	html_close(html, "p");
	write_selection(visit, html, &summary);
	page_form(visit, html, "/tasks/requeue");
	for (size_t i = 0; i < count; i++) {
		format_tick(&tasks[i], number);
		page_hidden(html, "id", number);
	}
	page_form_end(visit, html, "primary", PHRASE("Requeue"));
	page_end(visit, 200, &html);
}

/* Everything for a selection, which is too large for the stack. */
struct selection {
	struct act_task tasks[ACT_SELECTION_MAX];
	struct act_result results[ACT_SELECTION_MAX];
	struct acts_row rows[ACT_SELECTION_MAX];
	size_t count;
};

static void answer_selected(struct visit *visit, struct selection *selection, size_t done)
{
	for (size_t i = 0; i < selection->count; i++) {
		const struct act_result *result = &selection->results[i];

		selection->rows[i] = (struct acts_row){ .id = selection->tasks[i].id,
			.outcome = i < done ? act_outcome_names[result->outcome] : "not tried",
			.words = i < done ? result->words : "",
			.audit_id = i < done ? result->audit_id : 0 };
		if (i < done)
			counts_add_act("requeue", result->outcome);
	}
	acts_answer_rows(visit, PHRASE("Requeued"), "/tasks/", selection->rows, selection->count);
}

static void requeue_selected(struct visit *visit, struct selection *selection)
{
	struct error error = { .text = "" };
	struct ledger_actor actor;
	size_t done = 0;

	if (!acts_read_ticks(
		    visit, visit->form, selection->tasks, ACT_SELECTION_MAX, &selection->count) ||
		!ledger_actor(visit, &actor))
		return;
	struct db *db = ledger_open(visit);
	if (db == NULL)
		return;
	const struct act_selection tasks = { selection->tasks, selection->count };
	enum result result =
		act_requeue_selected(db, &tasks, &actor.actor, selection->results, &done, &error);
	ledger_close(visit, result, &error);
	if (result != RESULT_OK && done == 0)
		respond_failure(visit, result, &error);
	else
		answer_selected(visit, selection, done);
}

void task_page_requeue_selected(struct visit *visit)
{
	struct selection *selection = memory_allocate(sizeof(*selection));

	requeue_selected(visit, selection);
	free(selection);
}
