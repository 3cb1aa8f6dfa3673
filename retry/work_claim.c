/* Claims: how many tasks of which target, and what of them can be called. */
#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/random.h"
#include "common/io/json.h"
#include "common/report/contract.h"
#include "retry/webhook.h"
#include "retry/work_internal.h"

enum {
	AHEAD_MS = 100,
	AHEAD_MAX = 500,
	OPEN_MAX = 1000,  /* tasks claimed and not settled, so that memory stays small */
	PROBE_CHOICE = 8, /* tasks among which a probe is chosen */
	PACE_MIN_MS = 50, /* shorter times say nothing about a pace */
};

/* As many tasks as were answered in a tenth of a second, smoothed. */
static void measure_pace(struct target *target, uint64_t now_ms)
{
	uint64_t passed_ms = now_ms - target->pace_ms;

	if (passed_ms < PACE_MIN_MS)
		return;
	size_t pace = (size_t)(target->answered * AHEAD_MS / passed_ms);
	target->ahead = (target->ahead + pace) / 2;
	if (target->ahead > AHEAD_MAX)
		target->ahead = AHEAD_MAX;
	target->pace_ms = now_ms;
	target->answered = 0;
}

/* 0 when there is enough of them, or when it is too early. */
static size_t count_wanted(const struct work *work, struct target *target, uint64_t now_ms)
{
	size_t places = work_count_places(work, target, now_ms);
	size_t wanted = places * target->task_max;

	if (target->url == NULL || now_ms < target->look_at_ms)
		return 0;
	if (target->breaker.state == BREAKER_STATE_OPEN)
		return 0;
	if (target->breaker.state == BREAKER_STATE_PROBING) {
		if (places == 0 || target->queue.count > 0)
			return 0;
		return target->breaker.failed_subject == 0 ? 1 : PROBE_CHOICE;
	}
	if (target->queue.count >= wanted && target->queue.count >= target->ahead / 2)
		return 0;
	wanted += target->ahead;
	return wanted > target->queue.count ? wanted - target->queue.count : 0;
}

/* Jitter keeps processes from looking in step. */
static void plan_next_look(const struct work *work, struct target *target, bool was_all)
{
	uint64_t interval_ms = work->settings->retry_interval_ms;
	uint64_t now_ms = clock_now_ms();

	target->look_at_ms =
		was_all ? now_ms + interval_ms - random_up_to(interval_ms / 4) : now_ms;
}

static struct target *find_target(struct work *work, const char *name)
{
	for (size_t i = 0; i < work->target_count; i++)
		if (text_equals(work->targets[i].name, name))
			return &work->targets[i];
	require_failed("only tasks of our targets are claimed", __FILE__, __LINE__);
}

static void take_webhook(struct work *work, struct target *target, struct job *job)
{
	struct error error = { 0 };

	if (webhook_check_task(&job->task, &error) != RESULT_OK) {
		work_refuse(work, job, error.text);
		return;
	}
	job->subject = text_hash(TEXT_HASH_START, job->task.idempotency_key);
	job_queue_push(&target->queue, job);
}

static void take_task(struct work *work, struct compensation_task *task, uint64_t now_ms)
{
	struct target *target = find_target(work, task->target);
	struct error error = { 0 };

	if (task->is_dead) {
		work_note_dead(work, task); /* compensation_claim has ended it */
		return;
	}
	struct job *job = job_create(task, now_ms);
	if (work_is_webhook(target)) {
		take_webhook(work, target, job);
		return;
	}
	if (request_create_item(target->form, &job->task, &job->item, &error) != RESULT_OK) {
		work_refuse(work, job, error.text);
		return;
	}
	job->subject = request_hash_subject(job->item);
	job_queue_push(&target->queue, job);
}

static size_t count_tasks_of(const struct compensation_list *list, const char *target)
{
	size_t count = 0;

	for (size_t i = 0; list != NULL && i < list->count; i++)
		count += text_equals(list->tasks[i].target, target) ? 1 : 0;
	return count;
}

/* The wishes of this turn; the targets take turns at being first. */
static size_t list_wishes(
	struct work *work, struct compensation_wish *wishes, struct target **wishing)
{
	uint64_t now_ms = clock_now_ms();
	size_t open = work_count_open(work);
	size_t room = open < OPEN_MAX ? OPEN_MAX - open : 0;
	size_t count = 0;

	for (size_t i = 0; i < work->target_count; i++) {
		struct target *target =
			&work->targets[(work->first_target + i) % work->target_count];

		measure_pace(target, now_ms);
		size_t wanted = count_wanted(work, target, now_ms);
		wanted = wanted < room ? wanted : room;
		if (wanted == 0)
			continue;
		room -= wanted;
		wishing[count] = target;
		wishes[count++] = (struct compensation_wish){ .target = target->name,
			.limit = (uint32_t)wanted,
			.keeps_order = work_is_webhook(target) };
	}
	return count;
}

enum result work_claim(struct work *work, struct db *db, struct error *error)
{
	struct compensation_wish wishes[WORK_TARGET_MAX];
	struct target *wishing[WORK_TARGET_MAX];
	struct compensation_list *list = NULL;
	uint64_t violations = 0;
	struct compensation_claim_limits limits = { .wishes = wishes,
		.wish_count = list_wishes(work, wishes, wishing),
		.retry_max = (uint32_t)work->settings->retry_max,
		.lease_ms = work->settings->lease_ms,
		.violations_out = &violations };
	uint64_t now_ms = clock_now_ms(); /* before the lease begins */

	if (limits.wish_count == 0)
		return RESULT_NONE;
	enum result result = compensation_claim(db, &limits, &list, error);
	contract_count(CONTRACT_CHECK_LEASE, violations);
	if (result != RESULT_OK && result != RESULT_NONE)
		return result;
	for (size_t i = 0; i < limits.wish_count; i++)
		plan_next_look(
			work, wishing[i], count_tasks_of(list, wishes[i].target) < wishes[i].limit);
	if (list != NULL)
		work->server_ahead_ms = list->server_ahead_ms;
	for (size_t i = 0; list != NULL && i < list->count; i++)
		take_task(work, &list->tasks[i], now_ms);
	compensation_list_destroy(&list);
	return result;
}
