/* Timeout rules on the console: what a change would change is shown first, and counted. */
#include <string.h>

#include "common/base/text.h"
#include "tests/support/console.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"

static struct sandbox *sandbox;
static struct query *query;
static struct console_run console;

static void set_up(void)
{
	sandbox_create(SANDBOX_NO_BROKER, &sandbox);
	query = sandbox_query(sandbox);
	console_start(&console, sandbox);
	console_fill(query);
}

static void tear_down(void)
{
	console_leave(&console);
	sandbox_destroy(&sandbox);
}

#define AUDIT(where) query_number(query, "SELECT COUNT(*) FROM t_operator_audit WHERE " where)

/* Rules 2 and 3 beside the one of console_fill, with orders that they decided. */
static void fill_rules(void)
{
	query_run(query, "INSERT INTO t_timeout_rule (channel, timeout_seconds) VALUES (NULL, "
			 "3600), ('web', 0);"
			 "UPDATE t_order SET rule_id = 2 ORDER BY id LIMIT 3");
}

START_TEST(a_rule_is_added_as_its_effect_was_shown)
{
	static const char page[] =
		"/rules/add?tenant=t&timeout=15m&priority=1&valid_to=2099-01-01T00:00Z";
	char fields[CONSOLE_TEXT_SIZE];
	const struct console_form form = { .path = "/rules/add", .fields = fields };

	fill_rules();
	/* Nothing is shown, and nothing can be said yes to, before it is known what. */
	ck_assert_ptr_null(
		strstr(console_get(&console, "anna", "/rules/add")->body, "method=\"post\" "
									  "action=\"/rules/add"));
	console_expect(
		console_get(&console, "anna", "/rules/add?timeout=soon"), 400, "30m or never");
	console_expect(
		console_get(&console, "anna", "/rules/add?timeout=1m&valid_to=2020-01-01T00:00Z"),
		400, "end before it begins");
	console_expect(console_get(&console, "olga", page), 403, "admin");
	const struct api_answer *answer = console_get(&console, "anna", page);
	console_expect(answer, 200, "takes from");
	/* What the button adds, whatever stands in the fields by then. */
	console_expect(answer, 200, "<span title=\"900\">15 min");
	console_expect(answer, 200, "2099-01-01T00:00:00Z</time>");
	console_expect(answer, 200, "href=\"/rules/2\">2</a></td>");
	console_expect(answer, 200, "<td>3</td>");
	console_expect(answer, 200, "It loses to no other rule.");
	console_expect(answer, 200, "already keep their deadline");
	ck_assert_ptr_null(strstr(answer->body, "gets its timeout, too"));
	console_take_form(&console, "anna", page, "/rules/add", fields);
	(void)text_format(fields + strlen(fields), sizeof(fields) - strlen(fields),
		"&tenant=t&timeout=15m&priority=1&valid_to=2099-01-01T00%%3A00%%3A00Z&reason="
		"a+shorter+one");
	query_run(query, "UPDATE t_timeout_rule SET valid_to = '2098-01-01' WHERE id = 3");
	console_expect(console_post(&console, "anna", &form), 409, "changed since they were shown");
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_timeout_rule"), 3);
	ck_assert_int_eq(AUDIT("action = 'rule_add' AND result = 'conflict'"), 1);
	console_expect_done(&console,
		console_submit(&console, "anna", page, "/rules/add",
			"tenant=t&timeout=15m&priority=1&reason=a+shorter+one"),
		"anna", "</strong>: ok");
	/* A form without what was shown is none of ours. */
	char *shown = strstr(fields, "&rule_set=");
	ck_assert_ptr_nonnull(shown);
	shown[1] = 'x';
	console_expect(console_post(&console, "anna", &form), 400, "rule_set");
}
END_TEST

START_TEST(a_rule_is_ended_as_its_effect_was_shown)
{
	char fields[CONSOLE_TEXT_SIZE];
	const struct console_form form = { .path = "/rules/3/end", .fields = fields };

	fill_rules();
	console_expect(console_get(&console, "anna", "/rules/3/end"), 200, "taken over by");
	console_expect(console_get(&console, "anna", "/rules/2/end"), 200, "no deadline by rule");
	console_expect(console_get(&console, "anna", "/rules/2/end?end=soon"), 400, "2026-01-31");
	console_expect(console_get(&console, "anna", "/rules/99/end"), 404, "no rule 99");
	console_take_form(
		&console, "anna", "/rules/3/end?end=2099-01-01T00:00:00Z", "/rules/3/end", fields);
	(void)text_format(fields + strlen(fields), sizeof(fields) - strlen(fields),
		"&end=2099-01-01T00%%3A00%%3A00Z&reason=no+longer+true");
	query_run(query, "INSERT INTO t_timeout_rule (tenant) VALUES ('t')");
	const struct api_answer *answer = console_post(&console, "anna", &form);
	console_expect(answer, 409, "changed since they were shown");
	console_expect(answer, 409, "What it is now");
	console_expect_done(&console,
		console_submit(&console, "anna", "/rules/3/end", "/rules/3/end",
			"end=2099-01-01T00%3A00%3A00Z&reason=no+longer+true"),
		"anna", "2099-01-01T00:00:00.000Z");
}
END_TEST

START_TEST(the_effect_of_a_rule_is_asked_of_the_api_too)
{
	static const char body[] =
		"{\"timeout\":\"15m\",\"rule_set\":\"1-2-3\",\"reason\":\"a shorter one\"}";

	fill_rules();
	const struct api_answer *answer =
		console_get(&console, "anna", "/api/v1/rules/add?channel=web&timeout=never");
	console_expect(answer, 200, "\"takes_from\":[{\"id\":\"3\"");
	console_expect(answer, 200, "{\"rule\":{\"tenant\":null,\"channel\":\"web\",");
	console_expect(answer, 200, "\"orders_24h\":0}],\"takes_unmatched\":false,");
	console_expect(answer, 200, "\"rule_set\":\"3-3-");
	console_expect(console_get(&console, "anna", "/api/v1/rules/3/end"), 200,
		"\"taken_over_by\":[{\"id\":\"2\"");
	console_expect(console_get(&console, "anna", "/api/v1/rules/3/end"), 200,
		"\"orders_24h\":3}],\"leaves_unmatched\":false");
	console_expect(console_get(&console, "anna", "/api/v1/rules/add"), 400, "timeout");
	console_expect(console_get(&console, "anna", "/api/v1/rules"), 200, "\"orders_24h\":3");
	console_expect(
		console_get(&console, "anna", "/rules/export?format=csv"), 200, "orders_24h");
	console_expect(console_call(&console, "anna", "/api/v1/rules/add", body, CONSOLE_SAME), 409,
		"changed since they were shown");
	console_expect(console_call(&console, "anna", "/api/v1/rules/add",
			       "{\"timeout\":\"15m\",\"reason\":\"a shorter one\"}", CONSOLE_SAME),
		200, "\"done\"");
}
END_TEST

START_TEST(orders_that_cannot_be_counted_are_unknown_on_each_page)
{
	fill_rules();
	query_run(query, "RENAME TABLE t_order TO t_real; CREATE VIEW t_order AS SELECT id, "
			 "IF(SLEEP(1) = 0, created_at, NULL) AS created_at, rule_id FROM t_real");
	console_expect(console_get(&console, "anna", "/rules"), 200, ">unknown</span>");
	console_expect(console_get(&console, "anna", "/api/v1/rules"), 200, "\"orders_24h\":null");
	console_expect(
		console_get(&console, "anna", "/rules/export?format=csv"), 200, "\"unknown\"");
	console_expect(
		console_get(&console, "anna", "/rules/add?timeout=15m"), 200, ">unknown</span>");
}
END_TEST

int main(void)
{
	const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = {
		a_rule_is_added_as_its_effect_was_shown,
		a_rule_is_ended_as_its_effect_was_shown,
		the_effect_of_a_rule_is_asked_of_the_api_too,
		orders_that_cannot_be_counted_are_unknown_on_each_page,
	};

	sandbox_need_servers();
	return runner_run_with("console_rules", &fixture, tests, ARRAY_LENGTH(tests));
}
