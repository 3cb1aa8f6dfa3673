/*
 * context - what the handlers of all pages share.
 */
#ifndef CONSOLE_CONTEXT_H
#define CONSOLE_CONTEXT_H

#include <stdint.h>

#include "console/phrase.h"

struct access;
struct bulk;
struct console_settings;
struct database;
struct fleet;
struct lookout;
struct pulse;
struct snapshot;

enum {
	CONTEXT_PREFIX_SIZE = 128
};

struct context {
	const struct console_settings *settings;
	char prefix[CONTEXT_PREFIX_SIZE]; /* "" or "/lapse": what stands in front of every path */
	const char *secret;               /* of forms */
	enum language language;
	struct database *database;
	struct access *access;
	struct lookout *lookout;
	const struct snapshot *snapshot; /* of the lookout */
	struct fleet *fleet;
	struct bulk *bulk;
	struct pulse *pulse;
};

#endif
