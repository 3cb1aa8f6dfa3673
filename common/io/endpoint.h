/*
 * endpoint - an address of our own servers: listen on it, ask whether it answers.
 *
 * Written "127.0.0.1:9464", "[::1]:9464", "0.0.0.0:0" or "localhost:9464"; names are never looked
 * up, so nothing here waits for a name server.
 */
#ifndef COMMON_IO_ENDPOINT_H
#define COMMON_IO_ENDPOINT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/result.h"

bool endpoint_is_valid(const char *address);

/*
 * A listening TCP socket, not blocking, owned by the caller, and the port it got, which differs
 * from the address only for port 0.  PERMANENT when the address cannot be bound.
 */
MUST_USE enum result endpoint_listen(
	const char *address, int *socket_out, uint16_t *port_out, struct error *error);

/*
 * One GET over plain HTTP, for health checks; gives the status code.  An address that stands for
 * all interfaces is asked over loopback.  TEMPORARY when there is no answer in time_limit_ms.
 */
MUST_USE enum result endpoint_probe(const char *address, const char *path, uint64_t time_limit_ms,
	unsigned int *status_out, struct error *error);

#endif
