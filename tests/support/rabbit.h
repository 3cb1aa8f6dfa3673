/*
 * rabbit - AMQP of a test on a connection of its own, apart from the code under test: hostile
 * messages, looking into queues, objects that others have declared.
 *
 * Every mistake fails the test.  A lost connection is opened again by the next call.
 */
#ifndef TESTS_SUPPORT_RABBIT_H
#define TESTS_SUPPORT_RABBIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rabbit;

enum {
	RABBIT_ABSENT = -1,
	RABBIT_TEXT_SIZE = 256,
	RABBIT_BODY_SIZE = 4096,
	RABBIT_HEADERS_SIZE = 2048
};

void rabbit_create(const char *url, struct rabbit **rabbit_out);
void rabbit_destroy(struct rabbit **rabbit);

struct rabbit_header {
	const char *name;
	const char *text; /* NULL: the number counts */
	int64_t number;
};

struct rabbit_message {
	const char *exchange; /* NULL: the default exchange */
	const char *routing_key;
	const void *body;
	size_t body_size;
	const char *message_id; /* NULL: none; the same for the next two */
	const char *type;
	const char *content_type;
	const struct rabbit_header *headers;
	size_t header_count;
};

/* Persistent; returns when the broker has confirmed it. */
void rabbit_publish(struct rabbit *rabbit, const struct rabbit_message *message);
/* A timeout message as the contract has it, into a queue. */
void rabbit_publish_order(struct rabbit *rabbit, const char *queue, const char *order_no);

/* Messages ready; RABBIT_ABSENT when there is no such queue. */
int64_t rabbit_count(struct rabbit *rabbit, const char *queue);
int64_t rabbit_count_consumers(struct rabbit *rabbit, const char *queue);

struct rabbit_delivery {
	char body[RABBIT_BODY_SIZE]; /* NUL-terminated, cut when longer */
	size_t body_size;
	char message_id[RABBIT_TEXT_SIZE];
	char type[RABBIT_TEXT_SIZE];
	char content_type[RABBIT_TEXT_SIZE];
	bool is_persistent;
	bool is_redelivered;
	char headers
		[RABBIT_HEADERS_SIZE]; /* "name=value " for each text and number, else "name " */
};
/* Takes one message out; false: the queue is empty. */
bool rabbit_get(struct rabbit *rabbit, const char *queue, struct rabbit_delivery *delivery_out);

void rabbit_declare_exchange(struct rabbit *rabbit, const char *exchange, const char *type);
void rabbit_declare_queue(struct rabbit *rabbit, const char *queue);
void rabbit_bind(
	struct rabbit *rabbit, const char *queue, const char *exchange, const char *routing_key);
void rabbit_delete_exchange(struct rabbit *rabbit, const char *exchange);
void rabbit_delete_queue(struct rabbit *rabbit, const char *queue);
void rabbit_purge(struct rabbit *rabbit, const char *queue);

#endif
