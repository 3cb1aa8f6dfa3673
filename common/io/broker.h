/*
 * broker - one AMQP connection with one channel: declare, publish with confirms, consume, ack.
 *
 * The caller pumps: broker_next gives one event at a time (a delivery, a confirm, a return, ...)
 * and serves heartbeats on the way.  A connection that failed once is dropped with everything that
 * belongs to it: confirm numbers, tags and the subscription.  The next broker_ensure_connected
 * builds a new one, and the epoch tells them apart.  Trying again is the caller's business.
 */
#ifndef COMMON_IO_BROKER_H
#define COMMON_IO_BROKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/result.h"
#include "common/io/broker_message.h"
#include "common/io/broker_settings.h"

struct broker;

enum {
	BROKER_RPC_LIMIT_S = 10 /* of one question to the broker */
};

/* Allocates only.  Borrows settings, which must live longer.  name is shown by the broker. */
void broker_create(
	const struct broker_settings *settings, const char *name, struct broker **broker_out);
void broker_destroy(struct broker **broker);

/* OK at once when connected.  A wrong password or vhost is PERMANENT, all else TEMPORARY. */
MUST_USE enum result broker_ensure_connected(struct broker *broker, struct error *error);
bool broker_is_connected(const struct broker *broker);
/* Says good-bye when the line is well, inside a second or so; else only drops it. */
void broker_disconnect(struct broker *broker);
/* Drops the connection without a word. */
void broker_drop(struct broker *broker);
/* Counts up with each new connection; 0 before the first. */
uint64_t broker_epoch(const struct broker *broker);
/* Has the broker said that it takes no messages at the moment (memory or disk alarm)? */
bool broker_is_blocked(const struct broker *broker);
/* "RabbitMQ 3.10.8"; "" before the first connection. */
const char *broker_server(const struct broker *broker);
/* "0.11.0", of the client library. */
const char *broker_library_version(void);
/* With which it last refused or closed something: 406, "PRECONDITION_FAILED - ..."; else 0, "". */
uint16_t broker_refusal_code(const struct broker *broker);
const char *broker_refusal_text(const struct broker *broker);

/* ---- declaring: all idempotent; a property that differs is PERMANENT and drops the connection */

struct broker_argument {
	const char *name;
	const char *text; /* NULL: the number counts */
	int64_t number;   /* sent as a signed 64-bit integer */
	bool is_flag;     /* sent as true, whatever else is set */
};

MUST_USE enum result broker_declare_exchange(struct broker *broker, const char *name,
	const char *type, const struct broker_argument *arguments, size_t argument_count,
	struct error *error);
/* NONE: it lives on a node that is away; TEMPORARY where that costs confirms or a subscription. */
MUST_USE enum result broker_declare_queue(struct broker *broker, const char *name,
	const struct broker_argument *arguments, size_t argument_count, struct error *error);
MUST_USE enum result broker_bind_queue(struct broker *broker, const char *queue,
	const char *exchange, const char *routing_key, struct error *error);
MUST_USE enum result broker_bind_exchange(struct broker *broker, const char *target,
	const char *exchange, const char *routing_key, struct error *error);
/* Passive declare.  NONE: there is no such queue; this costs the channel, so a connection with
 * confirms or a subscription is dropped, while any other goes on. */
MUST_USE enum result broker_count_queue(struct broker *broker, const char *queue,
	uint32_t *ready_out, uint32_t *consumers_out, struct error *error);

/* ---- publishing */

/* Turns confirms on for this connection; numbers of broker_publish then start at 1. */
MUST_USE enum result broker_enable_confirms(struct broker *broker, struct error *error);
/* Writes one persistent message; number_out is its confirm number.  The write may wait while the
 * socket is full, at most the heartbeat time.  Blocked → TEMPORARY without writing.  PERMANENT: a
 * text of this message is too long for the wire; the connection goes on.
 * Messages are gathered and written together: when the buffer is full, by broker_flush, and by
 * every function that talks to the broker, broker_next included. */
MUST_USE enum result broker_publish(struct broker *broker, const struct broker_message *message,
	uint64_t *number_out, struct error *error);
/* Writes what broker_publish has gathered, for a caller who turns to something else now. */
MUST_USE enum result broker_flush(struct broker *broker, struct error *error);

/* ---- consuming */

/* Prefetch per consumer, manual ack. */
MUST_USE enum result broker_consume(
	struct broker *broker, const char *queue, uint16_t prefetch, struct error *error);
/* Ends the subscription; deliveries already under way still come. */
MUST_USE enum result broker_cancel(struct broker *broker, struct error *error);
bool broker_is_consuming(const struct broker *broker);

/* The next event, waiting at most wait_ms.  NONE: nothing came.  TEMPORARY: the connection was lost
 * and has been dropped; the text says why.  Serves heartbeats, so call it often. */
MUST_USE enum result broker_next(struct broker *broker, uint64_t wait_ms,
	struct broker_event *event_out, struct error *error);
/* Serves heartbeats and keeps what arrives for later calls of broker_next, without waiting. */
MUST_USE enum result broker_keep_alive(struct broker *broker, struct error *error);

/* Acks every delivery up to tag.  A tag of another connection is dropped silently: OK. */
MUST_USE enum result broker_ack_up_to(
	struct broker *broker, uint64_t epoch, uint64_t tag, struct error *error);
/* Acks one delivery. */
MUST_USE enum result broker_ack(
	struct broker *broker, uint64_t epoch, uint64_t tag, struct error *error);
/* Gives one unacked delivery back to the queue. */
MUST_USE enum result broker_requeue(
	struct broker *broker, uint64_t epoch, uint64_t tag, struct error *error);
/* Gives every unacked delivery up to tag back to the queue. */
MUST_USE enum result broker_requeue_up_to(
	struct broker *broker, uint64_t epoch, uint64_t tag, struct error *error);
/* One message without a subscription (basic.get).  NONE: the queue is empty. */
MUST_USE enum result broker_get(struct broker *broker, const char *queue,
	struct broker_delivery *delivery_out, struct error *error);

#endif
