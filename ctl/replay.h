/*
 * replay - outbox rows that are published again.
 */
#ifndef CTL_REPLAY_H
#define CTL_REPLAY_H

struct session;

/* lapsectl replay outbox ID... */
int replay_outbox_run(const struct session *session);

#endif
