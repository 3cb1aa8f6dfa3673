#include "ctl/queues.h"

#include <stdlib.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/broker.h"
#include "common/order/topology.h"
#include "ctl/session.h"

/* Without LAPSE_AMQP_URL both are NULL. */
struct queues_view {
	struct broker *broker;
	struct topology *topology;
};

static enum result look_at(
	struct broker *broker, const char *name, struct queue_state *state, struct error *error)
{
	enum result result = broker_ensure_connected(broker, error);

	if (result == RESULT_OK)
		result = broker_count_queue(broker, name, &state->ready, &state->consumers, error);
	state->is_known = result == RESULT_OK || result == RESULT_NONE;
	state->is_there = result == RESULT_OK;
	return result;
}

void queues_open(const struct session_settings *settings, struct queues_view **view_out)
{
	struct queues_view *view = memory_allocate(sizeof(*view));

	if (settings->broker.url != NULL) {
		topology_create(&settings->topology, &settings->broker, &view->topology);
		broker_create(&settings->broker, "lapsectl", &view->broker);
	}
	*view_out = view;
}

void queues_close(struct queues_view **view)
{
	if (*view == NULL)
		return;
	if ((*view)->broker != NULL)
		broker_disconnect((*view)->broker);
	broker_destroy(&(*view)->broker);
	topology_destroy(&(*view)->topology);
	free(*view);
	*view = NULL;
}

void queues_look(struct queues_view *view, struct queues *queues)
{
	struct error *error = &queues->error;

	*queues = (struct queues){ .is_configured = view->broker != NULL };
	if (!queues->is_configured || broker_ensure_connected(view->broker, error) != RESULT_OK)
		return;
	queues->is_reachable = true;
	(void)text_copy(queues->server, sizeof(queues->server), broker_server(view->broker));
	(void)look_at(view->broker, topology_due_queue(view->topology), &queues->due, error);
	(void)look_at(view->broker, topology_parked_queue(view->topology), &queues->parked, error);
}

void queues_keep_alive(struct queues_view *view)
{
	struct error error = { .text = "" };

	/* A lost connection is made anew by the next look. */
	if (view->broker != NULL && broker_is_connected(view->broker))
		(void)!broker_keep_alive(view->broker, &error);
}

void queues_read(const struct session_settings *settings, struct queues *queues)
{
	struct queues_view *view = NULL;

	queues_open(settings, &view);
	queues_look(view, queues);
	queues_close(&view);
}
