/*
 * gateway - the HTTP API: creates, pays, cancels and reads orders.
 *
 * It writes rows and calls nobody.  One process answers one request at a time over one MySQL
 * connection; more throughput is more processes.
 */
#ifndef GATEWAY_GATEWAY_H
#define GATEWAY_GATEWAY_H

#include "common/base/result.h"
#include "common/service/service.h"
#include "gateway/settings.h"

struct gateway;

extern const struct service_program gateway_program;

/* Opens the listening socket and reads the tokens file.  Borrows settings. */
MUST_USE enum result gateway_create(
	const struct gateway_settings *settings, struct gateway **gateway_out, struct error *error);
void gateway_destroy(struct gateway **gateway);

/* Answers requests for half a second at most. */
enum result gateway_step(void *context, struct error *error);

#endif
