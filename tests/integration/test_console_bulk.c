/* Bulk requeue: exactly what was shown, on any console, at its pace, stopped, killed, capped. */
#include <string.h>

#include "common/base/text.h"
#include "tests/support/console.h"
#include "tests/support/process.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/wait_until.h"

enum {
	SELECTION_SIZE = 2048,
};

static const char path[] = "/tasks/bulk";
static struct sandbox *sandbox;
static struct query *query;
static struct console_run console;

static void set_up(void)
{
	sandbox_create(SANDBOX_EVERYTHING, &sandbox);
	query = sandbox_query(sandbox);
	console_start(&console, sandbox);
}

static void tear_down(void)
{
	console_leave(&console);
	sandbox_destroy(&sandbox);
}

/* The sealed selection of a page, encoded for a form. */
static void take_selection(const char *body, char selection_out[SELECTION_SIZE])
{
	static const char start[] = "name=\"selection\" value=\"";
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789.-_";
	const char *place = strstr(body, start);
	size_t used = 0;

	ck_assert_msg(place != NULL, "no selection: %.3000s", body);
	for (place += strlen(start); *place != '"'; place++) {
		ck_assert_uint_lt(used + 4, SELECTION_SIZE);
		if (strchr(plain, *place) != NULL)
			selection_out[used++] = *place;
		else
			used += (size_t)text_format(
					selection_out + used, 4, "%%%02X", (unsigned char)*place) *
				3;
		if (text_starts_with(place, "&amp;"))
			place += strlen("amp;");
	}
	selection_out[used] = '\0';
}

/* The fields of the form of the preview, with this number typed. */
static void preview(struct console_run *at, const char *person, const char *page, const char *typed,
	char fields_out[CONSOLE_TEXT_SIZE])
{
	char selection[SELECTION_SIZE];

	console_take_form(at, person, page, path, fields_out);
	take_selection(console_get(at, person, page)->body, selection);
	size_t size = strlen(fields_out);
	ck_assert(text_format(fields_out + size, CONSOLE_TEXT_SIZE - size, "&selection=%s&count=%s",
		selection, typed));
}

static const struct api_answer *send_form(
	struct console_run *at, const char *person, const char *to, const char *fields)
{
	return console_post(at, person, &(struct console_form){ .path = to, .fields = fields });
}

/* "/bulk/<id>" */
static void start(
	struct console_run *at, const char *fields, char location_out[CONSOLE_LOCATION_SIZE])
{
	const struct api_answer *answer = send_form(at, "olga", path, fields);

	console_expect(answer, CONSOLE_SEE_OTHER, "");
	ck_assert(api_client_header(answer, "Location", location_out, CONSOLE_LOCATION_SIZE));
	ck_assert(text_starts_with(location_out, "/bulk/"));
}

struct look {
	struct console_run *at;
	const char *location;
};

static bool is_over(void *context)
{
	const struct look *look = context;

	return strstr(console_get(look->at, "olga", look->location)->body, "id=\"state\">done<") !=
	       NULL;
}

static void await_end(struct console_run *at, const char *location)
{
	struct look look = { at, location };

	WAIT_UNTIL(is_over, &look);
}

static int64_t count_audited(const char *location)
{
	return query_number(query,
		"SELECT COUNT(*) FROM t_operator_audit WHERE bulk_id = '%s' AND result = 'ok' AND "
		"action = 'requeue'",
		location + strlen("/bulk/"));
}

static int64_t count_tasks(const char *status)
{
	return query_number(
		query, "SELECT COUNT(*) FROM t_compensation WHERE status = '%s'", status);
}

START_TEST(it_takes_exactly_what_its_preview_showed)
{
	char fields[CONSOLE_TEXT_SIZE];
	char location[CONSOLE_LOCATION_SIZE];

	console_fill_dead(query, "BULK-", 26);
	query_run(query, "UPDATE t_compensation SET status = 'RUNNING' WHERE id = 5");
	console_expect(console_get(&console, "olga", path), 200, "id=\"count\">25<");
	preview(&console, "olga", path, "25", fields);
	/* One that is older dies later, one moves, and some are new. */
	query_run(query, "UPDATE t_compensation SET status = 'DEAD', updated_at = "
			 "UTC_TIMESTAMP(3) + INTERVAL 1 SECOND WHERE id = 5;"
			 "UPDATE t_compensation SET status = 'RESOLVED' WHERE id = 6");
	console_fill_dead(query, "LATER-", 3);
	start(&console, fields, location);
	await_end(&console, location);
	console_expect(console_get(&console, "olga", location), 200, "1 more had moved");
	ck_assert_int_eq(count_audited(location), 24);
	ck_assert_int_eq(count_tasks("DEAD"), 4);
	ck_assert_int_eq(count_tasks("PENDING"), 24);
}
END_TEST

START_TEST(the_number_is_typed_and_a_form_sent_twice_starts_once)
{
	char fields[CONSOLE_TEXT_SIZE];
	char first[CONSOLE_LOCATION_SIZE];
	char second[CONSOLE_LOCATION_SIZE];

	console_fill_dead(query, "BULK-", 3);
	preview(&console, "olga", path, "2", fields);
	console_expect(send_form(&console, "olga", path, fields), 422, "number");
	preview(&console, "olga", path, "3", fields);
	start(&console, fields, first);
	start(&console, fields, second);
	ck_assert_str_eq(first, second);
	await_end(&console, first);
	start(&console, fields, second);
	ck_assert_str_eq(first, second);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_operator_audit"), 3);
}
END_TEST

/* Behind one address, with one secret. */
START_TEST(the_start_may_reach_another_console)
{
	struct console_run other;
	char fields[CONSOLE_TEXT_SIZE];
	char location[CONSOLE_LOCATION_SIZE];
	char audit[CONSOLE_LOCATION_SIZE] = "";

	console_start(&other, sandbox);
	console_fill_dead(query, "BULK-", 5);
	preview(&console, "olga", "/tasks/bulk?order=BULK-3", "1", fields);
	start(&other, fields, location);
	await_end(&other, location);
	ck_assert_int_eq(
		query_number(query, "SELECT id FROM t_compensation WHERE status = 'PENDING'"), 3);
	preview(&console, "olga", path, "4", fields);
	start(&other, fields, location);
	await_end(&other, location);
	ck_assert_int_eq(count_audited(location), 4);
	/* What became of it is known to both. */
	const struct api_answer *answer = console_get(&console, "olga", location);
	ck_assert_uint_eq(answer->status, CONSOLE_SEE_OTHER);
	ck_assert(api_client_header(answer, "Location", audit, sizeof(audit)));
	console_expect(console_get(&console, "olga", audit), 200, location + strlen("/bulk/"));
	console_leave(&other);
}
END_TEST

static void replace(char *text, const char *old, const char *new)
{
	char *place = strstr(text, old);

	ck_assert_msg(place != NULL && strlen(old) == strlen(new), "no %s in %s", old, text);
	for (size_t i = 0; new[i] != '\0'; i++)
		place[i] = new[i];
}

START_TEST(a_selection_is_good_for_its_person_and_as_it_was_signed)
{
	char fields[CONSOLE_TEXT_SIZE];
	char otto[CONSOLE_TEXT_SIZE];
	char all[CONSOLE_TEXT_SIZE];

	console_fill_dead(query, "BULK-", 2);
	preview(&console, "olga", "/tasks/bulk?order=BULK-1", "1", fields);
	replace(fields, "BULK-1", "BULK-2");
	console_expect(send_form(&console, "olga", path, fields), 409, "not good any more");
	preview(&console, "olga", "/tasks/bulk?order=BULK-1", "2", fields);
	replace(fields, "%26count%3D1", "%26count%3D2");
	console_expect(send_form(&console, "olga", path, fields), 409, "not good any more");
	preview(&console, "olga", path, "2", fields);
	console_take_form(&console, "otto", path, path, otto);
	(void)text_format(all, sizeof(all), "%s%s", otto, strstr(fields, "&selection="));
	console_expect(send_form(&console, "otto", path, all), 409, "not good any more");
	(void)text_format(all, sizeof(all), "%s&selection=&count=2", otto);
	console_expect(send_form(&console, "otto", path, all), 409, "not good any more");
	ck_assert_int_eq(count_tasks("DEAD"), 2);
}
END_TEST

START_TEST(the_api_starts_what_it_was_shown)
{
	static const char headers[] = "Idempotency-Key: bulk-key-1\r\n";
	char selection[SELECTION_SIZE];
	char json[SELECTION_SIZE + 64];

	console_fill_dead(query, "BULK-", 2);
	const struct api_answer *answer = console_get(&console, "robot", "/api/v1/tasks/bulk");
	console_expect(answer, 200, "\"count\":2");
	const char *place = strstr(answer->body, "\"selection\":\"");
	ck_assert_ptr_nonnull(place);
	(void)text_format(selection, sizeof(selection), "%.*s",
		(int)strcspn(place + strlen("\"selection\":\""), "\""),
		place + strlen("\"selection\":\""));
	(void)text_format(json, sizeof(json), "{\"selection\":\"%s\",\"count\":2}", selection);
	console_expect(console_call(&console, "robot", "/api/v1/tasks/bulk", json, headers), 202,
		"\"count\":2");
}
END_TEST

START_TEST(it_takes_twenty_rows_a_second)
{
	char fields[CONSOLE_TEXT_SIZE];
	char location[CONSOLE_LOCATION_SIZE];

	console_fill_dead(query, "BULK-", 41);
	preview(&console, "olga", path, "41", fields);
	start(&console, fields, location);
	await_end(&console, location);
	int64_t took_ms = query_number(query,
		"SELECT TIMESTAMPDIFF(MICROSECOND, MIN(at), MAX(at)) DIV 1000 FROM "
		"t_operator_audit WHERE bulk_id = '%s'",
		location + strlen("/bulk/"));
	ck_assert_int_ge(took_ms, 2000);
	/* Their calls are spread over that time. */
	ck_assert_int_gt(query_number(query, "SELECT COUNT(DISTINCT next_retry_at) FROM "
					     "t_compensation"),
		20);
}
END_TEST

START_TEST(it_is_stopped_and_the_rest_stays)
{
	char fields[CONSOLE_TEXT_SIZE];
	char location[CONSOLE_LOCATION_SIZE];
	char stop[CONSOLE_LOCATION_SIZE + 8];

	console_fill_dead(query, "BULK-", 61);
	preview(&console, "olga", path, "61", fields);
	start(&console, fields, location);
	(void)text_format(stop, sizeof(stop), "%s/stop", location);
	ck_assert_uint_eq(
		console_submit(&console, "olga", location, stop, "")->status, CONSOLE_SEE_OTHER);
	console_expect(console_get(&console, "olga", location), 200, "id=\"state\">stopped<");
	int64_t dead = count_tasks("DEAD");
	ck_assert_int_gt(dead, 0);
	ck_assert_int_eq(count_audited(location), 61 - dead);
}
END_TEST

static bool has_begun(void *location)
{
	return count_audited(location) >= 5;
}

START_TEST(a_killed_console_leaves_a_true_record_and_the_rest)
{
	char fields[CONSOLE_TEXT_SIZE];
	char location[CONSOLE_LOCATION_SIZE];
	char words[64];

	console_fill_dead(query, "BULK-", 61);
	preview(&console, "olga", path, "61", fields);
	start(&console, fields, location);
	WAIT_UNTIL(has_begun, location);
	sandbox_kill(sandbox, console.process);
	console_leave(&console);
	int64_t dead = count_tasks("DEAD");
	ck_assert_int_gt(dead, 0);
	ck_assert_int_eq(count_audited(location), 61 - dead);
	ck_assert_int_eq(count_tasks("PENDING"), 61 - dead);
	console_start(&console, sandbox);
	(void)text_format(words, sizeof(words), "id=\"count\">%lld<", (long long)dead);
	console_expect(console_get(&console, "olga", path), 200, words);
	ck_assert_uint_eq(console_get(&console, "olga", location)->status, CONSOLE_SEE_OTHER);
}
END_TEST

START_TEST(each_role_has_its_cap)
{
	struct console_run strict;
	char fields[CONSOLE_TEXT_SIZE];

	console_fill_dead(query, "BULK-", 6);
	preview(&console, "olga", path, "6", fields);
	sandbox_set(sandbox, "LAPSE_BULK_MAX", "5");
	console_start(&strict, sandbox);
	console_expect(console_get(&strict, "olga", path), 422, "more than 5 rows");
	console_expect(console_get(&strict, "anna", path), 200, "id=\"count\">6<");
	console_expect(send_form(&strict, "olga", path, fields), 422, "Nothing was started");
	query_run(query, "INSERT INTO t_compensation (kind, target, idempotency_key, order_no, "
			 "payload, status) SELECT 'WEBHOOK', 'x', CONCAT('k', seq), 'A1', '{}', "
			 "'DEAD' FROM seq_1_to_4994");
	console_expect(console_get(&strict, "anna", path), 200, "id=\"count\">5000<");
	console_expect(console_get(&console, "olga", path), 422, "more than 500 rows");
	console_fill_dead(query, "ONE-", 1);
	console_expect(console_get(&strict, "anna", path), 422, "more than 5000 rows");
	console_expect(console_get(&strict, "vera", path), 403, "operator");
	console_leave(&strict);
}
END_TEST

START_TEST(it_can_be_switched_off)
{
	struct console_run without;

	sandbox_set(sandbox, "LAPSE_BULK_MAX", "0");
	console_start(&without, sandbox);
	console_expect(console_get(&without, "anna", path), 403, "LAPSE_BULK_MAX");
	console_leave(&without);
}
END_TEST

int main(void)
{
	const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = {
		it_takes_exactly_what_its_preview_showed,
		the_number_is_typed_and_a_form_sent_twice_starts_once,
		the_start_may_reach_another_console,
		a_selection_is_good_for_its_person_and_as_it_was_signed,
		the_api_starts_what_it_was_shown,
		it_takes_twenty_rows_a_second,
		it_is_stopped_and_the_rest_stays,
		a_killed_console_leaves_a_true_record_and_the_rest,
		each_role_has_its_cap,
		it_can_be_switched_off,
	};

	sandbox_need_servers();
	return runner_run_with("console_bulk", &fixture, tests, ARRAY_LENGTH(tests));
}
