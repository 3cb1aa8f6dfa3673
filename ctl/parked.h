/*
 * parked - the messages of lapse.parked: look at them, publish them again, throw them away.
 *
 * One pass of basic.get over at most PARKED_LOOK_MAX messages, all of them given back but those
 * that are acted on.  The queue is a classic one, so that looking costs a message nothing.
 */
#ifndef CTL_PARKED_H
#define CTL_PARKED_H

struct session;

/* lapsectl list parked */
int parked_list_run(const struct session *session);
/* lapsectl replay parked SHA256...: a well formed message goes back to where it came from. */
int parked_replay_run(const struct session *session);
/* lapsectl discard parked SHA256... --reason TEXT: its text stays in the audit. */
int parked_discard_run(const struct session *session);

#endif
