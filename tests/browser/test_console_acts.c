/* Acts in a real browser: two people, a selection, a bulk, a close; one of them without script. */
#include <string.h>

#include "common/base/text.h"
#include "tests/support/browser.h"
#include "tests/support/console.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/wait_until.h"

enum {
	URL_SIZE = 256
};

static struct sandbox *sandbox;
static struct query *query;
static struct console_run console;
static struct browser *olga;
static struct browser *otto;

static void set_up(void)
{
	sandbox_create(SANDBOX_NO_BROKER, &sandbox);
	query = sandbox_query(sandbox);
	console_fill(query);
	console_fill_dead(query, "DEAD-", 12);
	console_start(&console, sandbox);
}

static void tear_down(void)
{
	browser_destroy(&olga);
	browser_destroy(&otto);
	console_leave(&console);
	sandbox_destroy(&sandbox);
}

static void open_as(struct browser *browser, const char *person, const char *path)
{
	char url[URL_SIZE];

	(void)text_format(
		url, sizeof(url), "http://%s:secret@127.0.0.1:%u%s", person, console.port, path);
	browser_open(browser, url);
}

static int64_t count_tasks(const char *status)
{
	return query_number(
		query, "SELECT COUNT(*) FROM t_compensation WHERE status = '%s'", status);
}

START_TEST(of_two_people_at_one_task_the_second_is_told)
{
	browser_create(sandbox, BROWSER_WITH_SCRIPT, &olga);
	browser_create(sandbox, BROWSER_WITH_SCRIPT, &otto);
	open_as(olga, "olga", "/tasks/1");
	browser_click(olga, ".acts a[href$='/requeue']");
	open_as(otto, "otto", "/tasks/1/requeue");
	browser_click(olga, "form.act button");
	browser_expect(olga, "requeue task 1: ok");
	browser_click(otto, "form.act button");
	browser_expect(otto, "It is not as it was shown any more");
	browser_expect(otto, "PENDING");
	browser_shoot(otto, "conflict");
	/* Loading the page behind the redirect again does nothing again. */
	browser_reload(olga);
	browser_expect(olga, "requeue task 1: ok");
	ck_assert_int_eq(
		query_number(query, "SELECT max_retries FROM t_compensation WHERE id = 1"), 10);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_operator_audit WHERE action = "
					     "'requeue'"),
		2);
}
END_TEST

START_TEST(ticked_rows_are_requeued_and_all_is_one_click)
{
	browser_create(sandbox, BROWSER_WITH_SCRIPT, &olga);
	open_as(olga, "olga", "/tasks");
	browser_click(olga, "#all");
	ck_assert_int_eq(browser_count(olga, "td.tick input:checked"), 13);
	browser_click(olga, "tbody tr:first-child input");
	browser_click(olga, "main form:not(.filters) button");
	browser_expect(olga, "12 tasks are selected");
	browser_click(olga, "form.act button");
	browser_expect(olga, "done");
	ck_assert_int_eq(browser_count(olga, "#results tbody tr"), 12);
	ck_assert_int_eq(count_tasks("PENDING"), 12);
}
END_TEST

static bool is_bulk_done(void *context)
{
	char text[BROWSER_TEXT_SIZE];

	browser_reload(context);
	browser_text(context, "#state", text);
	return strcmp(text, "done") == 0;
}

START_TEST(a_bulk_asks_for_the_number_and_shows_how_far_it_is)
{
	browser_create(sandbox, BROWSER_WITH_SCRIPT, &olga);
	open_as(olga, "olga", "/tasks?order=DEAD-3");
	browser_click(olga, ".acts a[href*='/tasks/bulk']");
	browser_expect(olga, "Exactly these rows");
	open_as(olga, "olga", "/tasks/bulk");
	browser_type(olga, "input[name=count]", "12");
	browser_click(olga, "form.act button");
	browser_expect(olga, "Nothing was started");
	open_as(olga, "olga", "/tasks/bulk");
	browser_type(olga, "input[name=count]", "13");
	browser_click(olga, "form.act button");
	browser_expect(olga, "of 13 rows");
	browser_shoot(olga, "bulk-running");
	WAIT_UNTIL(is_bulk_done, olga);
	open_as(olga, "olga", "/audit");
	browser_expect(olga, "requeue");
	browser_shoot(olga, "audit");
	ck_assert_int_eq(count_tasks("DEAD"), 0);
}
END_TEST

START_TEST(an_order_is_closed_without_any_script)
{
	char text[BROWSER_TEXT_SIZE];

	browser_create(sandbox, BROWSER_WITHOUT_SCRIPT, &olga);
	open_as(olga, "olga", "/orders/OPEN-1");
	browser_click(olga, ".acts a[href$='/close']");
	browser_type(olga, "input[name=confirm]", "EN-1");
	browser_type(olga, "input[name=reason]", "the buyer asked for it");
	browser_click(olga, "form.act button");
	browser_text(olga, "#flash.good", text);
	ck_assert_ptr_nonnull(strstr(text, "cancel order OPEN-1"));
	ck_assert_int_eq(
		query_number(query, "SELECT COUNT(*) FROM t_order WHERE order_no = 'OPEN-1' AND "
				    "status = 'CLOSED' AND close_reason = 'OPERATOR'"),
		1);
}
END_TEST

START_TEST(a_rule_shows_what_it_changes_before_it_is_added)
{
	query_run(query, "INSERT INTO t_timeout_rule (timeout_seconds) VALUES (3600);"
			 "UPDATE t_order SET rule_id = 2 ORDER BY id LIMIT 5");
	browser_create(sandbox, BROWSER_WITHOUT_SCRIPT, &olga);
	open_as(olga, "anna", "/rules");
	browser_click(olga, ".acts a[href$='/rules/add']");
	ck_assert_int_eq(browser_count(olga, "form.act"), 0);
	browser_type(olga, "input[name=channel]", "web");
	browser_type(olga, "input[name=timeout]", "15m");
	browser_click(olga, "form.filters button");
	browser_expect(olga, "at most as many as shown would change");
	ck_assert_int_eq(browser_count(olga, "tbody a[href$='/rules/2']"), 1);
	browser_shoot(olga, "rule-add");
	browser_type(olga, "input[name=reason]", "web buyers decide fast");
	browser_click(olga, "form.act button");
	browser_expect(olga, "rule_add rule 3: ok");
	open_as(olga, "anna", "/rules/3/end");
	browser_expect(olga, "taken over by");
	browser_type(olga, "input[name=reason]", "they do not");
	browser_click(olga, "form.act button");
	browser_expect(olga, "rule_end rule 3: ok");
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_timeout_rule WHERE "
					     "channel = 'web' AND timeout_seconds = 900 AND "
					     "valid_to <= UTC_TIMESTAMP(3)"),
		1);
}
END_TEST

int main(void)
{
	const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = {
		of_two_people_at_one_task_the_second_is_told,
		ticked_rows_are_requeued_and_all_is_one_click,
		a_bulk_asks_for_the_number_and_shows_how_far_it_is,
		an_order_is_closed_without_any_script,
		a_rule_shows_what_it_changes_before_it_is_added,
	};

	sandbox_need_servers();
	browser_need();
	return runner_run_with("console_acts", &fixture, tests, ARRAY_LENGTH(tests));
}
