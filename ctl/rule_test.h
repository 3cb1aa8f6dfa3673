/*
 * rule_test - which rule an order would get, and what another timeout would have meant for the
 * orders that it decided in the last day.
 */
#ifndef CTL_RULE_TEST_H
#define CTL_RULE_TEST_H

struct session;

int rule_test_run(const struct session *session);

#endif
