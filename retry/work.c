#include "retry/work.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "retry/retry_metrics.h"
#include "retry/work_internal.h"

enum {
	KEPT_SHARE = 4 /* one place in four is kept for the other targets */
};

static const char *const breaker_state_names[] = { "closed", "open", "probing" };

bool work_is_webhook(const struct target *target)
{
	return target->form == REQUEST_FORM_WEBHOOK;
}

static size_t find_call_max(const struct work *work, const struct target *target)
{
	const struct retry_settings *settings = work->settings;
	size_t concurrency = (size_t)settings->http_concurrency;
	bool is_alone = settings->webhooks_file == NULL &&
			(settings->stock_url == NULL || settings->refund_url == NULL);

	if (work_is_webhook(target))
		return (concurrency + KEPT_SHARE - 1) / KEPT_SHARE;
	return is_alone ? concurrency : concurrency - concurrency / KEPT_SHARE;
}

void work_set_target(struct work *work, struct target *target, const struct target *plan)
{
	*target = *plan;
	if (target->subscriber[0] != '\0')
		target->name = target->subscriber;
	target->call_max = find_call_max(work, target);
	if (target->url != NULL)
		http_format_target(target->url, target->host, sizeof(target->host));
}

static void add_words(char *text, size_t size, const char *words)
{
	size_t used = strlen(text);

	(void)text_format(text + used, size - used, "%s%s", used == 0 ? "" : "; ", words);
}

void work_describe_missing(struct work *work)
{
	const struct retry_settings *settings = work->settings;

	work->missing[0] = '\0';
	if (settings->stock_url == NULL)
		add_words(work->missing, sizeof(work->missing),
			"LAPSE_STOCK_URL is not set, restores wait");
	if (settings->refund_url == NULL)
		add_words(work->missing, sizeof(work->missing),
			"LAPSE_REFUND_URL is not set, refunds wait");
	if (settings->webhooks_file != NULL && !work->subscribers.is_loaded)
		add_words(work->missing, sizeof(work->missing),
			"LAPSE_WEBHOOKS_FILE cannot be read, webhooks wait");
}

void work_create(const struct retry_settings *settings, struct http *http, struct work **work_out)
{
	struct work *work = memory_allocate(sizeof(*work));
	const struct target stock = { .name = "stock",
		.url = settings->stock_url,
		.form = settings->stock_batch > 1 ? REQUEST_FORM_RESTORES : REQUEST_FORM_RESTORE,
		.success = (enum answer_success)settings->stock_success,
		.task_max = (size_t)settings->stock_batch };
	const struct target refund = { .name = "refund",
		.url = settings->refund_url,
		.form = REQUEST_FORM_REFUND,
		.success = ANSWER_SUCCESS_CODE,
		.task_max = 1 };

	work->settings = settings;
	work->http = http;
	work->calls = memory_allocate_array(
		(size_t)settings->http_concurrency, sizeof(struct work_call *));
	work_set_target(work, &work->targets[work->target_count++], &stock);
	work_set_target(work, &work->targets[work->target_count++], &refund);
	work->needs_load = settings->webhooks_file != NULL;
	work_describe_missing(work);
	work_load(work);
	*work_out = work;
}

void work_destroy(struct work **work)
{
	if (*work == NULL)
		return;
	for (size_t i = 0; i < (*work)->settings->http_concurrency; i++)
		if ((*work)->calls[i] != NULL)
			work_abandon_call((*work)->calls[i]);
	for (size_t i = 0; i < (*work)->target_count; i++)
		job_queue_clear(&(*work)->targets[i].queue);
	job_queue_clear(&(*work)->done);
	subscriber_list_clear(&(*work)->subscribers);
	free((*work)->calls);
	free(*work);
	*work = NULL;
}

static size_t count_queued(const struct work *work)
{
	size_t count = 0;

	for (size_t i = 0; i < work->target_count; i++)
		count += work->targets[i].queue.count;
	return count;
}

size_t work_count_open(const struct work *work)
{
	return count_queued(work) + work->running_tasks + work->done.count;
}

const char *work_missing_targets(const struct work *work)
{
	return work->missing;
}

void work_finish(struct work *work, struct job *job)
{
	if (work->done.count == 0)
		work->done_ms = clock_now_ms();
	job_queue_push(&work->done, job);
}

void work_note_dead(struct work *work, const struct compensation_task *task)
{
	log_error(log_event("task_dead"), log_uint("task_id", task->id),
		log_text("kind", compensation_kind_labels[task->kind]),
		log_text("order_no", task->order_no), log_text("key", task->idempotency_key),
		log_uint("calls", task->calls), log_text("error", task->error));
	retry_metrics_count_task(task->kind, RETRY_CALL_DEAD);
	work->totals.dead++;
}

void work_refuse(struct work *work, struct job *job, const char *reason)
{
	job->task.verdict = COMPENSATION_VERDICT_DEAD;
	compensation_set_error(&job->task, reason);
	work_finish(work, job);
}

void work_give_back_queue(struct work *work, struct target *target)
{
	struct job *job = NULL;

	while ((job = job_queue_pop(&target->queue)) != NULL) {
		job->task.verdict = COMPENSATION_VERDICT_NOT_CALLED;
		work_finish(work, job);
	}
}

void work_give_back(struct work *work)
{
	for (size_t i = 0; i < work->target_count; i++)
		work_give_back_queue(work, &work->targets[i]);
}

static uint64_t least(uint64_t one, uint64_t other)
{
	return one < other ? one : other;
}

static uint64_t until(uint64_t at_ms, uint64_t now_ms)
{
	return at_ms > now_ms ? at_ms - now_ms : 0;
}

size_t work_count_places(const struct work *work, struct target *target, uint64_t now_ms)
{
	size_t allowed = breaker_count_allowed(&target->breaker, target->running, now_ms);
	size_t concurrency = (size_t)work->settings->http_concurrency;

	if (target->url == NULL || target->running >= target->call_max ||
		work->running >= concurrency)
		return 0;
	allowed = allowed < target->call_max - target->running ? allowed
							       : target->call_max - target->running;
	/* Receivers that hang never take all the places, however many they are. */
	if (work_is_webhook(target)) {
		size_t most = (concurrency + 1) / 2;
		size_t left = most > work->running_webhooks ? most - work->running_webhooks : 0;

		allowed = allowed < left ? allowed : left;
	}
	return allowed < concurrency - work->running ? allowed : concurrency - work->running;
}

uint64_t work_wait_ms(struct work *work, uint64_t limit_ms)
{
	uint64_t now_ms = clock_now_ms();
	uint64_t wait_ms = limit_ms;

	if (work->done.count > 0)
		wait_ms = least(wait_ms, until(work->done_ms + WORK_SETTLE_WAIT_MS, now_ms));
	for (size_t i = 0; i < work->target_count; i++) {
		struct target *target = &work->targets[i];
		uint64_t open_ms = breaker_wait_ms(&target->breaker, now_ms);

		/* Without a free place only an answer changes anything. */
		if (open_ms > 0)
			wait_ms = least(wait_ms, open_ms);
		else if (work_count_places(work, target, now_ms) > 0)
			wait_ms = least(wait_ms, until(target->look_at_ms, now_ms));
	}
	return wait_ms;
}

void work_note_metrics(const struct work *work)
{
	retry_metrics_set_inflight(work->running_tasks + work->done.count);
	for (size_t i = 0; i < work->target_count; i++)
		if (work->targets[i].url != NULL)
			retry_metrics_note_circuit(work->targets[i].host,
				work->targets[i].breaker.state != BREAKER_STATE_CLOSED);
	retry_metrics_show_circuits();
}

void work_dump(const struct work *work)
{
	uint64_t now_ms = clock_now_ms();

	for (size_t i = 0; i < work->target_count; i++) {
		const struct target *target = &work->targets[i];

		log_info(log_event("dump_target"), log_text("target", target->name),
			log_text("host", target->host),
			log_text("circuit", breaker_state_names[target->breaker.state]),
			log_uint("open_for_ms", breaker_wait_ms(&target->breaker, now_ms)),
			log_uint("failures_in_a_row", target->breaker.failure_count),
			log_uint("calls", target->running), log_uint("queued", target->queue.count),
			log_uint("ahead", target->ahead));
	}
	log_info(log_event("dump_work"), log_uint("running", work->running),
		log_uint("running_tasks", work->running_tasks),
		log_uint("to_settle", work->done.count));
}
