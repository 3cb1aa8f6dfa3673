/*
 * each - one act by hand on each of the ids of the command line.
 */
#ifndef CTL_EACH_H
#define CTL_EACH_H

#include <stdint.h>

#include "common/order/act.h"

struct session;

struct each_act {
	const char *verb; /* "replay" */
	const char *what; /* "outbox row" */
	enum result (*carry_out)(const struct session *session, uint64_t id,
		const struct audit_actor *actor, struct act_result *result_out,
		struct error *error);
};

/* Asks for consent, acts, prints a row for each; the exit status is that of the worst. */
int each_run(const struct session *session, const struct each_act *act);

#endif
