/*
 * sales - the SQL of an order service: the three inserts that create an order, and the guarded
 * update that pays it.  This is all an existing order service needs to know about Lapse.
 */
#ifndef DEMO_SHOP_SALES_H
#define DEMO_SHOP_SALES_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/result.h"
#include "common/base/text.h"
#include "demo/shop/plan.h"

struct db;

/* One transaction for all of them.  After TEMPORARY nobody knows whether they are there. */
MUST_USE enum result sales_insert(
	struct db *db, const struct plan_order *orders, size_t count, struct error *error);
/* NONE: there is no such order. */
MUST_USE enum result sales_find(struct db *db, const char *order_no, struct error *error);

struct sales_payment {
	char order_no[TEXT_KEY_SIZE]; /* given */
	bool is_paid;                 /* false: too late */
};

/* One transaction for all of them; may be run again. */
MUST_USE enum result sales_pay(
	struct db *db, struct sales_payment *payments, size_t count, struct error *error);

#endif
