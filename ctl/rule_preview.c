#include "ctl/rule_preview.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/base/text.h"
#include "common/io/json.h"
#include "common/order/rule.h"
#include "common/report/rule_effect.h"
#include "ctl/session.h"
#include "ctl/table.h"

enum {
	NUMBER_SIZE = 24,
	COLUMN_ID = 1,
	COLUMN_VALUES,
	COLUMN_PRIORITY = COLUMN_VALUES + RULE_ATTRIBUTE_COUNT,
	COLUMN_TIMEOUT,
	COLUMN_VALID_FROM,
	COLUMN_VALID_TO,
	COLUMN_ORDERS,
};

static const struct table_column columns[] = {
	{ "change", TABLE_KIND_TEXT },
	{ "id", TABLE_KIND_TEXT },
	{ "tenant", TABLE_KIND_TEXT },
	{ "channel", TABLE_KIND_TEXT },
	{ "activity", TABLE_KIND_TEXT },
	{ "category", TABLE_KIND_TEXT },
	{ "priority", TABLE_KIND_NUMBER },
	{ "timeout", TABLE_KIND_TEXT },
	{ "valid_from", TABLE_KIND_TEXT },
	{ "valid_to", TABLE_KIND_TEXT },
	{ "orders_24h", TABLE_KIND_NUMBER },
};
_Static_assert(ARRAY_LENGTH(columns) == COLUMN_ORDERS + 1, "one place for each column");

static void add_rule(struct table *table, const char *change, const struct json *rule)
{
	const char *values[ARRAY_LENGTH(columns)] = { change, json_get_text(rule, "id") };
	char priority[NUMBER_SIZE];
	char timeout[NUMBER_SIZE];
	char orders[NUMBER_SIZE];
	int64_t number = 0;

	for (size_t i = 0; i < RULE_ATTRIBUTE_COUNT; i++)
		values[COLUMN_VALUES + i] = json_get_text(rule, rule_attribute_names[i]);
	(void)json_get_int(rule, "priority", &number);
	(void)text_format(priority, sizeof(priority), "%" PRId64, number);
	values[COLUMN_PRIORITY] = priority;
	(void)json_get_int(rule, "timeout_seconds", &number);
	text_format_duration(timeout, sizeof(timeout), (uint64_t)number * 1000);
	values[COLUMN_TIMEOUT] = number == 0 ? "never" : timeout;
	values[COLUMN_VALID_FROM] = json_get_text(rule, "valid_from");
	values[COLUMN_VALID_TO] = json_get_text(rule, "valid_to");
	bool is_known = json_get_int(rule, "orders_24h", &number);
	(void)text_format(orders, sizeof(orders), "%" PRId64, number);
	values[COLUMN_ORDERS] = is_known ? orders : "unknown";
	table_add(table, values);
}

static void add_rules(struct table *table, const struct json *root, const char *name)
{
	const struct json *rules = json_get(root, name);
	char change[NUMBER_SIZE];

	(void)text_copy(change, sizeof(change), name);
	for (char *place = change; *place != '\0'; place++)
		if (*place == '_')
			*place = ' ';
	for (size_t i = 0; i < json_count(rules); i++)
		add_rule(table, change, json_at(rules, i));
}

static bool is_true(const struct json *root, const char *name)
{
	bool value = false;

	return json_get_bool(root, name, &value) && value;
}

static void say_rest(const struct output *output, const struct json *root)
{
	if (is_true(root, "is_cut"))
		output_say(output, "there are more rules than these %d", RULE_EFFECT_MAX);
	if (is_true(root, "decides_nothing"))
		output_say(output, "it decides no order");
	if (is_true(root, "takes_unmatched"))
		output_say(output, "orders that no rule matches without it get its timeout, too");
	if (is_true(root, "leaves_unmatched"))
		output_say(output, "where none of these matches, an order without a timeout of its "
				   "own never times out");
	output_say(output, "of the orders that a rule decided in the last 24 hours, at most "
			   "orders_24h would change; orders that exist keep their deadline");
}

static void print(const struct session *session, const struct json *root)
{
	static const char *const names[] = { "takes_from", "loses_to", "taken_over_by" };

	if (session->output.form == OUTPUT_FORM_JSON) {
		char *text = json_write(root);

		(void)printf("%s\n", text);
		free(text);
		return;
	}
	struct table *table = table_create(columns, ARRAY_LENGTH(columns));
	for (size_t i = 0; i < ARRAY_LENGTH(names); i++)
		add_rules(table, root, names[i]);
	table_print(table, &session->output, stdout);
	(void)fflush(stdout);
	if (table_count(table) == 0)
		output_say(&session->output, "no other rule is concerned");
	table_destroy(&table);
	say_rest(&session->output, root);
}

/* With --yes alone nobody looks, and standard output is for the rule that comes of it. */
static bool is_wanted(const struct session *session)
{
	return option_is_given(session->options, OPTION_DRY_RUN) ||
	       (!option_is_given(session->options, OPTION_YES) &&
		       session->output.form == OUTPUT_FORM_TEXT);
}

static int finish(const struct session *session, enum result result, struct json **root,
	struct rule_preview *preview_out, const struct error *error)
{
	if (result != RESULT_OK) {
		int status = session_fail(session, result, error);

		return result == RESULT_PERMANENT && status != EXIT_STATUS_NO_PERMISSION
			       ? EXIT_STATUS_USAGE
			       : status;
	}
	print(session, *root);
	preview_out->is_shown = true;
	(void)text_copy(preview_out->rule_set, sizeof(preview_out->rule_set),
		json_get_text(*root, "rule_set"));
	json_destroy(root);
	return EXIT_STATUS_OK;
}

int rule_preview_adding(const struct session *session, const struct rule_definition *definition,
	struct rule_preview *preview_out)
{
	struct json *root = NULL;
	struct error error = { .text = "" };

	*preview_out = (struct rule_preview){ .is_shown = false };
	if (!is_wanted(session))
		return EXIT_STATUS_OK;
	enum result result = rule_effect_of_adding(session->db, definition, &root, &error);
	return finish(session, result, &root, preview_out, &error);
}

int rule_preview_ending(const struct session *session, uint64_t id, const char *end,
	struct rule_preview *preview_out)
{
	struct json *root = NULL;
	struct error error = { .text = "" };

	*preview_out = (struct rule_preview){ .is_shown = false };
	if (!is_wanted(session))
		return EXIT_STATUS_OK;
	enum result result = rule_effect_of_ending(session->db, id, end, &root, &error);
	return finish(session, result, &root, preview_out, &error);
}
