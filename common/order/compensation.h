/*
 * compensation - work owed to other services: give stock back, refund, tell a webhook.
 *
 * A task is written in the transaction that creates the debt.  lapse-retry claims it, which counts
 * the call before it is made, and settles it afterwards (compensation_claim.h).  A task whose calls
 * are used up is DEAD and raises one alert in the same transaction.
 */
#ifndef COMMON_ORDER_COMPENSATION_H
#define COMMON_ORDER_COMPENSATION_H

#include <stdint.h>

#include "common/base/result.h"

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
	COMPENSATION_RETRY_MAX = 5, /* max_retries of a new task */
	COMPENSATION_PAYLOAD_MAX = 65536,
};

/*
 * One transaction with its audit row: DEAD → PENDING, max_retries grows by 5, due now, its alert
 * resolved.  CONFLICT: it is not DEAD (any more), or retry_count is not expected_retries (pass
 * UINT32_MAX for any); the audit says so.  NONE: there is no such task.
 */
MUST_USE enum result compensation_requeue(struct db *db, uint64_t id, uint32_t expected_retries,
	const struct audit_actor *actor, struct error *error);
/* The same, due after delay_ms. */
struct compensation_chance {
	uint64_t id;
	uint32_t expected_retries;
	uint64_t delay_ms;
};
MUST_USE enum result compensation_give_chance(struct db *db,
	const struct compensation_chance *chance, const struct audit_actor *actor,
	struct error *error);
/* The same for DEAD → RESOLVED, with a reason code of the list below and 5 to 500 characters. */
MUST_USE enum result compensation_resolve(struct db *db, uint64_t id, const char *reason_code,
	const char *reason_text, const struct audit_actor *actor, struct error *error);
extern const char *const compensation_resolve_codes[]; /* ended by NULL */

#endif
