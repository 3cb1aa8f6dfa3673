/*
 * life - the whole life of a daemon in a process of its own, with a step that the test gives.
 *
 * The program has the settings LAPSE_MYSQL_URL (secret, required) and LAPSE_SWEEP_BATCH besides the
 * common ones; 13 is a batch its check refuses.
 */
#ifndef TESTS_SUPPORT_LIFE_H
#define TESTS_SUPPORT_LIFE_H

#include <stddef.h>
#include <stdint.h>

#include "common/service/service.h"

enum {
	LIFE_ARGUMENT_MAX = 4
};

struct life_settings {
	struct service_settings service;
	char *secret;
	uint64_t batch;
};

/* The step, drain and the rest see it as their context. */
struct life {
	enum result (*step)(void *context, struct error *error);
	enum result (*drain)(void *context, struct error *error);
	const char *arguments[LIFE_ARGUMENT_MAX];
	const char *note; /* for the test */
	int turns, drains, reloads;
	struct life_settings settings;
};

/* One counter t_turns_total. */
extern const struct metric_family life_metrics[];

/* Sets the environment of a good start, and takes it away. */
void life_set_up(void);
void life_tear_down(void);

/* Lives and never comes back: for child_run. */
void life_live(void *context);
/* Lives in a child; fails the test unless it ends with status and has written words. */
void life_expect(struct life *life, int status, const char *words);
/* Standard output and standard error of the last life; borrowed. */
const char *life_output(void);
size_t life_count(const char *words);

/* A step: asks itself to stop. */
enum result life_stop_at_once(void *context, struct error *error);

#endif
