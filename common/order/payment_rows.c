#include "common/order/payment_rows.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/db.h"
#include "common/io/db_insert.h"
#include "common/order/id_list.h"

enum {
	PAYLOAD_SIZE = 320,
	PAYMENT_COLUMNS = 7,
	EVENT_COLUMNS = 4,
};

/* The event of an outcome; NULL: none. */
static const char *const event_types[] = {
	[PAYMENT_OUTCOME_APPLIED] = "ORDER_PAID",
	[PAYMENT_OUTCOME_LATE] = "PAYMENT_LATE",
	[PAYMENT_OUTCOME_DUPLICATE] = "PAYMENT_DUPLICATE",
	[PAYMENT_OUTCOME_MISMATCH] = "PAYMENT_MISMATCH",
	[PAYMENT_OUTCOME_UNKNOWN_ORDER] = NULL,
};

enum result payment_rows_pay(struct db *db, const uint64_t *ids, size_t count,
	uint64_t *changed_out, struct error *error)
{
	const struct id_statement statement = {
		.head = "UPDATE t_order FORCE INDEX (PRIMARY) SET status = 'PAID', "
			"pay_time = UTC_TIMESTAMP(3), version = version + 1 WHERE ",
		.column = "id",
		.tail = " AND status = 'UNPAID' "
			"AND (expire_time IS NULL OR expire_time > UTC_TIMESTAMP(3))",
		.ids = ids,
		.count = count,
	};

	return id_list_execute(db, &statement, changed_out, error);
}

enum result payment_rows_insert(
	struct db *db, const struct payment_row *rows, size_t count, struct error *error)
{
	struct db_param params[PAYMENT_ROWS_MAX * PAYMENT_COLUMNS];
	struct db_param *param = params;
	const struct db_insertion insertion = {
		.head = "INSERT INTO t_payment (outcome, refund_state, channel, trade_no, "
			"order_no, amount_cents, currency) VALUES ",
		.row = "(?,?,?,?,?,?,?)",
		.columns = PAYMENT_COLUMNS,
		.count = count,
		.params = params,
	};

	REQUIRE(count <= PAYMENT_ROWS_MAX);
	for (size_t i = 0; i < count; i++) {
		const struct payment_notice *notice = rows[i].notice;

		*param++ = db_text(payment_outcome_names[rows[i].outcome]);
		*param++ = db_text(rows[i].is_refunded ? "PENDING" : "NONE");
		*param++ = db_text(notice->channel);
		*param++ = db_text(notice->trade_no);
		*param++ = db_text(notice->order_no);
		*param++ = db_int(notice->amount_cents);
		*param++ = db_text(notice->currency);
	}
	enum result result = db_insert(db, &insertion, error);
	if (result == RESULT_PERMANENT && db_last_errno(db) == PAYMENT_ROWS_DUPLICATE)
		return RESULT_CONFLICT;
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

enum result payment_rows_tell(
	struct db *db, const struct payment_row *rows, size_t count, struct error *error)
{
	struct db_param params[PAYMENT_ROWS_MAX * EVENT_COLUMNS];
	struct db_insertion insertion = {
		.head = "INSERT INTO t_outbox_event (event_type, order_no, payload, trace_parent) "
			"VALUES ",
		.row = "(?,?,?,?)",
		.columns = EVENT_COLUMNS,
		.params = params,
	};
	char(*payloads)[PAYLOAD_SIZE] = NULL;
	struct db_param *param = params;

	REQUIRE(count <= PAYMENT_ROWS_MAX);
	payloads = memory_allocate_array(count, sizeof(*payloads));
	for (size_t i = 0; i < count; i++) {
		if (event_types[rows[i].outcome] == NULL)
			continue;
		write_payload(rows[i].notice, payloads[insertion.count]);
		*param++ = db_text(event_types[rows[i].outcome]);
		*param++ = db_text(rows[i].notice->order_no);
		*param++ = db_text(payloads[insertion.count++]);
		*param++ = db_optional_text(rows[i].trace_parent);
	}
	enum result result = db_insert(db, &insertion, error);
	free(payloads);
	return result;
}

/* A trade is judged once, so a refund that is there already is a fault, and a loud one. */
enum result payment_rows_refund(
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
