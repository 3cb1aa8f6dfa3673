/*
 * context - what the handlers of all routes share.
 */
#ifndef GATEWAY_CONTEXT_H
#define GATEWAY_CONTEXT_H

#include <stdint.h>

struct access;
struct creations;
struct database;
struct db;
struct gateway_settings;
struct payments;
struct rules;

struct context {
	const struct gateway_settings *settings;
	struct database *database;
	struct access *access;
	struct rules *rules;
	struct creations *creations;
	struct payments *payments;
	struct db *grouped;     /* during a group, see group.h; else NULL */
	uint64_t stop_ms;       /* when a stop request was seen first; 0: there is none */
	uint64_t busy_count;    /* requests that were told to come again, for the log */
	uint64_t refused_count; /* notices with a bad signature, for the log */
};

#endif
