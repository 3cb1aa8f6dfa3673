#include "consumer/link.h"

#include <stdlib.h>

#include "common/base/backoff.h"
#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/memory.h"

enum {
	CHECK_INTERVAL_MS = 30000, /* between two looks at the subscription */
};

struct link {
	const struct consumer_settings *settings;
	struct broker *in;
	struct broker *out;
	struct topology *topology;
	uint64_t in_epoch;  /* for which the due queue was declared */
	uint64_t out_epoch; /* for which everything was declared */
	uint64_t next_try_ms;
	uint32_t try_count;
	uint64_t failure_count; /* for folding log lines */
	uint64_t next_check_ms;
	bool is_paused;
	struct error trouble;
};

void link_create(const struct consumer_settings *settings, struct link **link_out)
{
	struct link *link = memory_allocate(sizeof(*link));

	link->settings = settings;
	broker_create(&settings->amqp, "lapse-consumer in", &link->in);
	broker_create(&settings->amqp, "lapse-consumer out", &link->out);
	topology_create(&settings->topology, &settings->amqp, &link->topology);
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
	topology_destroy(&(*link)->topology);
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

struct topology *link_topology(struct link *link)
{
	return link->topology;
}

const char *link_trouble(const struct link *link)
{
	return link->trouble.text;
}

static enum result subscribe(struct link *link, struct error *error)
{
	enum result result = topology_declare_due(link->topology, link->in, error);

	if (result == RESULT_OK)
		result = broker_consume(link->in, topology_due_queue(link->topology),
			(uint16_t)link->settings->prefetch, error);
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
	if (link->in_epoch != 0)
		service_note_reconnect(SERVICE_CHECK_AMQP);
	link->in_epoch = broker_epoch(link->in);
	link->next_check_ms = clock_now_ms() + CHECK_INTERVAL_MS;
	log_info(log_event("subscribed"), log_text("queue", topology_due_queue(link->topology)),
		log_text("broker", broker_server(link->in)));
	return RESULT_OK;
}

static enum result open_out(struct link *link, struct error *error)
{
	enum result result = broker_ensure_connected(link->out, error);

	if (result == RESULT_OK)
		result = topology_declare(link->topology, link->out, error);
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
	if (open_out(link, &link->trouble) == RESULT_OK) {
		link->out_epoch = broker_epoch(link->out);
		link->try_count = 0;
		link->failure_count = 0;
		link->trouble.text[0] = '\0';
		*has_reconnected_out = true;
		return true;
	}
	if (log_is_worth_repeating(&link->failure_count))
		log_warn(log_event("publish_path_down"), log_text("error", link->trouble.text),
			log_uint("count", link->failure_count));
	link->next_try_ms = now_ms + backoff_delay_ms(link->try_count++, SERVICE_BACKOFF_BASE_MS,
					     SERVICE_BACKOFF_CAP_MS);
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

enum result link_check_subscription(struct link *link, struct error *error)
{
	uint64_t now_ms = clock_now_ms();
	uint32_t ready = 0;
	uint32_t consumers = 0;

	if (link->is_paused || now_ms < link->next_check_ms)
		return RESULT_OK;
	link->next_check_ms = now_ms + CHECK_INTERVAL_MS;
	enum result result = broker_count_queue(
		link->in, topology_due_queue(link->topology), &ready, &consumers, error);
	if (result == RESULT_NONE || (result == RESULT_OK && consumers == 0)) {
		broker_drop(link->in);
		return error_set(RESULT_TEMPORARY, error, "the subscription was lost");
	}
	return result;
}
