/*
 * creation_set - new orders that came together, in four statements for all of them.
 */
#ifndef COMMON_ORDER_CREATION_SET_H
#define COMMON_ORDER_CREATION_SET_H

#include <stddef.h>

#include "common/base/result.h"
#include "common/order/creation.h"
#include "common/order/creation_rows.h"

struct db;

enum {
	CREATION_SET_MAX = CREATION_ROWS_MAX
};

/*
 * One transaction that creates count orders, 1 to CREATION_SET_MAX, as creation_run does.  Anything
 * but OK, as when a number is taken: none was created, and each may be given to creation_run.
 */
MUST_USE enum result creation_set_run(
	struct db *db, const struct creation *const *creations, size_t count, struct error *error);

#endif
