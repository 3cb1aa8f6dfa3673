/*
 * order_view - one order as JSON: the row, its items, payments, restore tasks and time line.
 */
#ifndef GATEWAY_ORDER_VIEW_H
#define GATEWAY_ORDER_VIEW_H

#include <stddef.h>

#include "common/base/result.h"

struct creation;
struct db;
struct json;

enum {
	ORDER_VIEW_MAX = 64
};

/* NONE: there is no such order.  The caller owns the document. */
MUST_USE enum result order_view_read(
	struct db *db, const char *order_no, struct json **root_out, struct error *error);
/*
 * The same documents of count orders (at most ORDER_VIEW_MAX) that were created just now, so have
 * no history to look up; in their order.  OK: the caller owns all of them; else there are none.
 */
MUST_USE enum result order_view_read_new(struct db *db, const struct creation *const *creations,
	size_t count, struct json **roots_out, struct error *error);

#endif
