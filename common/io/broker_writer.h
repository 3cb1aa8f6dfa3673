/*
 * broker_writer - messages into frames, many of them into one write.
 *
 * A part of broker.  The library writes each of the three frames of a message with a call of its
 * own and may wait without limit.  Over plain TCP we therefore encode with the library's functions
 * into a buffer of ours and write that to the socket, waiting at most the time limit.  Over TLS
 * only the library can write; there the socket's own limit (see broker_link) bounds the wait.
 *
 * The buffer always ends with a whole frame, so the library may write in between once it has been
 * flushed.
 */
#ifndef COMMON_IO_BROKER_WRITER_H
#define COMMON_IO_BROKER_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/io/broker.h"
#include "common/io/broker_amqp.h"

struct broker_writer {
	amqp_connection_state_t connection; /* NULL: not open */
	bool is_tls;
	uint64_t time_limit_ms;
	uint8_t *buffer;
	size_t used;
};

void broker_writer_open(struct broker_writer *writer, amqp_connection_state_t connection,
	bool is_tls, uint64_t time_limit_ms);
/* Forgets what has not been written; memory goes back. */
void broker_writer_clear(struct broker_writer *writer);

/*
 * Adds one message to the buffer and writes when that is full.  TEMPORARY: the connection cannot go
 * on.  PERMANENT: this message can never be written; nothing of it was.
 */
MUST_USE enum result broker_writer_publish(
	struct broker_writer *writer, const struct broker_message *message, struct error *error);
/* Writes what the buffer holds. */
MUST_USE enum result broker_writer_flush(struct broker_writer *writer, struct error *error);

#endif
