/*
 * acts - a person who acts through common/order/act, and what became of it.
 */
#ifndef TESTS_SUPPORT_ACTS_H
#define TESTS_SUPPORT_ACTS_H

#include "common/order/act.h"

/* What became of each act that was written down, in order, for query_expect. */
#define ACTS_AUDIT \
	"SELECT COALESCE(GROUP_CONCAT(result ORDER BY id SEPARATOR ' '), '') FROM t_operator_audit"

/* Somebody in the role, with the request id; borrows both. */
struct audit_actor acts_actor(const char *role, const char *request_id);
/* Fails the test unless it ended so, says so, and has an audit row if its kind has one. */
void acts_expect(const struct act_result *result, enum act_outcome outcome, const char *says);

#endif
