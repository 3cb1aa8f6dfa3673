/*
 * timeout_message - the message that says which order to look at: {"order_no":"A1"}.
 *
 * It carries who, never what: everything else is read from MySQL, since it may have changed.
 */
#ifndef COMMON_ORDER_TIMEOUT_MESSAGE_H
#define COMMON_ORDER_TIMEOUT_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/result.h"
#include "common/base/text.h"

enum {
	TIMEOUT_MESSAGE_SIZE = 96,
	TIMEOUT_MESSAGE_MAX = 4096
};

#define TIMEOUT_MESSAGE_TYPE         "order.timeout.v1"
#define TIMEOUT_MESSAGE_CONTENT_TYPE "application/json"

/* Writes the body; returns its length without the NUL. */
size_t timeout_message_write(char body[TIMEOUT_MESSAGE_SIZE], const char *order_no);
/*
 * Reads a body of any bytes.  PERMANENT with the reason when it does not name an order: empty,
 * longer than TIMEOUT_MESSAGE_MAX, no JSON object, order_no missing, doubled, no text or no key.
 * type (may be "") must be ours or empty: messages of others are not touched.
 */
MUST_USE enum result timeout_message_parse(const uint8_t *body, size_t body_size, const char *type,
	char order_no_out[TEXT_KEY_SIZE], struct error *error);

#endif
