/*
 * status - the overview on one screen: orders, closes, outbox, tasks, alerts, queues.
 */
#ifndef CTL_STATUS_H
#define CTL_STATUS_H

struct figure_list;
struct session;

/* Adds all figures over the open connection; the exit status, after a complaint. */
int status_fill(const struct session *session, struct figure_list *list);
/* lapsectl status [--check]; the exit status. */
int status_run(const struct session *session);

#endif
