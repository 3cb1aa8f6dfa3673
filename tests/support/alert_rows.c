#include "tests/support/alert_rows.h"

#include <check.h>

#include "common/io/db.h"

enum {
	CLAIM_LIMIT = 100
};

void alert_rows_raise(
	struct db *db, const char *ref, const char *task_kind, const char *description)
{
	const struct alert_notice notice = { .kind = ALERT_KIND_TASK_DEAD,
		.severity = ALERT_SEVERITY_WARNING,
		.ref = ref,
		.order_no = "A1",
		.task_kind = task_kind,
		.summary = "it failed",
		.description = description,
		.calls = 6 };
	struct error error = { 0 };

	ck_assert_msg(alert_raise(db, &notice, &error) == RESULT_OK, "%s", error.text);
}

void alert_rows_resolve(struct db *db, const char *ref)
{
	struct error error = { 0 };

	ck_assert_msg(alert_resolve(db, ALERT_KIND_TASK_DEAD, ref, &error) == RESULT_OK, "%s",
		error.text);
}

struct alert_batch *alert_rows_claim(struct db *db, const char *lease_token, uint64_t group_wait_ms)
{
	const struct alert_claim claim = { .lease_token = lease_token,
		.lease_ms = ALERT_ROWS_LEASE_MS,
		.group_wait_ms = group_wait_ms,
		.limit = CLAIM_LIMIT };
	struct alert_batch *batch = NULL;
	struct error error = { 0 };
	enum result result = alert_claim(db, &claim, &batch, &error);

	ck_assert_msg(result == RESULT_OK || result == RESULT_NONE, "%s", error.text);
	ck_assert_int_eq(result == RESULT_NONE, batch == NULL);
	return batch;
}

void alert_rows_settle(struct db *db, const char *lease_token, const struct alert_batch *batch,
	enum alert_delivery_state state, uint64_t delay_ms)
{
	uint64_t ids[CLAIM_LIMIT];
	struct error error = { 0 };
	const struct alert_outcome outcome = { .lease_token = lease_token,
		.ids = ids,
		.count = batch->count,
		.state = state,
		.targets = "{\"ops\":{\"result\":\"http_error\"}}",
		.reason = state == ALERT_DELIVERY_SENT ? NULL : "ops: HTTP 500 \xff",
		.delay_ms = delay_ms };

	for (size_t i = 0; i < batch->count; i++)
		ids[i] = batch->rows[i].id;
	ck_assert_msg(alert_settle(db, &outcome, &error) == RESULT_OK, "%s", error.text);
}

void alert_rows_deliver(struct db *db, enum alert_delivery_state state, uint64_t delay_ms)
{
	struct alert_batch *batch = alert_rows_claim(db, "OURS", 0);

	ck_assert_ptr_nonnull(batch);
	alert_rows_settle(db, "OURS", batch, state, delay_ms);
	alert_batch_destroy(&batch);
}
