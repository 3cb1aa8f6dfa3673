/*
 * top - a live view: rates, backlog, lateness and what is stuck.
 */
#ifndef CTL_TOP_H
#define CTL_TOP_H

struct session;

/* lapsectl top [--once] [--interval DURATION] */
int top_run(const struct session *session);

#endif
