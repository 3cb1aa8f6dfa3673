#include "retry/job.h"

#include <stdlib.h>

#include "common/base/memory.h"
#include "common/io/json.h"

struct job *job_create(struct compensation_task *task, uint64_t claimed_ms)
{
	struct job *job = memory_allocate(sizeof(*job));

	job->task = *task;
	job->claimed_ms = claimed_ms;
	task->payload = NULL;
	task->error = NULL;
	return job;
}

void job_destroy(struct job **job)
{
	if (*job == NULL)
		return;
	json_destroy(&(*job)->item);
	compensation_clear_task(&(*job)->task);
	free(*job);
	*job = NULL;
}

void job_queue_push(struct job_queue *queue, struct job *job)
{
	job->next = NULL;
	if (queue->last == NULL)
		queue->first = job;
	else
		queue->last->next = job;
	queue->last = job;
	queue->count++;
}

static struct job *take_behind(struct job_queue *queue, struct job *before)
{
	struct job *job = before == NULL ? queue->first : before->next;

	if (before == NULL)
		queue->first = job->next;
	else
		before->next = job->next;
	if (queue->last == job)
		queue->last = before;
	queue->count--;
	job->next = NULL;
	return job;
}

struct job *job_queue_pop(struct job_queue *queue)
{
	return queue->first == NULL ? NULL : take_behind(queue, NULL);
}

struct job *job_queue_pop_stranger(struct job_queue *queue, uint64_t subject)
{
	struct job *before = NULL;

	for (struct job *job = queue->first; job != NULL; job = job->next) {
		if (job->subject != subject)
			return take_behind(queue, before);
		before = job;
	}
	return job_queue_pop(queue);
}

void job_queue_clear(struct job_queue *queue)
{
	struct job *job = NULL;

	while ((job = job_queue_pop(queue)) != NULL)
		job_destroy(&job);
}
