/*
 * vital_signs - what every daemon tells about itself: build, heartbeat, dependencies; as checks of
 * /readyz and as metrics.
 */
#ifndef COMMON_SERVICE_VITAL_SIGNS_H
#define COMMON_SERVICE_VITAL_SIGNS_H

#include <stdbool.h>

#include "common/service/service.h"

/* Registers the families and declares the checks (enum service_check, or-ed).  Before ops_start. */
void vital_signs_open(const char *program, unsigned int checks);
void vital_signs_note_turn(void);
/* text may be NULL. */
void vital_signs_set_check(enum service_check check, bool is_well, const char *text);
void vital_signs_note_reconnect(enum service_check check);
/* One line per series that is not 0, without the buckets. */
void vital_signs_log_metrics(void);

#endif
