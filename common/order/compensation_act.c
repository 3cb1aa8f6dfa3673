/* What an operator may do with a DEAD task: requeue and resolve. */
#include <inttypes.h>
#include <string.h>

#include "common/io/db.h"
#include "common/order/act.h"
#include "common/order/alert.h"
#include "common/order/audit.h"
#include "common/order/compensation_internal.h"

enum {
	STATE_SIZE = 128,
	ID_SIZE = 24,
};

const char *const compensation_resolve_codes[] = { "fixed_elsewhere", "not_needed", "duplicate",
	"refunded_by_hand", "stock_corrected_by_hand", "other", NULL };

struct act {
	struct db *db;
	uint64_t id;
	const char *action;
	const char *update_sql; /* ? ? are delay_us and the id of a DEAD task */
	uint64_t delay_us;
	const char *refund_state; /* NULL: stays as it is */
	const char *reason_code;
	const char *reason_text;
	uint32_t expected_retries; /* UINT32_MAX: any */
	const struct audit_actor *actor;
	char status[16]; /* as it is locked, with the next ones */
	uint32_t retry_count;
	enum compensation_kind kind;
	struct db_rows *rows; /* hold the payload */
	const char *payload;
	size_t payload_size;
	char before[STATE_SIZE]; /* JSON */
	char after[STATE_SIZE];
};

static void describe(const struct db_rows *rows, char *json, size_t json_size)
{
	(void)text_format(json, json_size,
		"{\"status\":\"%s\",\"retry_count\":%" PRIu64 ",\"max_retries\":%" PRIu64 "}",
		db_rows_text(rows, 0, NULL), db_rows_uint(rows, 1), db_rows_uint(rows, 2));
}

static enum result lock_task(struct act *act, struct error *error)
{
	static const char sql[] =
		"SELECT status, retry_count, max_retries, kind = 'REFUND', payload "
		"FROM t_compensation WHERE id = ? FOR UPDATE";
	const struct db_param id = db_uint(act->id);
	enum result result = db_query(act->db, sql, &id, 1, &act->rows, error);

	if (result != RESULT_OK || !db_rows_next(act->rows))
		return result;
	describe(act->rows, act->before, sizeof(act->before));
	(void)text_copy(act->status, sizeof(act->status), db_rows_text(act->rows, 0, NULL));
	act->retry_count = (uint32_t)db_rows_uint(act->rows, 1);
	act->kind = db_rows_uint(act->rows, 3) != 0 ? COMPENSATION_KIND_REFUND
						    : COMPENSATION_KIND_STOCK_RESTORE;
	act->payload = db_rows_text(act->rows, 4, &act->payload_size);
	return RESULT_OK;
}

static enum result record(
	const struct act *act, const char *outcome, const char *problem, struct error *error)
{
	char target_id[ID_SIZE];
	const struct audit_act audit = { .action = act->action,
		.target_type = "task",
		.target_id = target_id,
		.reason_code = act->reason_code,
		.reason_text = act->reason_text,
		.before_json = act->before,
		.after_json = act->after[0] == '\0' ? NULL : act->after,
		.result = outcome,
		.error = problem };

	(void)text_format(target_id, sizeof(target_id), "%" PRIu64, act->id);
	return audit_record(act->db, act->actor, &audit, error);
}

/* The refusal is kept: its audit row is all that this transaction writes. */
static enum result refuse(const struct act *act, struct error *error)
{
	struct error refusal;

	if (!text_equals(act->status, "DEAD"))
		(void)error_set(RESULT_CONFLICT, &refusal, "task %" PRIu64 " is %s, not DEAD",
			act->id, act->status);
	else
		(void)error_set(RESULT_CONFLICT, &refusal,
			"task %" PRIu64 " has begun %" PRIu32 " retries, not %" PRIu32, act->id,
			act->retry_count, act->expected_retries);
	enum result result = record(act, "conflict", refusal.text, error);
	if (result == RESULT_OK)
		result = db_commit(act->db, error);
	return result == RESULT_OK ? error_set(RESULT_CONFLICT, error, "%s", refusal.text) : result;
}

static enum result read_after(struct act *act, struct error *error)
{
	static const char sql[] =
		"SELECT status, retry_count, max_retries FROM t_compensation WHERE id = ?";
	const struct db_param id = db_uint(act->id);
	struct db_rows *rows = NULL;
	enum result result = db_query(act->db, sql, &id, 1, &rows, error);

	if (result == RESULT_OK && db_rows_next(rows))
		describe(rows, act->after, sizeof(act->after));
	db_rows_destroy(&rows);
	return result;
}

static enum result change(struct act *act, struct error *error)
{
	const struct db_param params[] = { db_uint(act->delay_us), db_uint(act->id) };
	char ref[ID_SIZE];

	(void)text_format(ref, sizeof(ref), "%" PRIu64, act->id);
	enum result result =
		db_execute(act->db, act->update_sql, params, ARRAY_LENGTH(params), NULL, error);
	if (result == RESULT_OK && act->refund_state != NULL)
		result = compensation_set_refund_state(act->db, act->kind, act->payload,
			act->payload_size, act->refund_state, error);
	if (result == RESULT_OK)
		result = alert_resolve(act->db, ALERT_KIND_TASK_DEAD, ref, error);
	if (result == RESULT_OK)
		result = read_after(act, error);
	if (result == RESULT_OK)
		result = record(act, "ok", NULL, error);
	return result == RESULT_OK ? db_commit(act->db, error) : result;
}

static enum result carry_out(struct act *act, struct error *error)
{
	bool is_expected;
	enum result result = db_begin(act->db, error);

	if (result == RESULT_OK)
		result = lock_task(act, error);
	if (result != RESULT_OK)
		goto done;
	is_expected =
		act->expected_retries == UINT32_MAX || act->expected_retries == act->retry_count;
	if (text_equals(act->status, "DEAD") && is_expected)
		result = change(act, error);
	else
		result = refuse(act, error);
done:
	db_rollback(act->db); /* does nothing after a commit */
	db_rows_destroy(&act->rows);
	return error_context(result, error, "%s task %" PRIu64, act->action, act->id);
}

enum result compensation_give_chance(struct db *db, const struct compensation_chance *chance,
	const struct audit_actor *actor, struct error *error)
{
	struct act act = { .db = db,
		.id = chance->id,
		.action = "requeue",
		.update_sql = "UPDATE t_compensation SET status = 'PENDING', "
			      "max_retries = max_retries + 5, "
			      "next_retry_at = UTC_TIMESTAMP(3) + INTERVAL ? MICROSECOND, "
			      "updated_at = UTC_TIMESTAMP(3) WHERE id = ? AND status = 'DEAD'",
		.delay_us = chance->delay_ms * 1000,
		.refund_state = "PENDING",
		.expected_retries = chance->expected_retries,
		.actor = actor };

	return carry_out(&act, error);
}

enum result compensation_requeue(struct db *db, uint64_t id, uint32_t expected_retries,
	const struct audit_actor *actor, struct error *error)
{
	const struct compensation_chance chance = { .id = id,
		.expected_retries = expected_retries };

	return compensation_give_chance(db, &chance, actor, error);
}

enum result compensation_resolve(struct db *db, uint64_t id, const char *reason_code,
	const char *reason_text, const struct audit_actor *actor, struct error *error)
{
	struct act act = { .db = db,
		.id = id,
		.action = "resolve",
		.update_sql = "UPDATE t_compensation SET status = 'RESOLVED', "
			      "next_retry_at = UTC_TIMESTAMP(3) + INTERVAL ? MICROSECOND, "
			      "updated_at = UTC_TIMESTAMP(3) WHERE id = ? AND status = 'DEAD'",
		.reason_code = reason_code,
		.reason_text = reason_text,
		.expected_retries = UINT32_MAX,
		.actor = actor };

	if (!text_is_one_of(compensation_resolve_codes, reason_code))
		return error_set(RESULT_PERMANENT, error, "no such reason code");
	if (!act_is_reason(reason_text))
		return error_set(RESULT_PERMANENT, error, "the reason needs %d to %d characters",
			ACT_REASON_MIN, ACT_REASON_MAX);
	if (text_equals(reason_code, "refunded_by_hand"))
		act.refund_state = "DONE";
	return carry_out(&act, error);
}
