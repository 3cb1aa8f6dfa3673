/*
 * status - the overview on one screen: orders, closes, outbox, tasks, alerts, queues.
 */
#ifndef CTL_STATUS_H
#define CTL_STATUS_H

struct session;

/* lapsectl status [--check]; the exit status. */
int status_run(const struct session *session);

#endif
