/*
 * alert_delivery - rows of t_alert on their way: claimed, kept, settled by the one process that
 * delivers, which is the one that holds the lock lapse.alerts.<schema>.
 */
#ifndef COMMON_ORDER_ALERT_DELIVERY_H
#define COMMON_ORDER_ALERT_DELIVERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/order/alert_row.h"

enum {
	ALERT_CLAIM_MAX = 400,
	ALERT_GROUP_MAX = 200,
	ALERT_EXAMPLES_MAX = 10, /* as the statement knows it */
	ALERT_EXAMPLES_SIZE = 1024,
};

/* Takes the lock without waiting; it ends with the connection.  NONE: another process has it. */
MUST_USE enum result alert_lock(struct db *db, struct error *error);
/* One statement, for a process that has become the only one to deliver: ends all leases but its
 * own, which it may have from before its connection was lost. */
MUST_USE enum result alert_end_leases(struct db *db, const char *lease_token, struct error *error);

struct alert_claim {
	const char *lease_token; /* the same in all claims of one holder of the lock */
	uint64_t lease_ms;
	uint64_t group_wait_ms; /* a new row waits so long for its company */
	uint32_t limit;         /* 1 to ALERT_CLAIM_MAX */
};

struct alert_batch {
	struct alert_row *rows;
	size_t count;
	uint64_t now_ms;         /* since 1970 by MySQL's clock */
	uint64_t silenced_count; /* rows that were due and are held back by a silence */
};

/*
 * One transaction: leases rows that are due and counts an attempt for each: those whose delivery is
 * PENDING, and reminders (delivery SENT or FAILED) of those that still fire.  What is silenced is
 * put off until the silence ends.  NONE: nothing at all was due.
 */
MUST_USE enum result alert_claim(struct db *db, const struct alert_claim *claim,
	struct alert_batch **batch_out, struct error *error);
void alert_batch_destroy(struct alert_batch **batch);
/* One statement: those of the rows that are leased with this token stay so from now on. */
MUST_USE enum result alert_keep(struct db *db, const struct alert_claim *claim, const uint64_t *ids,
	size_t count, struct error *error);

/* What became of the delivery of some rows. */
struct alert_outcome {
	const char *lease_token;
	const uint64_t *ids;
	size_t count;
	enum alert_delivery_state state;
	const char *targets; /* JSON: what each target said */
	const char *reason;  /* of the last failure, any bytes; NULL: none */
	uint64_t delay_ms;   /* until the next try or the reminder; 0: there is none */
};

/* One statement: ends the leases.  A row that fired or was resolved meanwhile stays due. */
MUST_USE enum result alert_settle(
	struct db *db, const struct alert_outcome *outcome, struct error *error);

/* What fires and is not silenced, by kind, label kind and, for a THRESHOLD, rule. */
struct alert_firing {
	enum alert_kind kind;
	enum alert_severity severity; /* the highest */
	char ref[ALERT_REF_SIZE];     /* of a THRESHOLD, else "" */
	char task_kind[ALERT_TASK_KIND_SIZE];
	char summary[ALERT_TEXT_SIZE]; /* of the newest */
	char fired_at[ALERT_TIME_SIZE];
	uint64_t count;
	char examples[ALERT_EXAMPLES_SIZE]; /* the newest orders or refs, "A1, A2" */
};

struct alert_firing_list {
	struct alert_firing items[ALERT_GROUP_MAX];
	size_t count;
	char later[ALERT_TIME_SIZE]; /* ahead_s from now */
};

/* One statement.  OK also when nothing fires. */
MUST_USE enum result alert_list_firing(struct db *db, enum alert_severity min_severity,
	uint32_t ahead_s, struct alert_firing_list *list, struct error *error);

#endif
