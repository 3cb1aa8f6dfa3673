/*
 * orders - orders as an order service makes them: the three inserts of the contract in one
 * transaction.
 */
#ifndef TESTS_SUPPORT_ORDERS_H
#define TESTS_SUPPORT_ORDERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct query;

struct order_item {
	const char *sku_id;
	uint32_t quantity;
};

struct order_plan {
	const char *order_no;
	int64_t due_in_ms; /* negative: overdue */
	bool has_no_deadline;
	bool has_no_event;              /* leaves the outbox row out */
	const struct order_item *items; /* NULL: none */
	size_t item_count;
};

void orders_insert(struct query *query, const struct order_plan *plan);
/* An order with one item (SKU-1, 2) and its event. */
void orders_insert_one(struct query *query, const char *order_no, int64_t due_in_ms);

/*
 * count orders <prefix>0, <prefix>1, ... in big transactions, each with the two items (SKU-<n % 5>,
 * 1) and (SKU-<n % 7>, 2) and, with_events, its outbox row.  Deadlines are spread evenly from
 * due_in_ms over spread_ms.  No prefix may be the beginning of another one.
 */
struct orders_plan {
	const char *prefix;
	uint32_t count;
	int64_t due_in_ms;
	uint32_t spread_ms;
	bool has_no_events;
};
void orders_insert_many(struct query *query, const struct orders_plan *plan);

/* Has the order the status "UNPAID", "PAID" or "CLOSED"? */
bool orders_is(struct query *query, const char *order_no, const char *status);
int64_t orders_count(struct query *query, const char *status);
/* The guarded update of a payment; true when it was in time. */
bool orders_pay(struct query *query, const char *order_no);

/* For wait_until, over a struct query: no order is UNPAID; every task is DONE. */
bool orders_are_all_final(void *query);
bool orders_are_all_restored(void *query);

#endif
