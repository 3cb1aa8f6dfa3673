/* Settlement: verdicts into the table, in batches. */
#include <stdlib.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/io/db.h"
#include "retry/retry_metrics.h"
#include "retry/work_internal.h"

enum {
	TOTALS_MS = 1000, /* between two lines about what was settled */
	SETTLE_MAX = 2000,
};

static void count_task(struct work *work, const struct compensation_task *task)
{
	if (task->verdict == COMPENSATION_VERDICT_NOT_CALLED)
		return;
	if (task->is_lost) {
		log_warn(log_event("lease_lost"), log_uint("task_id", task->id),
			log_text("order_no", task->order_no), log_uint("call", task->calls));
		retry_metrics_count_task(task->kind, RETRY_CALL_LEASE_LOST);
		work->totals.lost++;
	} else if (task->is_dead) {
		work_note_dead(work, task);
	} else if (task->verdict == COMPENSATION_VERDICT_DONE) {
		retry_metrics_count_task(task->kind, RETRY_CALL_OK);
		work->totals.done++;
	} else {
		retry_metrics_count_task(task->kind, RETRY_CALL_RETRY);
		work->totals.retried++;
	}
}

static void log_totals(struct work *work)
{
	const struct work_totals *totals = &work->totals;
	uint64_t now_ms = clock_now_ms();

	if (totals->done + totals->retried + totals->dead + totals->lost == 0 ||
		now_ms - work->totals_ms < TOTALS_MS)
		return;
	log_info(log_event("tasks_settled"), log_uint("done", totals->done),
		log_uint("retried", totals->retried), log_uint("dead", totals->dead),
		log_uint("lost", totals->lost), log_uint("open", work_count_open(work)));
	work->totals = (struct work_totals){ .done = 0 };
	work->totals_ms = now_ms;
}

static bool is_time_to_settle(const struct work *work)
{
	return work->done.count >= WORK_SETTLE_COUNT ||
	       (work->done.count > 0 && (work->running == 0 || clock_now_ms() - work->done_ms >=
								       WORK_SETTLE_WAIT_MS));
}

/* One row that cannot be written must not hold up the others; it stays leased until its lease has
 * ended and then counts as called. */
static enum result settle_one_by_one(
	struct db *db, struct compensation_task **tasks, size_t count, struct error *error)
{
	enum result result = RESULT_OK;

	for (size_t i = 0; i < count && (result == RESULT_OK || result == RESULT_PERMANENT); i++) {
		result = compensation_settle(db, &tasks[i], 1, error);
		if (result != RESULT_PERMANENT)
			continue;
		log_error(log_event("settle_failed"), log_uint("task_id", tasks[i]->id),
			log_text("order_no", tasks[i]->order_no), log_text("error", error->text));
		tasks[i]->verdict = COMPENSATION_VERDICT_NONE;
	}
	return result == RESULT_PERMANENT ? RESULT_OK : result;
}

static enum result settle_first(struct work *work, struct db *db, size_t count, struct error *error)
{
	struct compensation_task **tasks =
		memory_allocate_array(count, sizeof(struct compensation_task *));
	struct job *job = work->done.first;
	enum result result;

	for (size_t i = 0; i < count; i++) {
		tasks[i] = &job->task;
		job = job->next;
	}
	result = compensation_settle(db, tasks, count, error);
	if (result == RESULT_PERMANENT)
		result = settle_one_by_one(db, tasks, count, error);
	free(tasks);
	for (size_t i = 0; i < count && result == RESULT_OK; i++) {
		job = job_queue_pop(&work->done);
		if (job->task.verdict != COMPENSATION_VERDICT_NONE)
			count_task(work, &job->task);
		job_destroy(&job);
	}
	return result;
}

enum result work_settle(struct work *work, struct db *db, struct error *error)
{
	enum result result = RESULT_OK;

	log_totals(work);
	if (!is_time_to_settle(work))
		return RESULT_OK;
	while (work->done.count > 0 && result == RESULT_OK)
		result = settle_first(work, db,
			work->done.count < SETTLE_MAX ? work->done.count : SETTLE_MAX, error);
	return result;
}
