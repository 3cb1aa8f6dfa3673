/*
 * payments - orders that will be paid, by the time of their payment.
 */
#ifndef DEMO_SHOP_PAYMENTS_H
#define DEMO_SHOP_PAYMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/text.h"

struct payments;

void payments_create(struct payments **payments_out);
void payments_destroy(struct payments **payments);

void payments_add(struct payments *payments, const char *order_no, uint64_t at_ms);
size_t payments_count(const struct payments *payments);
/* When the next one is due; UINT64_MAX: there is none. */
uint64_t payments_next_ms(const struct payments *payments);
/* Takes the next one out when it is due; false: none is. */
bool payments_take_due(struct payments *payments, uint64_t now_ms, char order_no[TEXT_KEY_SIZE]);

#endif
