/*
 * command_table - every command of lapsectl: its words, its options, what runs it.
 */
#ifndef CTL_COMMAND_TABLE_H
#define CTL_COMMAND_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct session;

struct command {
	const char *words;    /* one or two, as typed */
	const char *operands; /* for --help; NULL: it takes none */
	const char *summary;
	uint64_t options; /* beside the common ones */
	int (*run)(const struct session *session);
};

extern const struct command commands[];
extern const size_t command_count;

/* It needs no settings and no server. */
bool command_is_offline(const struct command *command);

#endif
