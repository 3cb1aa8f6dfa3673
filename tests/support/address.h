/*
 * address - the parts of an address that the stack gives: scheme://user:password@host:port/path.
 */
#ifndef TESTS_SUPPORT_ADDRESS_H
#define TESTS_SUPPORT_ADDRESS_H

#include <stdint.h>

enum {
	ADDRESS_PART_SIZE = 128
};

struct address {
	char user[ADDRESS_PART_SIZE];
	char password[ADDRESS_PART_SIZE];
	char host[ADDRESS_PART_SIZE];
	uint16_t port;
	char path[ADDRESS_PART_SIZE]; /* without the words behind ? */
};

/* Fails the test when url has another form or scheme. */
void address_parse(const char *url, const char *scheme, struct address *address_out);

#endif
