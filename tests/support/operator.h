/*
 * operator - a person at lapsectl: one command line, its exit status and what it says.
 */
#ifndef TESTS_SUPPORT_OPERATOR_H
#define TESTS_SUPPORT_OPERATOR_H

struct sandbox;

/* Words divided by blanks.  Fails the test unless says (NULL: anything) is in what was written. */
int operator_run(struct sandbox *sandbox, const char *line, const char *says);

#endif
