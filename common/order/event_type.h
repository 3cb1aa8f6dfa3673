/*
 * event_type - the kinds of domain events: their word in t_outbox_event, their routing key, and
 * their type with its version on the wire.
 */
#ifndef COMMON_ORDER_EVENT_TYPE_H
#define COMMON_ORDER_EVENT_TYPE_H

struct event_type {
	const char *name;         /* "ORDER_CLOSED" */
	const char *routing_key;  /* "order.closed" */
	const char *version_type; /* "order.closed.v1" */
};

enum {
	EVENT_TYPE_COUNT = 7
};
extern const struct event_type event_types[EVENT_TYPE_COUNT];

/* Both give NULL for one that nobody knows. */
const struct event_type *event_type_find(const char *name);
const struct event_type *event_type_find_version(const char *version_type);

#endif
