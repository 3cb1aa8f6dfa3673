/*
 * payment_judge - one trade in one open transaction: what it is, and all that follows from it.
 *
 * The caller begins and commits; it also repeats, since a lost race ends the transaction.
 */
#ifndef COMMON_ORDER_PAYMENT_JUDGE_H
#define COMMON_ORDER_PAYMENT_JUDGE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/result.h"
#include "common/order/payment_rows.h"

enum {
	PAYMENT_JUDGE_STATUS_SIZE = 16
};

/* What the table knows about a trade. */
struct payment_stored {
	bool is_there;
	uint64_t id;
	enum payment_outcome outcome;
	bool is_refunded;
	bool is_different;
};

/* The order of a notice, ours until the end of the transaction. */
struct payment_order {
	bool is_there;
	uint64_t id;
	char status[PAYMENT_JUDGE_STATUS_SIZE];
	bool is_past;     /* its deadline */
	bool is_in_money; /* amount and currency are those of the notice */
	char trace_parent[PAYMENT_ROWS_TRACE_SIZE];
};

/* One transaction; db, notice and refunds_unknown are given. */
struct payment_judgement {
	struct db *db;
	const struct payment_notice *notice;
	struct payment_stored stored;
	struct payment_order order;
	bool refunds_unknown; /* the grace is over */
	bool is_held;         /* somebody else has the order */
	enum payment_outcome outcome;
	bool is_refunded;
};

/* Fills stored and keeps its row locked.  OK also when the trade is not there. */
MUST_USE enum result payment_judge_look(struct payment_judgement *judgement, struct error *error);
/* A trade of an unknown order is judged again until its money goes back. */
bool payment_judge_is_final(const struct payment_stored *stored);
/*
 * Pays the order or reads why not, stores the trade and writes its event and its refund task.
 * CONFLICT: a race was lost, somebody holds the order (is_held), or the trade is known although
 * nobody has looked (PAYMENT_ROWS_DUPLICATE): begin again.
 */
MUST_USE enum result payment_judge_run(struct payment_judgement *judgement, struct error *error);

#endif
