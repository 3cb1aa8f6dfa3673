/*
 * alert - alerts that are silenced for a while, or delivered once more.
 */
#ifndef CTL_ALERT_H
#define CTL_ALERT_H

struct session;

/* lapsectl alert silence ID... --for DURATION --reason TEXT */
int alert_silence_run(const struct session *session);
/* lapsectl alert resend ID... */
int alert_resend_run(const struct session *session);

#endif
