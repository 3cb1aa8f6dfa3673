/*
 * verify - checks the promises by SQL, one line per check.
 */
#ifndef CTL_VERIFY_H
#define CTL_VERIFY_H

struct session;

/* lapsectl verify [--since 24h] [--overdue-grace 120s]; 0 clean, 1 broken. */
int verify_run(const struct session *session);

#endif
