#include "ctl/rule.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/base/moment.h"
#include "common/base/text.h"
#include "common/base/ulid.h"
#include "common/order/act_rule.h"
#include "common/order/rule_change.h"
#include "common/report/rule_tally.h"
#include "ctl/answer.h"
#include "ctl/consent.h"
#include "ctl/rule_preview.h"
#include "ctl/session.h"
#include "ctl/table.h"

enum {
	SQL_SIZE = 2048,
	NUMBER_SIZE = 24,
	DURATION_SIZE = 24,
	COLUMN_TIMEOUT = 6,
	COLUMN_ORDERS = 10, /* the last one, which not every table has */
};

#define ISO(column) "CONCAT(REPLACE(CAST(" column " AS CHAR), ' ', 'T'), 'Z')"
#define VALID_FROM  ISO("valid_from")
#define VALID_TO    ISO("valid_to")

static const enum option attribute_options[] = { OPTION_TENANT, OPTION_CHANNEL, OPTION_ACTIVITY,
	OPTION_CATEGORY };
_Static_assert(ARRAY_LENGTH(attribute_options) == RULE_ATTRIBUTE_COUNT, "one for each attribute");

static const struct table_column columns[] = {
	{ "id", TABLE_KIND_TEXT },
	{ "tenant", TABLE_KIND_TEXT },
	{ "channel", TABLE_KIND_TEXT },
	{ "activity", TABLE_KIND_TEXT },
	{ "category", TABLE_KIND_TEXT },
	{ "priority", TABLE_KIND_NUMBER },
	{ "timeout", TABLE_KIND_TEXT },
	{ "valid_from", TABLE_KIND_TEXT },
	{ "valid_to", TABLE_KIND_TEXT },
	{ "state", TABLE_KIND_TEXT },
	{ "orders_24h", TABLE_KIND_NUMBER },
};

static const char head[] =
	"SELECT CAST(id AS CHAR), tenant, channel, activity, category, CAST(priority AS CHAR), "
	"CAST(COALESCE(timeout_seconds, 0) AS CHAR), " VALID_FROM ", " VALID_TO ", "
	"CASE WHEN valid_to <= UTC_TIMESTAMP(3) THEN 'ended' "
	"WHEN valid_from > UTC_TIMESTAMP(3) THEN 'to come' ELSE 'in force' END "
	"FROM t_timeout_rule ";

const char *rule_attribute(const struct session *session, size_t i)
{
	return option_text(session->options, attribute_options[i]);
}

enum result rule_read_timeout(
	const struct session *session, uint64_t *seconds_out, struct error *error)
{
	const char *text = option_text(session->options, OPTION_TIMEOUT);
	uint64_t milliseconds = 0;

	*seconds_out = 0;
	if (text == NULL)
		return error_set(RESULT_PERMANENT, error, "--timeout is needed");
	if (text_equals(text, "never"))
		return RESULT_OK;
	if (!text_parse_duration(text, &milliseconds) || milliseconds % 1000 != 0)
		return error_set(RESULT_PERMANENT, error,
			"--timeout: \"%.40s\" is not a duration in whole seconds such as 90s, 15m "
			"or 2h, nor never",
			text);
	*seconds_out = milliseconds / 1000;
	return RESULT_OK;
}

struct table *rule_create_table(void)
{
	return table_create(columns, COLUMN_ORDERS);
}

/* tally NULL: the table has no column for it. */
static void add_row(const struct session *session, const struct rule_tally *tally,
	const struct db_rows *rows, struct table *table)
{
	const char *values[ARRAY_LENGTH(columns)] = { NULL };
	char timeout[DURATION_SIZE];
	char orders[NUMBER_SIZE];
	uint64_t seconds = db_rows_uint(rows, COLUMN_TIMEOUT);
	uint64_t count = 0;

	for (size_t i = 0; i < COLUMN_ORDERS; i++)
		values[i] = db_rows_is_null(rows, i) ? NULL : db_rows_text(rows, i, NULL);
	text_format_duration(timeout, sizeof(timeout), seconds * 1000);
	values[COLUMN_TIMEOUT] = seconds == 0 ? "never" : timeout;
	if (tally != NULL && rule_tally_find(tally, db_rows_uint(rows, 0), &count)) {
		(void)text_format(orders, sizeof(orders), "%" PRIu64, count);
		values[COLUMN_ORDERS] = orders;
	} else if (session->output.form != OUTPUT_FORM_JSON) {
		values[COLUMN_ORDERS] = "unknown";
	}
	table_add(table, values);
}

static enum result fill(const struct session *session, const char *sql_tail, const uint64_t *param,
	const struct rule_tally *tally, struct table *table, struct error *error)
{
	const struct db_param params[] = { db_uint(param == NULL ? 0 : *param) };
	struct db_rows *rows = NULL;
	char sql[SQL_SIZE];

	REQUIRE(text_format(sql, sizeof(sql), "%s%s", head, sql_tail));
	enum result result =
		db_query(session->db, sql, params, param == NULL ? 0 : 1, &rows, error);
	while (db_rows_next(rows))
		add_row(session, tally, rows, table);
	db_rows_destroy(&rows);
	return result == RESULT_NONE ? RESULT_OK : result;
}

enum result rule_fill_table(const struct session *session, const char *sql_tail,
	const uint64_t *param, struct table *table, struct error *error)
{
	return fill(session, sql_tail, param, NULL, table, error);
}

/* Best first, as they are tried. */
#define IN_ORDER                                                                            \
	"ORDER BY (tenant IS NOT NULL) + (channel IS NOT NULL) + (activity IS NOT NULL) + " \
	"(category IS NOT NULL) DESC, priority DESC, id DESC LIMIT 5000"

int rule_list_run(const struct session *session)
{
	struct error error = { .text = "" };
	int status = session_connect_to_schema(session);

	if (status != EXIT_STATUS_OK)
		return status;
	struct table *table = table_create(columns, ARRAY_LENGTH(columns));
	struct rule_tally *tally = NULL;
	enum result result = rule_tally_read(session->db, &tally, &error);
	if (result == RESULT_OK)
		result = fill(session,
			option_is_given(session->options, OPTION_ALL)
				? IN_ORDER
				: "WHERE valid_to IS NULL OR valid_to > UTC_TIMESTAMP(3) " IN_ORDER,
			NULL, tally, table, &error);
	rule_tally_destroy(&tally);
	if (result == RESULT_OK) {
		table_print(table, &session->output, stdout);
		if (table_count(table) == 0)
			output_say(&session->output, "there is no rule: an order without a timeout "
						     "of its own never times out");
	} else {
		status = session_fail(session, result, &error);
	}
	table_destroy(&table);
	return status;
}

static int print_rule(const struct session *session, uint64_t id)
{
	struct error error = { .text = "" };
	struct table *table = rule_create_table();
	enum result result = rule_fill_table(session, "WHERE id = ?", &id, table, &error);

	if (result == RESULT_OK && table_count(table) == 0)
		result = error_set(RESULT_NONE, &error, "there is no rule %" PRIu64, id);
	if (result == RESULT_OK)
		table_print(table, &session->output, stdout);
	table_destroy(&table);
	return result == RESULT_OK ? EXIT_STATUS_OK : session_fail(session, result, &error);
}

/* option: OPTION_FROM or OPTION_UNTIL.  *moment_out: moment, or NULL when it is not given. */
static enum result read_moment(const struct session *session, enum option option,
	char moment[MOMENT_SIZE], const char **moment_out, struct error *error)
{
	const char *text = option_text(session->options, option);

	*moment_out = text == NULL ? NULL : moment;
	if (text == NULL || moment_parse(text, moment))
		return RESULT_OK;
	return error_set(RESULT_PERMANENT, error,
		"\"%.40s\" is not a time in UTC such as 2026-01-31T18:30:00Z", text);
}

static enum result read_priority(
	const struct session *session, int64_t *priority_out, struct error *error)
{
	const char *text = option_text(session->options, OPTION_PRIORITY);
	uint64_t number = 0;
	bool is_negative = text != NULL && text[0] == '-';

	*priority_out = 0;
	if (text == NULL)
		return RESULT_OK;
	if (!text_parse_uint(text + (is_negative ? 1 : 0), 0, RULE_CHANGE_PRIORITY_MAX, &number))
		return error_set(RESULT_PERMANENT, error,
			"--priority: \"%.40s\" is not a whole number from -%d to %d", text,
			RULE_CHANGE_PRIORITY_MAX, RULE_CHANGE_PRIORITY_MAX);
	*priority_out = is_negative ? -(int64_t)number : (int64_t)number;
	return RESULT_OK;
}

/* What rule add is told; the moments live beside the definition. */
struct wish {
	struct rule_definition definition;
	char from[MOMENT_SIZE];
	char until[MOMENT_SIZE];
};

static enum result read_wish(const struct session *session, struct wish *wish, struct error *error)
{
	struct rule_definition *definition = &wish->definition;
	enum result result = rule_read_timeout(session, &definition->timeout_s, error);

	for (size_t i = 0; i < RULE_ATTRIBUTE_COUNT; i++)
		definition->values[i] = rule_attribute(session, i);
	if (result == RESULT_OK)
		result = read_priority(session, &definition->priority, error);
	if (result == RESULT_OK)
		result = read_moment(
			session, OPTION_FROM, wish->from, &definition->valid_from, error);
	if (result == RESULT_OK)
		result = read_moment(
			session, OPTION_UNTIL, wish->until, &definition->valid_to, error);
	return result;
}

int rule_add_run(const struct session *session)
{
	struct wish wish = { .from = "" };
	struct error error = { .text = "" };
	struct act_result answer;
	char request_id[ULID_SIZE];

	ulid_generate(request_id);
	const struct audit_actor actor = consent_actor(session, request_id);
	if (read_wish(session, &wish, &error) != RESULT_OK)
		return session_refuse_usage(error.text);
	if (!consent_is_possible(session))
		return EXIT_STATUS_USAGE;
	int status = session_connect_to_schema(session);
	if (status != EXIT_STATUS_OK)
		return status;
	struct rule_preview preview = { .rule_set = "" };
	status = rule_preview_adding(session, &wish.definition, &preview);
	if (status != EXIT_STATUS_OK)
		return status;
	if (option_is_given(session->options, OPTION_DRY_RUN)) {
		output_say(&session->output, "dry run: the rule was not added");
		return EXIT_STATUS_OK;
	}
	status = consent_ask(session, "Add this rule?  New orders follow it within 5 seconds.");
	if (status != EXIT_STATUS_OK)
		return status;
	const struct act_rule_add request = { .definition = &wish.definition,
		.shown = preview.is_shown ? preview.rule_set : NULL,
		.reason = option_text(session->options, OPTION_WHY) };
	enum result result = act_add_rule(session->db, &request, &actor, &answer, &error);
	if (result != RESULT_OK)
		return session_fail(session, result, &error);
	return answer.outcome == ACT_OUTCOME_DONE ? print_rule(session, answer.made_id)
						  : answer_tell(session, &answer, "");
}

static int expire(const struct session *session, uint64_t id, const char *until,
	const struct rule_preview *preview)
{
	const struct act_rule_end request = { .rule_id = id,
		.end = until,
		.shown = preview->is_shown ? preview->rule_set : NULL,
		.reason = option_text(session->options, OPTION_WHY) };
	struct error error = { .text = "" };
	struct act_result answer;
	char request_id[ULID_SIZE];

	ulid_generate(request_id);
	const struct audit_actor actor = consent_actor(session, request_id);
	enum result result = act_end_rule(session->db, &request, &actor, &answer, &error);
	if (result != RESULT_OK)
		return session_fail(session, result, &error);
	return answer.outcome == ACT_OUTCOME_DONE ? print_rule(session, id)
						  : answer_tell(session, &answer, "");
}

int rule_end_run(const struct session *session)
{
	struct error error = { .text = "" };
	char moment[MOMENT_SIZE];
	const char *until = NULL;
	uint64_t id = 0;

	if (session->operand_count != 1 ||
		!text_parse_uint(session->operands[0], 1, UINT64_MAX, &id))
		return session_refuse_usage("rule end takes the id of one rule");
	if (read_moment(session, OPTION_UNTIL, moment, &until, &error) != RESULT_OK)
		return session_refuse_usage(error.text);
	if (!consent_is_possible(session))
		return EXIT_STATUS_USAGE;
	int status = session_connect_to_schema(session);
	if (status != EXIT_STATUS_OK)
		return status;
	struct rule_preview preview = { .rule_set = "" };
	status = rule_preview_ending(session, id, until, &preview);
	if (status != EXIT_STATUS_OK)
		return status;
	if (option_is_given(session->options, OPTION_DRY_RUN)) {
		output_say(&session->output, "dry run: the rule was not ended");
		return EXIT_STATUS_OK;
	}
	status = consent_ask(session, "End rule %" PRIu64 " %s%s?", id,
		until == NULL ? "now" : "at ", until == NULL ? "" : until);
	return status == EXIT_STATUS_OK ? expire(session, id, until, &preview) : status;
}
