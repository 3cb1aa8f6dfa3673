/*
 * refusal - a connection whose messages are refused again and again is renewed now and then.
 *
 * A quorum queue tells each publisher's channel when it is full and when it has room again.  When
 * its limit is taken away while it is full, RabbitMQ forgets to say so, and only a new channel
 * asks.
 */
#ifndef PRODUCER_REFUSAL_H
#define PRODUCER_REFUSAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct broker;

enum {
	REFUSAL_ATTEMPTS = 4, /* of a row, before it counts */
	REFUSAL_GAP_MS = 30000,
};

/* All zero bytes is a valid start. */
struct refusal {
	bool is_suspicious;
	uint64_t renewed_ms; /* 0: never */
};

/* A message was refused whose row had failed attempts times before; 0: it was not. */
void refusal_note(struct refusal *refusal, uint32_t attempts);
/* Ends the connection when it is time, but not while messages are open on it. */
void refusal_renew(struct refusal *refusal, struct broker *broker, size_t open_count);

#endif
