/*
 * alert_rows - alerts as the code under test raises, claims and settles them; a mistake fails the
 * test.
 */
#ifndef TESTS_SUPPORT_ALERT_ROWS_H
#define TESTS_SUPPORT_ALERT_ROWS_H

#include <stdint.h>

#include "common/order/alert_delivery.h"

struct db;

enum {
	ALERT_ROWS_LEASE_MS = 60000
};

/* TASK_DEAD of order A1, after 6 calls. */
void alert_rows_raise(
	struct db *db, const char *ref, const char *task_kind, const char *description);
void alert_rows_resolve(struct db *db, const char *ref);
/* NULL when nothing is due. */
struct alert_batch *alert_rows_claim(
	struct db *db, const char *lease_token, uint64_t group_wait_ms);
/* Every row of the batch alike. */
void alert_rows_settle(struct db *db, const char *lease_token, const struct alert_batch *batch,
	enum alert_delivery_state state, uint64_t delay_ms);
/* Claims what is due, which must be something, as "OURS", and settles it. */
void alert_rows_deliver(struct db *db, enum alert_delivery_state state, uint64_t delay_ms);

#endif
