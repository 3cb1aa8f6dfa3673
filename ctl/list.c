#include "ctl/list.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/base/text.h"
#include "common/io/db.h"
#include "common/io/json.h"
#include "ctl/session.h"
#include "ctl/table.h"
#include "ctl/task_filter.h"

enum {
	LIMIT_DEFAULT = 50,
	SQL_SIZE = 2048,
	ERROR_CHARACTERS = 120, /* of last_error in a list for people */
	AUDIT_MAX = 50,
};

#define TIME_TEXT(column) "CONCAT(LEFT(DATE_FORMAT(" column ", '%Y-%m-%dT%H:%i:%s.%f'), 23), 'Z')"
#define NEXT_RETRY_AT     TIME_TEXT("next_retry_at")
#define LEASE_UNTIL       TIME_TEXT("lease_until")
#define CREATED_AT        TIME_TEXT("created_at")
#define UPDATED_AT        TIME_TEXT("updated_at")
#define DONE_AT           TIME_TEXT("done_at")
#define EXPIRE_TIME       TIME_TEXT("o.expire_time")
#define PAY_TIME          TIME_TEXT("o.pay_time")
#define CLOSE_TIME        TIME_TEXT("o.close_time")
#define AT                TIME_TEXT("at")

static const struct table_column list_columns[] = {
	{ "id", TABLE_KIND_TEXT },
	{ "kind", TABLE_KIND_TEXT },
	{ "order_no", TABLE_KIND_TEXT },
	{ "status", TABLE_KIND_TEXT },
	{ "calls", TABLE_KIND_NUMBER },
	{ "retry_count", TABLE_KIND_NUMBER },
	{ "max_retries", TABLE_KIND_NUMBER },
	{ "next_retry_at", TABLE_KIND_TEXT },
	{ "created_at", TABLE_KIND_TEXT },
	{ "last_error", TABLE_KIND_TEXT },
};
static const char list_head[] =
	"SELECT CAST(id AS CHAR), CAST(kind AS CHAR), order_no, CAST(status AS CHAR), "
	"CAST(calls AS CHAR), CAST(retry_count AS CHAR), CAST(max_retries AS CHAR), "
	"IF(status = 'PENDING', " NEXT_RETRY_AT ", NULL), " CREATED_AT ", LEFT(last_error, ?) "
	"FROM t_compensation";

static const struct table_column task_columns[] = {
	{ "id", TABLE_KIND_TEXT },
	{ "kind", TABLE_KIND_TEXT },
	{ "target", TABLE_KIND_TEXT },
	{ "idempotency_key", TABLE_KIND_TEXT },
	{ "order_no", TABLE_KIND_TEXT },
	{ "status", TABLE_KIND_TEXT },
	{ "calls", TABLE_KIND_NUMBER },
	{ "retry_count", TABLE_KIND_NUMBER },
	{ "max_retries", TABLE_KIND_NUMBER },
	{ "next_retry_at", TABLE_KIND_TEXT },
	{ "lease_until", TABLE_KIND_TEXT },
	{ "created_at", TABLE_KIND_TEXT },
	{ "updated_at", TABLE_KIND_TEXT },
	{ "done_at", TABLE_KIND_TEXT },
	{ "last_error", TABLE_KIND_TEXT },
	{ "payload", TABLE_KIND_JSON },
};
static const char task_sql[] =
	"SELECT CAST(id AS CHAR), CAST(kind AS CHAR), target, idempotency_key, order_no, "
	"CAST(status AS CHAR), CAST(calls AS CHAR), CAST(retry_count AS CHAR), "
	"CAST(max_retries AS CHAR), " NEXT_RETRY_AT ", " LEASE_UNTIL ", " CREATED_AT ", " UPDATED_AT
	", " DONE_AT ", last_error, payload FROM t_compensation WHERE id = ?";

static const struct table_column order_columns[] = {
	{ "order_no", TABLE_KIND_TEXT },
	{ "status", TABLE_KIND_TEXT },
	{ "expire_time", TABLE_KIND_TEXT },
	{ "pay_time", TABLE_KIND_TEXT },
	{ "close_time", TABLE_KIND_TEXT },
	{ "close_reason", TABLE_KIND_TEXT },
	{ "close_source", TABLE_KIND_TEXT },
};
static const char order_sql[] =
	"SELECT o.order_no, CAST(o.status AS CHAR), " EXPIRE_TIME ", " PAY_TIME ", " CLOSE_TIME
	", CAST(o.close_reason AS CHAR), CAST(o.close_source AS CHAR) FROM t_compensation c "
	"JOIN t_order o ON o.order_no = c.order_no WHERE c.id = ?";

static const struct table_column audit_columns[] = {
	{ "at", TABLE_KIND_TEXT },
	{ "actor", TABLE_KIND_TEXT },
	{ "action", TABLE_KIND_TEXT },
	{ "result", TABLE_KIND_TEXT },
	{ "reason_code", TABLE_KIND_TEXT },
	{ "reason_text", TABLE_KIND_TEXT },
	{ "before", TABLE_KIND_JSON },
	{ "after", TABLE_KIND_JSON },
	{ "error", TABLE_KIND_TEXT },
};
static const char audit_sql[] =
	"SELECT " AT
	", actor, action, CAST(result AS CHAR), reason_code, reason_text, before_json, "
	"after_json, error FROM t_operator_audit WHERE target_type = 'task' "
	"AND target_id = CAST(? AS CHAR CHARACTER SET ascii) COLLATE ascii_bin "
	"ORDER BY id DESC LIMIT 50";
_Static_assert(AUDIT_MAX == 50, "audit_sql knows the number too");

/* All columns of the statement are texts. */
static enum result fill_table(struct db *db, const char *sql, const struct db_param *params,
	size_t param_count, struct table *table, struct error *error)
{
	struct db_rows *rows = NULL;
	enum result result = db_query(db, sql, params, param_count, &rows, error);

	while (result == RESULT_OK && db_rows_next(rows)) {
		const char *values[TABLE_COLUMN_MAX];

		for (size_t i = 0; i < table_column_count(table); i++)
			values[i] = db_rows_is_null(rows, i) ? NULL : db_rows_text(rows, i, NULL);
		table_add(table, values);
	}
	db_rows_destroy(&rows);
	return result == RESULT_NONE ? RESULT_OK : result;
}

static enum result fill_list(const struct session *session, const struct task_filter *filter,
	struct table *table, struct error *error)
{
	struct db_param params[TASK_FILTER_PARAM_MAX + 2];
	size_t count = 0;
	char sql[SQL_SIZE];

	REQUIRE(text_format(
		sql, sizeof(sql), "%s%s ORDER BY id LIMIT ?", list_head, filter->condition));
	params[count++] =
		db_uint(session->output.form == OUTPUT_FORM_TEXT ? ERROR_CHARACTERS : UINT16_MAX);
	for (size_t i = 0; i < filter->param_count; i++)
		params[count++] = filter->params[i];
	params[count++] = db_uint(option_number(session->options, OPTION_LIMIT, LIMIT_DEFAULT));
	return fill_table(session->db, sql, params, count, table, error);
}

int list_tasks_run(const struct session *session)
{
	struct task_filter filter;
	struct error error = { 0 };
	struct table *table = NULL;
	int status;

	if (task_filter_read(session->options, TASK_FILTER_SCOPE_TROUBLED, &filter, &error) !=
		RESULT_OK)
		return session_refuse_usage(error.text);
	status = session_connect_to_schema(session);
	if (status != EXIT_STATUS_OK)
		return status;
	table = table_create(list_columns, ARRAY_LENGTH(list_columns));
	enum result result = fill_list(session, &filter, table, &error);
	if (result == RESULT_OK) {
		table_print(table, &session->output, stdout);
		if (table_count(table) == 0)
			output_say(&session->output, "no task matches: %s", filter.words);
		else if (table_count(table) ==
			 option_number(session->options, OPTION_LIMIT, LIMIT_DEFAULT))
			output_say(&session->output,
				"there may be more: --after with the last id shows the next page");
	} else {
		status = session_fail(session, result, &error);
	}
	table_destroy(&table);
	return status;
}

/* What show puts together. */
struct story {
	struct table *task;
	struct table *order;
	struct table *audit;
};

static enum result read_story(
	struct db *db, uint64_t id, const struct story *story, struct error *error)
{
	const struct db_param param = db_uint(id);
	enum result result = fill_table(db, task_sql, &param, 1, story->task, error);

	if (result == RESULT_OK && table_count(story->task) == 0)
		return error_set(RESULT_NONE, error, "there is no task %" PRIu64, id);
	if (result == RESULT_OK)
		result = fill_table(db, order_sql, &param, 1, story->order, error);
	if (result == RESULT_OK)
		result = fill_table(db, audit_sql, &param, 1, story->audit, error);
	return result;
}

static void print_story_as_json(const struct story *story)
{
	struct json *root = json_create_object();
	struct json *task = table_row_to_json(story->task, 0);
	struct json *audit = table_to_json(story->audit);

	json_adopt(root, "task", &task);
	if (table_count(story->order) > 0) {
		struct json *order = table_row_to_json(story->order, 0);

		json_adopt(root, "order", &order);
	} else {
		json_set_text(root, "order", NULL);
	}
	json_adopt(root, "audit", &audit);
	char *text = json_write(root);
	(void)printf("%s\n", text);
	free(text);
	json_destroy(&root);
}

static void print_story(const struct story *story, const struct output *output)
{
	if (output->form == OUTPUT_FORM_JSON) {
		print_story_as_json(story);
		return;
	}
	table_print_record(story->task, output, stdout);
	(void)printf("\n");
	if (table_count(story->order) > 0)
		table_print_record(story->order, output, stdout);
	else
		(void)printf("there is no such order\n");
	if (table_count(story->audit) > 0)
		(void)printf("\n");
	table_print(story->audit, output, stdout);
}

int list_show_task_run(const struct session *session)
{
	struct error error = { 0 };
	struct story story = { .task = NULL };
	uint64_t id = 0;
	int status;

	if (session->operand_count != 1 ||
		!text_parse_uint(session->operands[0], 1, UINT64_MAX, &id))
		return session_refuse_usage("show takes the id of one task");
	status = session_connect_to_schema(session);
	if (status != EXIT_STATUS_OK)
		return status;
	story.task = table_create(task_columns, ARRAY_LENGTH(task_columns));
	story.order = table_create(order_columns, ARRAY_LENGTH(order_columns));
	story.audit = table_create(audit_columns, ARRAY_LENGTH(audit_columns));
	enum result result = read_story(session->db, id, &story, &error);
	if (result == RESULT_OK)
		print_story(&story, &session->output);
	else
		status = session_fail(session, result, &error);
	table_destroy(&story.audit);
	table_destroy(&story.order);
	table_destroy(&story.task);
	return status;
}
