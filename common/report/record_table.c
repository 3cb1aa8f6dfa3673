#include "common/report/record_table.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/text.h"
#include "common/io/json.h"
#include "common/report/listing_kind.h"

enum {
	RECORD_SQL_SIZE = 8192,
	JSON_VALUE_MAX = 1048576,
};

#define TEXT(name)                                  \
	{                                           \
#name, RECORD_TYPE_TEXT, "x." #name \
	}
#define WORD(name)                                                \
	{                                                         \
#name, RECORD_TYPE_TEXT, LISTING_TEXT("x." #name) \
	}
#define TIME(name)                                                \
	{                                                         \
#name, RECORD_TYPE_TEXT, LISTING_TIME("x." #name) \
	}
#define NUMBER(name)                                                \
	{                                                           \
#name, RECORD_TYPE_NUMBER, LISTING_TEXT("x." #name) \
	}
#define DOCUMENT(name)                              \
	{                                           \
#name, RECORD_TYPE_JSON, "x." #name \
	}
#define OTHER(name, type, sql)                \
	{                                     \
		name, RECORD_TYPE_##type, sql \
	}

static const struct record_column order_columns[] = {
	TEXT(order_no),
	WORD(id),
	OTHER("user_id", MASKED, LISTING_TEXT("x.user_id")),
	NUMBER(amount_cents),
	TEXT(currency),
	WORD(status),
	TIME(created_at),
	TIME(expire_time),
	TIME(pay_time),
	TIME(close_time),
	WORD(close_reason),
	WORD(close_source),
	OTHER("lateness_ms", NUMBER,
		"CAST(IF(x.close_reason = 'TIMEOUT', TIMESTAMPDIFF(MICROSECOND, x.expire_time, "
		"x.close_time) DIV 1000, NULL) AS CHAR)"),
	OTHER("is_overdue", BOOL,
		"IF(x.status = 'UNPAID' AND x.expire_time < UTC_TIMESTAMP(3) - INTERVAL 5 SECOND, "
		"'1', '0')"),
	WORD(rule_id),
	NUMBER(version),
	TEXT(trace_parent),
};

#define RESTORE_TASK(column)                                                                  \
	"(SELECT CAST(c." column " AS CHAR) FROM t_compensation c WHERE c.idempotency_key = " \
	"(SELECT CONVERT(CONCAT('restore:', o.order_no, ':', x.id) USING ascii) "             \
	"COLLATE ascii_bin FROM t_order o WHERE o.id = x.order_id))"
static const struct record_column item_columns[] = {
	WORD(id),
	TEXT(sku_id),
	NUMBER(quantity),
	OTHER("restore_task", TEXT, RESTORE_TASK("id")),
	OTHER("restore_status", TEXT, RESTORE_TASK("status")),
};

static const struct record_column task_columns[] = {
	WORD(id),
	WORD(kind),
	TEXT(target),
	TEXT(idempotency_key),
	TEXT(order_no),
	WORD(status),
	NUMBER(calls),
	NUMBER(retry_count),
	NUMBER(max_retries),
	TIME(next_retry_at),
	TIME(lease_until),
	TIME(created_at),
	TIME(updated_at),
	TIME(done_at),
	TEXT(last_error),
	DOCUMENT(payload),
};

static const struct record_column outbox_columns[] = {
	WORD(id),
	TEXT(event_id),
	TEXT(event_type),
	TEXT(order_no),
	WORD(status),
	NUMBER(attempts),
	TIME(created_at),
	TIME(available_at),
	TIME(sent_at),
	TIME(lease_until),
	TEXT(last_error),
	TEXT(trace_parent),
	OTHER("payload", JSON, "IF(LENGTH(x.payload) > 65536, NULL, x.payload)"),
};

static const struct record_column payment_columns[] = {
	WORD(id),
	TEXT(channel),
	TEXT(trade_no),
	TEXT(order_no),
	NUMBER(amount_cents),
	TEXT(currency),
	WORD(outcome),
	WORD(refund_state),
	TIME(created_at),
	TIME(updated_at),
};

static const struct record_column rule_columns[] = {
	WORD(id),
	TEXT(tenant),
	TEXT(channel),
	TEXT(activity),
	TEXT(category),
	NUMBER(priority),
	OTHER("timeout_seconds", NUMBER, LISTING_TEXT("COALESCE(x.timeout_seconds, 0)")),
	TIME(valid_from),
	TIME(valid_to),
	TIME(created_at),
};

static const struct record_column alert_columns[] = {
	WORD(id),
	WORD(kind),
	TEXT(ref),
	WORD(severity),
	WORD(state),
	TIME(fired_at),
	NUMBER(fired_count),
	TIME(resolved_at),
	TIME(silenced_until),
	WORD(delivery_state),
	NUMBER(attempts),
	OTHER("next_attempt_at", TEXT,
		"IF(x.next_attempt_at < '9000-01-01', " LISTING_TIME(
			"x.next_attempt_at") ", NULL)"),
	TEXT(last_error),
	DOCUMENT(labels),
	DOCUMENT(annotations),
	DOCUMENT(targets),
};

static const struct record_column audit_columns[] = {
	WORD(id),
	TIME(at),
	TEXT(actor),
	WORD(role),
	WORD(auth),
	TEXT(ip),
	TEXT(action),
	TEXT(target_type),
	TEXT(target_id),
	WORD(result),
	TEXT(reason_code),
	TEXT(reason_text),
	OTHER("before", JSON, "x.before_json"),
	OTHER("after", JSON, "x.after_json"),
	TEXT(error),
	TEXT(request_id),
	TEXT(bulk_id),
};

#define TABLE(name, columns)                         \
	{                                            \
		name, columns, ARRAY_LENGTH(columns) \
	}

const struct record_table record_orders = TABLE("t_order", order_columns);
const struct record_table record_items = TABLE("t_order_item", item_columns);
const struct record_table record_tasks = TABLE("t_compensation", task_columns);
const struct record_table record_outbox = TABLE("t_outbox_event", outbox_columns);
const struct record_table record_payments = TABLE("t_payment", payment_columns);
const struct record_table record_rules = TABLE("t_timeout_rule", rule_columns);
const struct record_table record_alerts = TABLE("t_alert", alert_columns);
const struct record_table record_audit = TABLE("t_operator_audit", audit_columns);

static void set_value(struct json *object, const struct record_column *column,
	const struct db_rows *rows, size_t place, bool is_unmasked)
{
	size_t size = 0;
	const char *value = db_rows_is_null(rows, place) ? NULL : db_rows_text(rows, place, &size);
	struct json *document = NULL;

	switch (column->type) {
	case RECORD_TYPE_TEXT:
		break;
	case RECORD_TYPE_MASKED:
		if (value != NULL && !is_unmasked)
			value = "***";
		break;
	case RECORD_TYPE_NUMBER:
		if (value == NULL)
			break;
		json_set_int(object, column->name, strtoll(value, NULL, 10));
		return;
	case RECORD_TYPE_BOOL:
		json_set_bool(object, column->name, value != NULL && text_equals(value, "1"));
		return;
	case RECORD_TYPE_JSON:
		if (value == NULL ||
			json_parse(value, size, JSON_VALUE_MAX, &document, NULL) != RESULT_OK)
			break;
		json_adopt(object, column->name, &document);
		return;
	}
	json_set_text(object, column->name, value);
}

static struct json *describe(const struct record_query *query, const struct db_rows *rows)
{
	struct json *object = json_create_object();

	for (size_t i = 0; i < query->table->column_count; i++)
		set_value(object, &query->table->columns[i], rows, i, query->is_unmasked);
	return object;
}

static enum result ask(struct db *db, const struct record_query *query, struct db_rows **rows_out,
	struct error *error)
{
	const struct record_table *table = query->table;
	char sql[RECORD_SQL_SIZE];
	size_t used = 0;

	for (size_t i = 0; i < table->column_count; i++) {
		REQUIRE(text_format(sql + used, sizeof(sql) - used, "%s%s",
			i == 0 ? "SELECT " : ", ", table->columns[i].sql));
		used += strlen(sql + used);
	}
	REQUIRE(text_format(sql + used, sizeof(sql) - used, " FROM %s x WHERE %s LIMIT 200",
		table->table, query->where));
	enum result result = db_query(db, sql, query->params, query->param_count, rows_out, error);
	return error_context(
		result == RESULT_NONE ? RESULT_OK : result, error, "read %s", table->table);
}
_Static_assert(RECORD_ROW_MAX == 200, "the text of ask knows the number, too");

enum result record_read_rows(struct db *db, const struct record_query *query,
	struct json **array_out, struct error *error)
{
	struct db_rows *rows = NULL;
	enum result result = ask(db, query, &rows, error);

	*array_out = NULL;
	if (result != RESULT_OK)
		return result;
	*array_out = json_create_array();
	while (db_rows_next(rows)) {
		struct json *object = describe(query, rows);

		json_append_adopt(*array_out, &object);
	}
	db_rows_destroy(&rows);
	return RESULT_OK;
}

enum result record_read_row(struct db *db, const struct record_query *query,
	struct json **object_out, struct error *error)
{
	struct db_rows *rows = NULL;
	enum result result = ask(db, query, &rows, error);

	*object_out = NULL;
	if (result == RESULT_OK && db_rows_next(rows))
		*object_out = describe(query, rows);
	db_rows_destroy(&rows);
	return result;
}

enum result record_add_rows(struct json *root, const char *name, struct db *db,
	const struct record_query *query, struct error *error)
{
	struct json *array = NULL;
	enum result result = record_read_rows(db, query, &array, error);

	if (result == RESULT_OK)
		json_adopt(root, name, &array);
	return result;
}

enum result record_add_row(struct json *root, const char *name, struct db *db,
	const struct record_query *query, struct error *error)
{
	struct json *object = NULL;
	enum result result = record_read_row(db, query, &object, error);

	if (result == RESULT_OK && object != NULL)
		json_adopt(root, name, &object);
	else if (result == RESULT_OK)
		json_set_text(root, name, NULL);
	return result;
}
