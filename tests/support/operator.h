/*
 * operator - a person at lapsectl: one command line, its exit status and what it says.
 */
#ifndef TESTS_SUPPORT_OPERATOR_H
#define TESTS_SUPPORT_OPERATOR_H

struct sandbox;

/* Words divided by blanks.  Fails the test unless says (NULL: anything) is in what was written. */
int operator_run(struct sandbox *sandbox, const char *line, const char *says);
/* Fails the test unless the exit status is this one, too. */
void operator_expect(struct sandbox *sandbox, int status, const char *line, const char *says);

#endif
