/*
 * serving - the options of a service of the demo: where it listens, and how it misbehaves.
 */
#ifndef DEMO_SHARED_SERVING_H
#define DEMO_SHARED_SERVING_H

#include <stdbool.h>

#include "demo/shared/argument.h"
#include "demo/shared/misbehave.h"

struct settings_report;

enum {
	SERVING_ADDRESS_SIZE = 80
};

/* All zero bytes is a valid start. */
struct serving {
	char address[SERVING_ADDRESS_SIZE]; /* "": the default */
	struct misbehave misbehave;
	struct argument argument;
};

/* --listen and the switches of misbehaviour: one word of the command line; false: no such option or
 * no such value. */
bool serving_take_argument(struct serving *serving, const char *word);
/* An option without its value is a mistake. */
void serving_check(const struct serving *serving, struct settings_report *report);

#endif
