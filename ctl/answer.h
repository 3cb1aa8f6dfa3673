/*
 * answer - what came of an act by hand, as words, rows and exit status.
 */
#ifndef CTL_ANSWER_H
#define CTL_ANSWER_H

#include "common/order/act.h"

struct session;

/* The exit status of an outcome. */
int answer_status(enum act_outcome outcome);
/* The one that weighs more. */
int answer_find_worse(int left, int right);
/* Says what came of the act on one thing, and gives the exit status.  done: the words when it is
 * done, in which %s may not stand. */
int answer_tell(const struct session *session, const struct act_result *result, const char *done);

#endif
