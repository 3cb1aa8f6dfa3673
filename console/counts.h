/*
 * counts - the metrics of lapse-console itself: requests by route, acts, refused log-ins.
 */
#ifndef CONSOLE_COUNTS_H
#define CONSOLE_COUNTS_H

#include <stdint.h>

#include "common/order/act.h"
#include "common/service/metrics.h"
#include "console/role.h"
#include "console/visit.h"

/* Acts and log-ins: a table. */
extern const struct metric_family counts_metrics[];

/* The families of requests, one series for each label of the routes; once, at the start. */
void counts_register_routes(const struct route *routes);
/* route NULL: none took it. */
void counts_add_request(const struct route *route, unsigned int status, uint64_t duration_us);
void counts_add_act(const char *action, enum act_outcome outcome);
void counts_add_auth_failure(enum role_auth method);

#endif
