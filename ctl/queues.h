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

/* Looks again and again over one connection, which is made anew when it was lost; declares nothing.
 * Borrows settings, which must live longer. */
struct queues_view;
void queues_open(const struct session_settings *settings, struct queues_view **view_out);
void queues_close(struct queues_view **view);
/* Never fails: queues says what is unknown. */
void queues_look(struct queues_view *view, struct queues *queues);
/* Between two looks, often: the broker hears that we are there. */
void queues_keep_alive(struct queues_view *view);

/* Opens, looks once, closes. */
void queues_read(const struct session_settings *settings, struct queues *queues);

#endif
