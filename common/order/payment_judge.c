#include "common/order/payment_judge.h"

#include <inttypes.h>

#include "common/base/text.h"
#include "common/io/db.h"

enum {
	PAYLOAD_SIZE = 320
};

/* The event of an outcome; NULL: none. */
static const char *const event_types[] = {
	[PAYMENT_OUTCOME_APPLIED] = "ORDER_PAID",
	[PAYMENT_OUTCOME_LATE] = "PAYMENT_LATE",
	[PAYMENT_OUTCOME_DUPLICATE] = "PAYMENT_DUPLICATE",
	[PAYMENT_OUTCOME_MISMATCH] = "PAYMENT_MISMATCH",
	[PAYMENT_OUTCOME_UNKNOWN_ORDER] = NULL,
};

static enum payment_outcome outcome_of(const char *name)
{
	int outcome = 0;

	while (payment_outcome_names[outcome + 1] != NULL &&
		!text_equals(payment_outcome_names[outcome], name))
		outcome++;
	return (enum payment_outcome)outcome;
}

enum result payment_judge_look(struct payment_judgement *judgement, struct error *error)
{
	static const char sql[] =
		"SELECT id, outcome, order_no, amount_cents, currency, refund_state <> 'NONE' "
		"FROM t_payment WHERE channel = ? AND trade_no = ? FOR UPDATE";
	const struct payment_notice *notice = judgement->notice;
	const struct db_param params[] = { db_text(notice->channel), db_text(notice->trade_no) };
	struct payment_stored *stored = &judgement->stored;
	struct db_rows *rows = NULL;
	enum result result =
		db_query(judgement->db, sql, params, ARRAY_LENGTH(params), &rows, error);

	stored->is_there = db_rows_next(rows);
	if (stored->is_there) {
		stored->id = db_rows_uint(rows, 0);
		stored->outcome = outcome_of(db_rows_text(rows, 1, NULL));
		stored->is_different =
			!text_equals(db_rows_text(rows, 2, NULL), notice->order_no) ||
			db_rows_int(rows, 3) != notice->amount_cents ||
			!text_equals(db_rows_text(rows, 4, NULL), notice->currency);
		stored->is_refunded = db_rows_uint(rows, 5) != 0;
	}
	db_rows_destroy(&rows);
	return result == RESULT_NONE ? RESULT_OK : result;
}

bool payment_judge_is_final(const struct payment_stored *stored)
{
	return stored->is_there && (stored->outcome != PAYMENT_OUTCOME_UNKNOWN_ORDER ||
					   stored->is_refunded || stored->is_different);
}

static void take_order(const struct db_rows *rows, struct payment_order *order)
{
	order->is_there = true;
	order->id = db_rows_uint(rows, 0);
	(void)text_copy(order->status, sizeof(order->status), db_rows_text(rows, 1, NULL));
	order->is_past = db_rows_uint(rows, 2) != 0;
	order->is_in_money = db_rows_uint(rows, 3) != 0;
	(void)text_copy(
		order->trace_parent, sizeof(order->trace_parent), db_rows_text(rows, 4, NULL));
}

/* Skips a locked row instead of waiting for it with everybody else in tow. */
static enum result lock_order(struct payment_judgement *judgement, struct error *error)
{
	static const char sql[] =
		"SELECT id, status, expire_time <= UTC_TIMESTAMP(3), amount_cents = ? AND "
		"currency = ?, trace_parent FROM t_order FORCE INDEX (uk_order_no) "
		"WHERE order_no = ? FOR UPDATE SKIP LOCKED";
	static const char look_sql[] = "SELECT 1 FROM t_order WHERE order_no = ?";
	const struct payment_notice *notice = judgement->notice;
	const struct db_param params[] = { db_int(notice->amount_cents), db_text(notice->currency),
		db_text(notice->order_no) };
	struct db_rows *rows = NULL;
	enum result result =
		db_query(judgement->db, sql, params, ARRAY_LENGTH(params), &rows, error);

	if (db_rows_next(rows))
		take_order(rows, &judgement->order);
	db_rows_destroy(&rows);
	if (result != RESULT_NONE)
		return result;
	result = db_query(judgement->db, look_sql, &params[2], 1, &rows, error);
	db_rows_destroy(&rows);
	judgement->is_held = result == RESULT_OK;
	if (judgement->is_held)
		return error_set(RESULT_CONFLICT, error, "somebody holds the order");
	return result == RESULT_NONE ? RESULT_OK : result;
}

/* The one place where an order becomes PAID. */
static enum result pay_order(
	struct payment_judgement *judgement, bool *is_paid_out, struct error *error)
{
	static const char sql[] =
		"UPDATE t_order FORCE INDEX (PRIMARY) SET status = 'PAID', "
		"pay_time = UTC_TIMESTAMP(3), version = version + 1 "
		"WHERE id = ? AND status = 'UNPAID' AND amount_cents = ? AND currency = ? "
		"AND (expire_time IS NULL OR expire_time > UTC_TIMESTAMP(3))";
	const struct payment_notice *notice = judgement->notice;
	const struct db_param params[] = { db_uint(judgement->order.id),
		db_int(notice->amount_cents), db_text(notice->currency) };
	uint64_t changed = 0;
	enum result result =
		db_execute(judgement->db, sql, params, ARRAY_LENGTH(params), &changed, error);

	*is_paid_out = result == RESULT_OK && changed == 1;
	return result;
}

/* Why the order takes no money.  Of one that looked payable the deadline has passed just now. */
static enum payment_outcome read_why(const struct payment_order *order)
{
	bool is_unpaid = text_equals(order->status, "UNPAID");

	if (!order->is_there)
		return PAYMENT_OUTCOME_UNKNOWN_ORDER;
	if (text_equals(order->status, "CLOSED") || (is_unpaid && order->is_past))
		return PAYMENT_OUTCOME_LATE;
	if (!is_unpaid)
		return PAYMENT_OUTCOME_DUPLICATE;
	return order->is_in_money ? PAYMENT_OUTCOME_LATE : PAYMENT_OUTCOME_MISMATCH;
}

static enum result decide(struct payment_judgement *judgement, struct error *error)
{
	bool is_paid = false;
	enum result result = lock_order(judgement, error);

	if (result == RESULT_OK && judgement->order.is_there)
		result = pay_order(judgement, &is_paid, error);
	judgement->outcome = is_paid ? PAYMENT_OUTCOME_APPLIED : read_why(&judgement->order);
	/* Where no money came, none goes back. */
	judgement->is_refunded = judgement->notice->amount_cents > 0 && !is_paid &&
				 (judgement->order.is_there || judgement->refunds_unknown);
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

/* A trade is judged once, so a refund that is there already is a fault, and a loud one. */
static enum result insert_refund(
	struct db *db, const struct payment_notice *notice, struct error *error)
{
	static const char sql[] = "INSERT INTO t_compensation "
				  "(kind, target, idempotency_key, order_no, payload) "
				  "VALUES ('REFUND', 'refund', ?, ?, ?)";
	char key[TEXT_IDEMPOTENCY_KEY_SIZE];
	char payload[PAYLOAD_SIZE];

	(void)text_format(key, sizeof(key), "refund:%s:%s", notice->channel, notice->trade_no);
	write_payload(notice, payload);
	const struct db_param params[] = { db_text(key), db_text(notice->order_no),
		db_text(payload) };
	return db_execute(db, sql, params, ARRAY_LENGTH(params), NULL, error);
}

static enum result insert_event(struct db *db, const struct payment_notice *notice,
	const struct payment_order *order, enum payment_outcome outcome, struct error *error)
{
	static const char sql[] = "INSERT INTO t_outbox_event (event_type, order_no, payload, "
				  "trace_parent) VALUES (?, ?, ?, ?)";
	char payload[PAYLOAD_SIZE];

	if (event_types[outcome] == NULL)
		return RESULT_OK;
	write_payload(notice, payload);
	const struct db_param params[] = { db_text(event_types[outcome]), db_text(notice->order_no),
		db_text(payload),
		db_text(order->trace_parent[0] == '\0' ? NULL : order->trace_parent) };
	return db_execute(db, sql, params, ARRAY_LENGTH(params), NULL, error);
}

static enum result store_trade(const struct payment_judgement *judgement, struct error *error)
{
	static const char insert_sql[] =
		"INSERT INTO t_payment (outcome, refund_state, channel, trade_no, order_no, "
		"amount_cents, currency) VALUES (?, ?, ?, ?, ?, ?, ?)";
	static const char update_sql[] =
		"UPDATE t_payment SET outcome = ?, refund_state = ?, updated_at = UTC_TIMESTAMP(3) "
		"WHERE id = ?";
	const struct payment_notice *notice = judgement->notice;
	const struct db_param update[] = { db_text(payment_outcome_names[judgement->outcome]),
		db_text(judgement->is_refunded ? "PENDING" : "NONE"),
		db_uint(judgement->stored.id) };
	const struct db_param insert[] = { update[0], update[1], db_text(notice->channel),
		db_text(notice->trade_no), db_text(notice->order_no), db_int(notice->amount_cents),
		db_text(notice->currency) };

	if (judgement->stored.is_there)
		return db_execute(
			judgement->db, update_sql, update, ARRAY_LENGTH(update), NULL, error);
	enum result result =
		db_execute(judgement->db, insert_sql, insert, ARRAY_LENGTH(insert), NULL, error);
	if (result == RESULT_PERMANENT && db_last_errno(judgement->db) == PAYMENT_JUDGE_DUPLICATE)
		return RESULT_CONFLICT; /* this trade is known: look at it first */
	return result;
}

enum result payment_judge_run(struct payment_judgement *judgement, struct error *error)
{
	enum result result = decide(judgement, error);

	if (result == RESULT_OK)
		result = store_trade(judgement, error);
	if (result == RESULT_OK)
		result = insert_event(judgement->db, judgement->notice, &judgement->order,
			judgement->outcome, error);
	if (result == RESULT_OK && judgement->is_refunded)
		result = insert_refund(judgement->db, judgement->notice, error);
	return result;
}
