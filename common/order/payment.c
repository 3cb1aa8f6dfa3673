#include "common/order/payment.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/random.h"
#include "common/io/db.h"

enum {
	TRY_MAX = 8,
	PAUSE_MAX_MS = 20,
	ERROR_DUPLICATE = 1062,
	PAYLOAD_SIZE = 320,
};

const char *const payment_outcome_names[] = { "APPLIED", "LATE", "DUPLICATE", "MISMATCH",
	"UNKNOWN_ORDER", NULL };

static_assert(ARRAY_LENGTH(payment_outcome_names) == PAYMENT_OUTCOME_UNKNOWN_ORDER + 2,
	"one name per outcome");

/* The event of an outcome; NULL: none. */
static const char *const event_types[] = {
	[PAYMENT_OUTCOME_APPLIED] = "ORDER_PAID",
	[PAYMENT_OUTCOME_LATE] = "PAYMENT_LATE",
	[PAYMENT_OUTCOME_DUPLICATE] = "PAYMENT_DUPLICATE",
	[PAYMENT_OUTCOME_MISMATCH] = "PAYMENT_MISMATCH",
	[PAYMENT_OUTCOME_UNKNOWN_ORDER] = NULL,
};

/* What the table knows about a trade. */
struct stored {
	bool is_there;
	uint64_t id;
	enum payment_outcome outcome;
	bool is_different;
};

static enum payment_outcome outcome_of(const char *name)
{
	int outcome = 0;

	while (payment_outcome_names[outcome + 1] != NULL &&
		!text_equals(payment_outcome_names[outcome], name))
		outcome++;
	return (enum payment_outcome)outcome;
}

static enum result find_trade(struct db *db, const struct payment_notice *notice,
	struct stored *stored, struct error *error)
{
	static const char sql[] = "SELECT id, outcome, order_no, amount_cents, currency "
				  "FROM t_payment WHERE channel = ? AND trade_no = ? FOR UPDATE";
	const struct db_param params[] = { db_text(notice->channel), db_text(notice->trade_no) };
	struct db_rows *rows = NULL;
	enum result result = db_query(db, sql, params, ARRAY_LENGTH(params), &rows, error);

	stored->is_there = db_rows_next(rows);
	if (stored->is_there) {
		stored->id = db_rows_uint(rows, 0);
		stored->outcome = outcome_of(db_rows_text(rows, 1, NULL));
		stored->is_different =
			!text_equals(db_rows_text(rows, 2, NULL), notice->order_no) ||
			db_rows_int(rows, 3) != notice->amount_cents ||
			!text_equals(db_rows_text(rows, 4, NULL), notice->currency);
	}
	db_rows_destroy(&rows);
	return result == RESULT_NONE ? RESULT_OK : result;
}

/* The one place where an order becomes PAID. */
static enum result pay_order(
	struct db *db, const struct payment_notice *notice, bool *is_paid_out, struct error *error)
{
	static const char sql[] =
		"UPDATE t_order FORCE INDEX (uk_order_no) SET status = 'PAID', "
		"pay_time = UTC_TIMESTAMP(3), version = version + 1 "
		"WHERE order_no = ? AND status = 'UNPAID' AND amount_cents = ? AND currency = ? "
		"AND (expire_time IS NULL OR expire_time > UTC_TIMESTAMP(3))";
	const struct db_param params[] = { db_text(notice->order_no), db_int(notice->amount_cents),
		db_text(notice->currency) };
	uint64_t changed = 0;
	enum result result = db_execute(db, sql, params, ARRAY_LENGTH(params), &changed, error);

	*is_paid_out = result == RESULT_OK && changed == 1;
	return result;
}

/* Nothing was changed: read why.  An order that looks payable came or changed in between. */
static enum result read_why(struct db *db, const struct payment_notice *notice,
	enum payment_outcome *outcome_out, struct error *error)
{
	static const char sql[] =
		"SELECT status, expire_time <= UTC_TIMESTAMP(3), amount_cents = ? AND currency = ? "
		"FROM t_order WHERE order_no = ?";
	const struct db_param params[] = { db_int(notice->amount_cents), db_text(notice->currency),
		db_text(notice->order_no) };
	struct db_rows *rows = NULL;
	enum result result = db_query(db, sql, params, ARRAY_LENGTH(params), &rows, error);

	if (result == RESULT_NONE) {
		*outcome_out = PAYMENT_OUTCOME_UNKNOWN_ORDER;
		return RESULT_OK;
	}
	if (result != RESULT_OK || !db_rows_next(rows))
		return result;
	const char *status = db_rows_text(rows, 0, NULL);
	bool is_open = text_equals(status, "UNPAID");
	if (text_equals(status, "CLOSED") || (is_open && db_rows_uint(rows, 1) != 0))
		*outcome_out = PAYMENT_OUTCOME_LATE;
	else if (!is_open)
		*outcome_out = PAYMENT_OUTCOME_DUPLICATE;
	else if (db_rows_uint(rows, 2) == 0)
		*outcome_out = PAYMENT_OUTCOME_MISMATCH;
	else
		result = error_set(RESULT_CONFLICT, error, "the order changed meanwhile");
	db_rows_destroy(&rows);
	return result;
}

/* Keys need no escapes in JSON. */
static void write_payload(const struct payment_notice *notice, char payload[PAYLOAD_SIZE])
{
	(void)text_format(payload, PAYLOAD_SIZE,
		"{\"channel\":\"%s\",\"trade_no\":\"%s\",\"amount_cents\":%" PRId64
		",\"currency\":\"%s\"}",
		notice->channel, notice->trade_no, notice->amount_cents, notice->currency);
}

/* One trade has one refund, however often it is judged. */
static enum result insert_refund(
	struct db *db, const struct payment_notice *notice, struct error *error)
{
	static const char sql[] = "INSERT INTO t_compensation "
				  "(kind, target, idempotency_key, order_no, payload) "
				  "VALUES ('REFUND', 'refund', ?, ?, ?) "
				  "ON DUPLICATE KEY UPDATE id = id";
	char key[TEXT_IDEMPOTENCY_KEY_SIZE];
	char payload[PAYLOAD_SIZE];

	(void)text_format(key, sizeof(key), "refund:%s:%s", notice->channel, notice->trade_no);
	write_payload(notice, payload);
	const struct db_param params[] = { db_text(key), db_text(notice->order_no),
		db_text(payload) };
	return db_execute(db, sql, params, ARRAY_LENGTH(params), NULL, error);
}

static enum result insert_event(struct db *db, const struct payment_notice *notice,
	enum payment_outcome outcome, struct error *error)
{
	static const char sql[] =
		"INSERT INTO t_outbox_event (event_type, order_no, payload, trace_parent) "
		"SELECT ?, ?, ?, (SELECT trace_parent FROM t_order WHERE order_no = ?)";
	char payload[PAYLOAD_SIZE];

	if (event_types[outcome] == NULL)
		return RESULT_OK;
	write_payload(notice, payload);
	const struct db_param params[] = { db_text(event_types[outcome]), db_text(notice->order_no),
		db_text(payload), db_text(notice->order_no) };
	return db_execute(db, sql, params, ARRAY_LENGTH(params), NULL, error);
}

static enum result store_trade(struct db *db, const struct payment_notice *notice,
	const struct stored *stored, enum payment_outcome outcome, bool is_refunded,
	struct error *error)
{
	static const char insert_sql[] =
		"INSERT INTO t_payment (outcome, refund_state, channel, trade_no, order_no, "
		"amount_cents, currency) VALUES (?, ?, ?, ?, ?, ?, ?)";
	static const char update_sql[] =
		"UPDATE t_payment SET outcome = ?, refund_state = ?, updated_at = UTC_TIMESTAMP(3) "
		"WHERE id = ?";
	const struct db_param update[] = { db_text(payment_outcome_names[outcome]),
		db_text(is_refunded ? "PENDING" : "NONE"), db_uint(stored->id) };
	const struct db_param insert[] = { update[0], update[1], db_text(notice->channel),
		db_text(notice->trade_no), db_text(notice->order_no), db_int(notice->amount_cents),
		db_text(notice->currency) };

	if (stored->is_there)
		return db_execute(db, update_sql, update, ARRAY_LENGTH(update), NULL, error);
	enum result result = db_execute(db, insert_sql, insert, ARRAY_LENGTH(insert), NULL, error);
	if (result == RESULT_PERMANENT && db_last_errno(db) == ERROR_DUPLICATE)
		return RESULT_CONFLICT; /* the same trade in another transaction: look again */
	return result;
}

/* Judges a trade that has no final outcome yet, in the open transaction. */
static enum result judge(struct db *db, const struct payment_notice *notice,
	const struct stored *stored, bool refunds_unknown, enum payment_outcome *outcome_out,
	struct error *error)
{
	bool is_paid = false;
	enum result result = pay_order(db, notice, &is_paid, error);

	*outcome_out = PAYMENT_OUTCOME_APPLIED;
	if (result == RESULT_OK && !is_paid)
		result = read_why(db, notice, outcome_out, error);
	if (result != RESULT_OK)
		return result;
	bool is_refunded = *outcome_out != PAYMENT_OUTCOME_APPLIED &&
			   (*outcome_out != PAYMENT_OUTCOME_UNKNOWN_ORDER || refunds_unknown);
	result = store_trade(db, notice, stored, *outcome_out, is_refunded, error);
	if (result == RESULT_OK)
		result = insert_event(db, notice, *outcome_out, error);
	if (result == RESULT_OK && is_refunded)
		result = insert_refund(db, notice, error);
	return result;
}

static enum result apply_once(struct db *db, const struct payment_notice *notice,
	struct payment_result *result_out, struct error *error)
{
	struct stored stored = { .is_there = false };
	enum result result = db_begin(db, error);

	if (result == RESULT_OK)
		result = find_trade(db, notice, &stored, error);
	if (result != RESULT_OK)
		return result;
	result_out->is_repeated =
		stored.is_there &&
		(stored.outcome != PAYMENT_OUTCOME_UNKNOWN_ORDER || stored.is_different);
	result_out->is_different = stored.is_there && stored.is_different;
	result_out->outcome = stored.outcome;
	if (!result_out->is_repeated)
		result = judge(db, notice, &stored, false, &result_out->outcome, error);
	return result == RESULT_OK ? db_commit(db, error) : result;
}

enum result payment_apply(struct db *db, const struct payment_notice *notice,
	struct payment_result *result_out, struct error *error)
{
	enum result result = RESULT_CONFLICT;

	for (int i = 0; i < TRY_MAX && result == RESULT_CONFLICT; i++) {
		if (i > 0)
			clock_wait_ms(random_up_to(PAUSE_MAX_MS));
		result = apply_once(db, notice, result_out, error);
		db_rollback(db); /* does nothing after a commit */
	}
	if (result == RESULT_CONFLICT)
		result = RESULT_TEMPORARY;
	return error_context(result, error, "apply payment");
}

static enum result choose_unknown(struct db *db, uint64_t grace_ms, uint32_t limit,
	struct db_rows **rows_out, struct error *error)
{
	static const char sql[] = "SELECT id, channel, trade_no, order_no, amount_cents, currency "
				  "FROM t_payment FORCE INDEX (idx_refund_state) "
				  "WHERE refund_state = 'NONE' AND outcome = 'UNKNOWN_ORDER' "
				  "AND created_at <= UTC_TIMESTAMP(3) - INTERVAL ? MICROSECOND "
				  "ORDER BY id LIMIT ? FOR UPDATE SKIP LOCKED";
	const struct db_param params[] = { db_uint(grace_ms * 1000), db_uint(limit) };

	return db_query(db, sql, params, ARRAY_LENGTH(params), rows_out, error);
}

static void take_notice(const struct db_rows *rows, struct payment_notice *notice)
{
	(void)text_copy(notice->channel, sizeof(notice->channel), db_rows_text(rows, 1, NULL));
	(void)text_copy(notice->trade_no, sizeof(notice->trade_no), db_rows_text(rows, 2, NULL));
	(void)text_copy(notice->order_no, sizeof(notice->order_no), db_rows_text(rows, 3, NULL));
	notice->amount_cents = db_rows_int(rows, 4);
	(void)text_copy(notice->currency, sizeof(notice->currency), db_rows_text(rows, 5, NULL));
}

enum result payment_settle_unknown(struct db *db, uint64_t grace_ms, uint32_t limit,
	uint64_t *settled_out, struct error *error)
{
	struct db_rows *rows = NULL;
	enum result result = db_begin(db, error);

	*settled_out = 0;
	if (result == RESULT_OK)
		result = choose_unknown(db, grace_ms, limit, &rows, error);
	while (result == RESULT_OK && db_rows_next(rows)) {
		struct stored stored = { .is_there = true, .id = db_rows_uint(rows, 0) };
		struct payment_notice notice = { .amount_cents = 0 };
		enum payment_outcome outcome = PAYMENT_OUTCOME_UNKNOWN_ORDER;

		take_notice(rows, &notice);
		result = judge(db, &notice, &stored, true, &outcome, error);
		*settled_out += 1;
	}
	if (result == RESULT_OK)
		result = db_commit(db, error);
	db_rollback(db); /* does nothing after a commit */
	db_rows_destroy(&rows);
	return result == RESULT_NONE ? RESULT_OK
				     : error_context(result, error, "settle unknown orders");
}
