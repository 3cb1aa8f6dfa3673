/*
 * order_view - one order as JSON: the row, its items, payments, restore tasks and time line.
 */
#ifndef GATEWAY_ORDER_VIEW_H
#define GATEWAY_ORDER_VIEW_H

#include "common/base/result.h"

struct creation;
struct db;
struct json;

/* NONE: there is no such order.  The caller owns the document. */
MUST_USE enum result order_view_read(
	struct db *db, const char *order_no, struct json **root_out, struct error *error);
/* The same document of an order that was created just now, which has no history to look up. */
MUST_USE enum result order_view_read_new(struct db *db, const struct creation *creation,
	struct json **root_out, struct error *error);

#endif
