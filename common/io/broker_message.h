/*
 * broker_message - what goes through a broker: messages on their way out, deliveries and events on
 * their way in.  Plain data; broker.h has the functions.
 */
#ifndef COMMON_IO_BROKER_MESSAGE_H
#define COMMON_IO_BROKER_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	BROKER_BODY_MAX = 1048576, /* bytes of a delivery we take into memory; more is cut */
	BROKER_NAME_SIZE = 256,    /* an AMQP short string with its NUL */
};

struct broker_message {
	const char *exchange; /* "" is the default exchange */
	const char *routing_key;
	bool is_mandatory;
	const char *type; /* may be NULL, as all texts behind it */
	const char *content_type;
	const char *message_id;
	const char *app_id;
	uint64_t timestamp_s;     /* since 1970; 0: none */
	const char *trace_parent; /* header traceparent */
	bool has_delay;
	int64_t delay_ms; /* header x-delay */
	bool has_due;
	int64_t due_ms;     /* header x-due */
	const char *reason; /* header x-lapse-reason, may be NULL */
	const char *origin; /* header x-lapse-origin: the queue a parked message came from */
	const void *body;
	size_t body_size;
};

struct broker_delivery {
	uint64_t tag;
	uint64_t epoch; /* of the connection it came on */
	bool is_redelivered;
	uint64_t delivery_count; /* x-delivery-count, 0 when absent */
	bool has_due;
	int64_t due_ms; /* x-due */
	char message_id[BROKER_NAME_SIZE];
	char type[BROKER_NAME_SIZE];
	char content_type[BROKER_NAME_SIZE];
	char trace_parent[BROKER_NAME_SIZE];
	char reason[BROKER_NAME_SIZE]; /* x-lapse-reason, or the first x-death reason */
	char origin[BROKER_NAME_SIZE]; /* x-lapse-origin, or the first x-death queue */
	uint64_t death_s;              /* time of the first x-death, by the broker; 0: none */
	const uint8_t *body;           /* not NUL-terminated; valid until the next call on broker */
	size_t body_size;              /* at most BROKER_BODY_MAX */
	bool is_body_cut;              /* it was longer */
	uint32_t message_count;        /* broker_get: messages behind it */
};

enum broker_event_kind {
	BROKER_EVENT_DELIVERY,
	BROKER_EVENT_CONFIRM,  /* number, is_multiple, is_positive */
	BROKER_EVENT_RETURNED, /* message_id: no queue took it; its confirm follows */
	BROKER_EVENT_BLOCKED,
	BROKER_EVENT_UNBLOCKED,
	BROKER_EVENT_CANCELLED, /* the broker ended the subscription: the queue is gone */
};

struct broker_event {
	enum broker_event_kind kind;
	uint64_t number;
	bool is_multiple;
	bool is_positive;
	struct broker_delivery delivery; /* DELIVERY; RETURNED fills message_id */
};

#endif
