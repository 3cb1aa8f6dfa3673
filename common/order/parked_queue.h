/*
 * parked_queue - one look at lapse.parked over a connection of its own.
 *
 * Looking costs a message nothing: the queue is a classic one, which counts no returns, is read in
 * one pass without acks, and what is not acted on is given back before the connection ends.
 */
#ifndef COMMON_ORDER_PARKED_QUEUE_H
#define COMMON_ORDER_PARKED_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/result.h"
#include "common/io/broker.h"
#include "common/io/signature.h"

struct parked_queue;
struct topology_settings;

enum {
	PARKED_LOOK_MAX = 100,
	PARKED_TEXT_SIZE = 4096 + 1, /* of the body, cleaned */
	PARKED_BODY_MAX = 65536,     /* a longer body cannot be replayed */
};

struct parked_message {
	uint64_t tag;
	char sha256[SIGNATURE_HEX_SIZE]; /* of the body */
	char reason[BROKER_NAME_SIZE];
	char origin[BROKER_NAME_SIZE]; /* the queue it came from */
	char type[BROKER_NAME_SIZE];
	char content_type[BROKER_NAME_SIZE];
	char message_id[BROKER_NAME_SIZE];
	char text[PARKED_TEXT_SIZE];
	char *body; /* NULL: longer than PARKED_BODY_MAX; owned by the queue */
	size_t body_size;
	bool is_settled; /* acted on: not given back */
};

/* broker->url NULL: there is none. */
struct parked_settings {
	const struct broker_settings *broker;
	const struct topology_settings *topology;
	const char *program; /* name of the connection */
};

/* Connects and takes at most limit messages (PARKED_LOOK_MAX), oldest first.  NONE: the queue is
 * empty or not there, queue_out is NULL.  TEMPORARY, PERMANENT: no broker. */
MUST_USE enum result parked_queue_open(const struct parked_settings *settings, size_t limit,
	struct parked_queue **queue_out, struct error *error);
/* Gives back what was not settled, and disconnects. */
void parked_queue_close(struct parked_queue **queue);

size_t parked_queue_count(const struct parked_queue *queue);
struct parked_message *parked_queue_at(struct parked_queue *queue, size_t index);
/* NULL when there is none. */
struct parked_message *parked_queue_find(struct parked_queue *queue, const char *sha256);
/* The queue it goes back to; NULL: it does not say, or says one that is not ours. */
const char *parked_queue_target(
	const struct parked_queue *queue, const struct parked_message *message);

/* Publishes a new message with its body and waits for the confirm. */
MUST_USE enum result parked_queue_publish(
	struct parked_queue *queue, const struct parked_message *message, struct error *error);
/* Takes it out of the queue for good. */
MUST_USE enum result parked_queue_remove(
	struct parked_queue *queue, struct parked_message *message, struct error *error);

#endif
