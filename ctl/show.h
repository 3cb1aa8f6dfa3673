/*
 * show - one thing with everything around it.
 */
#ifndef CTL_SHOW_H
#define CTL_SHOW_H

struct session;

int show_task_run(const struct session *session);
int show_order_run(const struct session *session);
int show_outbox_run(const struct session *session);
int show_payment_run(const struct session *session);
int show_rule_run(const struct session *session);
int show_alert_run(const struct session *session);
int show_audit_run(const struct session *session);

#endif
