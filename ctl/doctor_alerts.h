/*
 * doctor_alerts - who is told when something needs a person.
 */
#ifndef CTL_DOCTOR_ALERTS_H
#define CTL_DOCTOR_ALERTS_H

struct finding_list;
struct session;

/* Sends nothing: lapsectl alert test does. */
void doctor_check_alert_targets(const struct session *session, struct finding_list *list);

#endif
