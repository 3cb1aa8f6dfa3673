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
	uint32_t calls;          /* 0: no calls to tell of */
};

/* One statement, inside the caller's transaction where there is one: writes the row or re-opens a
 * resolved one.  OK also when it is firing already. */
MUST_USE enum result alert_raise(
	struct db *db, const struct alert_notice *notice, struct error *error);
/* One statement: FIRING → RESOLVED; OK also when there was none. */
MUST_USE enum result alert_resolve(
	struct db *db, enum alert_kind kind, const char *ref, struct error *error);
/* Resolves what is firing although its task, order or outbox row is well again. */
MUST_USE enum result alert_resolve_cured(struct db *db, uint64_t *count_out, struct error *error);

enum {
	ALERT_CLAIM_MAX = 500,
	ALERT_TEXT_SIZE = 512,
	ALERT_TARGETS_SIZE = 1024,
};

struct alert_row {
	uint64_t id;
	enum alert_kind kind;
	enum alert_severity severity;
	bool is_resolved;
	char ref[128 + 1];
	char order_no[65];
	char task_kind[24];
	char summary[ALERT_TEXT_SIZE];
	char description[ALERT_TEXT_SIZE];
	char fired_at[32];    /* ISO 8601 with Z */
	char resolved_at[32]; /* "" when not */
	uint32_t fired_count;
	uint32_t calls;
	uint32_t attempts;                /* deliveries begun, this one counted */
	char targets[ALERT_TARGETS_SIZE]; /* JSON of the last put off, "" when there is none */
};

struct alert_batch {
	char lease_token[ULID_SIZE];
	struct alert_row *rows;
	size_t count;
};

/*
 * One transaction: leases at most limit rows that are due and not silenced, and counts an attempt
 * for each: those whose delivery is PENDING, and reminders of those that still fire.  Rows fired
 * less than group_wait_ms ago wait for their company.  NONE: nothing.
 */
MUST_USE enum result alert_claim(struct db *db, uint32_t limit, uint64_t lease_ms,
	uint64_t group_wait_ms, struct alert_batch **batch_out, struct error *error);
void alert_batch_destroy(struct alert_batch **batch);
/* One statement, for a process that has become the only one to deliver: ends all leases. */
MUST_USE enum result alert_end_leases(struct db *db, struct error *error);

/* What became of the delivery of some rows of one batch. */
struct alert_delivery {
	const char *lease_token;
	const uint64_t *ids;
	size_t count;
	const char *targets; /* JSON: what each target said */
	const char *reason;  /* of a failure; any bytes */
	uint64_t delay_ms;   /* until the reminder or the next try; 0: there is none */
};

/* One statement: delivered.  A row that fired or was resolved meanwhile stays due. */
MUST_USE enum result alert_mark_sent(
	struct db *db, const struct alert_delivery *delivery, struct error *error);
/* One statement: again after delay_ms, or FAILED when that is 0. */
MUST_USE enum result alert_put_off(
	struct db *db, const struct alert_delivery *delivery, struct error *error);

#endif
