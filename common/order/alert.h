/*
 * alert - what needs a person: rows of t_alert, raised once per thing, claimed and delivered by
 * lapse-retry.
 *
 * Unique (kind, ref).  The same thing failing again re-opens its row.
 */
#ifndef COMMON_ORDER_ALERT_H
#define COMMON_ORDER_ALERT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/result.h"
#include "common/base/ulid.h"

struct db;

enum alert_kind {
	ALERT_KIND_TASK_DEAD,     /* ref: task id */
	ALERT_KIND_ORDER_STUCK,   /* ref: order number that could not be closed */
	ALERT_KIND_OUTBOX_FAILED, /* ref: outbox id */
	ALERT_KIND_THRESHOLD,     /* ref: rule name */
};

enum alert_severity {
	ALERT_SEVERITY_INFO,
	ALERT_SEVERITY_WARNING,
	ALERT_SEVERITY_CRITICAL,
};

/* The words of the database, ended by NULL. */
extern const char *const alert_kind_names[];
extern const char *const alert_severity_names[];
/* "LapseTaskDead" for TASK_DEAD and so on. */
extern const char *const alert_rule_names[];

struct alert_notice {
	enum alert_kind kind;
	enum alert_severity severity;
	const char *ref;
	const char *order_no;  /* may be NULL, as the next ones */
	const char *task_kind; /* label kind: "stock_restore" */
	const char *summary;
	const char *description; /* any bytes; cleaned and clipped */
};

/* One statement, inside the caller's transaction where there is one: writes the row or re-opens a
 * resolved one.  OK also when it is firing already. */
MUST_USE enum result alert_raise(
	struct db *db, const struct alert_notice *notice, struct error *error);
/* One statement: FIRING → RESOLVED; OK also when there was none. */
MUST_USE enum result alert_resolve(
	struct db *db, enum alert_kind kind, const char *ref, struct error *error);

enum {
	ALERT_CLAIM_MAX = 500,
	ALERT_TEXT_SIZE = 512
};

struct alert_row {
	uint64_t id;
	char kind[24];
	char ref[128];
	char severity[16];
	char state[16]; /* FIRING or RESOLVED */
	char order_no[65];
	char task_kind[24];
	char summary[ALERT_TEXT_SIZE];
	char description[ALERT_TEXT_SIZE];
	char fired_at[32];    /* ISO 8601 with Z */
	char resolved_at[32]; /* "" when not */
	uint32_t fired_count;
	uint32_t attempts; /* deliveries begun, this one counted */
};

struct alert_batch {
	char lease_token[ULID_SIZE];
	struct alert_row *rows;
	size_t count;
};

/*
 * One transaction: leases at most limit rows whose delivery is PENDING and due, and counts an
 * attempt for each.  Rows fired less than group_wait_ms ago wait for their company.  NONE: nothing.
 */
MUST_USE enum result alert_claim(struct db *db, uint32_t limit, uint64_t lease_ms,
	uint64_t group_wait_ms, struct alert_batch **batch_out, struct error *error);
void alert_batch_destroy(struct alert_batch **batch);
/* One statement: delivered; the next delivery (a reminder) is due after repeat_ms, 0: never. */
MUST_USE enum result alert_mark_sent(struct db *db, const char *lease_token, const uint64_t *ids,
	size_t count, uint64_t repeat_ms, struct error *error);
/* One statement: try again after delay_ms, or FAILED for good when is_final. */
MUST_USE enum result alert_put_off(struct db *db, const char *lease_token, const uint64_t *ids,
	size_t count, uint64_t delay_ms, bool is_final, const char *reason, struct error *error);

#endif
