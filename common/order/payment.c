#include "common/order/payment.h"

#include <assert.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/failpoint.h"
#include "common/base/log.h"
#include "common/base/random.h"
#include "common/io/db.h"
#include "common/order/payment_judge.h"

enum {
	TRY_MAX = 8, /* transactions for one notice that loses races, */
	PAUSE_MAX_MS = 20,
	LOOK_MAX = 5, /* of them because somebody holds the order */
	ERROR_LOCK_WAIT = 1205,
};

const char *const payment_outcome_names[] = { "APPLIED", "LATE", "DUPLICATE", "MISMATCH",
	"UNKNOWN_ORDER", NULL };

static_assert(ARRAY_LENGTH(payment_outcome_names) == PAYMENT_OUTCOME_UNKNOWN_ORDER + 2,
	"one name per outcome");

bool payment_is_channel(const char *text)
{
	return text_is_key(text, strlen(text), PAYMENT_CHANNEL_SIZE - 1) &&
	       strchr(text, ':') == NULL;
}

/* Most trades are new, so the first try does not look for them; their key tells. */
static enum result apply_once(struct payment_judgement *judgement, bool looks_first,
	struct payment_result *result_out, struct error *error)
{
	const struct payment_stored *stored = &judgement->stored;
	enum result result = db_begin(judgement->db, error);

	if (result == RESULT_OK && looks_first)
		result = payment_judge_look(judgement, error);
	if (result != RESULT_OK)
		return result;
	*result_out = (struct payment_result){ .outcome = stored->outcome,
		.is_refunded = stored->is_refunded,
		.is_repeated = payment_judge_is_final(stored),
		.is_different = stored->is_there && stored->is_different };
	if (result_out->is_repeated)
		return RESULT_OK;
	result = payment_judge_run(judgement, error);
	result_out->outcome = judgement->outcome;
	result_out->is_refunded = judgement->is_refunded;
	if (result == RESULT_OK)
		FAILPOINT("before_commit");
	result = result == RESULT_OK ? db_commit(judgement->db, error) : result;
	if (result == RESULT_OK)
		FAILPOINT("after_commit");
	return result;
}

enum result payment_apply(struct db *db, const struct payment_notice *notice,
	struct payment_result *result_out, struct error *error)
{
	enum result result = RESULT_CONFLICT;
	int looks = 0;

	REQUIRE(payment_is_channel(notice->channel));
	for (int i = 0; i < TRY_MAX && looks < LOOK_MAX && result == RESULT_CONFLICT; i++) {
		struct payment_judgement judgement = { .db = db, .notice = notice };

		if (i > 0 && db_last_errno(db) != PAYMENT_ROWS_DUPLICATE)
			clock_wait_ms(random_up_to(PAUSE_MAX_MS));
		result = apply_once(&judgement, i > 0, result_out, error);
		db_rollback(db); /* does nothing after a commit */
		looks += judgement.is_held ? 1 : 0;
		/* A lock wait has lasted as long as the limit allows already. */
		if (!judgement.is_held && db_last_errno(db) == ERROR_LOCK_WAIT)
			break;
	}
	if (result == RESULT_CONFLICT)
		result = RESULT_TEMPORARY;
	return error_context(result, error, "apply payment");
}

static enum result choose_unknown(struct db *db, uint64_t grace_ms, uint32_t limit,
	uint64_t last_id, struct db_rows **rows_out, struct error *error)
{
	static const char sql[] = "SELECT id, channel, trade_no, order_no, amount_cents, currency "
				  "FROM t_payment FORCE INDEX (idx_refund_state) "
				  "WHERE refund_state = 'NONE' AND outcome = 'UNKNOWN_ORDER' "
				  "AND id > ? AND amount_cents > 0 "
				  "AND created_at <= UTC_TIMESTAMP(3) - INTERVAL ? MICROSECOND "
				  "ORDER BY id LIMIT ?";
	const struct db_param params[] = { db_uint(last_id), db_uint(grace_ms * 1000),
		db_uint(limit) };

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

/* NONE: somebody judged it meanwhile. */
static enum result settle_one(
	struct db *db, const struct payment_notice *notice, struct error *error)
{
	struct payment_judgement judgement = {
		.db = db, .notice = notice, .refunds_unknown = true
	};
	enum result result = db_begin(db, error);

	if (result == RESULT_OK)
		result = payment_judge_look(&judgement, error);
	if (result == RESULT_OK &&
		(!judgement.stored.is_there || payment_judge_is_final(&judgement.stored)))
		result = RESULT_NONE;
	if (result == RESULT_OK)
		result = payment_judge_run(&judgement, error);
	if (result == RESULT_OK)
		result = db_commit(db, error);
	db_rollback(db); /* does nothing after a commit */
	return result;
}

/* One that cannot be settled now is told and left; the next pass comes by again. */
static enum result settle_listed(
	struct db *db, struct db_rows *rows, struct payment_unknown *unknown, struct error *error)
{
	enum result result = RESULT_OK;

	while (db_rows_next(rows)) {
		struct payment_notice notice = { .amount_cents = 0 };

		take_notice(rows, &notice);
		result = settle_one(db, &notice, error);
		if (result == RESULT_TEMPORARY)
			return result;
		unknown->last_id = db_rows_uint(rows, 0);
		unknown->settled += result == RESULT_OK ? 1 : 0;
		if (result == RESULT_OK || result == RESULT_NONE)
			continue;
		unknown->failed++;
		log_warn(log_event("payment_not_settled"), log_text("order_no", notice.order_no),
			log_text("channel", notice.channel), log_text("trade_no", notice.trade_no),
			log_text("error", error->text));
	}
	return RESULT_OK;
}

enum result payment_settle_unknown(struct db *db, uint64_t grace_ms, uint32_t limit,
	struct payment_unknown *unknown, struct error *error)
{
	struct db_rows *rows = NULL;
	enum result result = choose_unknown(db, grace_ms, limit, unknown->last_id, &rows, error);

	if (result == RESULT_OK)
		result = settle_listed(db, rows, unknown, error);
	if (result == RESULT_NONE)
		unknown->last_id = 0;
	db_rows_destroy(&rows);
	return error_context(result, error, "settle unknown orders");
}
