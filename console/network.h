/*
 * network - lists of address ranges: "10.0.0.0/8, 192.168.1.7, fd00::/8".
 */
#ifndef CONSOLE_NETWORK_H
#define CONSOLE_NETWORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	NETWORK_MAX = 32,
	NETWORK_BYTES = 16,
};

struct network_range {
	uint8_t bytes[NETWORK_BYTES]; /* IPv4 as ::ffff:a.b.c.d */
	unsigned int bits;
};

/* All zero bytes: nobody is in it. */
struct network {
	struct network_range ranges[NETWORK_MAX];
	size_t count;
};

/* NULL or "": an empty one.  false: something in it is no range, or there are too many. */
bool network_parse(const char *text, struct network *network_out);
/* false also for what is no address. */
bool network_has(const struct network *network, const char *address);
bool network_is_address(const char *text);

#endif
