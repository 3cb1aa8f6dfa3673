/*
 * shop - lapse-shop: customers for demo, tests and measurements.  Reserves stock at the product
 * service, creates orders by plain SQL as an order service would, pays a share of them.
 *
 * Knows nothing of Lapse but the three inserts and the guarded update.  Waits for servers that are
 * away and goes on.
 */
#ifndef DEMO_SHOP_SHOP_H
#define DEMO_SHOP_SHOP_H

#include "common/base/result.h"
#include "common/service/service.h"
#include "demo/shop/settings.h"

struct shop;

extern const struct service_program shop_program;

/* Borrows settings, which must live longer. */
void shop_create(const struct shop_settings *settings, struct shop **shop_out);
/* Asks for the end by itself when all orders are there and all payments made. */
enum result shop_step(void *context, struct error *error);
/* Prints the totals.  The exit status: 1 when an order could not be made, 0 otherwise. */
int shop_finish(struct shop *shop);
void shop_destroy(struct shop **shop);

#endif
