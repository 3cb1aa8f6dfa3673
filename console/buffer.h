/*
 * buffer - text that grows, for pages, exports and addresses.
 */
#ifndef CONSOLE_BUFFER_H
#define CONSOLE_BUFFER_H

#include <stddef.h>

#include "common/base/compiler.h"

/* All zero bytes is an empty one. */
struct buffer {
	char *text; /* NUL-terminated, NULL when empty */
	size_t size;
	size_t capacity;
};

void buffer_add(struct buffer *buffer, const char *bytes, size_t size);
void buffer_add_text(struct buffer *buffer, const char *text);
/* "" when empty; borrowed until the next change. */
const char *buffer_text(const struct buffer *buffer);
/* Gives the text to the caller, never NULL, and leaves an empty buffer. */
MUST_USE char *buffer_take(struct buffer *buffer, size_t *size_out);
void buffer_clear(struct buffer *buffer);

/* The bytes of text as they may stand in a path or a query: all but letters, digits and -._~: as
 * percent signs. */
void buffer_add_encoded(struct buffer *buffer, const char *text);

#endif
