/*
 * extension - moves the deadline of an unpaid order later, by hand.
 *
 * The timeout message that is under way arrives early then and is armed again for the rest.
 */
#ifndef COMMON_ORDER_EXTENSION_H
#define COMMON_ORDER_EXTENSION_H

#include <stdint.h>

#include "common/base/result.h"

struct audit_actor;
struct db;

enum {
	EXTENSION_STATUS_SIZE = 16,
	EXTENSION_TIME_SIZE = 32
};

struct extension {
	const char *order_no; /* a key already */
	const char *until; /* "2026-01-31 10:00:00.000" in UTC; NULL: by_ms behind the deadline */
	uint64_t by_ms;
	const char *reason; /* for the audit; may be NULL */
};

/* How the order stood and stands; "" where there is nothing. */
struct extension_result {
	char status[EXTENSION_STATUS_SIZE];
	char before[EXTENSION_TIME_SIZE]; /* ISO 8601 with Z */
	char after[EXTENSION_TIME_SIZE];
};

/*
 * One transaction with its ORDER_EXTENDED event and its audit row.  NONE: there is no such order.
 * CONFLICT: it is not UNPAID, has no deadline, or the time is not later than its deadline and than
 * now; the words say which, and the audit row says refused.  TEMPORARY also: somebody holds it.
 */
MUST_USE enum result extension_run(struct db *db, const struct extension *extension,
	const struct audit_actor *actor, struct extension_result *result_out, struct error *error);

#endif
