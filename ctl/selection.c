#include "ctl/selection.h"

#include <inttypes.h>
#include <stdlib.h>
#include <strings.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/db.h"
#include "ctl/session.h"

static bool is_in(const struct selection *selection, uint64_t id)
{
	for (size_t i = 0; i < selection->count; i++)
		if (selection->tasks[i].id == id)
			return true;
	return false;
}

enum result selection_read_ids(
	const struct session *session, struct selection *selection, struct error *error)
{
	*selection = (struct selection){ .tasks = NULL };
	if (session->operand_count > SELECTION_MAX)
		return error_set(RESULT_PERMANENT, error, "at most %d ids at once", SELECTION_MAX);
	selection->tasks = memory_allocate_array(session->operand_count, sizeof(*selection->tasks));
	for (size_t i = 0; i < session->operand_count; i++) {
		uint64_t id = 0;

		if (!text_parse_uint(session->operands[i], 1, UINT64_MAX, &id))
			return error_set(RESULT_PERMANENT, error, "\"%.40s\" is no task id",
				session->operands[i]);
		if (is_in(selection, id))
			return error_set(
				RESULT_PERMANENT, error, "id %" PRIu64 " is given twice", id);
		selection->tasks[selection->count++].id = id;
	}
	return RESULT_OK;
}

static void read_task(const struct db_rows *rows, struct selected_task *task)
{
	task->is_there = true;
	(void)text_copy(task->kind, sizeof(task->kind), db_rows_text(rows, 1, NULL));
	(void)text_copy(task->order_no, sizeof(task->order_no), db_rows_text(rows, 2, NULL));
	(void)text_copy(task->status, sizeof(task->status), db_rows_text(rows, 3, NULL));
	task->retry_count = (uint32_t)db_rows_uint(rows, 4);
}

static enum result look_up(struct db *db, struct selected_task *task, struct error *error)
{
	static const char sql[] =
		"SELECT c.id, CAST(c.kind AS CHAR), c.order_no, CAST(c.status AS CHAR), "
		"c.retry_count FROM t_compensation c WHERE c.id = ?";
	const struct db_param params[] = { db_uint(task->id) };
	struct db_rows *rows = NULL;
	enum result result = db_query(db, sql, params, ARRAY_LENGTH(params), &rows, error);

	if (result == RESULT_OK && db_rows_next(rows))
		read_task(rows, task);
	db_rows_destroy(&rows);
	return result == RESULT_NONE ? RESULT_OK : result;
}

enum result selection_look_up(
	const struct session *session, const struct selection *selection, struct error *error)
{
	enum result result = RESULT_OK;

	for (size_t i = 0; result == RESULT_OK && i < selection->count; i++)
		result = look_up(session->db, &selection->tasks[i], error);
	return result;
}

enum result selection_read_filter(
	const struct session *session, struct selection_filter *filter, struct error *error)
{
	static const struct listing_value dead = { "state", "DEAD" };
	size_t count = 0;
	bool has_state = false;

	*filter = (struct selection_filter){ .words = "" };
	count = list_read_values(session, filter->values);
	filter->request.values = filter->values;
	filter->request.after = option_text(session->options, OPTION_AFTER);
	if (count == 0 && filter->request.after == NULL)
		return RESULT_NONE;
	for (size_t i = 0; i < count; i++) {
		if (!text_equals(filter->values[i].name, dead.name))
			continue;
		has_state = true;
		if (strcasecmp(filter->values[i].value, dead.value) != 0)
			return error_set(RESULT_PERMANENT, error,
				"--status: only tasks that are DEAD are touched by hand");
	}
	if (!has_state)
		filter->values[count++] = dead;
	filter->request.value_count = count;
	return listing_check(listing_find("tasks"), &filter->request, error);
}

/* By name, so that the order of the columns is nobody's business here. */
static const char *find_value(const struct listing_page *page, size_t row, const char *name)
{
	size_t count = 0;
	const struct listing_column *columns = listing_columns(listing_find("tasks"), &count);
	const char *value = NULL;

	for (size_t i = 0; value == NULL && i < count; i++)
		if (text_equals(columns[i].name, name))
			value = listing_page_value(page, row, i);
	return value == NULL ? "" : value;
}

static void take_row(const struct listing_page *page, size_t row, struct selected_task *task)
{
	uint64_t retry_count = 0;

	task->is_there = true;
	(void)!text_parse_uint(find_value(page, row, "id"), 0, UINT64_MAX, &task->id);
	(void)!text_parse_uint(find_value(page, row, "retry_count"), 0, UINT32_MAX, &retry_count);
	task->retry_count = (uint32_t)retry_count;
	(void)text_copy(task->kind, sizeof(task->kind), find_value(page, row, "kind"));
	(void)text_copy(task->order_no, sizeof(task->order_no), find_value(page, row, "order_no"));
	(void)text_copy(task->status, sizeof(task->status), find_value(page, row, "status"));
}

enum result selection_find(const struct session *session, struct selection_filter *filter,
	uint64_t limit, struct selection *selection, struct error *error)
{
	char next[LISTING_CURSOR_SIZE] = "";

	*selection = (struct selection){ .tasks = memory_allocate_array(
						 limit, sizeof(*selection->tasks)) };
	do {
		struct listing_page *page = NULL;
		uint64_t missing = limit - selection->count;

		filter->request.limit =
			(uint32_t)(missing < LISTING_PAGE_MAX ? missing : LISTING_PAGE_MAX);
		enum result result = listing_read(
			session->db, listing_find("tasks"), &filter->request, &page, error);
		if (result != RESULT_OK)
			return result;
		for (size_t row = 0; row < listing_page_count(page); row++)
			take_row(page, row, &selection->tasks[selection->count++]);
		(void)text_copy(next, sizeof(next), listing_page_next(page));
		(void)text_copy(filter->words, sizeof(filter->words), listing_page_words(page));
		listing_page_destroy(&page);
		filter->request.after = next;
	} while (next[0] != '\0' && selection->count < limit);
	selection->is_cut = next[0] != '\0';
	filter->request.after = NULL;
	return RESULT_OK;
}

void selection_clear(struct selection *selection)
{
	free(selection->tasks);
	*selection = (struct selection){ .tasks = NULL };
}
