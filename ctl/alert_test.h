/*
 * alert_test - lapsectl alert test: one message marked TEST, and what its target answers.
 */
#ifndef CTL_ALERT_TEST_H
#define CTL_ALERT_TEST_H

struct session;

/* lapsectl alert test --target NAME.  Leaves with 0 when the target took the message. */
int alert_test_run(const struct session *session);

#endif
