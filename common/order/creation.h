/*
 * creation - a new order with its items and its ORDER_CREATED event, in one transaction.
 */
#ifndef COMMON_ORDER_CREATION_H
#define COMMON_ORDER_CREATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/result.h"
#include "common/base/text.h"

struct db;

enum {
	CREATION_ITEM_MAX = 200,
	CREATION_CURRENCY_SIZE = 4,
	CREATION_TRACE_SIZE = 64
};

struct creation_item {
	char sku_id[TEXT_KEY_SIZE];
	uint32_t quantity;
};

struct creation {
	char order_no[TEXT_KEY_SIZE];
	uint64_t user_id;
	int64_t amount_cents;
	char currency[CREATION_CURRENCY_SIZE];
	char trace_parent[CREATION_TRACE_SIZE]; /* "": none */
	bool has_timeout;                       /* false: never */
	uint64_t timeout_ms;
	uint64_t rule_id; /* of the rule that decided it; 0: none did */
	struct creation_item items[CREATION_ITEM_MAX];
	size_t item_count;
};

enum creation_outcome {
	CREATION_OUTCOME_CREATED,
	CREATION_OUTCOME_SAME,      /* it is there already, with this content */
	CREATION_OUTCOME_DIFFERENT, /* the number is taken by an order with other content */
};

/*
 * The deadline is frozen here.  The same order may come in twice, also at once: one is CREATED, the
 * other SAME.  User, amount, currency and items are the content; the timeout is not compared.
 * TEMPORARY: what happened is unknown; calling again is safe.
 */
MUST_USE enum result creation_run(struct db *db, const struct creation *creation,
	enum creation_outcome *outcome_out, struct error *error);

#endif
