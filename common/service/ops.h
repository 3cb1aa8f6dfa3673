/*
 * ops - the thread behind /livez, /readyz and /metrics.
 *
 * It reads what the loop has stored and never touches a connection, a list or the settings, so it
 * answers while the loop waits.  When 120 of its own one-second checks in a row saw no turn of the
 * loop it ends the process with EXIT_STATUS_BUG: counted, not timed, so that a process that was
 * paused is not shot when it wakes.
 */
#ifndef COMMON_SERVICE_OPS_H
#define COMMON_SERVICE_OPS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/result.h"

enum {
	OPS_CHECK_MAX = 8,
	OPS_CHECK_TEXT_SIZE = 256
};

/* Starts the thread; address NULL: only the watchdog.  program and version are borrowed.  PERMANENT
 * when the address cannot be bound. */
MUST_USE enum result ops_start(
	const char *address, const char *program, const char *version, struct error *error);
/* Ends the thread and forgets the checks. */
void ops_stop(void);

/* Declares a check that starts as "not yet"; name is borrowed.  Call before ops_start. */
void ops_add_check(const char *name);
/* text may be NULL. */
void ops_set_check(const char *name, bool is_well, const char *text);
bool ops_is_check_well(const char *name);
/* All checks are well and nobody asked to stop. */
bool ops_is_ready(void);
void ops_set_draining(void);
/* What the watchdog does before it ends the process, on the thread: write what is known. */
void ops_set_last_words(void (*dump)(void));
/* The loop has turned. */
void ops_note_turn(void);

/* Since /metrics was asked for the last time; UINT64_MAX: never. */
uint64_t ops_scrape_age_ms(void);

/* The port it listens on; 0 without an address. */
uint16_t ops_port(void);

/* Asks /readyz (or /livez) at address as a container's health check does: one line on standard
 * error unless all is well; the exit status.  address may be NULL. */
int ops_healthcheck(const char *address, bool only_live);

#endif
