/*
 * payment - applies what a payment channel says: outcome, event, refund task.
 *
 * Paying and closing exclude each other: the guarded UPDATE of the order decides.  Money that came
 * for an order that cannot take it goes back by exactly one refund task, written in the transaction
 * that records the payment.  The same trade again changes nothing.
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

/* Every text is a key (text_is_key) already, and the channel what payment_is_channel says. */
struct payment_notice {
	int64_t amount_cents;
	char channel[PAYMENT_CHANNEL_SIZE];
	char trade_no[TEXT_KEY_SIZE];
	char order_no[TEXT_KEY_SIZE];
	char currency[PAYMENT_CURRENCY_SIZE];
};

/*
 * A key without a colon: the key of a refund is refund:<channel>:<trade_no>, so that a colon could
 * make two trades one.
 */
bool payment_is_channel(const char *text);

struct payment_result {
	enum payment_outcome outcome;
	bool is_refunded;  /* its money goes back, or went back */
	bool is_repeated;  /* this trade was judged before: nothing was changed */
	bool is_different; /* repeated, but with another order, amount or currency */
};

/*
 * One transaction, repeated a bounded number of times when it loses a race.  OK: committed.
 * TEMPORARY: what happened is unknown, or somebody holds the order; the same notice again is safe.
 * It never waits for an order that is locked longer than a moment.
 */
MUST_USE enum result payment_apply(struct db *db, const struct payment_notice *notice,
	struct payment_result *result_out, struct error *error);

/* How far the look at payments of unknown orders has come, and what it did; all zero: nowhere. */
struct payment_unknown {
	uint64_t last_id;
	uint64_t settled;
	uint64_t failed; /* left as they are, each with its line in the log */
};

/*
 * For housekeeping: judges anew at most limit payments of unknown orders that are older than
 * grace_ms, each in a transaction of its own; an order that is still unknown gets its refund task.
 * NONE: nothing is behind last_id, which is 0 again.
 */
MUST_USE enum result payment_settle_unknown(struct db *db, uint64_t grace_ms, uint32_t limit,
	struct payment_unknown *unknown, struct error *error);

#endif
