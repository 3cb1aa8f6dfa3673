/*
 * alert - what needs a person: rows of t_alert, raised once per thing, resolved by what cures it.
 *
 * Unique (kind, ref).  The same thing failing again re-opens its row.  Delivery is in
 * alert_delivery.
 */
#ifndef COMMON_ORDER_ALERT_H
#define COMMON_ORDER_ALERT_H

#include <stdint.h>

#include "common/base/result.h"

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

enum alert_delivery_state {
	ALERT_DELIVERY_PENDING, /* some target is still to be told */
	ALERT_DELIVERY_SENT,    /* nothing is owed, but perhaps a reminder */
	ALERT_DELIVERY_FAILED,  /* some target was given up */
};

/* The words of the database, ended by NULL. */
extern const char *const alert_kind_names[];
extern const char *const alert_severity_names[];
extern const char *const alert_delivery_state_names[];
/* "LapseTaskDead" for TASK_DEAD and so on; of a THRESHOLD the ref is the name. */
extern const char *const alert_rule_names[];

/* The THRESHOLD that somebody raises to see whether alerts arrive. */
#define ALERT_TEST_REF "LapseTest"

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

enum {
	ALERT_TEXT_SIZE = 512,
	ALERT_SILENCE_MAX_H = 24,
};

/* One statement, inside the caller's transaction where there is one: writes the row or re-opens a
 * resolved one.  OK also when it is firing already: that is counted and changes nothing else. */
MUST_USE enum result alert_raise(
	struct db *db, const struct alert_notice *notice, struct error *error);
/* One statement, in the transaction of the act that cures it: FIRING → RESOLVED; OK also when there
 * was none.  Those who were told that it fires are told that it is over. */
MUST_USE enum result alert_resolve(
	struct db *db, enum alert_kind kind, const char *ref, struct error *error);
/* Resolves what is firing although its task, order or outbox row is well again. */
MUST_USE enum result alert_resolve_cured(struct db *db, uint64_t *count_out, struct error *error);

/* The next two are one statement each, for an act with its audit row in the same transaction. */

/* No message about this firing row for so long, at most ALERT_SILENCE_MAX_H; 0: it speaks again.
 * CONFLICT: it is not firing.  PERMANENT: too long. */
MUST_USE enum result alert_silence(
	struct db *db, uint64_t id, uint64_t for_ms, struct error *error);
/* All targets are told again what the row is now, those given up too.  CONFLICT: there is no such
 * row. */
MUST_USE enum result alert_send_again(struct db *db, uint64_t id, struct error *error);

#endif
