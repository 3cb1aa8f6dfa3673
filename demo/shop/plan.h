/*
 * plan - what the next customer does, thrown with dice: which SKUs, how long the order may live,
 * whether and when it is paid.
 */
#ifndef DEMO_SHOP_PLAN_H
#define DEMO_SHOP_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/text.h"
#include "demo/shop/settings.h"

struct plan_item {
	char sku_id[TEXT_KEY_SIZE];
	uint32_t quantity;
};

struct plan_order {
	char order_no[TEXT_KEY_SIZE];
	uint64_t user_id;
	int64_t amount_cents;
	uint64_t timeout_ms;
	bool is_paid;
	uint64_t pay_after_ms; /* counted from the insert */
	struct plan_item items[SHOP_ITEM_MAX];
	size_t item_count;
};

/* number counts the orders of this run from 1; prefix is that of the run. */
void plan_order(const struct shop_settings *settings, const char *prefix, uint64_t number,
	struct plan_order *order_out);

#endif
