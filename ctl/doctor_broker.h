/*
 * doctor_broker - the part of doctor about RabbitMQ: version, delay mode, queues, consumers.
 */
#ifndef CTL_DOCTOR_BROKER_H
#define CTL_DOCTOR_BROKER_H

struct finding_list;
struct session;

void doctor_check_broker(const struct session *session, struct finding_list *list);

#endif
