/*
 * shutdown - signals as questions.
 *
 * A handler sets a flag and does nothing else; a second TERM or INT leaves at once with
 * EXIT_STATUS_FAILED.  Flags are read between turns of the loop.
 */
#ifndef COMMON_BASE_SHUTDOWN_H
#define COMMON_BASE_SHUTDOWN_H

#include <stdbool.h>

/* Installs handlers for TERM, INT, HUP and USR1 and ignores PIPE. */
void shutdown_install(void);
/* Has TERM or INT been received? */
bool shutdown_is_requested(void);
/* Asks the loop to stop as TERM would: for programs that end when their work is done. */
void shutdown_request(void);
/* Was HUP received since the last call? */
bool shutdown_take_reload(void);
/* Was USR1 received since the last call? */
bool shutdown_take_dump(void);

#endif
