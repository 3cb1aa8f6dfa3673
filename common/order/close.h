/*
 * close - close_orders: the only code that closes an order.
 *
 * One transaction for a batch: lock the due, unpaid rows (the winners), close them under the same
 * condition, insert one ORDER_CLOSED outbox row per winner and one STOCK_RESTORE task per item of
 * quantity > 0, commit.  Locked rows are skipped, never waited for.
 */
#ifndef COMMON_ORDER_CLOSE_H
#define COMMON_ORDER_CLOSE_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/result.h"
#include "common/base/text.h"

struct db;

enum close_reason {
	CLOSE_REASON_TIMEOUT,
	CLOSE_REASON_USER_CANCEL,
	CLOSE_REASON_OPERATOR,
};

enum close_source {
	CLOSE_SOURCE_MESSAGE,
	CLOSE_SOURCE_SWEEP,
	CLOSE_SOURCE_API,
	CLOSE_SOURCE_CONSOLE,
};

enum close_outcome {
	CLOSE_OUTCOME_CLOSED,
	CLOSE_OUTCOME_ALREADY_PAID,
	CLOSE_OUTCOME_ALREADY_CLOSED,
	CLOSE_OUTCOME_NOT_DUE, /* wait_ms says when to look again */
	CLOSE_OUTCOME_NOT_FOUND,
	CLOSE_OUTCOME_LOCKED, /* due, but somebody holds its lock: look again in a moment */
	CLOSE_OUTCOME_FAILED, /* the bad order: error says why; the others were closed */
};

enum close_repeat {
	CLOSE_REPEAT_DEADLOCK,
	CLOSE_REPEAT_LOCK_WAIT, /* a row was locked by somebody and was looked at again */
	CLOSE_REPEAT_CHANGED,   /* error 1020 */
	CLOSE_REPEAT_CONNECTION,
	CLOSE_REPEAT_SPLIT,
};
enum {
	CLOSE_OUTCOME_COUNT = CLOSE_OUTCOME_FAILED + 1,
	CLOSE_REPEAT_COUNT = CLOSE_REPEAT_SPLIT + 1,
	CLOSE_BATCH_MAX = 5000,
	CLOSE_ERROR_SIZE = 160
};

/* The words of the database, of metrics and logs, in the order of the enums, ended by NULL. */
extern const char *const close_reason_names[];
extern const char *const close_source_names[];
extern const char *const close_outcome_names[];

/* One order of a batch: order_no is given, the rest is filled in. */
struct close_order {
	char order_no[TEXT_KEY_SIZE];
	enum close_outcome outcome;
	uint64_t id;     /* 0 when not found */
	int64_t lag_ms;  /* CLOSED: close_time - expire_time */
	int64_t wait_ms; /* NOT_DUE: until the deadline, at least 1; -1: it has none */
	int64_t due_ms;  /* NOT_DUE: the deadline in milliseconds since 1970; 0: none */
	char error[CLOSE_ERROR_SIZE];
};

/* What the transactions of one call did.  Added to, never reset. */
struct close_report {
	uint64_t repeats[CLOSE_REPEAT_COUNT];
	uint64_t transactions;
	uint64_t transaction_us;   /* together */
	uint64_t count_violations; /* rows changed were not the winners: rolled back */
	uint64_t early_violations; /* a close before the deadline was seen and rolled back */
};

struct close_request {
	enum close_reason reason;
	enum close_source source;
	struct close_report *report; /* never NULL */
	/* NULL, or writes down a close by hand before its commit; failing takes the close back. */
	enum result (*record)(void *context, struct db *db, struct close_order *const *orders,
		size_t count, struct error *error);
	void *record_context;
};

/*
 * Gives each of the count orders (at most CLOSE_BATCH_MAX, no number twice) its outcome.  Lost
 * races are repeated a bounded number of times; an error that is no race splits the batch until
 * the bad order stands alone, and that one is FAILED.  TEMPORARY: the server is away and what
 * happened is unknown; calling again with the same orders is safe.  A reason other than TIMEOUT
 * closes before the deadline too.
 */
MUST_USE enum result close_orders(struct db *db, const struct close_request *request,
	struct close_order *orders, size_t count, struct error *error);

#endif
