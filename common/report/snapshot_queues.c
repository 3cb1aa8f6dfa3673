#include "common/report/snapshot_queues.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/broker.h"
#include "common/io/broker_url.h"
#include "common/io/http.h"
#include "common/order/topology_queues.h"

enum {
	METRICS_LIMIT_MS = 2000,
	METRICS_ANSWER_MAX = 4194304,
	ABSENT_INTERVAL_MS = 60000, /* a queue that is not there costs a channel to ask for */
	LABEL_SIZE = 1024,
};

struct snapshot_queues {
	const struct broker_settings *amqp;
	const struct topology_settings *topology_settings;
	const char *metrics_url;
	struct topology *topology;
	struct broker *broker;
	struct topology_queue queues[TOPOLOGY_QUEUE_MAX];
	size_t count;
	uint64_t ask_again_ms[TOPOLOGY_QUEUE_MAX]; /* when it was not there */
	struct http *http;                         /* NULL: nobody to be asked */
	bool is_asking;
	bool has_answer;
	enum result answer_result;
	struct error answer_error;
	uint64_t unacked[TOPOLOGY_QUEUE_MAX];
};

void snapshot_queues_create(const struct broker_settings *amqp,
	const struct topology_settings *topology, const char *metrics_url,
	struct snapshot_queues **queues_out)
{
	struct snapshot_queues *queues = memory_allocate(sizeof(*queues));

	queues->amqp = amqp;
	queues->topology_settings = topology;
	queues->metrics_url = metrics_url;
	topology_create(topology, amqp, &queues->topology);
	queues->count = topology_list_queues(queues->topology, queues->queues);
	if (amqp->url != NULL)
		broker_create(amqp, "lapse-console", &queues->broker);
	if (amqp->url != NULL && metrics_url != NULL)
		http_create(1, METRICS_LIMIT_MS, &queues->http);
	*queues_out = queues;
}

void snapshot_queues_destroy(struct snapshot_queues **queues)
{
	if (*queues == NULL)
		return;
	http_destroy(&(*queues)->http);
	if ((*queues)->broker != NULL)
		broker_disconnect((*queues)->broker);
	broker_destroy(&(*queues)->broker);
	topology_destroy(&(*queues)->topology);
	free(*queues);
	*queues = NULL;
}

/* ---- ready and consumers */

static enum result read_queue(struct snapshot_queues *queues, size_t place,
	struct snapshot_queue *queue, struct error *error)
{
	uint64_t now_ms = clock_now_ms();
	uint64_t unacked = queue->unacked;

	*queue = (struct snapshot_queue){ .unacked = unacked };
	if (now_ms < queues->ask_again_ms[place])
		return RESULT_OK;
	enum result result = broker_count_queue(queues->broker, queues->queues[place].name,
		&queue->ready, &queue->consumers, error);
	queue->is_there = result == RESULT_OK;
	queues->ask_again_ms[place] = result == RESULT_NONE ? now_ms + ABSENT_INTERVAL_MS : 0;
	return result == RESULT_NONE ? RESULT_OK : result;
}

static bool is_of_levels(enum topology_role role)
{
	return role == TOPOLOGY_ROLE_LEVEL || role == TOPOLOGY_ROLE_FIXED;
}

/* Mode auto declares levels only where the broker does not offer the delayed exchange. */
static enum topology_mode guess_mode(const struct snapshot_queues *queues, bool has_levels)
{
	enum topology_mode configured = (enum topology_mode)queues->topology_settings->delay;

	if (configured != TOPOLOGY_MODE_AUTO)
		return configured;
	return has_levels ? TOPOLOGY_MODE_LEVELS : TOPOLOGY_MODE_PLUGIN;
}

enum result snapshot_queues_read(
	struct snapshot_queues *queues, struct snapshot_figures *figures, struct error *error)
{
	bool has_levels = false;

	figures->queue_count = queues->count;
	figures->mode = TOPOLOGY_MODE_AUTO;
	if (queues->broker == NULL)
		return error_set(RESULT_NONE, error, "LAPSE_AMQP_URL is not set");
	enum result result = broker_ensure_connected(queues->broker, error);
	for (size_t i = 0; i < queues->count && result == RESULT_OK; i++) {
		struct snapshot_queue *queue = &figures->queues[i];

		/* Without the first level there is none of them. */
		if (i > TOPOLOGY_ROLE_LEVEL && is_of_levels(queues->queues[i].role) &&
			!has_levels) {
			queue->is_there = false;
			continue;
		}
		result = read_queue(queues, i, queue, error);
		has_levels =
			has_levels || (queue->is_there && is_of_levels(queues->queues[i].role));
	}
	if (result != RESULT_OK)
		return result;
	(void)text_copy(figures->broker, sizeof(figures->broker), broker_server(queues->broker));
	if (figures->queues[TOPOLOGY_ROLE_DUE].is_there)
		figures->mode = guess_mode(queues, has_levels);
	return RESULT_OK;
}

void snapshot_queues_keep_alive(struct snapshot_queues *queues)
{
	struct error error = { .text = "" };

	/* A connection that is lost here is built again by the next look at the queues. */
	if (queues->broker != NULL && broker_is_connected(queues->broker) &&
		broker_keep_alive(queues->broker, &error) != RESULT_OK)
		broker_drop(queues->broker);
}

/* ---- unacked */

/* The virtual host of LAPSE_AMQP_URL; "" when it cannot be understood. */
static void find_vhost(const struct snapshot_queues *queues, char vhost[URL_PART_SIZE])
{
	struct broker_url url;

	vhost[0] = '\0';
	if (broker_url_parse(queues->amqp->url, &url, NULL) == RESULT_OK)
		(void)text_copy(vhost, URL_PART_SIZE, url.url.path);
	memory_wipe(&url, sizeof(url));
}

/* Always with virtual host and family: the plain page has no queue names, the full one is slow. */
static bool write_url(const struct snapshot_queues *queues, char *url, size_t size)
{
	const char *base = queues->metrics_url;
	size_t length = strlen(base);
	char vhost[URL_PART_SIZE];

	find_vhost(queues, vhost);
	if (length > 0 && base[length - 1] == '/')
		length--;
	return text_format(url, size,
		       "%.*s/metrics/detailed?family=queue_coarse_metrics&vhost=", (int)length,
		       base) &&
	       url_append_encoded(url, size, vhost);
}

void snapshot_queues_ask_unacked(struct snapshot_queues *queues)
{
	char url[HTTP_URL_MAX];
	const struct http_request request = {
		.url = url,
		.answer_max = METRICS_ANSWER_MAX,
		.time_limit_ms = METRICS_LIMIT_MS,
	};

	if (queues->http == NULL || queues->is_asking)
		return;
	queues->has_answer = false;
	if (!write_url(queues, url, sizeof(url))) {
		queues->has_answer = true;
		queues->answer_result = error_set(RESULT_PERMANENT, &queues->answer_error,
			"LAPSE_AMQP_METRICS_URL is too long");
		return;
	}
	http_start(queues->http, &request);
	queues->is_asking = true;
}

/* The place of the queue that a line is about; count when it is none of ours. */
static size_t find_queue(
	const struct snapshot_queues *queues, const char *labels, const char *vhost_label)
{
	char label[LABEL_SIZE];

	if (strstr(labels, vhost_label) == NULL)
		return queues->count;
	for (size_t i = 0; i < queues->count; i++) {
		(void)text_format(label, sizeof(label), "queue=\"%s\"", queues->queues[i].name);
		if (strstr(labels, label) != NULL)
			return i;
	}
	return queues->count;
}

/* name{vhost="/",queue="lapse.timeout.due"} 3 */
static void read_line(struct snapshot_queues *queues, char *line, const char *vhost_label)
{
	static const char family[] = "rabbitmq_detailed_queue_messages_unacked{";

	if (!text_starts_with(line, family))
		return;
	char *end = strrchr(line, '}');
	if (end == NULL)
		return;
	*end = '\0';
	size_t place = find_queue(queues, line + strlen(family), vhost_label);
	double value = strtod(end + 1, NULL);
	if (place < queues->count && value > 0 && value < 1e18)
		queues->unacked[place] = (uint64_t)value;
}

static void read_page(struct snapshot_queues *queues, const char *body, size_t size)
{
	char vhost[URL_PART_SIZE];
	char label[LABEL_SIZE];
	char *page = memory_allocate(size + 1);
	char *line = page;

	find_vhost(queues, vhost);
	(void)text_format(label, sizeof(label), "vhost=\"%s\"", vhost);
	memset(queues->unacked, 0, sizeof(queues->unacked));
	memcpy(page, body, size);
	for (char *end = strchr(line, '\n'); end != NULL; end = strchr(line, '\n')) {
		*end = '\0';
		read_line(queues, line, label);
		line = end + 1;
	}
	free(page);
}

static void take_answer(struct snapshot_queues *queues, const struct http_answer *answer)
{
	struct error *error = &queues->answer_error;

	queues->is_asking = false;
	queues->has_answer = true;
	queues->answer_result = RESULT_OK;
	if (answer->failure != HTTP_FAILURE_NONE)
		queues->answer_result = error_set(
			RESULT_TEMPORARY, error, "metrics of the broker: %s", answer->error);
	else if (answer->status != 200)
		queues->answer_result = error_set(RESULT_TEMPORARY, error,
			"metrics of the broker: status %ld", answer->status);
	else
		read_page(queues, answer->body, answer->body_size);
}

bool snapshot_queues_is_answered(struct snapshot_queues *queues, uint64_t wait_ms)
{
	struct http_answer answer;

	if (queues->is_asking)
		http_work(queues->http, wait_ms);
	while (queues->is_asking && http_take_answer(queues->http, &answer))
		take_answer(queues, &answer);
	return !queues->is_asking;
}

enum result snapshot_queues_take_unacked(
	struct snapshot_queues *queues, struct snapshot_figures *figures, struct error *error)
{
	if (queues->http == NULL)
		return error_set(RESULT_NONE, error, "LAPSE_AMQP_METRICS_URL is not set");
	if (!queues->has_answer)
		return error_set(RESULT_TEMPORARY, error, "metrics of the broker: no answer");
	if (queues->answer_result != RESULT_OK)
		return error_set(queues->answer_result, error, "%s", queues->answer_error.text);
	for (size_t i = 0; i < queues->count; i++)
		figures->queues[i].unacked = queues->unacked[i];
	return RESULT_OK;
}
