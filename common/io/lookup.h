/*
 * lookup - all addresses of one name, without waiting for the name server.
 *
 * The C library does the asking in the background; a lookup that is given up while it is being
 * answered stays behind in memory, since the library may still write to it.
 */
#ifndef COMMON_IO_LOOKUP_H
#define COMMON_IO_LOOKUP_H

#include <stddef.h>

#include "common/base/result.h"

struct lookup;

enum {
	LOOKUP_ADDRESS_SIZE = 46,
	LOOKUP_ADDRESS_MAX = 64,
};

/* An address is its own answer. */
void lookup_start(const char *name, struct lookup **lookup_out);
void lookup_destroy(struct lookup **lookup);
/*
 * NONE: not yet.  OK: the addresses, without repeats, in count_out.  TEMPORARY: the name is not
 * known at the moment, with words.
 */
MUST_USE enum result lookup_take(struct lookup *lookup,
	char addresses_out[LOOKUP_ADDRESS_MAX][LOOKUP_ADDRESS_SIZE], size_t *count_out,
	struct error *error);

#endif
