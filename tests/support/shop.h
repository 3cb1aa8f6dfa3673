/*
 * shop - a whole installation as a newcomer would start it, looked at from outside only: daemons,
 * lapse-stock, lapse-shop, lapsectl.  No SQL.
 */
#ifndef TESTS_SUPPORT_SHOP_H
#define TESTS_SUPPORT_SHOP_H

#include <stdbool.h>
#include <stdint.h>

struct fleet;
struct process;
struct shop;

/* A fleet, nothing of it started, whose product service is a lapse-stock; words: its options
 * beside the address, ended by NULL, may be NULL. */
void shop_create(const char *const *words, struct shop **shop_out);
void shop_destroy(struct shop **shop);
struct fleet *shop_fleet(const struct shop *shop);

/* Runs lapse-shop against it with these words, ended by NULL; fails the test when it does. */
void shop_sell(struct shop *shop, const char *const *words);
/* Starts it in the background. */
struct process *shop_start_selling(struct shop *shop, const char *const *words);

/* A number of lapsectl status --json; null reads as 0. */
int64_t shop_status(struct shop *shop, const char *name);
/* Waits until nothing waits, is overdue or under way. */
void shop_await_rest(struct shop *shop);
/* Fails the test when lapsectl verify finds anything. */
void shop_verify(struct shop *shop);

/* GET from lapse-stock; the body, owned by the caller. */
char *shop_ask_stock(struct shop *shop, const char *path);
/* What there is of all SKUs together. */
int64_t shop_count_stock(struct shop *shop);

#endif
