/*
 * requeue - what an operator does to DEAD tasks: requeue, resolve.
 *
 * Each task is one transaction with its audit row, made by common/order/compensation; a task that
 * has moved since it was shown is left alone and named.
 */
#ifndef CTL_REQUEUE_H
#define CTL_REQUEUE_H

struct session;

/* lapsectl requeue ID..., or by filter with --confirm-count; the exit status. */
int requeue_run(const struct session *session);
/* lapsectl resolve ID... --reason CODE[:TEXT]; the exit status. */
int requeue_resolve_run(const struct session *session);

#endif
