#include "common/order/topology_queues.h"

#include <assert.h>

#include "common/base/text.h"
#include "common/order/topology_internal.h"

static_assert((int)TOPOLOGY_QUEUE_NAME_SIZE == (int)TOPOLOGY_NAME_SIZE, "names fit");
static_assert(
	TOPOLOGY_QUEUE_MAX == 3 + TOPOLOGY_LEVELS + TOPOLOGY_FIXED_ENTRIES_MAX, "all queues fit");

static void set(struct topology_queue *queue, enum topology_role role, const char *name)
{
	queue->role = role;
	(void)text_copy(queue->name, sizeof(queue->name), name);
}

size_t topology_list_queues(const struct topology *topology, struct topology_queue *queues)
{
	size_t count = 0;

	set(&queues[count++], TOPOLOGY_ROLE_DUE, topology->due_queue);
	set(&queues[count++], TOPOLOGY_ROLE_PARKED, topology->parked_queue);
	set(&queues[count++], TOPOLOGY_ROLE_WEBHOOKS, topology->webhooks_queue);
	for (int level = 0; level < TOPOLOGY_LEVELS; level++) {
		queues[count].role = TOPOLOGY_ROLE_LEVEL;
		topology_set_level_name(topology, queues[count++].name, level);
	}
	for (size_t i = 0; i < topology->fixed_count; i++) {
		queues[count].role = TOPOLOGY_ROLE_FIXED;
		topology_set_fixed_name(topology, queues[count++].name, topology->fixed_ms[i]);
	}
	return count;
}

const char *topology_role_name(enum topology_role role)
{
	switch (role) {
	case TOPOLOGY_ROLE_DUE:
		return "due";
	case TOPOLOGY_ROLE_PARKED:
		return "parked";
	case TOPOLOGY_ROLE_WEBHOOKS:
		return "webhooks";
	case TOPOLOGY_ROLE_LEVEL:
		return "level";
	case TOPOLOGY_ROLE_FIXED:
		return "fixed";
	}
	return "";
}
