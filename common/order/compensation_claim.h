/*
 * compensation_claim - takes due tasks and writes down what became of them.
 *
 * Claiming leases a task and counts its call before it is made.  Everything written afterwards is
 * guarded by the lease token: a task that is leased to somebody else by now is left alone.
 */
#ifndef COMMON_ORDER_COMPENSATION_CLAIM_H
#define COMMON_ORDER_COMPENSATION_CLAIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/result.h"
#include "common/base/text.h"
#include "common/base/ulid.h"
#include "common/order/compensation.h"

struct db;

enum {
	COMPENSATION_CLAIM_MAX = 2000,
	COMPENSATION_TARGET_SIZE = 64 + 1,
	COMPENSATION_ERROR_SIZE = 512 + 1, /* bytes of last_error */
};

enum compensation_verdict {
	COMPENSATION_VERDICT_NONE, /* left alone */
	COMPENSATION_VERDICT_DONE,
	COMPENSATION_VERDICT_RETRY,      /* delay_ms until the next call; DEAD when none is left */
	COMPENSATION_VERDICT_DEAD,       /* refused: never again */
	COMPENSATION_VERDICT_NOT_CALLED, /* given back without a call: the count is taken back */
};

struct compensation_task {
	uint64_t id;
	enum compensation_kind kind;
	char target[COMPENSATION_TARGET_SIZE];
	char idempotency_key[TEXT_IDEMPOTENCY_KEY_SIZE];
	char order_no[TEXT_KEY_SIZE];
	char lease_token[ULID_SIZE];
	char *payload; /* JSON text, owned by the task; NULL when over COMPENSATION_PAYLOAD_MAX */
	size_t payload_size;
	uint32_t calls;       /* begun, this one counted */
	uint32_t retry_count; /* retries begun, this call counted */
	uint32_t max_retries; /* as lowered by the claim */
	/* Filled in for the settle, the last two by it: */
	enum compensation_verdict verdict;
	uint64_t delay_ms;
	char *error; /* owned; NULL: none; see compensation_set_error */
	bool is_dead;
	bool is_lost; /* leased to somebody else by now, and left alone */
};

/* Keeps a copy of what went wrong: any bytes, cleaned and clipped so that it fits the column. */
void compensation_set_error(struct compensation_task *task, const char *text);
/* Frees what the task owns. */
void compensation_clear_task(struct compensation_task *task);

struct compensation_list {
	struct compensation_task *tasks;
	size_t count;
	int64_t server_ahead_ms; /* MySQL's clock behind ours: negative */
};

struct compensation_wish {
	const char *target; /* whose tasks */
	uint32_t limit;     /* of all wishes together at most COMPENSATION_CLAIM_MAX */
	/* A task waits while an older one of the same order and target is open. */
	bool keeps_order;
};

struct compensation_claim_limits {
	const struct compensation_wish *wishes;
	size_t wish_count;
	uint32_t retry_max; /* LAPSE_RETRY_MAX, 0 to COMPENSATION_RETRY_MAX: lowers max_retries */
	uint64_t lease_ms;
	uint64_t *violations_out; /* counts leases that were not those chosen; may be NULL */
};

/*
 * One transaction: takes due tasks of each wish, longest due first and those with an ended lease
 * before the others, leases them and counts a call for each.  A task that has no call left (its
 * lease ran out during the last one) is made DEAD with its alert instead; it is in the list with
 * is_dead and must not be called.  NONE: nothing is due.  The caller owns the list.
 */
MUST_USE enum result compensation_claim(struct db *db,
	const struct compensation_claim_limits *limits, struct compensation_list **list_out,
	struct error *error);
void compensation_list_destroy(struct compensation_list **list);

/* One transaction for the given tasks, each by its verdict and guarded by its lease token. */
MUST_USE enum result compensation_settle(
	struct db *db, struct compensation_task *const *tasks, size_t count, struct error *error);

#endif
