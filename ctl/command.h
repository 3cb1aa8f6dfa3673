/*
 * command - the command line of lapsectl: commands by table, settings, and what a command gets.
 */
#ifndef CTL_COMMAND_H
#define CTL_COMMAND_H

#include <stddef.h>

#include "common/base/result.h"
#include "common/io/db.h"
#include "ctl/option.h"
#include "ctl/output.h"

struct command_settings {
	struct db_settings db;
	uint64_t sweep_interval_ms;
	uint64_t retention_ms;
	uint64_t lease_ms;
};

/* What a command gets: read-only but for the connection, which is not open yet. */
struct command_context {
	const struct option_set *options;
	char *const *operands; /* borrowed from the command line */
	size_t operand_count;
	const struct command_settings *settings;
	struct output output;
	struct db *db;
};

/* Reads the command line and the environment, runs one command, gives the exit status. */
int command_main(int argc, char **argv);

/* Connects, or complains.  EXIT_STATUS_OK when connected. */
int command_connect(const struct command_context *context);
/* The same, and the schema must be there and new enough. */
int command_connect_to_schema(const struct command_context *context);
/* Complains and gives the exit status that fits the result and what the server answered. */
int command_fail(
	const struct command_context *context, enum result result, const struct error *error);

#endif
