/*
 * rule_test - which rule an order would get, and what another timeout would have meant for the
 * orders of the last day, as far as their rows tell.
 */
#ifndef CTL_RULE_TEST_H
#define CTL_RULE_TEST_H

struct session;

int rule_test_run(const struct session *session);

#endif
