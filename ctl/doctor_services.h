/*
 * doctor_services - what the programs call and who they are: product and refund service, the ops
 * ports of the fleet.
 */
#ifndef CTL_DOCTOR_SERVICES_H
#define CTL_DOCTOR_SERVICES_H

struct finding_list;
struct session;

void doctor_check_services(const struct session *session, struct finding_list *list);
/* Every address of every name in LAPSE_CONSOLE_FLEET. */
void doctor_check_fleet(const struct session *session, struct finding_list *list);

#endif
