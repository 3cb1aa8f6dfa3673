/*
 * console - the operator's page and API: shows what there is, carries out acts, asks the fleet.
 *
 * One process, one loop: requests, the snapshot of the figures, the fleet and bulks take turns.
 */
#ifndef CONSOLE_CONSOLE_H
#define CONSOLE_CONSOLE_H

#include "common/base/result.h"
#include "common/service/service.h"
#include "console/settings.h"

struct console;

extern const struct service_program console_program;

/* Opens the listening socket and reads the files of users and tokens.  Borrows settings. */
MUST_USE enum result console_create(
	const struct console_settings *settings, struct console **console_out, struct error *error);
void console_destroy(struct console **console);

/* Answers requests for half a second at most, and does one part of everything else. */
enum result console_step(void *context, struct error *error);

#endif
