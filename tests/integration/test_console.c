/* A running lapse-console: who is let in, what each role sees, and what every page promises. */
#include <stdlib.h>
#include <string.h>

#include "common/base/text.h"
#include "tests/support/console.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"

enum {
	CONFIGURATION = 78,
	VALUE_SIZE = 512
};

static struct sandbox *sandbox;
static struct query *query;
static struct console_run console;

static void set_up(void)
{
	sandbox_create(SANDBOX_EVERYTHING, &sandbox);
	query = sandbox_query(sandbox);
	sandbox_set(sandbox, "LAPSE_OVERDUE_GRACE", "1500ms");
	sandbox_set(sandbox, "LAPSE_CONSOLE_TRUSTED_PROXIES", "127.0.0.1/32");
	console_start(&console, sandbox);
	console_fill(query);
}

static void tear_down(void)
{
	console_leave(&console);
	sandbox_destroy(&sandbox);
}

static const char *const pages[] = { "/", "/tasks", "/tasks/1", "/orders", "/orders/CLOSED-1",
	"/orders/OPEN-1", "/outbox", "/outbox?state=SENT", "/outbox/1", "/payments", "/payments/1",
	"/parked", "/queues", "/rules", "/rules/1", "/rules/test", "/alerts", "/alerts/1", "/fleet",
	"/audit", "/about" };
static const char *const act_pages[] = { "/tasks/1/requeue", "/tasks/1/resolve",
	"/tasks/requeue?id=1", "/tasks/bulk", "/orders/OPEN-1/close", "/orders/OPEN-1/extend",
	"/outbox/replay?id=1", "/alerts/1/silence" };
static const char *const admin_pages[] = { "/rules/add", "/rules/1/end" };

static void expect_header(const struct api_answer *answer, const char *name, const char *value)
{
	char got[VALUE_SIZE] = "";

	ck_assert_msg(
		api_client_header(answer, name, got, sizeof(got)), "no %s: %s", name, answer->head);
	ck_assert_str_eq(got, value);
}

static void expect_safe_headers(const struct api_answer *answer)
{
	expect_header(answer, "Content-Security-Policy",
		"default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; "
		"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'");
	expect_header(answer, "X-Content-Type-Options", "nosniff");
	expect_header(answer, "Referrer-Policy", "same-origin");
	expect_header(answer, "Cache-Control", "no-store");
	expect_header(answer, "Cross-Origin-Opener-Policy", "same-origin");
}

static size_t count_of(const char *text, const char *part)
{
	size_t count = 0;

	for (const char *place = strstr(text, part); place != NULL; place = strstr(place + 1, part))
		count++;
	return count;
}

/* One script, from a file of ours; no style, no handler, nothing from a row that became markup. */
static void expect_clean_page(const char *path, const struct api_answer *answer)
{
	ck_assert_msg(answer->status == 200, "%s: %u %.2000s", path, answer->status, answer->body);
	expect_safe_headers(answer);
	ck_assert_uint_eq(count_of(answer->body, "<script"), 1);
	ck_assert_ptr_nonnull(strstr(answer->body, "<script src=\"/console.js\" defer"));
	ck_assert_msg(strstr(answer->body, "<style") == NULL, "%s: <style", path);
	ck_assert_msg(strstr(answer->body, " style=") == NULL, "%s: style=", path);
	ck_assert_msg(strstr(answer->body, "<img") == NULL, "%s: <img", path);
	ck_assert_msg(strstr(answer->body, "javascript:") == NULL, "%s: javascript:", path);
	ck_assert_ptr_nonnull(strstr(answer->body, "<html lang=\"en\">"));
	ck_assert_ptr_nonnull(strstr(answer->body, "</html>"));
}

START_TEST(every_page_is_clean_and_carries_its_headers)
{
	for (size_t i = 0; i < ARRAY_LENGTH(pages); i++)
		expect_clean_page(pages[i], console_get(&console, "vera", pages[i]));
	for (size_t i = 0; i < ARRAY_LENGTH(act_pages); i++)
		expect_clean_page(act_pages[i], console_get(&console, "olga", act_pages[i]));
	for (size_t i = 0; i < ARRAY_LENGTH(admin_pages); i++)
		expect_clean_page(admin_pages[i], console_get(&console, "anna", admin_pages[i]));
	expect_safe_headers(console_get(&console, "vera", "/nothing"));
	expect_safe_headers(console_get(&console, NULL, "/"));
	expect_safe_headers(console_get(&console, "vera", "/console.css"));
}
END_TEST

START_TEST(hostile_text_is_shown_as_text)
{
	console_expect(console_get(&console, "vera", "/tasks"), 200,
		"&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;&lt;img src=x");
	console_expect(console_get(&console, "vera", "/tasks/1"), 200, "&lt;script&gt;");
	console_expect(console_get(&console, "vera", "/rules"), 200, "&lt;script&gt;");
	console_expect(console_get(&console, "vera", "/tasks?error=%3Cscript%3E"), 200,
		"value=\"&lt;script&gt;\"");
	console_expect(console_get(&console, "vera", "/tasks?state=%3Cscript%3E"), 400, "DEAD");
	console_expect(console_get(&console, "vera", "/orders/%3Cscript%3E"), 400, "&lt;script");
}
END_TEST

START_TEST(what_is_wrong_stands_beside_the_state)
{
	console_expect(console_get(&console, "vera", "/tasks"), 200,
		"<th scope=\"col\">status</th><th scope=\"col\">last error</th>");
	console_expect(console_get(&console, "vera", "/tasks"), 200,
		"<span class=\"state dead\">DEAD</span></td><td class=\"long\">");
	console_expect(console_get(&console, "vera", "/alerts"), 200,
		"<th scope=\"col\">state</th><th scope=\"col\">summary</th>");
}
END_TEST

START_TEST(nobody_is_let_in_without_a_name)
{
	console_expect(console_get(&console, NULL, "/"), 401, "Log in");
	expect_header(console_get(&console, NULL, "/tasks"), "WWW-Authenticate",
		"Basic realm=\"Lapse\", charset=\"UTF-8\"");
	expect_header(console_get(&console, NULL, "/api/v1/tasks"), "WWW-Authenticate", "Bearer");
	ck_assert_ptr_null(strstr(console_get(&console, NULL, "/?audit=1")->body, "<nav"));
	console_expect(console_get(&console, "robot", "/api/v1/tasks"), 200, "\"rows\"");
	console_expect(console_get(&console, "vera", "/"), 200, "vera · viewer");
}
END_TEST

START_TEST(ten_wrong_passwords_close_the_door_for_a_minute)
{
	static const char wrong[] = "Authorization: Basic dmVyYTp3cm9uZw==\r\n"
				    "X-Forwarded-For: 192.0.2.1, 203.0.113.9\r\n";

	for (int i = 0; i < 10; i++)
		console_expect(console_get_with(&console, NULL, "/", wrong), 401, "wrong");
	console_expect(console_get_with(&console, NULL, "/", wrong), 429, "Too many");
	/* Others, and the same proxy, are not meant. */
	console_expect(console_get(&console, "vera", "/"), 200, "Overview");
	console_expect(console_get_with(&console, "vera", "/", "X-Forwarded-For: 203.0.113.9\r\n"),
		429, "Too many");
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_operator_audit WHERE "
					     "action = 'login' AND result = 'refused' AND actor = "
					     "'vera' AND ip = '203.0.113.9'"),
		10);
}
END_TEST

START_TEST(a_trusted_proxy_may_name_a_user_of_the_file)
{
	console_expect(console_get_with(&console, NULL, "/", "X-Remote-User: proxied\r\n"), 200,
		"proxied · operator");
	console_expect(console_get_with(&console, NULL, "/", "X-Remote-User: \r\n"), 401, "Log in");
	console_expect(console_get_with(&console, NULL, "/", "X-Remote-User: stranger\r\n"), 403,
		"users file");
}
END_TEST

START_TEST(buyers_are_masked_but_for_an_admin_who_asks)
{
	ck_assert_ptr_null(strstr(console_get(&console, "vera", "/orders/OPEN-1")->body, "4711"));
	ck_assert_ptr_null(
		strstr(console_get(&console, "olga", "/orders/OPEN-1?unmask=1")->body, "4711"));
	ck_assert_ptr_null(strstr(console_get(&console, "anna", "/orders/OPEN-1")->body, "4711"));
	console_expect(console_get(&console, "anna", "/orders/OPEN-1?unmask=1"), 200, "4711");
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_operator_audit WHERE "
					     "action = 'unmask' AND actor = 'anna'"),
		1);
}
END_TEST

START_TEST(a_role_sees_and_reaches_its_own_acts_only)
{
	ck_assert_ptr_null(strstr(console_get(&console, "vera", "/tasks/1")->body, "/requeue"));
	ck_assert_ptr_nonnull(
		strstr(console_get(&console, "olga", "/tasks/1")->body, "/tasks/1/requeue"));
	console_expect(console_get(&console, "vera", "/tasks/1/requeue"), 403, "operator");
	console_expect(console_get(&console, "olga", "/rules/add"), 403, "admin");
	console_expect(console_get(&console, "vera", "/audit/export?format=csv"), 403, "operator");
	console_expect(console_get(&console, "olga", "/audit/export?format=csv"), 200, "actor");
}
END_TEST

START_TEST(lists_have_three_kinds_of_nothing)
{
	console_expect(console_get(&console, "vera", "/tasks?order=NONE"), 200, "Nothing matches:");
	query_run(query, "DELETE FROM t_compensation");
	console_expect(console_get(&console, "vera", "/tasks"), 200, "All clear");
	console_expect(console_get(&console, "vera", "/tasks?bogus=1"), 400, "older_than");
	console_expect(console_get(&console, "vera", "/tasks?limit=201"), 400, "limit");
}
END_TEST

START_TEST(the_tile_of_what_is_overdue_leads_to_what_it_counted)
{
	console_expect(
		console_get(&console, "vera", "/"), 200, "href=\"/orders?overdue_by=1500ms\"");
	console_expect(console_get(&console, "vera", "/orders?overdue_by=1500ms"), 200, "");
}
END_TEST

START_TEST(a_fleet_that_nobody_has_asked_is_not_empty)
{
	console_expect(
		console_get(&console, "vera", "/fleet"), 200, "LAPSE_CONSOLE_FLEET names nobody");
	console_expect(console_get(&console, "vera", "/api/v1/fleet"), 503,
		"LAPSE_CONSOLE_FLEET names nobody");
}
END_TEST

START_TEST(what_is_too_much_is_refused_and_not_cut)
{
	char body[2048] = "{\"id\":[\"1\"";

	for (size_t i = 0; i < 300; i++)
		(void)text_copy(body + strlen(body), 5, ",\"2\"");
	(void)text_copy(body + strlen(body), 3, "]}");
	console_expect(console_call(&console, "robot", "/api/v1/tasks/requeue", body, ""), 400,
		"more than 300 fields");
	ck_assert_int_eq(
		query_number(query, "SELECT COUNT(*) FROM t_compensation WHERE status <> 'DEAD'"),
		0);
}
END_TEST

START_TEST(exports_are_files_and_are_written_down)
{
	const struct api_answer *answer =
		console_get(&console, "olga", "/tasks/export?format=csv&state=DEAD");

	console_expect(answer, 200, "id,kind,order_no");
	expect_header(answer, "Content-Disposition", "attachment; filename=\"tasks.csv\"");
	console_expect(console_get(&console, "olga", "/tasks/export?format=jsonl"), 200,
		"{\"id\":\"1\",\"kind\":\"STOCK_RESTORE\"");
	console_expect(console_get(&console, "olga", "/tasks/export?format=xml"), 400, "jsonl");
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_operator_audit WHERE "
					     "action = 'export' AND actor = 'olga'"),
		2);
}
END_TEST

START_TEST(an_export_ends_at_its_limit)
{
	query_run(query, "INSERT INTO t_order (order_no, amount_cents) SELECT CONCAT('E', seq), 5 "
			 "FROM seq_1_to_10100");
	const struct api_answer *answer =
		console_get(&console, "olga", "/orders/export?format=csv&order=E*");

	console_expect(answer, 200, "order_no");
	ck_assert_uint_eq(count_of(answer->body, "\r\n"), 1 + 10000);
	ck_assert_uint_eq(count_of(answer->body, "\"E10000\""), 1);
	ck_assert_uint_eq(count_of(answer->body, "OPEN-1"), 0);
}
END_TEST

START_TEST(a_head_request_and_other_methods_have_their_answers)
{
	const struct api_answer *answer = api_client_call(
		console.client, &(struct api_request){ .method = "DELETE",
					.path = "/tasks/1",
					.headers = "Authorization: Basic dmVyYTpzZWNyZXQ=\r\n" });

	ck_assert_uint_eq(answer->status, 405);
	console_expect(console_get(&console, "vera", "/nothing"), 404, "no such page");
	console_expect(console_get(&console, "vera", "/api/v1/tasks/999"), 404, "\"status\":404");
}
END_TEST

static void expect_refusal(const char *address, const char *const *words, const char *why)
{
	char *output = NULL;

	if (address != NULL)
		sandbox_set(sandbox, "LAPSE_CONSOLE_ADDR", "%s", address);
	int status = sandbox_run(sandbox, "lapse-console", words, &output);
	ck_assert_int_eq(status, CONFIGURATION);
	ck_assert_msg(strstr(output, why) != NULL, "%s", output);
	free(output);
}

START_TEST(without_users_or_secret_there_is_no_console)
{
	static const char *const open[] = { "--insecure-no-auth", NULL };

	sandbox_unset(sandbox, "LAPSE_CONSOLE_SECRET");
	expect_refusal(NULL, NULL, "LAPSE_CONSOLE_SECRET");
	sandbox_set(sandbox, "LAPSE_CONSOLE_SECRET", "short");
	expect_refusal(NULL, NULL, "LAPSE_CONSOLE_SECRET");
	sandbox_set(sandbox, "LAPSE_CONSOLE_SECRET", "%s", CONSOLE_SECRET);
	sandbox_unset(sandbox, "LAPSE_CONSOLE_USERS_FILE");
	expect_refusal(NULL, NULL, "LAPSE_CONSOLE_USERS_FILE");
	expect_refusal("0.0.0.0:0", open, "not loopback");
	sandbox_set(sandbox, "LAPSE_CONSOLE_USERS_FILE", "/nowhere");
	expect_refusal(NULL, NULL, "/nowhere");
}
END_TEST

int main(void)
{
	const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = {
		every_page_is_clean_and_carries_its_headers,
		hostile_text_is_shown_as_text,
		what_is_wrong_stands_beside_the_state,
		nobody_is_let_in_without_a_name,
		ten_wrong_passwords_close_the_door_for_a_minute,
		a_trusted_proxy_may_name_a_user_of_the_file,
		buyers_are_masked_but_for_an_admin_who_asks,
		a_role_sees_and_reaches_its_own_acts_only,
		lists_have_three_kinds_of_nothing,
		the_tile_of_what_is_overdue_leads_to_what_it_counted,
		a_fleet_that_nobody_has_asked_is_not_empty,
		what_is_too_much_is_refused_and_not_cut,
		exports_are_files_and_are_written_down,
		an_export_ends_at_its_limit,
		a_head_request_and_other_methods_have_their_answers,
		without_users_or_secret_there_is_no_console,
	};

	sandbox_need_servers();
	return runner_run_with("console", &fixture, tests, ARRAY_LENGTH(tests));
}
