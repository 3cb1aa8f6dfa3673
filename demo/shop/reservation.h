/*
 * reservation - takes the stock of orders from the product service, many at a time.
 *
 * A call without a clear answer is made again with the same keys.  What was reserved for an order
 * goes back when the rest of it is refused.
 */
#ifndef DEMO_SHOP_RESERVATION_H
#define DEMO_SHOP_RESERVATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "demo/shop/plan.h"

struct reservation;

enum reservation_outcome {
	RESERVATION_OUTCOME_RESERVED,
	RESERVATION_OUTCOME_REFUSED, /* not enough, or an unknown SKU; nothing of it is reserved */
	RESERVATION_OUTCOME_FAILED,  /* no clear answer, however often it was asked */
};

/* Borrows stock_url, which must live longer. */
void reservation_create(const char *stock_url, struct reservation **reservation_out);
void reservation_destroy(struct reservation **reservation);

/* How many more orders may be started. */
size_t reservation_count_free(const struct reservation *reservation);
/* Started and not taken yet. */
size_t reservation_count(const struct reservation *reservation);
/* REQUIREs a free place. */
void reservation_start(struct reservation *reservation, const struct plan_order *order);
/* Works on all calls; waits up to wait_ms for news when there is none. */
void reservation_work(struct reservation *reservation, uint64_t wait_ms);
/* Takes an order out of which all is known; false: there is none. */
bool reservation_take(struct reservation *reservation, struct plan_order *order_out,
	enum reservation_outcome *outcome_out);

#endif
