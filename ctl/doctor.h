/*
 * doctor - looks at everything Lapse needs and says what to do about what is not as it should be.
 */
#ifndef CTL_DOCTOR_H
#define CTL_DOCTOR_H

struct session;

/* lapsectl doctor; 1 when any check failed. */
int doctor_run(const struct session *session);

#endif
