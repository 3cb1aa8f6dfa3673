/*
 * audit - who did what by hand: rows of t_operator_audit, written in the transaction of the act.
 */
#ifndef COMMON_ORDER_AUDIT_H
#define COMMON_ORDER_AUDIT_H

#include "common/base/result.h"

struct db;

struct audit_actor {
	const char *actor;      /* "maria@host" */
	const char *role;       /* viewer, operator, admin */
	const char *auth;       /* basic, token, proxy, cli */
	const char *ip;         /* may be NULL */
	const char *request_id; /* never NULL; unique with action and target */
	const char *bulk_id;    /* may be NULL */
};

struct audit_act {
	const char *action;      /* "requeue" */
	const char *target_type; /* "task" */
	const char *target_id;
	const char *reason_code; /* may be NULL, as all below */
	const char *reason_text;
	const char *before_json;
	const char *after_json;
	const char *result; /* ok, refused, conflict, error */
	const char *error;
};

/* One statement, inside the caller's transaction.  CONFLICT: this request did this act before; the
 * transaction has been rolled back. */
MUST_USE enum result audit_record(struct db *db, const struct audit_actor *actor,
	const struct audit_act *act, struct error *error);

#endif
