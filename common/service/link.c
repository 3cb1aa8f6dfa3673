#include "common/service/link.h"

#include <stdlib.h>

#include "common/base/backoff.h"
#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/service/service.h"

enum {
	CHECK_INTERVAL_MS = 30000,              /* between two looks at the subscription */
	FULL_WAIT_MS = 100,                     /* while nothing more can be taken */
	STEADY_MS = 2 * SERVICE_BACKOFF_CAP_MS, /* a line that lived so long is a good one */
	NAME_SIZE = 64,
};

struct link {
	struct link_plan plan;
	struct broker *in;
	struct broker *out;
	uint64_t in_epoch;  /* for which the queue was declared */
	uint64_t out_epoch; /* for which everything was declared */
	uint64_t opened_ms; /* the way out; 0: it was seen to be lost since */
	uint64_t next_try_ms;
	uint32_t try_count;
	uint64_t failure_count; /* for folding log lines */
	uint64_t next_check_ms;
	bool is_paused;
	struct error trouble;
};

void link_create(const struct broker_settings *settings, const struct link_plan *plan,
	struct link **link_out)
{
	struct link *link = memory_allocate(sizeof(*link));
	char name[NAME_SIZE];

	link->plan = *plan;
	(void)text_format(name, sizeof(name), "%s in", plan->name);
	broker_create(settings, name, &link->in);
	(void)text_format(name, sizeof(name), "%s out", plan->name);
	broker_create(settings, name, &link->out);
	*link_out = link;
}

void link_destroy(struct link **link)
{
	if (*link == NULL)
		return;
	broker_disconnect((*link)->in);
	broker_disconnect((*link)->out);
	broker_destroy(&(*link)->in);
	broker_destroy(&(*link)->out);
	free(*link);
	*link = NULL;
}

struct broker *link_in(struct link *link)
{
	return link->in;
}

struct broker *link_out(struct link *link)
{
	return link->out;
}

const char *link_trouble(const struct link *link)
{
	if (link->trouble.text[0] != '\0')
		return link->trouble.text;
	if (broker_is_blocked(link->out))
		return "the broker takes no messages: memory or disk alarm";
	return broker_is_consuming(link->in) ? "" : "not subscribed";
}

static enum result subscribe(struct link *link, struct error *error)
{
	enum result result = link->plan.declare_in(link->plan.context, link->in, error);

	if (result == RESULT_OK)
		result = broker_consume(link->in, link->plan.queue, link->plan.prefetch, error);
	if (result != RESULT_OK)
		broker_drop(link->in);
	return result;
}

enum result link_ensure_in(struct link *link, bool *has_reconnected_out, struct error *error)
{
	enum result result = broker_ensure_connected(link->in, error);

	*has_reconnected_out =
		link->in_epoch != broker_epoch(link->in) || !broker_is_connected(link->in);
	if (result != RESULT_OK || link->is_paused || broker_is_consuming(link->in))
		return result;
	result = subscribe(link, error);
	if (result != RESULT_OK)
		return error_context(result, error, "subscribe");
	if (link->in_epoch != 0 && link->in_epoch != broker_epoch(link->in)) {
		service_note_reconnect(SERVICE_CHECK_AMQP);
		/* A lost queue took its bindings along: what leads to it is declared again. */
		broker_drop(link->out);
	}
	link->in_epoch = broker_epoch(link->in);
	link->next_check_ms = clock_now_ms() + CHECK_INTERVAL_MS;
	log_info(log_event("subscribed"), log_text("queue", link->plan.queue),
		log_text("broker", broker_server(link->in)));
	return RESULT_OK;
}

static enum result open_out(struct link *link, struct error *error)
{
	enum result result = broker_ensure_connected(link->out, error);

	if (result == RESULT_OK)
		result = link->plan.declare_out(link->plan.context, link->out, error);
	if (result == RESULT_OK)
		result = broker_enable_confirms(link->out, error);
	if (result != RESULT_OK)
		broker_drop(link->out);
	return result;
}

bool link_ensure_out(struct link *link, bool *has_reconnected_out)
{
	uint64_t now_ms = clock_now_ms();

	*has_reconnected_out = false;
	if (broker_is_connected(link->out) && link->out_epoch == broker_epoch(link->out))
		return true;
	if (now_ms < link->next_try_ms)
		return false;
	if (link->opened_ms != 0 && now_ms - link->opened_ms > STEADY_MS)
		link->try_count = 0;
	/* Also after a success: one that is lost at once is not opened as fast as it can be. */
	link->next_try_ms = now_ms + backoff_delay_ms(link->try_count++, SERVICE_BACKOFF_BASE_MS,
					     SERVICE_BACKOFF_CAP_MS);
	link->opened_ms = 0;
	if (open_out(link, &link->trouble) == RESULT_OK) {
		link->opened_ms = now_ms;
		link->out_epoch = broker_epoch(link->out);
		link->failure_count = 0;
		link->trouble.text[0] = '\0';
		*has_reconnected_out = true;
		return true;
	}
	if (log_is_worth_repeating(&link->failure_count))
		log_warn(log_event("publish_path_down"), log_text("error", link->trouble.text),
			log_uint("count", link->failure_count));
	return false;
}

bool link_can_publish(const struct link *link)
{
	return broker_is_connected(link->out) && link->out_epoch == broker_epoch(link->out) &&
	       !broker_is_blocked(link->out);
}

void link_pause(struct link *link)
{
	link->is_paused = true;
}

void link_resume(struct link *link)
{
	link->is_paused = false;
}

/* What waits longest may wait for good reasons: it goes back once, and comes again. */
enum result link_give_back(struct link *link, uint64_t last_tag, size_t count, struct error *error)
{
	enum result result = RESULT_OK;

	link_pause(link);
	if (broker_is_consuming(link->in))
		result = broker_cancel(link->in, error);
	if (result != RESULT_OK || count == 0)
		return result;
	log_warn(log_event("messages_given_back"), log_uint("count", count));
	return broker_requeue_up_to(link->in, broker_epoch(link->in), last_tag, error);
}

static enum result take_event(struct link *link, const struct link_taking *taking,
	const struct broker_event *event, size_t *taken, struct error *error)
{
	if (event->kind == BROKER_EVENT_CANCELLED) {
		broker_drop(link->in);
		return error_set(RESULT_TEMPORARY, error,
			"the broker ended the subscription: the queue is gone");
	}
	if (event->kind != BROKER_EVENT_DELIVERY)
		return RESULT_OK;
	(*taken)++;
	return taking->take(taking->context, &event->delivery, error);
}

enum result link_take(
	struct link *link, const struct link_taking *taking, size_t *taken_out, struct error *error)
{
	struct broker_event event;
	uint64_t wait_ms = taking->wait_ms;
	uint64_t linger_ms = taking->linger_ms;
	enum result result = RESULT_OK;

	*taken_out = 0;
	if (!taking->has_room(taking->context)) {
		/* Nothing can be taken; the line still wants its heartbeats. */
		clock_wait_ms(wait_ms < FULL_WAIT_MS ? wait_ms : FULL_WAIT_MS);
		return broker_keep_alive(link->in, error);
	}
	while (*taken_out < taking->limit && taking->has_room(taking->context)) {
		result = broker_next(link->in, wait_ms, &event, error);
		if (result == RESULT_NONE && *taken_out > 0 && linger_ms > 0) {
			wait_ms = linger_ms;
			linger_ms = 0;
			continue;
		}
		if (result == RESULT_OK)
			result = take_event(link, taking, &event, taken_out, error);
		if (result != RESULT_OK)
			break;
		wait_ms = 0;
	}
	return result == RESULT_NONE ? RESULT_OK : result;
}

enum result link_check_subscription(struct link *link, struct error *error)
{
	uint64_t now_ms = clock_now_ms();
	uint32_t ready = 0;
	uint32_t consumers = 0;

	if (link->is_paused || now_ms < link->next_check_ms)
		return RESULT_OK;
	link->next_check_ms = now_ms + CHECK_INTERVAL_MS;
	enum result result =
		broker_count_queue(link->in, link->plan.queue, &ready, &consumers, error);
	if (result == RESULT_NONE || (result == RESULT_OK && consumers == 0)) {
		broker_drop(link->in);
		return error_set(RESULT_TEMPORARY, error, "the subscription was lost");
	}
	return result;
}

void link_serve(void *context)
{
	struct link *link = context;
	struct broker *const brokers[] = { link->in, link->out };
	struct error error = { .text = "" };

	service_note_turn();
	for (size_t i = 0; i < ARRAY_LENGTH(brokers); i++)
		if (broker_is_connected(brokers[i]) &&
			broker_keep_alive(brokers[i], &error) != RESULT_OK)
			log_warn(
				log_event("broker_connection_lost"), log_text("error", error.text));
}
