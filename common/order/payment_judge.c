#include "common/order/payment_judge.h"

#include "common/base/text.h"
#include "common/io/db.h"
#include "common/order/payment_rows.h"

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

static bool is_payable(const struct payment_order *order)
{
	return order->is_there && order->is_in_money && !order->is_past &&
	       text_equals(order->status, "UNPAID");
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
	const struct payment_order *order = &judgement->order;
	uint64_t paid = 0;
	enum result result = lock_order(judgement, error);

	if (result == RESULT_OK && is_payable(order))
		result = payment_rows_pay(judgement->db, &order->id, 1, &paid, error);
	bool is_paid = paid == 1;
	judgement->outcome = is_paid ? PAYMENT_OUTCOME_APPLIED : read_why(order);
	/* Where no money came, none goes back. */
	judgement->is_refunded = judgement->notice->amount_cents > 0 && !is_paid &&
				 (order->is_there || judgement->refunds_unknown);
	return result;
}

static enum result update_trade(const struct payment_judgement *judgement, struct error *error)
{
	static const char sql[] =
		"UPDATE t_payment SET outcome = ?, refund_state = ?, updated_at = UTC_TIMESTAMP(3) "
		"WHERE id = ?";
	const struct db_param params[] = { db_text(payment_outcome_names[judgement->outcome]),
		db_text(judgement->is_refunded ? "PENDING" : "NONE"),
		db_uint(judgement->stored.id) };

	return db_execute(judgement->db, sql, params, ARRAY_LENGTH(params), NULL, error);
}

enum result payment_judge_run(struct payment_judgement *judgement, struct error *error)
{
	struct db *db = judgement->db;
	enum result result = decide(judgement, error);
	struct payment_row row = { .notice = judgement->notice,
		.outcome = judgement->outcome,
		.is_refunded = judgement->is_refunded };

	(void)text_copy(row.trace_parent, sizeof(row.trace_parent), judgement->order.trace_parent);
	if (result == RESULT_OK)
		result = judgement->stored.is_there ? update_trade(judgement, error)
						    : payment_rows_insert(db, &row, 1, error);
	if (result == RESULT_OK)
		result = payment_rows_tell(db, &row, 1, error);
	if (result == RESULT_OK && row.is_refunded)
		result = payment_rows_refund(db, row.notice, error);
	return result;
}
