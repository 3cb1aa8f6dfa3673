/*
 * attempts - failed log-ins of the last minute, per address.
 *
 * A table of fixed size: when it is full the address that has been quiet longest is forgotten.
 */
#ifndef CONSOLE_ATTEMPTS_H
#define CONSOLE_ATTEMPTS_H

#include <stdbool.h>
#include <stdint.h>

struct attempts;

enum {
	ATTEMPTS_MAX = 10, /* in ATTEMPTS_WINDOW_MS */
	ATTEMPTS_WINDOW_MS = 60000,
};

void attempts_create(struct attempts **attempts_out);
void attempts_destroy(struct attempts **attempts);

/* 0: it may try; else the milliseconds until it may. */
uint64_t attempts_wait_ms(const struct attempts *attempts, const char *address);
void attempts_add(struct attempts *attempts, const char *address);

#endif
