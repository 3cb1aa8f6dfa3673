/*
 * creation_rows - the rows of new orders, for one order or many in one statement each.
 *
 * All in the open transaction of the caller.
 */
#ifndef COMMON_ORDER_CREATION_ROWS_H
#define COMMON_ORDER_CREATION_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/result.h"
#include "common/order/creation.h"

struct db;

enum {
	CREATION_ROWS_MAX = 64,         /* orders in one call */
	CREATION_ROWS_DUPLICATE = 1062, /* db_last_errno: an order number is taken */
};

/* Their deadlines are frozen here.  PERMANENT with CREATION_ROWS_DUPLICATE: a number is taken. */
MUST_USE enum result creation_rows_insert_orders(
	struct db *db, const struct creation *const *creations, size_t count, struct error *error);
/* ids: of the orders, in their order. */
MUST_USE enum result creation_rows_insert_items(struct db *db,
	const struct creation *const *creations, const uint64_t *ids, size_t count,
	struct error *error);
/* ORDER_CREATED. */
MUST_USE enum result creation_rows_insert_events(
	struct db *db, const struct creation *const *creations, size_t count, struct error *error);

#endif
