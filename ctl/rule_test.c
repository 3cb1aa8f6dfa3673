#include "ctl/rule_test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/settings.h"
#include "common/base/text.h"
#include "common/io/json.h"
#include "common/report/recent_orders.h"
#include "ctl/rule.h"
#include "ctl/session.h"
#include "ctl/table.h"

enum {
	TIME_LIMIT_S = 120,
	NUMBER_SIZE = 24,
	COUNT_COLUMNS = 7,
};

/* Of this rule: orders it decided; without a rule: those that no rule gave a deadline to. */
static const struct table_column columns[] = {
	{ "since", TABLE_KIND_TEXT },
	{ "orders", TABLE_KIND_NUMBER },
	{ "of_this_rule", TABLE_KIND_NUMBER },
	{ "paid", TABLE_KIND_NUMBER },
	{ "timed_out", TABLE_KIND_NUMBER },
	{ "cancelled", TABLE_KIND_NUMBER },
	{ "unpaid", TABLE_KIND_NUMBER },
	{ "new_timeout", TABLE_KIND_TEXT },
	{ "paid_but_then_too_late", TABLE_KIND_NUMBER },
};

/* One run. */
struct test {
	const struct session *session;
	struct rule_match match;
	bool has_new_timeout;
	uint64_t new_timeout_s; /* 0: never */
	uint64_t since_ms;
	struct table *rule;
	struct table *orders;
};

static void add_counts(const struct test *test, const struct db_rows *rows)
{
	char since[NUMBER_SIZE];
	char timeout[NUMBER_SIZE];
	const char *values[ARRAY_LENGTH(columns)] = { since };

	text_format_duration(since, sizeof(since), test->since_ms);
	text_format_duration(timeout, sizeof(timeout), test->new_timeout_s * 1000);
	for (size_t i = 0; i < COUNT_COLUMNS - 1; i++)
		values[1 + i] = db_rows_text(rows, i, NULL);
	if (test->has_new_timeout) {
		values[COUNT_COLUMNS] = test->new_timeout_s == 0 ? "never" : timeout;
		values[COUNT_COLUMNS + 1] = db_rows_text(rows, COUNT_COLUMNS - 1, NULL);
	}
	table_add(test->orders, values);
}

static enum result count_orders(const struct test *test, struct error *error)
{
	static const char sql[] =
		"SELECT CAST(COUNT(*) AS CHAR), CAST(COALESCE(SUM(same), 0) AS CHAR), "
		"CAST(COALESCE(SUM(same AND status = 'PAID'), 0) AS CHAR), "
		"CAST(COALESCE(SUM(same AND close_reason = 'TIMEOUT'), 0) AS CHAR), "
		"CAST(COALESCE(SUM(same AND close_reason <> 'TIMEOUT'), 0) AS CHAR), "
		"CAST(COALESCE(SUM(same AND status = 'UNPAID'), 0) AS CHAR), "
		"CAST(COALESCE(SUM(same AND status = 'PAID' AND "
		"pay_time >= created_at + INTERVAL ? SECOND), 0) AS CHAR) "
		"FROM (SELECT status, close_reason, pay_time, created_at, "
		"rule_id <=> ? AND (rule_id IS NOT NULL OR expire_time IS NULL) AS same "
		"FROM t_order FORCE INDEX (PRIMARY) WHERE id > ? AND "
		"created_at >= UTC_TIMESTAMP(3) - INTERVAL ? MICROSECOND) AS recent";
	struct db_rows *rows = NULL;
	uint64_t first = 0;
	enum result result = recent_orders_find(
		test->session->db, test->since_ms, SECONDS(TIME_LIMIT_S), &first, error);
	/* INTERVAL NULL makes the sum NULL, as never is. */
	const struct db_param params[] = { test->new_timeout_s == 0 ? db_null()
								    : db_uint(test->new_timeout_s),
		test->match.rule_id == 0 ? db_null() : db_uint(test->match.rule_id), db_uint(first),
		db_uint(test->since_ms * 1000) };

	if (result == RESULT_OK)
		result = db_query(
			test->session->db, sql, params, ARRAY_LENGTH(params), &rows, error);
	if (db_rows_next(rows))
		add_counts(test, rows);
	db_rows_destroy(&rows);
	return result;
}

static enum result find_rule(struct test *test, struct error *error)
{
	struct rule_attributes attributes = { 0 };
	struct rules *rules = NULL;

	for (size_t i = 0; i < RULE_ATTRIBUTE_COUNT; i++) {
		const char *value = rule_attribute(test->session, i);

		if (value != NULL && !text_copy(attributes.values[i], RULE_ATTRIBUTE_SIZE, value))
			return error_set(RESULT_PERMANENT, error, "--%s: the text is too long",
				rule_attribute_names[i]);
	}
	rules_create(0, &rules);
	enum result result = rules_find(rules, test->session->db, &attributes, &test->match, error);
	rules_destroy(&rules);
	if (result == RESULT_OK)
		result = rule_fill_table(
			test->session, "WHERE id = ?", &test->match.rule_id, test->rule, error);
	return result;
}

static void print_json(const struct test *test)
{
	struct json *root = json_create_object();
	struct json *orders = table_row_to_json(test->orders, 0);

	if (table_count(test->rule) > 0) {
		struct json *rule = table_row_to_json(test->rule, 0);

		json_adopt(root, "rule", &rule);
	} else {
		json_set_text(root, "rule", NULL);
	}
	json_adopt(root, "orders", &orders);
	char *text = json_write(root);
	(void)printf("%s\n", text);
	free(text);
	json_destroy(&root);
}

static void print(const struct test *test)
{
	const struct output *output = &test->session->output;

	if (output->form == OUTPUT_FORM_JSON) {
		print_json(test);
		return;
	}
	table_print_record(test->rule, output, stdout);
	if (table_count(test->rule) == 0)
		output_say(output, "no rule matches: without a timeout of its own such an order "
				   "never times out");
	table_print_record(test->orders, output, stdout);
}

static int run(struct test *test)
{
	struct error error = { .text = "" };

	db_set_time_limit(test->session->db, TIME_LIMIT_S);
	int status = session_connect_to_schema(test->session);
	if (status != EXIT_STATUS_OK)
		return status;
	test->rule = rule_create_table();
	test->orders = table_create(columns, ARRAY_LENGTH(columns));
	enum result result = find_rule(test, &error);
	if (result == RESULT_OK)
		result = count_orders(test, &error);
	if (result == RESULT_OK)
		print(test);
	else
		status = session_fail(test->session, result, &error);
	table_destroy(&test->rule);
	table_destroy(&test->orders);
	return status;
}

int rule_test_run(const struct session *session)
{
	struct test test = { .session = session,
		.has_new_timeout = option_is_given(session->options, OPTION_TIMEOUT),
		.since_ms = option_number(session->options, OPTION_SINCE, DAYS(1)) };
	struct error error = { .text = "" };

	if (test.has_new_timeout &&
		rule_read_timeout(session, &test.new_timeout_s, &error) != RESULT_OK)
		return session_refuse_usage(error.text);
	return run(&test);
}
