#include "demo/shop/plan.h"

#include <inttypes.h>
#include <string.h>

#include "common/base/random.h"

enum {
	QUANTITY_MAX = 3,
	PRICE_STEP_CENTS = 100,
	PRICE_MAX_STEPS = 100,
	USER_MAX = 1000000,
	LAST_MOMENT_MS = 20, /* before or after the deadline */
	EARLIEST_PERCENT = 10,
	LATEST_PERCENT = 80, /* of the order's time: the money comes before the deadline */
};

static bool happens(uint64_t millionths)
{
	return random_up_to(SHOP_MILLION - 1) < millionths;
}

static void plan_items(const struct shop_settings *settings, struct plan_order *order)
{
	order->item_count = (size_t)(settings->item_min +
				     random_up_to(settings->item_max - settings->item_min));
	for (size_t i = 0; i < order->item_count; i++) {
		struct plan_item *item = &order->items[i];
		uint64_t sku = 1 + random_up_to(settings->sku_count - 1);
		uint64_t price_cents = (1 + sku % PRICE_MAX_STEPS) * PRICE_STEP_CENTS;

		item->quantity = (uint32_t)(1 + random_up_to(QUANTITY_MAX - 1));
		(void)text_format(item->sku_id, sizeof(item->sku_id), "SKU-%" PRIu64, sku);
		order->amount_cents += (int64_t)(item->quantity * price_cents);
	}
}

static void plan_payment(const struct shop_settings *settings, struct plan_order *order)
{
	uint64_t timeout_ms = order->timeout_ms;

	order->is_paid = happens(settings->pay_share);
	if (!order->is_paid)
		return;
	if (happens(settings->last_moment_share)) {
		uint64_t spread_ms = timeout_ms < LAST_MOMENT_MS ? timeout_ms : LAST_MOMENT_MS;

		order->pay_after_ms = timeout_ms - spread_ms + random_up_to(2 * spread_ms);
		return;
	}
	order->pay_after_ms = timeout_ms * EARLIEST_PERCENT / 100 +
			      random_up_to(timeout_ms * (LATEST_PERCENT - EARLIEST_PERCENT) / 100);
}

void plan_order(const struct shop_settings *settings, const char *prefix, uint64_t number,
	struct plan_order *order_out)
{
	memset(order_out, 0, sizeof(*order_out));
	(void)text_format(
		order_out->order_no, sizeof(order_out->order_no), "%s-%" PRIu64, prefix, number);
	order_out->user_id = 1 + random_up_to(USER_MAX - 1);
	order_out->timeout_ms = settings->timeout_ms + random_up_to(settings->jitter_ms);
	plan_items(settings, order_out);
	plan_payment(settings, order_out);
}
