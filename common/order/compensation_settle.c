/* Settle: what became of the calls, guarded by the lease token of each task. */
#include <stdlib.h>
#include <string.h>

#include "common/base/failpoint.h"
#include "common/base/memory.h"
#include "common/io/db.h"
#include "common/io/db_list.h"
#include "common/order/compensation_internal.h"
#include "common/order/id_list.h"

#define GUARD         " AND status = 'RUNNING' AND lease_token = ?"
#define END_OF_LEASE  "lease_token = NULL, lease_until = NULL, updated_at = UTC_TIMESTAMP(3), "
#define UPDATE_STATUS "UPDATE t_compensation FORCE INDEX (PRIMARY) SET " END_OF_LEASE "status = "

static const char done_sql[] = UPDATE_STATUS
	"'DONE', done_at = UTC_TIMESTAMP(3), next_retry_at = UTC_TIMESTAMP(3) WHERE id IN ";
static const char not_called_sql[] =
	UPDATE_STATUS "'PENDING', calls = IF(calls > 0, calls - 1, 0), "
		      "retry_count = IF(retry_count > 0, retry_count - 1, 0), "
		      "next_retry_at = UTC_TIMESTAMP(3) WHERE id IN ";
static const char retry_sql[] = UPDATE_STATUS
	"'PENDING', last_error = ?, "
	"next_retry_at = UTC_TIMESTAMP(3) + INTERVAL ? MICROSECOND WHERE id = ?" GUARD;
static const char dead_sql[] =
	UPDATE_STATUS "'DEAD', last_error = ?, next_retry_at = UTC_TIMESTAMP(3) "
		      "WHERE id = ?" GUARD;

struct settle {
	struct db *db;
	struct compensation_task *const *tasks;
	size_t count;
	bool *is_written; /* for each task */
	uint64_t *ids;    /* room for all */
	bool is_one_by_one;
};

/* The statement that many tasks can share, NULL when each needs its own. */
static const char *find_shared_sql(const struct compensation_task *task)
{
	switch (task->verdict) {
	case COMPENSATION_VERDICT_DONE:
		return done_sql;
	case COMPENSATION_VERDICT_NOT_CALLED:
		return not_called_sql;
	case COMPENSATION_VERDICT_RETRY:
	case COMPENSATION_VERDICT_DEAD:
	case COMPENSATION_VERDICT_NONE:
		break;
	}
	return NULL;
}

static bool is_like(const struct compensation_task *task, const struct compensation_task *other)
{
	return task->verdict == other->verdict &&
	       text_equals(task->lease_token, other->lease_token);
}

/* One statement for this task and all behind it that share it.  CONFLICT: one of them was lost. */
static enum result write_alike(
	struct settle *settle, size_t first, const char *sql, struct error *error)
{
	const struct compensation_task *task = settle->tasks[first];
	const struct db_param token = db_text(task->lease_token);
	struct id_statement statement = {
		.head = sql, .tail = GUARD, .ids = settle->ids, .after = &token, .after_count = 1
	};
	uint64_t changed = 0;

	for (size_t i = first; i < settle->count && statement.count < DB_LIST_MAX; i++) {
		if (settle->is_written[i] || !is_like(task, settle->tasks[i]) ||
			(settle->is_one_by_one && i > first))
			continue;
		settle->is_written[i] = true;
		settle->ids[statement.count++] = settle->tasks[i]->id;
	}
	enum result result = id_list_execute(settle->db, &statement, &changed, error);
	if (result != RESULT_OK || changed == statement.count)
		return result;
	if (!settle->is_one_by_one)
		return RESULT_CONFLICT;
	settle->tasks[first]->is_lost = true;
	return RESULT_OK;
}

static enum result write_alone(struct db *db, struct compensation_task *task, struct error *error)
{
	uint64_t changed = 0;

	task->is_dead = task->verdict == COMPENSATION_VERDICT_DEAD ||
			task->retry_count >= task->max_retries;
	const struct db_param dead[] = { db_text(task->error), db_uint(task->id),
		db_text(task->lease_token) };
	const struct db_param retry[] = { db_text(task->error), db_uint(task->delay_ms * 1000),
		db_uint(task->id), db_text(task->lease_token) };
	enum result result =
		task->is_dead
			? db_execute(db, dead_sql, dead, ARRAY_LENGTH(dead), &changed, error)
			: db_execute(db, retry_sql, retry, ARRAY_LENGTH(retry), &changed, error);
	task->is_lost = result == RESULT_OK && changed == 0;
	return result;
}

static enum result write_tasks(struct settle *settle, struct error *error)
{
	enum result result = RESULT_OK;

	for (size_t i = 0; i < settle->count && result == RESULT_OK; i++) {
		struct compensation_task *task = settle->tasks[i];
		const char *shared_sql = find_shared_sql(task);

		if (settle->is_written[i] || task->verdict == COMPENSATION_VERDICT_NONE)
			continue;
		result = shared_sql != NULL ? write_alike(settle, i, shared_sql, error)
					    : write_alone(settle->db, task, error);
	}
	return result;
}

/* Payments before alerts: tables are touched in the order of schema/. */
static enum result write_consequences(const struct settle *settle, struct error *error)
{
	enum result result = RESULT_OK;

	for (size_t i = 0; i < settle->count && result == RESULT_OK; i++) {
		const struct compensation_task *task = settle->tasks[i];

		if (!task->is_lost && (task->is_dead || task->verdict == COMPENSATION_VERDICT_DONE))
			result = compensation_set_refund_state(settle->db, task->kind,
				task->payload, task->payload_size,
				task->is_dead ? "FAILED" : "DONE", error);
	}
	for (size_t i = 0; i < settle->count && result == RESULT_OK; i++)
		if (settle->tasks[i]->is_dead && !settle->tasks[i]->is_lost)
			result = compensation_raise_alert(settle->db, settle->tasks[i], error);
	return result;
}

static enum result settle_all(struct settle *settle, struct error *error)
{
	for (size_t i = 0; i < settle->count; i++) {
		settle->is_written[i] = false;
		settle->tasks[i]->is_lost = false;
		settle->tasks[i]->is_dead = false;
	}
	enum result result = db_begin(settle->db, error);
	if (result != RESULT_OK)
		return result;
	result = write_tasks(settle, error);
	if (result == RESULT_OK)
		result = write_consequences(settle, error);
	if (result == RESULT_OK) {
		FAILPOINT("before_commit");
		result = db_commit(settle->db, error);
	}
	if (result == RESULT_OK)
		FAILPOINT("after_commit");
	db_rollback(settle->db); /* does nothing after a commit */
	return result;
}

enum result compensation_settle(
	struct db *db, struct compensation_task *const *tasks, size_t count, struct error *error)
{
	struct settle settle = { .db = db, .tasks = tasks, .count = count };
	enum result result = RESULT_OK;

	if (count == 0)
		return RESULT_OK;
	settle.is_written = memory_allocate_array(count, sizeof(*settle.is_written));
	settle.ids = memory_allocate_array(count, sizeof(*settle.ids));
	result = settle_all(&settle, error);
	/* Somebody else has one of many by now: one by one shows which. */
	if (result == RESULT_CONFLICT) {
		settle.is_one_by_one = true;
		result = settle_all(&settle, error);
	}
	free(settle.ids);
	free(settle.is_written);
	return error_context(result, error, "settle");
}
