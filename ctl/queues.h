/*
 * queues - what the broker says about our queues, or why it cannot be asked.
 */
#ifndef CTL_QUEUES_H
#define CTL_QUEUES_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/result.h"

struct broker;
struct session_settings;

struct queue_state {
	bool is_known; /* the broker has answered */
	bool is_there;
	uint32_t ready;
	uint32_t consumers;
};

struct queues {
	bool is_configured;
	bool is_reachable;
	char server[64]; /* "RabbitMQ 3.10.8" */
	struct queue_state due;
	struct queue_state parked;
	struct error error; /* why it is not reachable, or what went wrong later */
};

/* Connects, looks, disconnects; declares nothing.  Never fails: queues says what is unknown. */
void queues_read(const struct session_settings *settings, struct queues *queues);

#endif
