#include "ctl/selection.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/db.h"
#include "ctl/session.h"
#include "ctl/task_filter.h"

enum {
	SQL_SIZE = 1024
};

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
		"c.retry_count, COALESCE(o.status = 'UNPAID', FALSE), "
		"(SELECT COUNT(*) FROM t_compensation s WHERE s.order_no = c.order_no "
		"AND s.id <> c.id AND s.status IN ('PENDING', 'RUNNING', 'DEAD')) "
		"FROM t_compensation c LEFT JOIN t_order o ON o.order_no = c.order_no "
		"WHERE c.id = ?";
	const struct db_param params[] = { db_uint(task->id) };
	struct db_rows *rows = NULL;
	enum result result = db_query(db, sql, params, ARRAY_LENGTH(params), &rows, error);

	if (result == RESULT_OK && db_rows_next(rows)) {
		read_task(rows, task);
		task->is_order_open = db_rows_uint(rows, 5) != 0;
		task->open_siblings = db_rows_uint(rows, 6);
	}
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

enum result selection_find(const struct session *session, const struct task_filter *filter,
	uint64_t limit, struct selection *selection, struct error *error)
{
	struct db_param params[TASK_FILTER_PARAM_MAX + 1];
	struct db_rows *rows = NULL;
	char sql[SQL_SIZE];
	size_t count = 0;

	*selection = (struct selection){ .tasks = NULL };
	REQUIRE(text_format(sql, sizeof(sql),
		"SELECT id, CAST(kind AS CHAR), order_no, CAST(status AS CHAR), retry_count "
		"FROM t_compensation%s ORDER BY id LIMIT ?",
		filter->condition));
	for (size_t i = 0; i < filter->param_count; i++)
		params[count++] = filter->params[i];
	params[count++] = db_uint(limit + 1);
	enum result result = db_query(session->db, sql, params, count, &rows, error);
	if (result != RESULT_OK)
		goto done;
	selection->tasks = memory_allocate_array(db_rows_count(rows), sizeof(*selection->tasks));
	while (selection->count < limit && db_rows_next(rows)) {
		struct selected_task *task = &selection->tasks[selection->count++];

		task->id = db_rows_uint(rows, 0);
		read_task(rows, task);
	}
	selection->is_cut = db_rows_count(rows) > limit;
done:
	db_rows_destroy(&rows);
	return result == RESULT_NONE ? RESULT_OK : result;
}

void selection_clear(struct selection *selection)
{
	free(selection->tasks);
	*selection = (struct selection){ .tasks = NULL };
}
