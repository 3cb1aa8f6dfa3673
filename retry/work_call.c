/* Calls: started while there are places, judged when their answer is there. */
#include <stdlib.h>

#include "common/base/backoff.h"
#include "common/base/clock.h"
#include "common/base/failpoint.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/random.h"
#include "common/io/json.h"
#include "retry/receiver.h"
#include "retry/retry_metrics.h"
#include "retry/webhook.h"
#include "retry/work_internal.h"

enum {
	ANSWER_PER_TASK = 1024,       /* bytes of a batch's answer that one more task allows */
	ALONE_FROM_RETRY = 2,         /* a task that failed twice is not called with others */
	RETRY_AFTER_CAP_MS = 3600000, /* or LAPSE_RETRY_CAP when that is longer */
	CALM_MS = 60000,              /* without a failure: the next one is worth a line again */
};

struct work_call {
	struct receiver receiver; /* first */
	struct work *work;
	struct target *target;
	struct job_queue jobs;
	size_t place; /* in work->calls */
};

static bool is_worn_out(const struct work *work, const struct job *job)
{
	const struct retry_settings *settings = work->settings;
	uint64_t needed_ms = settings->http_timeout_ms + WORK_LEASE_MARGIN_MS;

	return clock_now_ms() - job->claimed_ms + needed_ms > settings->lease_ms;
}

/* The next task that still has enough of its lease; the others are given back. */
static struct job *take_job(struct work *work, struct target *target)
{
	bool is_probe = target->breaker.state == BREAKER_STATE_PROBING;
	struct job *job = NULL;

	do {
		job = is_probe ? job_queue_pop_stranger(
					 &target->queue, target->breaker.failed_subject)
			       : job_queue_pop(&target->queue);
		if (job == NULL || !is_worn_out(work, job))
			return job;
		job->task.verdict = COMPENSATION_VERDICT_NOT_CALLED;
		work_finish(work, job);
	} while (true);
}

static bool is_called_alone(const struct job *job)
{
	return job->task.retry_count >= ALONE_FROM_RETRY;
}

/* The first task, and as many behind it as go into one call. */
static bool fill_call(struct work *work, struct target *target, struct job_queue *jobs)
{
	bool is_probe = target->breaker.state == BREAKER_STATE_PROBING;
	struct job *job = take_job(work, target);

	if (job == NULL)
		return false;
	job_queue_push(jobs, job);
	while (!is_probe && !is_called_alone(jobs->first) && jobs->count < target->task_max) {
		const struct job *next = target->queue.first;

		if (next == NULL || is_called_alone(next))
			break;
		job = take_job(work, target);
		if (job == NULL)
			break;
		job_queue_push(jobs, job);
	}
	return true;
}

static uint64_t find_delay(const struct work *work, const struct compensation_task *task,
	const struct http_answer *answer)
{
	const struct retry_settings *settings = work->settings;
	uint64_t cap_ms = settings->retry_cap_ms > RETRY_AFTER_CAP_MS ? settings->retry_cap_ms
								      : RETRY_AFTER_CAP_MS;
	uint64_t asked_ms = answer->retry_after_ms < cap_ms ? answer->retry_after_ms : cap_ms;
	uint64_t delay_ms = backoff_delay_ms(
		task->retry_count, settings->retry_base_ms, settings->retry_cap_ms);

	/* Those who were sent away together do not come back together. */
	if (delay_ms < asked_ms)
		delay_ms = asked_ms + random_up_to(settings->retry_base_ms);
	return delay_ms;
}

static void note_failure(
	struct target *target, const struct job *job, const struct http_answer *answer)
{
	uint64_t now_ms = clock_now_ms();
	const struct compensation_task *task = &job->task;

	if (now_ms - target->failed_ms > CALM_MS)
		target->failures = 0;
	target->failed_ms = now_ms;
	enum log_level level =
		log_is_worth_repeating(&target->failures) ? LOG_LEVEL_WARN : LOG_LEVEL_DEBUG;
	log_write(level,
		LOG_FIELDS(log_event("task_failed"), log_uint("task_id", task->id),
			log_text("kind", compensation_kind_labels[task->kind]),
			log_text("order_no", task->order_no),
			log_text("key", task->idempotency_key), log_uint("call", task->calls),
			log_uint("due_in_ms", task->delay_ms),
			log_uint("status", (uint64_t)answer->status),
			log_text("error", task->error), log_uint("repeated", target->failures)));
}

static void note_circuit(const struct target *target)
{
	if (target->breaker.state == BREAKER_STATE_CLOSED)
		log_info(log_event("circuit_closed"), log_text("target", target->name),
			log_text("host", target->host));
	else
		log_warn(log_event("circuit_opened"), log_text("target", target->name),
			log_text("host", target->host),
			log_uint("for_ms", breaker_wait_ms(&target->breaker, clock_now_ms())),
			log_uint("openings", target->breaker.openings));
}

/* One call is one event, however many tasks it carried. */
static void tell_breaker(struct work_call *call, const struct answer_judgement *judgement)
{
	struct target *target = call->target;
	struct breaker_failure failure = { .task_id = call->jobs.first->task.id,
		.subject = call->jobs.first->subject,
		.is_of_host = judgement->health == ANSWER_HEALTH_SICK,
		.at_ms = clock_now_ms() };
	bool has_changed = false;

	for (const struct job *job = call->jobs.first; job != NULL; job = job->next)
		failure.is_of_host |= job->subject != failure.subject;
	if (judgement->health == ANSWER_HEALTH_WELL)
		has_changed = breaker_note_success(&target->breaker, failure.at_ms);
	else
		has_changed = breaker_note_failure(&target->breaker, &failure);
	if (!has_changed)
		return;
	note_circuit(target);
	if (target->breaker.state == BREAKER_STATE_OPEN)
		work_give_back_queue(call->work, target);
}

static void settle_job(struct work_call *call, struct job *job, const struct http_answer *answer,
	const struct answer_judgement *judgement)
{
	job->task.verdict = judgement->verdict;
	if (judgement->verdict != COMPENSATION_VERDICT_DONE)
		compensation_set_error(&job->task, judgement->error);
	if (judgement->verdict == COMPENSATION_VERDICT_RETRY) {
		job->task.delay_ms = find_delay(call->work, &job->task, answer);
		note_failure(call->target, job, answer);
	}
	work_finish(call->work, job);
}

static void judge_all(struct work_call *call, const struct http_answer *answer)
{
	struct target *target = call->target;
	struct answer_judgement whole;
	struct answer_batch *batch = NULL;
	struct job *job = NULL;

	if (target->form == REQUEST_FORM_RESTORES)
		answer_judge_batch(answer, target->success, call->jobs.count, &batch, &whole);
	else
		answer_judge(answer, target->success, &whole);
	tell_breaker(call, &whole);
	while ((job = job_queue_pop(&call->jobs)) != NULL) {
		struct answer_judgement judgement = whole;

		answer_judge_task(batch, job->task.idempotency_key, &judgement);
		settle_job(call, job, answer, &judgement);
	}
	answer_batch_destroy(&batch);
}

static void take_answer(struct receiver *receiver, const struct http_answer *answer)
{
	struct work_call *call = (struct work_call *)(void *)receiver;
	struct work *work = call->work;

	FAILPOINT("after_call");
	work->calls[call->place] = NULL;
	retry_metrics_note_call(call->jobs.first->task.kind, answer->duration_ms);
	work->running--;
	work->running_tasks -= call->jobs.count;
	call->target->running--;
	work->running_webhooks -= work_is_webhook(call->target) ? 1 : 0;
	call->target->answered += call->jobs.count;
	judge_all(call, answer);
	free(call);
}

void work_abandon_call(struct work_call *call)
{
	job_queue_clear(&call->jobs);
	free(call);
}

/* Places are counted before a call is started, so there is one. */
static size_t find_place(const struct work *work)
{
	size_t place = 0;

	while (work->calls[place] != NULL)
		place++;
	return place;
}

/* A receiver refuses for good what was signed too long ago or ahead. */
static uint64_t server_epoch_s(const struct work *work)
{
	return (uint64_t)((int64_t)clock_epoch_ms() + work->server_ahead_ms) / 1000;
}

/* What the tasks carry goes into the request. */
static void write_request(const struct work *work, const struct target *target,
	const struct job_queue *jobs, struct request *request)
{
	struct json **items = memory_allocate_array(jobs->count, sizeof(struct json *));
	size_t count = 0;

	for (struct job *job = jobs->first; job != NULL; job = job->next) {
		items[count++] = job->item;
		job->item = NULL;
	}
	if (work_is_webhook(target))
		webhook_create_request(&jobs->first->task,
			subscriber_find(&work->subscribers, target->name), server_epoch_s(work),
			request);
	else
		request_create(target->form, target->url, items, count, request);
	free(items);
}

static void start_call(struct work *work, struct target *target, const struct job_queue *jobs)
{
	struct work_call *call = memory_allocate(sizeof(*call));
	struct request request;
	size_t count = jobs->count;

	*call = (struct work_call){ .receiver = { take_answer },
		.work = work,
		.target = target,
		.jobs = *jobs,
		.place = find_place(work) };
	work->calls[call->place] = call;
	write_request(work, target, jobs, &request);
	http_start(
		work->http, &(struct http_request){ .url = request.url,
				    .headers = request.headers,
				    .body = request.body,
				    .body_size = request.body_size,
				    .answer_max = HTTP_ANSWER_MAX + (count - 1) * ANSWER_PER_TASK,
				    .time_limit_ms = work->settings->http_timeout_ms,
				    .context = &call->receiver });
	work->running++;
	work->running_tasks += count;
	target->running++;
	work->running_webhooks += work_is_webhook(target) ? 1 : 0;
	request_clear(&request);
}

static bool start_one(struct work *work, struct target *target)
{
	struct job_queue jobs = { .count = 0 };

	if (work_count_places(work, target, clock_now_ms()) == 0 || !fill_call(work, target, &jobs))
		return false;
	bool is_probe = target->breaker.state == BREAKER_STATE_PROBING;
	start_call(work, target, &jobs);
	/* The others were there to choose from. */
	if (is_probe)
		work_give_back_queue(work, target);
	return true;
}

void work_start_calls(struct work *work)
{
	size_t idle = 0;

	/* In turn, so that no target takes all the places. */
	while (idle < work->target_count) {
		struct target *target = &work->targets[work->first_target];

		work->first_target = (work->first_target + 1) % work->target_count;
		idle = start_one(work, target) ? 0 : idle + 1;
	}
}
