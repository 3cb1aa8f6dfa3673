/*
 * recent_orders - where the orders of the last hours begin.
 *
 * No index has created_at.  Ids grow with time, near enough, so halving them finds the place with a
 * few short reads; who counts from there on looks at created_at, too.
 */
#ifndef COMMON_REPORT_RECENT_ORDERS_H
#define COMMON_REPORT_RECENT_ORDERS_H

#include <stdint.h>

#include "common/base/result.h"

struct db;

/* No order with this id or a smaller one was created in the last age_ms; 0: begin at the first.
 * TEMPORARY also: it took longer than limit_ms. */
MUST_USE enum result recent_orders_find(
	struct db *db, uint64_t age_ms, uint64_t limit_ms, uint64_t *id_out, struct error *error);

#endif
