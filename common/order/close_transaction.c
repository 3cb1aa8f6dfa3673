#include "common/order/close_transaction.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/failpoint.h"
#include "common/base/memory.h"
#include "common/io/db.h"
#include "common/io/db_list.h"
#include "common/order/id_list.h"

enum {
	TIME_SIZE = 32
};

/* The rows one transaction has locked and is about to close. */
struct winners {
	uint64_t *ids;
	struct close_order *const *orders; /* NULL: of a sweep, which nobody records */
	size_t count;
	char now[TIME_SIZE]; /* of the statement that chose them: their close_time */
};

static enum result update_orders(struct db *db, const struct close_request *request,
	const struct winners *winners, uint64_t *changed_out, struct error *error)
{
	bool needs_deadline = request->reason == CLOSE_REASON_TIMEOUT;
	const struct db_param before[] = { db_text(winners->now),
		db_text(close_reason_names[request->reason]),
		db_text(close_source_names[request->source]) };
	const struct db_param deadline = db_text(winners->now);
	const struct id_statement statement = {
		.head = "UPDATE t_order FORCE INDEX (PRIMARY) SET status = 'CLOSED', "
			"close_time = ?, close_reason = ?, close_source = ?, "
			"version = version + 1 WHERE ",
		.column = "id",
		.tail = needs_deadline ? " AND status = 'UNPAID' AND expire_time <= ?"
				       : " AND status = 'UNPAID'",
		.before = before,
		.before_count = ARRAY_LENGTH(before),
		.ids = winners->ids,
		.count = winners->count,
		.after = &deadline,
		.after_count = needs_deadline ? 1 : 0,
	};

	return id_list_execute(db, &statement, changed_out, error);
}

static enum result insert_events(
	struct db *db, const struct winners *winners, uint64_t *changed_out, struct error *error)
{
	const struct id_statement statement = {
		.head = "INSERT INTO t_outbox_event (event_type, order_no, trace_parent) "
			"SELECT 'ORDER_CLOSED', order_no, trace_parent "
			"FROM t_order FORCE INDEX (PRIMARY) WHERE ",
		.column = "id",
		.tail = "",
		.ids = winners->ids,
		.count = winners->count,
	};

	return id_list_execute(db, &statement, changed_out, error);
}

/* Keys of t_order_item are checked by the schema, so the payload needs no escapes. */
static enum result insert_tasks(struct db *db, const struct winners *winners, struct error *error)
{
	const struct id_statement statement = {
		.head = "INSERT INTO t_compensation "
			"(kind, target, idempotency_key, order_no, payload) "
			"SELECT 'STOCK_RESTORE', 'stock', "
			"CONCAT('restore:', o.order_no, ':', i.id), o.order_no, "
			"CONCAT('{\"sku_id\":\"', i.sku_id, '\",\"quantity\":', i.quantity, '}') "
			"FROM t_order o FORCE INDEX (PRIMARY) STRAIGHT_JOIN t_order_item i "
			"FORCE INDEX (PRIMARY) ON i.order_id = o.id WHERE ",
		.column = "o.id",
		.tail = " AND i.quantity > 0",
		.ids = winners->ids,
		.count = winners->count,
	};

	return id_list_execute(db, &statement, NULL, error);
}

static enum result report_bug(
	struct db *db, const struct close_request *request, const char *what, struct error *error)
{
	db_rollback(db);
	request->report->count_violations++;
	return error_set(RESULT_PERMANENT, error, "bug: %s", what);
}

/* Everything behind the choice of the winners, in the open transaction. */
static enum result close_winners(struct db *db, const struct close_request *request,
	const struct winners *winners, struct error *error)
{
	uint64_t changed = 0;
	enum result result = update_orders(db, request, winners, &changed, error);

	if (result != RESULT_OK)
		return error_context(result, error, "close orders");
	if (changed != winners->count)
		return report_bug(db, request, "changed rows are not the winners", error);
	result = insert_events(db, winners, &changed, error);
	if (result != RESULT_OK)
		return error_context(result, error, "insert ORDER_CLOSED");
	if (changed != winners->count)
		return report_bug(db, request, "events are not one per winner", error);
	result = insert_tasks(db, winners, error);
	if (result != RESULT_OK)
		return error_context(result, error, "insert STOCK_RESTORE");
	if (request->record != NULL && winners->orders != NULL)
		result = request->record(
			request->record_context, db, winners->orders, winners->count, error);
	if (result != RESULT_OK)
		return error_context(result, error, "record");
	FAILPOINT("before_commit");
	result = db_commit(db, error);
	FAILPOINT("after_commit");
	return result;
}

static int compare_order_no(const void *key, const void *item)
{
	const struct close_order *const *order = item;

	return strcmp(key, (*order)->order_no);
}

static struct close_order *find_order(
	struct close_order *const *orders, size_t count, const char *order_no)
{
	struct close_order *const *found =
		bsearch(order_no, orders, count, sizeof(struct close_order *), compare_order_no);

	return found == NULL ? NULL : *found;
}

/* Of query, head, tail and count are given; the values are the numbers of orders. */
static enum result query_orders(struct db *db, struct db_list_query query,
	struct close_order *const *orders, struct db_rows **rows_out, struct error *error)
{
	query.params = memory_allocate_array(db_list_size(query.count), sizeof(*query.params));
	for (size_t i = 0; i < query.count; i++)
		query.params[i] = db_text(orders[i]->order_no);
	enum result result = db_query_list(db, &query, rows_out, error);
	free(query.params);
	return result;
}

/* Columns 0 to 3 of both ways to choose: id, order_no, lag_ms, now. */
#define CHOICE                                                                 \
	"SELECT id, order_no, "                                                \
	"TIMESTAMPDIFF(MICROSECOND, expire_time, UTC_TIMESTAMP(3)) DIV 1000, " \
	"CAST(UTC_TIMESTAMP(3) AS CHAR)"

static enum result choose(struct db *db, const struct close_request *request,
	struct close_order *const *orders, size_t count, struct db_rows **rows_out,
	struct error *error)
{
	const struct db_list_query query = {
		.head = CHOICE " FROM t_order FORCE INDEX (uk_order_no) WHERE order_no IN ",
		.tail = request->reason == CLOSE_REASON_TIMEOUT
				? " AND status = 'UNPAID' AND expire_time <= UTC_TIMESTAMP(3) "
				  "ORDER BY id FOR UPDATE SKIP LOCKED"
				: " AND status = 'UNPAID' ORDER BY id FOR UPDATE SKIP LOCKED",
		.count = count,
	};

	return error_context(
		query_orders(db, query, orders, rows_out, error), error, "lock orders");
}

/* Takes the next chosen row into winners and order. */
static void take_winner(
	const struct db_rows *rows, struct winners *winners, struct close_order *order)
{
	winners->ids[winners->count++] = db_rows_uint(rows, 0);
	(void)text_copy(winners->now, sizeof(winners->now), db_rows_text(rows, 3, NULL));
	order->id = db_rows_uint(rows, 0);
	order->lag_ms = db_rows_int(rows, 2);
}

static bool has_early_winner(
	const struct close_request *request, struct close_order *const *orders, size_t count)
{
	if (request->reason != CLOSE_REASON_TIMEOUT)
		return false;
	for (size_t i = 0; i < count; i++)
		if (orders[i]->lag_ms < 0)
			return true;
	return false;
}

static enum result run_chosen(struct db *db, const struct close_request *request,
	struct close_order *const *orders, size_t count, size_t *winner_count_out,
	struct error *error)
{
	struct winners winners = { .ids = NULL };
	struct close_order **closed = NULL;
	struct db_rows *rows = NULL;
	enum result result = choose(db, request, orders, count, &rows, error);

	if (result != RESULT_OK)
		goto done;
	winners.ids = memory_allocate_array(db_rows_count(rows), sizeof(*winners.ids));
	closed = memory_allocate_array(db_rows_count(rows), sizeof(struct close_order *));
	winners.orders = closed;
	while (db_rows_next(rows)) {
		struct close_order *order = find_order(orders, count, db_rows_text(rows, 1, NULL));

		if (order == NULL)
			continue; /* to the server "A1 " is A1, but nobody asked for that */
		closed[winners.count] = order;
		take_winner(rows, &winners, order);
	}
	if (has_early_winner(request, closed, winners.count)) {
		request->report->early_violations++;
		result = report_bug(db, request, "a winner is not due", error);
		goto done;
	}
	if (winners.count > 0)
		result = close_winners(db, request, &winners, error);
	if (result != RESULT_OK)
		goto done;
	for (size_t i = 0; i < winners.count; i++)
		closed[i]->outcome = CLOSE_OUTCOME_CLOSED;
	*winner_count_out = winners.count;
done:
	db_rows_destroy(&rows);
	free(closed);
	free(winners.ids);
	return result;
}

/* No order is to blame when not even a transaction can begin. */
static enum result begin(struct db *db, struct error *error)
{
	enum result result = db_begin(db, error);

	return result == RESULT_PERMANENT ? RESULT_TEMPORARY : result;
}

enum result close_transaction_run(struct db *db, const struct close_request *request,
	struct close_order *const *orders, size_t count, size_t *winner_count_out,
	struct error *error)
{
	uint64_t start_us = clock_now_us();
	enum result result = begin(db, error);

	*winner_count_out = 0;
	if (result == RESULT_OK)
		result = run_chosen(db, request, orders, count, winner_count_out, error);
	db_rollback(db); /* does nothing after a commit */
	request->report->transactions++;
	request->report->transaction_us += clock_now_us() - start_us;
	return result == RESULT_NONE ? RESULT_OK : result;
}

const char close_transaction_due_sql[] =
	CHOICE ", CAST(expire_time AS CHAR) FROM t_order FORCE INDEX (idx_status_expire) "
	       "WHERE status = 'UNPAID' "
	       "AND expire_time <= UTC_TIMESTAMP(3) - INTERVAL ? MICROSECOND "
	       "ORDER BY expire_time LIMIT ? FOR UPDATE SKIP LOCKED";
const char close_transaction_due_next_sql[] =
	CHOICE ", CAST(expire_time AS CHAR) FROM t_order FORCE INDEX (idx_status_expire) "
	       "WHERE status = 'UNPAID' "
	       "AND expire_time <= UTC_TIMESTAMP(3) - INTERVAL ? MICROSECOND "
	       "AND expire_time >= ? AND NOT (expire_time = ? AND id <= ?) "
	       "ORDER BY expire_time LIMIT ? FOR UPDATE SKIP LOCKED";

static enum result choose_due(struct db *db, const struct close_due_request *due,
	struct db_rows **rows_out, struct error *error)
{
	const struct close_cursor *cursor = due->cursor;
	const struct db_param first[] = { db_uint(due->overdue_ms * 1000), db_uint(due->limit) };
	const struct db_param next[] = { first[0], db_text(cursor->expire_time),
		db_text(cursor->expire_time), db_uint(cursor->id), first[1] };

	if (cursor->id == 0)
		return db_query(
			db, close_transaction_due_sql, first, ARRAY_LENGTH(first), rows_out, error);
	return db_query(
		db, close_transaction_due_next_sql, next, ARRAY_LENGTH(next), rows_out, error);
}

static enum result run_due(struct db *db, const struct close_request *request,
	const struct close_due_request *due, struct close_order *orders, size_t *count_out,
	struct error *error)
{
	struct close_cursor *cursor = due->cursor;
	struct winners winners = { .ids = NULL };
	struct db_rows *rows = NULL;
	enum result result = choose_due(db, due, &rows, error);

	if (result != RESULT_OK)
		return error_context(result, error, "find due orders");
	winners.ids = memory_allocate_array(db_rows_count(rows), sizeof(*winners.ids));
	while (db_rows_next(rows)) {
		struct close_order *order = &orders[winners.count];

		memset(order, 0, sizeof(*order));
		(void)text_copy(
			order->order_no, sizeof(order->order_no), db_rows_text(rows, 1, NULL));
		take_winner(rows, &winners, order);
		(void)text_copy(cursor->expire_time, sizeof(cursor->expire_time),
			db_rows_text(rows, 4, NULL));
		cursor->id = db_rows_uint(rows, 0);
	}
	*count_out = winners.count;
	result = close_winners(db, request, &winners, error);
	for (size_t i = 0; i < winners.count && result == RESULT_OK; i++)
		orders[i].outcome = CLOSE_OUTCOME_CLOSED;
	free(winners.ids);
	db_rows_destroy(&rows);
	return result;
}

enum result close_transaction_run_due(struct db *db, const struct close_request *request,
	const struct close_due_request *due, struct close_order *orders, size_t *count_out,
	struct error *error)
{
	uint64_t start_us = clock_now_us();
	enum result result = begin(db, error);

	*count_out = 0;
	if (result == RESULT_OK)
		result = run_due(db, request, due, orders, count_out, error);
	db_rollback(db); /* does nothing after a commit */
	request->report->transactions++;
	request->report->transaction_us += clock_now_us() - start_us;
	return result;
}

static void explain_row(
	const struct db_rows *rows, const struct close_request *request, struct close_order *order)
{
	const char *status = db_rows_text(rows, 2, NULL);

	order->id = db_rows_uint(rows, 0);
	order->wait_ms = db_rows_is_null(rows, 3) ? -1 : db_rows_int(rows, 3);
	order->due_ms = db_rows_int(rows, 4);
	if (text_equals(status, "CLOSED"))
		order->outcome = CLOSE_OUTCOME_ALREADY_CLOSED;
	else if (!text_equals(status, "UNPAID"))
		order->outcome = CLOSE_OUTCOME_ALREADY_PAID;
	else if (request->reason == CLOSE_REASON_TIMEOUT &&
		 (db_rows_is_null(rows, 3) || order->wait_ms > 0))
		order->outcome = CLOSE_OUTCOME_NOT_DUE;
	else
		order->outcome = CLOSE_OUTCOME_LOCKED;
}

enum result close_transaction_explain(struct db *db, const struct close_request *request,
	struct close_order *const *orders, size_t count, struct error *error)
{
	const struct db_list_query query = {
		.head = "SELECT id, order_no, status, "
			"CEILING(TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(3), expire_time) / "
			"1000), TIMESTAMPDIFF(MICROSECOND, '1970-01-01', expire_time) DIV 1000 "
			"FROM t_order FORCE INDEX (uk_order_no) WHERE order_no IN ",
		.tail = "",
		.count = count,
	};
	struct db_rows *rows = NULL;
	enum result result = query_orders(db, query, orders, &rows, error);

	if (result != RESULT_OK && result != RESULT_NONE)
		return error_context(result, error, "read orders");
	for (size_t i = 0; i < count; i++)
		orders[i]->outcome = CLOSE_OUTCOME_NOT_FOUND;
	while (db_rows_next(rows)) {
		struct close_order *order = find_order(orders, count, db_rows_text(rows, 1, NULL));

		if (order != NULL)
			explain_row(rows, request, order);
	}
	db_rows_destroy(&rows);
	return RESULT_OK;
}
