/*
 * doctor_policy - what the management API of the broker says about our queues: leaders, and
 * policies that would lose messages.
 */
#ifndef CTL_DOCTOR_POLICY_H
#define CTL_DOCTOR_POLICY_H

#include <stddef.h>

#include "common/base/result.h"

struct finding_list;
struct json;
struct session;

/* Asks the host of LAPSE_AMQP_URL, port 15672 (15671 with TLS), as the same user. */
void doctor_check_policies(const struct session *session, struct finding_list *list);
/* Judges what it answered: an array of queues, of which those that begin with prefix are ours. */
void doctor_judge_queues(const struct json *queues, const char *prefix, struct finding_list *list);

#endif
