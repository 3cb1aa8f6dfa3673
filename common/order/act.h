/*
 * act - what an operator does by hand, for console, API and command line alike: who may, what came
 * of it, and that a request is carried out once.
 *
 * Each act (act_task.h, act_order.h, act_rule.h, act_alert.h, act_outbox.h, act_parked.h) is one
 * transaction with its audit row, guarded on the state that was shown.  The act of one request_id
 * on one target is carried out once: the second call gives the first answer.  A refusal or a
 * conflict leaves an audit row, too.
 *
 * All of them: OK when result_out says what became of it; TEMPORARY when the server is away or
 * busy, and calling again with the same request_id is safe; PERMANENT: the server refused.
 */
#ifndef COMMON_ORDER_ACT_H
#define COMMON_ORDER_ACT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/result.h"
#include "common/order/audit.h"

struct db;

enum {
	ACT_REASON_MIN = 5, /* characters */
	ACT_REASON_MAX = 500,
	ACT_WORDS_SIZE = 512,
};

enum act_role {
	ACT_ROLE_VIEWER,
	ACT_ROLE_OPERATOR,
	ACT_ROLE_ADMIN,
};

/* What became of one act on one target; beside it the status of HTTP that says the same. */
enum act_outcome {
	ACT_OUTCOME_DONE,      /* 200 or 303 */
	ACT_OUTCOME_INVALID,   /* 400: what was asked cannot be; no audit row */
	ACT_OUTCOME_FORBIDDEN, /* 403: the role is too small */
	ACT_OUTCOME_NOT_FOUND, /* 404; no audit row */
	ACT_OUTCOME_CONFLICT,  /* 409: it is not as it was shown (any more) */
	ACT_OUTCOME_REFUSED,   /* 422: a guard says no */
	ACT_OUTCOME_FAILED,    /* 500: the audit row says error */
};
enum {
	ACT_OUTCOME_COUNT = ACT_OUTCOME_FAILED + 1
};

struct act_result {
	enum act_outcome outcome;
	bool is_repeat;             /* this request was answered before: the first answer */
	uint64_t audit_id;          /* 0: no audit row */
	uint64_t made_id;           /* of a rule that was added; else 0 */
	char words[ACT_WORDS_SIZE]; /* for a person: why not; "" when it is done */
};

/* done, invalid, forbidden, ...; viewer, operator, admin; ended by NULL. */
extern const char *const act_outcome_names[];
extern const char *const act_role_names[];

/* The least role for an action of the audit ("requeue", "discard", ...); ADMIN for an unknown. */
enum act_role act_role_needed(const char *action);
/* Is the role word of an actor at least this one? */
bool act_has_role(const struct audit_actor *actor, enum act_role role);
/* Has a reason the right length? */
bool act_is_reason(const char *text);

/*
 * Writes down what changes no row: a refused log-in ("login", "user", name), an export ("export",
 * "tasks", the filter), a look at what is masked ("unmask", "order", order_no), a test of an alert
 * target.  outcome: DONE, REFUSED, FORBIDDEN, CONFLICT or FAILED.  One statement.
 */
struct act_note {
	const char *action;
	const char *target_type;
	const char *target_id; /* cleaned and clipped */
	enum act_outcome outcome;
	const char *words; /* may be NULL */
};
MUST_USE enum result act_write_note(struct db *db, const struct act_note *note,
	const struct audit_actor *actor, struct error *error);

#endif
