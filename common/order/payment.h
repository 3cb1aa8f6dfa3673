/*
 * payment - applies what a payment channel says: outcome, event, refund task.
 *
 * Paying and closing exclude each other: the guarded UPDATE of the order decides.  Money that came for
 * an order that cannot take it goes back by exactly one refund task, written in the transaction that
 * records the payment.  The same trade again changes nothing.
 */
#ifndef COMMON_ORDER_PAYMENT_H
#define COMMON_ORDER_PAYMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/result.h"
#include "common/base/text.h"

struct db;

enum payment_outcome {
	PAYMENT_OUTCOME_APPLIED,
	PAYMENT_OUTCOME_LATE,      /* closed, or past its deadline: refunded */
	PAYMENT_OUTCOME_DUPLICATE, /* paid by another trade: refunded */
	PAYMENT_OUTCOME_MISMATCH,  /* amount or currency differs: refunded, the order stays open */
	PAYMENT_OUTCOME_UNKNOWN_ORDER,
};

/* The words of the database, in the order of the enum, ended by NULL. */
extern const char *const payment_outcome_names[];

enum {
	PAYMENT_CHANNEL_SIZE = 32 + 1,
	PAYMENT_CURRENCY_SIZE = 3 + 1,
};

/* Every text is a key (text_is_key) already. */
struct payment_notice {
	char channel[PAYMENT_CHANNEL_SIZE];
	char trade_no[TEXT_KEY_SIZE];
	char order_no[TEXT_KEY_SIZE];
	int64_t amount_cents;
	char currency[PAYMENT_CURRENCY_SIZE];
};

struct payment_result {
	enum payment_outcome outcome;
	bool is_repeated;  /* this trade was judged before: nothing was changed */
	bool is_different; /* repeated, but with another order, amount or currency */
};

/*
 * One transaction, repeated a bounded number of times when it loses a race.  OK: committed.
 * TEMPORARY: what happened is unknown; the same notice again is safe.
 */
MUST_USE enum result payment_apply(struct db *db, const struct payment_notice *notice,
	struct payment_result *result_out, struct error *error);

/*
 * For housekeeping: judges anew at most limit payments of unknown orders that are older than
 * grace_ms; an order that is still unknown gets its refund task.  settled_out: how many.
 */
MUST_USE enum result payment_settle_unknown(struct db *db, uint64_t grace_ms, uint32_t limit,
	uint64_t *settled_out, struct error *error);

#endif
