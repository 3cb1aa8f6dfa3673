/*
 * reservation_message - what is said to the product service and what it answers, as JSON.
 */
#ifndef DEMO_SHOP_RESERVATION_MESSAGE_H
#define DEMO_SHOP_RESERVATION_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "demo/shop/plan.h"

enum reservation_kind {
	RESERVATION_KIND_RESERVE,
	RESERVATION_KIND_RELEASE, /* what was reserved goes back, because the rest was refused */
};

/* What the service says about each line of an order. */
struct reservation_lines {
	bool is_taken[SHOP_ITEM_MAX];
};

/* The place behind the address of the service. */
const char *reservation_message_path(enum reservation_kind kind);
/* One call for the lines of an order, a release only for those that are taken; the caller owns it.
 * The keys come from the order and the line alone, so that a repeated call changes nothing. */
MUST_USE char *reservation_message_write(enum reservation_kind kind, const struct plan_order *order,
	const struct reservation_lines *lines);
/*
 * Reads the answer to a list: which lines succeeded.  false: no such answer, or it leaves a line
 * out, so that nobody knows.
 */
bool reservation_message_read(enum reservation_kind kind, const struct plan_order *order,
	const char *body, size_t body_size, struct reservation_lines *lines_out);

#endif
