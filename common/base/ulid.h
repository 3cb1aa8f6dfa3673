/*
 * ulid - unique ids that sort by time: lease tokens, message ids.
 *
 * 48 bits of milliseconds since 1970 and 80 random bits in Crockford's base 32
 * (github.com/ulid/spec).
 */
#ifndef COMMON_BASE_ULID_H
#define COMMON_BASE_ULID_H

enum {
	ULID_SIZE = 26 + 1
};

void ulid_generate(char text_out[ULID_SIZE]);

#endif
