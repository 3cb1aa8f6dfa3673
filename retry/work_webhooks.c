/* Subscribers as targets: read, read again, taken away. */
#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/text.h"
#include "retry/work_internal.h"

enum {
	LOAD_INTERVAL_MS = 5000
};

static bool is_idle(const struct target *target)
{
	return target->running == 0 && target->queue.count == 0;
}

/* A new place, or one that a subscriber has left; NULL: calls of those are still under way. */
static struct target *find_place(struct work *work)
{
	if (work->target_count < WORK_TARGET_MAX)
		return &work->targets[work->target_count++];
	for (size_t i = WORK_FIXED_TARGETS; i < work->target_count; i++)
		if (work->targets[i].url == NULL && is_idle(&work->targets[i]))
			return &work->targets[i];
	return NULL;
}

static struct target *find_target(struct work *work, const char *name)
{
	for (size_t i = WORK_FIXED_TARGETS; i < work->target_count; i++)
		if (text_equals(work->targets[i].name, name))
			return &work->targets[i];
	return NULL;
}

/* false: there is no place yet. */
static bool take_subscriber(struct work *work, const struct subscriber *subscriber)
{
	struct target plan = { .form = REQUEST_FORM_WEBHOOK,
		.success = ANSWER_SUCCESS_STATUS,
		.task_max = 1,
		.url = subscriber->url };
	struct target *target = find_target(work, subscriber->name);

	(void)text_copy(plan.subscriber, sizeof(plan.subscriber), subscriber->name);
	if (target != NULL) {
		target->url = subscriber->url;
		http_format_target(target->url, target->host, sizeof(target->host));
		return true;
	}
	target = find_place(work);
	if (target == NULL)
		return false;
	work_set_target(work, target, &plan);
	return true;
}

/* The old addresses are no more. */
static void take_subscribers(struct work *work)
{
	work->needs_load = false;
	for (size_t i = WORK_FIXED_TARGETS; i < work->target_count; i++)
		work->targets[i].url = NULL;
	/* Those who stay keep their places. */
	for (size_t i = 0; i < work->subscribers.count; i++)
		if (find_target(work, work->subscribers.items[i].name) != NULL)
			(void)take_subscriber(work, &work->subscribers.items[i]);
	for (size_t i = 0; i < work->subscribers.count; i++)
		if (!take_subscriber(work, &work->subscribers.items[i]))
			work->needs_load = true;
	for (size_t i = WORK_FIXED_TARGETS; i < work->target_count; i++)
		if (work->targets[i].url == NULL)
			work_give_back_queue(work, &work->targets[i]);
	log_info(log_event("subscribers_read"), log_uint("count", work->subscribers.count));
}

void work_reload(struct work *work)
{
	struct error error = { .text = "" };

	if (work->settings->webhooks_file == NULL)
		return;
	if (subscriber_list_reload(work->settings->webhooks_file, &work->subscribers, &error) ==
		RESULT_OK) {
		work->load_failures = 0;
		take_subscribers(work);
	} else if (log_is_worth_repeating(&work->load_failures)) {
		log_error(log_event("subscribers_unread"), log_text("error", error.text),
			log_uint("repeated", work->load_failures));
	}
	work_describe_missing(work);
}

void work_load(struct work *work)
{
	uint64_t now_ms = clock_now_ms();

	if (!work->needs_load || now_ms < work->load_ms)
		return;
	work->load_ms = now_ms + LOAD_INTERVAL_MS;
	work_reload(work);
}
