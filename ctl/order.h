/*
 * order - what an operator does to one order: cancel it, or give it more time.
 */
#ifndef CTL_ORDER_H
#define CTL_ORDER_H

struct session;

int order_cancel_run(const struct session *session);
int order_extend_run(const struct session *session);

#endif
