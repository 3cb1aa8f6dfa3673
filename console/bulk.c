#include "console/bulk.h"

#include <stdlib.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/random.h"
#include "common/base/text.h"
#include "common/io/db.h"
#include "common/order/act.h"
#include "common/service/database.h"
#include "console/counts.h"

enum {
	JOBS = 8,
	STEP_MS = 1000 / BULK_ROWS_PER_SECOND,
	AWAY_MS = 1000, /* until a server that is away is asked again */
	IDLE_MS = 10000,
};

struct bulk {
	struct database *database;
	struct bulk_job jobs[JOBS];
	uint64_t next_ms;
};

void bulk_create(struct database *database, struct bulk **bulk_out)
{
	struct bulk *bulk = memory_allocate(sizeof(*bulk));

	bulk->database = database;
	*bulk_out = bulk;
}

void bulk_destroy(struct bulk **bulk)
{
	if (*bulk == NULL)
		return;
	for (size_t i = 0; i < JOBS; i++)
		bulk_forget(&(*bulk)->jobs[i]);
	free(*bulk);
	*bulk = NULL;
}

struct bulk_job *bulk_add(struct bulk *bulk, const struct identity *owner, size_t row_max)
{
	struct bulk_job *job = NULL;

	for (size_t i = 0; i < JOBS; i++) {
		struct bulk_job *other = &bulk->jobs[i];

		if (other->state != BULK_STATE_RUNNING &&
			(job == NULL || other->touched_ms < job->touched_ms))
			job = other;
	}
	if (job == NULL)
		return NULL;
	bulk_forget(job);
	*job = (struct bulk_job){ .owner = *owner, .row_max = row_max };
	job->touched_ms = clock_now_ms();
	job->rows = memory_allocate_array(row_max, sizeof(*job->rows));
	ulid_generate(job->id);
	return job;
}

bool bulk_add_row(struct bulk_job *job, const struct act_task *task)
{
	if (job->count == job->row_max)
		return false;
	job->rows[job->count++] = *task;
	return true;
}

void bulk_forget(struct bulk_job *job)
{
	free(job->rows);
	free(job->others);
	*job = (struct bulk_job){ .rows = NULL };
}

struct bulk_job *bulk_find(struct bulk *bulk, const char *id)
{
	for (size_t i = 0; i < JOBS; i++)
		if (bulk->jobs[i].state != BULK_STATE_EMPTY && text_equals(bulk->jobs[i].id, id))
			return &bulk->jobs[i];
	return NULL;
}

struct bulk_job *bulk_find_request(struct bulk *bulk, const char *owner, const char *request_id)
{
	for (size_t i = 0; i < JOBS; i++)
		if (bulk->jobs[i].state != BULK_STATE_EMPTY &&
			text_equals(bulk->jobs[i].owner.name, owner) &&
			text_equals(bulk->jobs[i].request_id, request_id))
			return &bulk->jobs[i];
	return NULL;
}

/* Its rows are not needed any more. */
static void end(struct bulk_job *job, enum bulk_state state)
{
	job->state = state;
	free(job->rows);
	job->rows = NULL;
}

void bulk_start(struct bulk_job *job, const char *request_id)
{
	job->state = BULK_STATE_RUNNING;
	job->touched_ms = clock_now_ms();
	(void)text_copy(job->request_id, sizeof(job->request_id), request_id);
	log_info(log_event("bulk_started"), log_text("bulk_id", job->id),
		log_uint("rows", job->count), log_text("actor", job->owner.name));
	if (job->count == 0)
		end(job, BULK_STATE_DONE);
}

static void log_end(const struct bulk_job *job, const char *event)
{
	log_info(log_event(event), log_text("bulk_id", job->id), log_uint("rows", job->count),
		log_uint("done", job->counts[ACT_OUTCOME_DONE]), log_uint("looked_at", job->next));
}

void bulk_stop(struct bulk_job *job)
{
	if (job->state != BULK_STATE_RUNNING)
		return;
	end(job, BULK_STATE_STOPPED);
	log_end(job, "bulk_stopped");
}

/* The calls of all rows are spread over the time the whole takes. */
static uint64_t choose_delay_ms(const struct bulk_job *job)
{
	return random_up_to((uint64_t)job->count * STEP_MS);
}

static void note_other(struct bulk_job *job, uint64_t id, enum act_outcome outcome, const char *why)
{
	if (outcome == ACT_OUTCOME_DONE || job->other_count == BULK_OTHER_MAX)
		return;
	job->others = memory_resize_array(job->others, job->other_count + 1, sizeof(*job->others));
	struct bulk_other *other = &job->others[job->other_count++];
	*other = (struct bulk_other){ .id = id, .outcome = outcome };
	(void)text_copy(other->why, sizeof(other->why), why);
}

/* false: the server is away, and the row stays the next one. */
static bool work_on_row(struct bulk *bulk, struct bulk_job *job)
{
	const struct act_task *task = &job->rows[job->next];
	struct act_result result = { .words = "" };
	struct error error = { .text = "" };
	const struct audit_actor actor = {
		.actor = job->owner.name,
		.role = act_role_names[job->owner.role],
		.auth = role_auth_names[job->owner.auth],
		.ip = job->owner.address,
		.request_id = job->request_id,
		.bulk_id = job->id,
	};
	struct db *db = database_db(bulk->database);

	enum result status = act_requeue(db, task, choose_delay_ms(job), &actor, &result, &error);
	if (status == RESULT_TEMPORARY) {
		if (!db_is_connected(db))
			database_note(bulk->database, status, &error);
		return false;
	}
	enum act_outcome outcome = status == RESULT_OK ? result.outcome : ACT_OUTCOME_FAILED;
	note_other(job, task->id, outcome, status == RESULT_OK ? result.words : error.text);
	job->counts[outcome]++;
	counts_add_act("requeue", outcome);
	job->next++;
	return true;
}

static struct bulk_job *find_running(struct bulk *bulk)
{
	for (size_t i = 0; i < JOBS; i++)
		if (bulk->jobs[i].state == BULK_STATE_RUNNING)
			return &bulk->jobs[i];
	return NULL;
}

uint64_t bulk_work(struct bulk *bulk)
{
	struct bulk_job *job = find_running(bulk);
	uint64_t now_ms = clock_now_ms();

	if (job == NULL)
		return IDLE_MS;
	if (now_ms < bulk->next_ms)
		return bulk->next_ms - now_ms;
	bool is_there = database_is_there(bulk->database) && work_on_row(bulk, job);
	bulk->next_ms = now_ms + (is_there ? STEP_MS : AWAY_MS);
	job->touched_ms = now_ms;
	if (job->next == job->count) {
		end(job, BULK_STATE_DONE);
		log_end(job, "bulk_done");
	}
	return is_there ? STEP_MS : AWAY_MS;
}
