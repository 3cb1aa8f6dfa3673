/*
 * context - what the handlers of all routes share.
 */
#ifndef GATEWAY_CONTEXT_H
#define GATEWAY_CONTEXT_H

struct access;
struct db;
struct gateway_settings;
struct rules;

struct context {
	const struct gateway_settings *settings;
	struct db *db;
	struct access *access;
	struct rules *rules;
};

#endif
