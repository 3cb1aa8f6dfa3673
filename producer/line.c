#include "producer/line.h"

#include <stdlib.h>

#include "common/base/log.h"
#include "common/base/memory.h"

struct line {
	struct broker *broker;
	struct topology *topology;
	uint64_t epoch; /* for which everything was declared */
};

void line_create(const struct producer_settings *settings, struct line **line_out)
{
	struct line *line = memory_allocate(sizeof(*line));

	broker_create(&settings->amqp, "lapse-producer", &line->broker);
	topology_create(&settings->topology, &settings->amqp, &line->topology);
	*line_out = line;
}

void line_destroy(struct line **line)
{
	if (*line == NULL)
		return;
	broker_disconnect((*line)->broker);
	broker_destroy(&(*line)->broker);
	topology_destroy(&(*line)->topology);
	free(*line);
	*line = NULL;
}

struct broker *line_broker(struct line *line)
{
	return line->broker;
}

struct topology *line_topology(struct line *line)
{
	return line->topology;
}

enum result line_ensure(struct line *line, bool *has_reconnected_out, struct error *error)
{
	*has_reconnected_out = false;
	if (broker_is_connected(line->broker) && line->epoch == broker_epoch(line->broker))
		return RESULT_OK;
	*has_reconnected_out = true;
	enum result result = broker_ensure_connected(line->broker, error);
	if (result == RESULT_OK)
		result = topology_declare(line->topology, line->broker, error);
	if (result == RESULT_OK)
		result = broker_enable_confirms(line->broker, error);
	if (result != RESULT_OK) {
		broker_drop(line->broker);
		return result;
	}
	if (line->epoch != 0)
		service_note_reconnect(SERVICE_CHECK_AMQP);
	line->epoch = broker_epoch(line->broker);
	log_info(log_event("publisher_ready"), log_text("broker", broker_server(line->broker)),
		log_text("delay", topology_mode_names[topology_mode(line->topology)]));
	return RESULT_OK;
}

void line_keep_alive(struct line *line)
{
	struct error error = { .text = "" };

	if (broker_is_connected(line->broker) &&
		broker_keep_alive(line->broker, &error) != RESULT_OK)
		log_warn(log_event("broker_connection_lost"), log_text("error", error.text));
}
