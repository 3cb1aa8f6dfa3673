/*
 * topology_internal - what the two halves of topology share: names and ways (topology.c) and
 * declaring (topology_declare.c).
 */
#ifndef COMMON_ORDER_TOPOLOGY_INTERNAL_H
#define COMMON_ORDER_TOPOLOGY_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/order/topology.h"

struct broker;

enum {
	TOPOLOGY_NAME_SIZE = 96, /* the prefix has at most 64 characters */
	TOPOLOGY_KEY_SIZE = 2 * TOPOLOGY_LEVELS,
	TOPOLOGY_FIXED_ENTRIES_MAX = TOPOLOGY_FIXED_MAX + 1, /* and one for the horizon */
	TOPOLOGY_DECLARED_MAX = 4, /* connections whose declarations are remembered */
};

/* Parts that are declared together; bits. */
enum topology_part {
	TOPOLOGY_PART_DUE = 1,    /* what a reader of timeouts needs */
	TOPOLOGY_PART_WAY = 2,    /* what leads there */
	TOPOLOGY_PART_EVENTS = 4, /* what a reader of events needs */
};

/* A connection, and what has been declared on it. */
struct topology_declared {
	const struct broker *broker;
	uint64_t epoch;
	unsigned int parts;
};

struct topology {
	const struct topology_settings *settings;
	const struct broker_settings *broker_settings;
	enum topology_mode mode;
	/* Time to live of each fixed queue, no two equal. */
	uint64_t fixed_ms[TOPOLOGY_FIXED_ENTRIES_MAX];
	size_t fixed_count;
	struct topology_declared declared[TOPOLOGY_DECLARED_MAX];
	size_t declared_next;
	char due_queue[TOPOLOGY_NAME_SIZE];
	char parked_queue[TOPOLOGY_NAME_SIZE];
	char events_exchange[TOPOLOGY_NAME_SIZE];
	char webhooks_queue[TOPOLOGY_NAME_SIZE];
	char timeout_exchange[TOPOLOGY_NAME_SIZE];
	char route_exchange[TOPOLOGY_NAME_SIZE];
	char route_key[TOPOLOGY_KEY_SIZE];
};

/* Routing key of every timeout that waits in the delayed exchange or in a fixed queue. */
extern const char topology_timeout_key[];

void topology_set_level_name(
	const struct topology *topology, char name[TOPOLOGY_NAME_SIZE], int level);
void topology_set_fixed_name(
	const struct topology *topology, char name[TOPOLOGY_NAME_SIZE], uint64_t ttl_ms);

#endif
