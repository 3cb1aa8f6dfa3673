/*
 * customers - callers of gateways that create, pay, cancel and read orders at random, all of them
 * the same orders, and that remember what they have paid.
 *
 * What an order and a trade hold is a matter of the seed and their numbers alone, so a repeated
 * request is the same request.  Some order numbers are paid but never created.
 */
#ifndef TESTS_SUPPORT_CUSTOMERS_H
#define TESTS_SUPPORT_CUSTOMERS_H

#include <stdbool.h>
#include <stdint.h>

struct query;

enum {
	CUSTOMERS_ORDERS = 300,
	CUSTOMERS_TRADES = 3, /* of each order */
	CUSTOMERS_GATEWAYS = 2
};

struct customers;

/* Every customer is a process of its own and goes on until customers_stop. */
void customers_start(uint64_t seed, const uint16_t ports[CUSTOMERS_GATEWAYS], unsigned int count,
	struct customers **customers_out);
/* All have ended when it returns. */
void customers_stop(struct customers *customers);
void customers_destroy(struct customers **customers);

/* Requests that were answered at all. */
uint64_t customers_count_answers(const struct customers *customers);
/* Answers that no customer of the contract would expect; the last one in words. */
uint64_t customers_count_strange(const struct customers *customers, char words_out[512]);

/*
 * As a payment channel does: repeats every notice that was sent until it is acknowledged; false
 * when one is not within the limit.  Notices that were acknowledged are repeated once more.
 */
bool customers_repeat(struct customers *customers, uint64_t limit_ms);
/* A table t_paid of every trade that was sent: trade_no, order_no, amount_cents, currency. */
void customers_write_books(const struct customers *customers, struct query *query);

#endif
