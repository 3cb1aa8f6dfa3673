/*
 * event_message - reads the message of a domain event: CloudEvents 1.0, structured JSON.
 *
 * The document itself is passed on as it came; only what it is about is read.
 */
#ifndef COMMON_ORDER_EVENT_MESSAGE_H
#define COMMON_ORDER_EVENT_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/result.h"
#include "common/base/text.h"

enum {
	EVENT_MESSAGE_ID_SIZE = 64 + 1,
	EVENT_MESSAGE_TYPE_SIZE = 64 + 1,
	/* Bytes.  A column of JSON may write a blank behind each comma and colon, and what it gives
	 * back still has to fit into COMPENSATION_PAYLOAD_MAX. */
	EVENT_MESSAGE_MAX = 40960,
};

struct event_message {
	char event_id[EVENT_MESSAGE_ID_SIZE];
	char type[EVENT_MESSAGE_TYPE_SIZE]; /* "order.closed.v1"; may be one that nobody knows */
	char order_no[TEXT_KEY_SIZE];       /* the subject */
};

/*
 * PERMANENT with the reason when the body, any bytes, is no event of an order: empty, longer than
 * EVENT_MESSAGE_MAX, no JSON object, another specversion, or without id, type and subject that are
 * keys.
 */
MUST_USE enum result event_message_parse(const uint8_t *body, size_t body_size,
	struct event_message *message_out, struct error *error);

#endif
