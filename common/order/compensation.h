/*
 * compensation - work owed to other services: give stock back, refund, tell a webhook.
 *
 * A task is written in the transaction that creates the debt.  lapse-retry claims it, which counts
 * the call, and settles it afterwards.  One whose calls are used up is DEAD and raises one alert.
 */
#ifndef COMMON_ORDER_COMPENSATION_H
#define COMMON_ORDER_COMPENSATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/result.h"
#include "common/base/text.h"
#include "common/base/ulid.h"

struct audit_actor;
struct db;

enum compensation_kind {
	COMPENSATION_KIND_STOCK_RESTORE,
	COMPENSATION_KIND_REFUND,
	COMPENSATION_KIND_WEBHOOK,
};

enum compensation_status {
	COMPENSATION_STATUS_PENDING,
	COMPENSATION_STATUS_RUNNING,
	COMPENSATION_STATUS_DONE,
	COMPENSATION_STATUS_DEAD,
	COMPENSATION_STATUS_RESOLVED,
};

/* The words of the database, in the order of the enums, ended by NULL; labels: stock_restore. */
extern const char *const compensation_kind_names[];
extern const char *const compensation_kind_labels[];
extern const char *const compensation_status_names[];

enum {
	COMPENSATION_KIND_COUNT = COMPENSATION_KIND_WEBHOOK + 1,
	COMPENSATION_CLAIM_MAX = 2000,
	COMPENSATION_RETRY_MAX = 5, /* max_retries of a new task */
	COMPENSATION_TARGET_SIZE = 64 + 1,
	COMPENSATION_ERROR_SIZE = 512 + 1, /* of last_error, in bytes */
	COMPENSATION_PAYLOAD_MAX = 65536,
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
	char error[COMPENSATION_ERROR_SIZE]; /* any bytes; cleaned and clipped by the settle */
	bool is_dead;
	bool is_lost; /* leased to somebody else by now, and left alone */
};

struct compensation_list {
	struct compensation_task *tasks;
	size_t count;
};

struct compensation_wish {
	const char *target; /* whose tasks */
	uint32_t limit;     /* of all wishes together at most COMPENSATION_CLAIM_MAX */
};

struct compensation_claim_limits {
	const struct compensation_wish *wishes;
	size_t wish_count;
	uint32_t retry_max; /* LAPSE_RETRY_MAX, 0 to COMPENSATION_RETRY_MAX: lowers max_retries */
	uint64_t lease_ms;
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

/*
 * One transaction with its audit row: DEAD → PENDING, max_retries grows by 5, due now, its alert
 * resolved.  CONFLICT: it is not DEAD (any more), or retry_count is not expected_retries (pass
 * UINT32_MAX for any); the audit says so.  NONE: there is no such task.
 */
MUST_USE enum result compensation_requeue(struct db *db, uint64_t id, uint32_t expected_retries,
	const struct audit_actor *actor, struct error *error);
/* The same for DEAD → RESOLVED, with a reason code of the list below and 5 to 500 characters. */
MUST_USE enum result compensation_resolve(struct db *db, uint64_t id, const char *reason_code,
	const char *reason_text, const struct audit_actor *actor, struct error *error);
extern const char *const compensation_resolve_codes[]; /* ended by NULL */

#endif
