/*
 * once - one full pass of the sweeper, with progress, for cron.
 */
#ifndef SWEEPER_ONCE_H
#define SWEEPER_ONCE_H

struct sweeper;

/* The exit status: 0 all due orders are closed, 1 some cannot be closed, 75 MySQL was away, or
 * somebody still holds some, or it was asked to stop. */
int once_run(struct sweeper *sweeper);

#endif
