/*
 * hash_password - a line for the users file of the console.
 */
#ifndef CTL_HASH_PASSWORD_H
#define CTL_HASH_PASSWORD_H

struct session;

/* lapsectl hash-password [--user NAME] [--role ROLE]: reads a password from standard input. */
int hash_password_run(const struct session *session);

#endif
