/*
 * status - the overview on one screen.
 */
#ifndef CTL_STATUS_H
#define CTL_STATUS_H

struct command_context;

/* lapsectl status [--check]; the exit status. */
int status_run(const struct command_context *context);

#endif
