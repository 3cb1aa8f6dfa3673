/*
 * status - the overview on one screen: orders, closes, outbox, tasks, alerts, queues.
 */
#ifndef CTL_STATUS_H
#define CTL_STATUS_H

#include <stdint.h>

struct figure_list;
struct queues_view;
struct session;

/* What lasts from one view to the next. */
struct status_view {
	const struct session *session;
	struct queues_view *queues;
	uint64_t epoch; /* of the connection over which version was read; 0: it was not */
	uint32_t version;
};

void status_open(const struct session *session, struct status_view *view);
void status_close(struct status_view *view);
/* Adds all figures over the open connection; the exit status, after a complaint. */
int status_fill(struct status_view *view, struct figure_list *list);
/* lapsectl status [--check]; the exit status. */
int status_run(const struct session *session);

#endif
