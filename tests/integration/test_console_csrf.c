/* A request that changes something has to come from a page of this console. */
#include <string.h>

#include "common/base/text.h"
#include "common/io/signature.h"
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
	sandbox_set(sandbox, "LAPSE_CONSOLE_ORIGINS", "https://ops.example");
	console_start(&console, sandbox);
	console_fill(query);
}

static void tear_down(void)
{
	console_leave(&console);
	sandbox_destroy(&sandbox);
}

#define PAGE "/tasks/1/requeue"

/* Sends a good form with these headers; what came of it. */
static const struct api_answer *send_with(const char *headers)
{
	static char fields[CONSOLE_TEXT_SIZE];

	console_take_form(&console, "olga", PAGE, PAGE, fields);
	return console_post(&console, "olga",
		&(struct console_form){ .path = PAGE, .fields = fields, .headers = headers });
}

static void expect_untouched(void)
{
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_compensation WHERE status = "
					     "'PENDING'"),
		0);
}

START_TEST(headers_of_another_site_are_refused)
{
	static const struct {
		const char *headers;
		const char *words;
	} cases[] = {
		{ "", "neither Sec-Fetch-Site nor Origin" },
		{ "Sec-Fetch-Site: cross-site\r\n", "Sec-Fetch-Site" },
		{ "Sec-Fetch-Site: same-site\r\n", "Sec-Fetch-Site" },
		{ "Sec-Fetch-Site: cross-site\r\nOrigin: http://127.0.0.1\r\n", "Sec-Fetch-Site" },
		{ "Origin: https://evil.example\r\n", "LAPSE_CONSOLE_ORIGINS" },
		{ "Origin: http://127.0.0.1.evil.example\r\n", "proxy_set_header Host" },
		{ "Origin: null\r\n", "LAPSE_CONSOLE_ORIGINS" },
		{ "Origin: https://ops.example.evil\r\n", "LAPSE_CONSOLE_ORIGINS" },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++)
		console_expect(send_with(cases[i].headers), 403, cases[i].words);
	expect_untouched();
}
END_TEST

START_TEST(the_same_host_and_listed_origins_are_taken)
{
	static const char *const headers[] = { "Sec-Fetch-Site: same-origin\r\n",
		"Sec-Fetch-Site: none\r\n", "Origin: http://127.0.0.1\r\n",
		"Origin: https://ops.example\r\n" };

	for (size_t i = 0; i < ARRAY_LENGTH(headers); i++) {
		const struct api_answer *answer = send_with(headers[i]);

		ck_assert_msg(answer->status == CONSOLE_SEE_OTHER, "%s: %u %.2000s", headers[i],
			answer->status, answer->body);
		query_run(query, "UPDATE t_compensation SET status = 'DEAD' WHERE id = 1");
	}
}
END_TEST

START_TEST(a_form_needs_a_token_for_this_person_and_path)
{
	char fields[CONSOLE_TEXT_SIZE];

	console_expect(console_post(&console, "olga",
			       &(struct console_form){ .path = PAGE, .fields = "retry_count=5" }),
		403, "no token");
	console_take_form(&console, "otto", PAGE, PAGE, fields);
	console_expect(console_post(&console, "olga",
			       &(struct console_form){ .path = PAGE, .fields = fields }),
		403, "another user");
	console_take_form(&console, "olga", PAGE, PAGE, fields);
	console_expect(
		console_post(&console, "olga",
			&(struct console_form){ .path = "/tasks/1/resolve", .fields = fields }),
		403, "another user");
	expect_untouched();
}
END_TEST

/* A token as another console makes it, hours ago. */
static void make_fields(char fields_out[CONSOLE_TEXT_SIZE], uint64_t hours_ago)
{
	uint64_t hour =
		(uint64_t)query_number(query, "SELECT UNIX_TIMESTAMP() DIV 3600") - hours_ago;
	char text[256];
	char digest[SIGNATURE_HEX_SIZE];

	(void)text_format(
		text, sizeof(text), "form\nolga\n" PAGE "\n%llu", (unsigned long long)hour);
	signature_hex(digest, CONSOLE_SECRET, strlen(CONSOLE_SECRET), text, strlen(text));
	(void)text_format(fields_out, CONSOLE_TEXT_SIZE, "csrf=%llu.%s&retry_count=5",
		(unsigned long long)hour, digest);
}

START_TEST(a_token_of_another_console_is_good_for_twelve_hours)
{
	char fields[CONSOLE_TEXT_SIZE];
	const struct console_form form = { .path = PAGE, .fields = fields };

	make_fields(fields, 14);
	console_expect(console_post(&console, "olga", &form), 403, "older than 12 hours");
	expect_untouched();
	make_fields(fields, 11);
	ck_assert_uint_eq(console_post(&console, "olga", &form)->status, CONSOLE_SEE_OTHER);
}
END_TEST

START_TEST(a_bearer_needs_no_origin_and_a_password_does)
{
	static const char path[] = "/api/v1/tasks/1/requeue";

	console_expect(console_call(&console, "olga", path, "{}", ""), 403, "neither");
	console_expect(console_call(&console, "robot", path, "{}", "Origin: https://evil\r\n"), 403,
		"Origin");
	console_expect(console_call(&console, "robot", path, "[]", ""), 400, "JSON");
	expect_untouched();
	console_expect(console_call(&console, "robot", path, "{\"retry_count\":5}", ""), 200,
		"\"outcome\":\"done\"");
}
END_TEST

START_TEST(reading_changes_nothing_and_read_only_takes_no_form)
{
	const struct api_answer *answer =
		console_get(&console, "olga", PAGE "?retry_count=5&request_id=R&csrf=0.0");

	console_expect(answer, 200, "Requeue");
	expect_untouched();
	console_leave(&console);
	sandbox_set(sandbox, "LAPSE_CONSOLE_READ_ONLY", "true");
	console_start(&console, sandbox);
	ck_assert_ptr_null(strstr(console_get(&console, "olga", "/tasks/1")->body, "/requeue"));
	console_expect(console_call(&console, "robot", "/api/v1/tasks/1/requeue", "{}", ""), 403,
		"Read only");
	expect_untouched();
}
END_TEST

int main(void)
{
	const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = {
		headers_of_another_site_are_refused,
		the_same_host_and_listed_origins_are_taken,
		a_form_needs_a_token_for_this_person_and_path,
		a_token_of_another_console_is_good_for_twelve_hours,
		a_bearer_needs_no_origin_and_a_password_does,
		reading_changes_nothing_and_read_only_takes_no_form,
	};

	sandbox_need_servers();
	return runner_run_with("console_csrf", &fixture, tests, ARRAY_LENGTH(tests));
}
