/*
 * list - compensation tasks as a list, and one with its order and what was done to it by hand.
 */
#ifndef CTL_LIST_H
#define CTL_LIST_H

struct session;

/* lapsectl retry list, lapsectl list tasks; the exit status. */
int list_tasks_run(const struct session *session);
/* lapsectl retry show ID, lapsectl show task ID; the exit status. */
int list_show_task_run(const struct session *session);

#endif
