/*
 * broker_reader - frames of one channel into events; keeps events that come while nobody asks.
 *
 * A part of broker.  Everything is copied out of a frame at once, so the library's buffers can be
 * released after each one.
 */
#ifndef COMMON_IO_BROKER_READER_H
#define COMMON_IO_BROKER_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/io/broker.h"
#include "common/io/broker_amqp.h"

enum {
	BROKER_READER_KEPT_MAX = 4096,          /* events kept for later: above any prefetch */
	BROKER_READER_KEPT_BYTES_MAX = 4194304, /* and all their bodies together */
};

/* What became of basic.get, whose answer comes in the order of the frames. */
enum broker_reader_get {
	BROKER_READER_GET_NONE,
	BROKER_READER_GET_EMPTY,
	BROKER_READER_GET_MESSAGE,
};

struct broker_kept {
	struct broker_event event;
	uint8_t *body; /* owned */
};

struct broker_reader {
	bool is_in_content; /* a method with content has come, its end not yet */
	bool has_header;
	bool is_get;
	struct broker_event event; /* the one being put together */
	uint64_t body_left;        /* bytes of the body still to come */
	uint8_t *body;
	size_t body_capacity;
	struct broker_kept *kept; /* a ring */
	size_t kept_first, kept_count, kept_capacity, kept_bytes;
	uint8_t *taken_body;        /* of the event taken from the ring last */
	enum broker_reader_get get; /* of the event that broker_reader_add completed */
	uint16_t close_code;        /* with which the broker ended channel or connection; else 0 */
	char close_text[BROKER_NAME_SIZE];
};

/*
 * OK: event_out is complete, its body valid until the next call.  NONE: more frames are needed.
 * TEMPORARY: the connection cannot go on; close_code and close_text say what the broker said.
 */
MUST_USE enum result broker_reader_add(struct broker_reader *reader, const amqp_frame_t *frame,
	struct broker_event *event_out, struct error *error);

/* Keeps a copy of event.  TEMPORARY: there is no more room. */
MUST_USE enum result broker_reader_keep(
	struct broker_reader *reader, const struct broker_event *event, struct error *error);
/* The event kept first; false when there is none.  Its body is valid until the next call. */
bool broker_reader_take(struct broker_reader *reader, struct broker_event *event_out);

/* Forgets everything; memory goes back. */
void broker_reader_clear(struct broker_reader *reader);

#endif
