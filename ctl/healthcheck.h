/*
 * healthcheck - one health check for every container: asks the ops port of the program beside.
 */
#ifndef CTL_HEALTHCHECK_H
#define CTL_HEALTHCHECK_H

#include "ctl/option.h"

/* One line on standard error unless all is well; the exit status.  Looks at LAPSE_OPS_ADDR only. */
int healthcheck_run(const struct option_set *options, char *const *environment);

#endif
