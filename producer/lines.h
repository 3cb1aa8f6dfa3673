/*
 * lines - order numbers for "lapse-producer publish", one a line: as such, or in a JSON object.
 *
 * Bytes of any kind may come in pieces of any size; a line is never taken for another one.
 */
#ifndef PRODUCER_LINES_H
#define PRODUCER_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/text.h"

struct lines;

enum {
	LINES_LENGTH_MAX = 4096 /* bytes of a line; a longer one names no order */
};

enum lines_answer {
	LINES_ORDER,
	LINES_MALFORMED, /* lines_shown says which */
	LINES_NONE,      /* nothing came inside the time */
	LINES_END,
};

/* Reads from an open file, which must live longer and stays open. */
void lines_create(int file, struct lines **lines_out);
void lines_destroy(struct lines **lines);

/* The next line that is not empty, waiting at most wait_ms for more bytes. */
enum lines_answer lines_next(
	struct lines *lines, uint64_t wait_ms, char order_no_out[TEXT_KEY_SIZE]);
/* The start of the last malformed line, clean enough to be shown; valid until the next call. */
const char *lines_shown(const struct lines *lines);

/* An order number or a JSON object with a text order_no; false: it names no order. */
bool lines_read_order_no(const char *text, size_t size, char order_no_out[TEXT_KEY_SIZE]);

#endif
