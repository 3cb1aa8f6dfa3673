#include "common/order/payment_set.h"

#include "common/base/failpoint.h"
#include "common/base/text.h"
#include "common/io/db.h"
#include "common/io/db_list.h"

/* The entries that are applied, in the order of the ids of their orders. */
struct chosen {
	uint64_t ids[PAYMENT_SET_MAX];
	struct payment_row rows[PAYMENT_SET_MAX];
	size_t count;
};

/* Passes by what is locked; id, order_no, amount, currency, trace. */
static enum result lock_orders(struct db *db, const struct payment_entry *entries, size_t count,
	struct db_rows **rows_out, struct error *error)
{
	struct db_param params[PAYMENT_SET_MAX];
	const struct db_list_query query = {
		.head = "SELECT id, order_no, amount_cents, currency, trace_parent "
			"FROM t_order FORCE INDEX (uk_order_no) WHERE order_no IN ",
		.tail = " AND status = 'UNPAID' "
			"AND (expire_time IS NULL OR expire_time > UTC_TIMESTAMP(3)) "
			"ORDER BY id FOR UPDATE SKIP LOCKED",
		.params = params,
		.count = count,
	};

	for (size_t i = 0; i < count; i++)
		params[i] = db_text(entries[i].notice->order_no);
	return db_query_list(db, &query, rows_out, error);
}

/* To the server "A1 " is A1, but nobody asked for that. */
static struct payment_entry *find_entry(
	struct payment_entry *entries, size_t count, const struct db_rows *rows)
{
	for (size_t i = 0; i < count; i++) {
		const struct payment_notice *notice = entries[i].notice;

		if (text_equals(db_rows_text(rows, 1, NULL), notice->order_no) &&
			db_rows_int(rows, 2) == notice->amount_cents &&
			text_equals(db_rows_text(rows, 3, NULL), notice->currency))
			return &entries[i];
	}
	return NULL;
}

static void choose(
	struct payment_entry *entries, size_t count, struct db_rows *rows, struct chosen *chosen)
{
	while (db_rows_next(rows)) {
		struct payment_entry *entry = find_entry(entries, count, rows);
		struct payment_row *row = &chosen->rows[chosen->count];

		if (entry == NULL)
			continue;
		*row = (struct payment_row){ .notice = entry->notice,
			.outcome = PAYMENT_OUTCOME_APPLIED };
		(void)text_copy(
			row->trace_parent, sizeof(row->trace_parent), db_rows_text(rows, 4, NULL));
		chosen->ids[chosen->count++] = db_rows_uint(rows, 0);
		entry->is_applied = true;
	}
}

static enum result write_chosen(struct db *db, const struct chosen *chosen, struct error *error)
{
	uint64_t paid = 0;
	enum result result = payment_rows_pay(db, chosen->ids, chosen->count, &paid, error);

	if (result == RESULT_OK && paid != chosen->count)
		result = error_set(RESULT_CONFLICT, error, "a deadline has passed just now");
	if (result == RESULT_OK)
		result = payment_rows_insert(db, chosen->rows, chosen->count, error);
	if (result == RESULT_OK)
		result = payment_rows_tell(db, chosen->rows, chosen->count, error);
	if (result == RESULT_OK)
		FAILPOINT("before_set_commit");
	return result;
}

static enum result run(
	struct db *db, struct payment_entry *entries, size_t count, struct error *error)
{
	struct chosen chosen = { .count = 0 };
	struct db_rows *rows = NULL;
	enum result result = lock_orders(db, entries, count, &rows, error);

	if (result == RESULT_OK)
		choose(entries, count, rows, &chosen);
	db_rows_destroy(&rows);
	if (result == RESULT_NONE || (result == RESULT_OK && chosen.count == 0))
		return RESULT_OK;
	return result == RESULT_OK ? write_chosen(db, &chosen, error) : result;
}

enum result payment_set_apply(
	struct db *db, struct payment_entry *entries, size_t count, struct error *error)
{
	REQUIRE(count > 0 && count <= PAYMENT_SET_MAX);
	for (size_t i = 0; i < count; i++)
		entries[i].is_applied = false;
	enum result result = db_begin(db, error);
	if (result == RESULT_OK)
		result = run(db, entries, count, error);
	if (result == RESULT_OK)
		result = db_commit(db, error);
	db_rollback(db); /* does nothing after a commit */
	for (size_t i = 0; i < count && result != RESULT_OK; i++)
		entries[i].is_applied = false;
	return error_context(result, error, "apply payments");
}
