/*
 * topology_queues - every queue of ours by name, for those who look at them.
 */
#ifndef COMMON_ORDER_TOPOLOGY_QUEUES_H
#define COMMON_ORDER_TOPOLOGY_QUEUES_H

#include <stddef.h>

#include "common/order/topology.h"

enum topology_role {
	TOPOLOGY_ROLE_DUE,      /* always the first */
	TOPOLOGY_ROLE_PARKED,   /* the second */
	TOPOLOGY_ROLE_WEBHOOKS, /* the third */
	TOPOLOGY_ROLE_LEVEL,    /* mode levels only, as the next */
	TOPOLOGY_ROLE_FIXED,
};

enum {
	TOPOLOGY_QUEUE_MAX = 3 + TOPOLOGY_LEVELS + TOPOLOGY_FIXED_MAX + 1,
	TOPOLOGY_QUEUE_NAME_SIZE = 96,
};

struct topology_queue {
	enum topology_role role;
	char name[TOPOLOGY_QUEUE_NAME_SIZE];
};

/* Fills queues, which has room for TOPOLOGY_QUEUE_MAX; gives their number.  Asks nobody. */
size_t topology_list_queues(const struct topology *topology, struct topology_queue *queues);
/* What a queue is for, in one word: "due", "parked", "webhooks", "level", "fixed". */
const char *topology_role_name(enum topology_role role);

#endif
