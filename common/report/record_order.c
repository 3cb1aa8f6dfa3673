#include "common/report/record_order.h"

#include <string.h>

#include "common/base/text.h"
#include "common/io/db.h"
#include "common/io/json.h"
#include "common/report/listing_kind.h"
#include "common/report/record_table.h"

enum {
	TIMELINE_SQL_SIZE = 8192
};

#define OF_ORDER  " WHERE order_no = ?"
#define OF_TASKS  "t_compensation" OF_ORDER
#define TASK_NAME "IF(kind = 'WEBHOOK', CONCAT(kind, ' to ', target), kind)"
#define TASK_IDS                                                                 \
	"(SELECT CAST(c.id AS CHAR CHARACTER SET ascii) COLLATE ascii_bin FROM " \
	"t_compensation c WHERE c.order_no = ?)"

/* The parts of the timeline; at the same millisecond the smaller step comes first. */
static const struct part {
	const char *time;
	unsigned int step;
	const char *what, *ref, *detail, *source; /* source has one ?, the order number */
} parts[] = {
	{ "created_at", 1, "'created'", "order_no", "NULL", "t_order" OF_ORDER },
	{ "sent_at", 2, "IF(event_type = 'ORDER_CREATED', 'timeout_published', 'event_published')",
		"CAST(id AS CHAR)", "event_type",
		"t_outbox_event" OF_ORDER " AND sent_at IS NOT NULL" },
	{ "pay_time", 3, "'paid'", "order_no", "NULL",
		"t_order" OF_ORDER " AND pay_time IS NOT NULL" },
	{ "created_at", 3, "'payment'", "CONCAT(channel, ':', trade_no)",
		"CONCAT(outcome, ', refund ', refund_state)", "t_payment" OF_ORDER },
	{ "expire_time", 4, "'deadline'", "order_no", "NULL",
		"t_order" OF_ORDER " AND expire_time IS NOT NULL" },
	{ "close_time", 5, "'closed'", "order_no", "CONCAT(close_reason, ' by ', close_source)",
		"t_order" OF_ORDER " AND close_time IS NOT NULL" },
	{ "created_at", 6, "'task_created'", "CAST(id AS CHAR)", TASK_NAME, OF_TASKS },
	{ "at", 7, "'act'", "CAST(id AS CHAR)", "CONCAT(action, ' by ', actor, ': ', result)",
		"t_operator_audit WHERE target_type = 'order' AND target_id = ?" },
	{ "at", 7, "'act'", "CAST(id AS CHAR)",
		"CONCAT(action, ' task ', target_id, ' by ', actor, ': ', result)",
		"t_operator_audit WHERE target_type = 'task' AND target_id IN " TASK_IDS },
	{ "done_at", 8, "'task_done'", "CAST(id AS CHAR)", TASK_NAME,
		OF_TASKS " AND done_at IS NOT NULL" },
	{ "next_retry_at", 8, "'task_dead'", "CAST(id AS CHAR)", "last_error",
		OF_TASKS " AND status = 'DEAD'" },
	{ "next_retry_at", 8, "'task_resolved'", "CAST(id AS CHAR)", TASK_NAME,
		OF_TASKS " AND status = 'RESOLVED'" },
};

/* Parts of a UNION have one collation. */
#define WORDS "CONVERT(%s USING utf8mb4) COLLATE utf8mb4_bin"

static void write_timeline(char sql[TIMELINE_SQL_SIZE])
{
	static const char head[] =
		"SELECT " LISTING_TIME("e.at") ", TIMESTAMPDIFF(MICROSECOND, '1970-01-01', e.at) "
					       "DIV 1000, e.what, e.ref, e.detail FROM (";
	size_t used = strlen(head);

	REQUIRE(text_copy(sql, TIMELINE_SQL_SIZE, head));
	for (size_t i = 0; i < ARRAY_LENGTH(parts); i++) {
		REQUIRE(text_format(sql + used, TIMELINE_SQL_SIZE - used,
			"%sSELECT %s AS at, %u AS step, " WORDS " AS what, " WORDS " AS ref, " WORDS
			" AS detail FROM %s",
			i == 0 ? "" : " UNION ALL ", parts[i].time, parts[i].step, parts[i].what,
			parts[i].ref, parts[i].detail, parts[i].source));
		used += strlen(sql + used);
	}
	REQUIRE(text_copy(
		sql + used, TIMELINE_SQL_SIZE - used, ") e ORDER BY e.at, e.step LIMIT 400"));
}

static struct json *describe(const struct db_rows *rows, int64_t before_ms, bool is_first)
{
	struct json *entry = json_create_object();

	json_set_text(entry, "at", db_rows_text(rows, 0, NULL));
	json_set_text(entry, "what", db_rows_text(rows, 2, NULL));
	json_set_text(entry, "ref", db_rows_text(rows, 3, NULL));
	json_set_text(
		entry, "detail", db_rows_is_null(rows, 4) ? NULL : db_rows_text(rows, 4, NULL));
	if (is_first)
		json_set_text(entry, "gap_ms", NULL);
	else
		json_set_int(entry, "gap_ms", db_rows_int(rows, 1) - before_ms);
	return entry;
}

enum result record_add_timeline(
	struct json *root, struct db *db, const char *order_no, struct error *error)
{
	struct db_param params[ARRAY_LENGTH(parts)];
	char sql[TIMELINE_SQL_SIZE];
	struct db_rows *rows = NULL;
	bool is_first = true;
	int64_t before_ms = 0;

	for (size_t i = 0; i < ARRAY_LENGTH(params); i++)
		params[i] = db_text(order_no);
	write_timeline(sql);
	enum result result = db_query(db, sql, params, ARRAY_LENGTH(params), &rows, error);
	if (result != RESULT_OK && result != RESULT_NONE)
		return error_context(result, error, "read the timeline of %s", order_no);
	struct json *array = json_create_array();
	while (db_rows_next(rows)) {
		struct json *entry = describe(rows, before_ms, is_first);

		before_ms = db_rows_int(rows, 1);
		is_first = false;
		json_append_adopt(array, &entry);
	}
	db_rows_destroy(&rows);
	json_adopt(root, "timeline", &array);
	return RESULT_OK;
}

enum result record_add_order(struct json *root, struct db *db, const char *order_no,
	uint64_t but_task_id, bool is_unmasked, struct error *error)
{
	const struct db_param params[] = { db_text(order_no), db_uint(but_task_id) };
	const struct record_query order = { &record_orders, "x.order_no = ?", params, 1,
		is_unmasked };
	const struct record_query payments = { &record_payments, "x.order_no = ? ORDER BY x.id",
		params, 1, is_unmasked };
	const struct record_query tasks = { &record_tasks,
		"x.order_no = ? AND x.id <> ? ORDER BY x.id", params, ARRAY_LENGTH(params),
		is_unmasked };
	const struct record_query outbox = { &record_outbox, "x.order_no = ? ORDER BY x.id", params,
		1, is_unmasked };
	enum result result = record_add_row(root, "order", db, &order, error);

	if (result == RESULT_OK)
		result = record_add_rows(root, "payments", db, &payments, error);
	if (result == RESULT_OK)
		result = record_add_rows(root, "tasks", db, &tasks, error);
	if (result == RESULT_OK)
		result = record_add_rows(root, "outbox", db, &outbox, error);
	return result;
}

/* The state of the youngest row that asks for the timeout; NULL: there is none. */
static const char *find_arming(const struct json *outbox)
{
	const char *status = NULL;

	for (size_t i = 0; i < json_count(outbox); i++)
		if (text_equals(json_get_text(json_at(outbox, i), "event_type"), "ORDER_CREATED"))
			status = json_get_text(json_at(outbox, i), "status");
	return status;
}

static const char *explain_waiting(const struct json *outbox)
{
	const char *arming = find_arming(outbox);

	if (arming == NULL)
		return "Its deadline is ahead. No ORDER_CREATED row asks for its timeout: a sweep "
		       "closes it, up to two intervals late.";
	if (text_equals(arming, "SENT"))
		return "Its deadline is ahead, and its timeout is on its way.";
	if (text_equals(arming, "FAILED"))
		return "Its deadline is ahead. Its timeout could not be published: a sweep closes "
		       "it, up to two intervals late.";
	return "Its deadline is ahead. Its timeout waits in the outbox, until the deadline is near "
	       "or lapse-producer and the broker are there.";
}

static const char *explain_unpaid(const struct json *root)
{
	const struct json *order = json_get(root, "order");
	const char *alert = json_get_text(json_get(root, "alert"), "state");
	bool is_overdue = false;

	if (json_get_text(order, "expire_time") == NULL)
		return "It has no deadline: only its buyer or an operator closes it.";
	if (alert != NULL && text_equals(alert, "FIRING"))
		return "It is due and cannot be closed: its alert says what the database answers.";
	if (json_get_bool(order, "is_overdue", &is_overdue) && is_overdue)
		return "It is overdue; each sweep tries it again. When it stays so for two "
		       "intervals, somebody holds its row or no sweeper runs.";
	return explain_waiting(json_get(root, "outbox"));
}

void record_add_why(struct json *root)
{
	const struct json *order = json_get(root, "order");
	const char *status = json_get_text(order, "status");

	if (status == NULL)
		return;
	if (text_equals(status, "PAID"))
		json_set_text(root, "why", "It was paid in time, and nothing closes a paid order.");
	else if (text_equals(status, "CLOSED"))
		json_set_text(root, "why",
			"It is closed: its tasks and payments say what is still owed.");
	else
		json_set_text(root, "why", explain_unpaid(root));
}

enum result record_add_audit(struct json *root, struct db *db, const char *target_type,
	const char *target_id, struct error *error)
{
	const struct db_param params[] = { db_text(target_type), db_text(target_id) };
	const struct record_query audit = { &record_audit,
		"x.target_type = ? AND x.target_id = ? ORDER BY x.id DESC", params,
		ARRAY_LENGTH(params), false };

	return record_add_rows(root, "audit", db, &audit, error);
}
