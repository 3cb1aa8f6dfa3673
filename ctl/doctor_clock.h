/*
 * doctor_clock - what the broker's clock shows, as far as AMQP tells it.
 *
 * No answer of a broker carries its time.  A message that ends in a queue does: the broker writes
 * into x-death when, in whole seconds.
 */
#ifndef CTL_DOCTOR_CLOCK_H
#define CTL_DOCTOR_CLOCK_H

#include <stdint.h>

struct broker;
struct finding_list;
struct session;

/* Makes two queues that the broker takes away again a minute after their last use; a user who may
 * not gets no answer.  May cost the connection. */
void doctor_check_broker_clock(
	const struct session *session, struct broker *broker, struct finding_list *list);
/* The broker says broker_s, some time from before_ms to after_ms by this host's clock. */
void doctor_judge_broker_clock(
	uint64_t broker_s, uint64_t before_ms, uint64_t after_ms, struct finding_list *list);

#endif
