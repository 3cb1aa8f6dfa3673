#include "ctl/queues.h"

#include "common/base/text.h"
#include "common/io/broker.h"
#include "common/order/topology.h"
#include "ctl/session.h"

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

void queues_read(const struct session_settings *settings, struct queues *queues)
{
	struct topology *topology = NULL;
	struct broker *broker = NULL;

	*queues = (struct queues){ .is_configured = settings->broker.url != NULL };
	if (!queues->is_configured)
		return;
	topology_create(&settings->topology, &settings->broker, &topology);
	broker_create(&settings->broker, "lapsectl", &broker);
	if (broker_ensure_connected(broker, &queues->error) == RESULT_OK) {
		queues->is_reachable = true;
		(void)text_copy(queues->server, sizeof(queues->server), broker_server(broker));
		(void)look_at(broker, topology_due_queue(topology), &queues->due, &queues->error);
		(void)look_at(
			broker, topology_parked_queue(topology), &queues->parked, &queues->error);
	}
	broker_disconnect(broker);
	broker_destroy(&broker);
	topology_destroy(&topology);
}
