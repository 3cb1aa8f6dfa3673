/*
 * argument - options "--name value" and "--name=value", given one word at a time.
 */
#ifndef DEMO_SHARED_ARGUMENT_H
#define DEMO_SHARED_ARGUMENT_H

#include <stdbool.h>

enum {
	ARGUMENT_NAME_SIZE = 64
};

/* All zero bytes is a valid start. */
struct argument {
	char waiting[ARGUMENT_NAME_SIZE]; /* the option that waits for its value; "": none */
};

struct argument_plan {
	bool (*has_value)(const char *name); /* is it an option, without its dashes? */
	/* false: no such value. */
	bool (*set)(void *settings, const char *name, const char *value);
};

/* One word of the command line; false: it is no option, or has no such value. */
bool argument_take(struct argument *argument, const struct argument_plan *plan, void *settings,
	const char *word);

#endif
