/* listing: what a person sees of the tables: filters, pages, and that nothing is lost between. */
#include <stdlib.h>
#include <string.h>

#include "common/base/compiler.h"
#include "common/base/text.h"
#include "common/io/json.h"
#include "common/report/listing.h"
#include "common/report/listing_count.h"
#include "tests/support/claims.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"

enum {
	LIST_SIZE = 1024
};

static struct sandbox *sandbox;
static struct query *query;
static struct claims_db ours;

static void set_up(void)
{
	sandbox_create(SANDBOX_NO_BROKER, &sandbox);
	query = sandbox_query(sandbox);
	claims_connect(sandbox_mysql_url(sandbox), &ours);
}

static void tear_down(void)
{
	claims_disconnect(&ours);
	sandbox_destroy(&sandbox);
}

static size_t find_column(const struct listing_kind *kind, const char *name)
{
	size_t count = 0;
	const struct listing_column *columns = listing_columns(kind, &count);

	for (size_t i = 0; i < count; i++)
		if (text_equals(columns[i].name, name))
			return i;
	ck_abort_msg("%s has no column %s", listing_name(kind), name);
	return 0;
}

/* All pages of limit rows, one column of them as "a b c". */
static void read_all(const char *kind_name, const char *column, uint32_t limit,
	const struct listing_value *values, size_t value_count, char list[LIST_SIZE])
{
	const struct listing_kind *kind = listing_find(kind_name);
	struct listing_request request = {
		.values = values, .value_count = value_count, .limit = limit
	};
	char after[LISTING_CURSOR_SIZE] = "";
	size_t used = 0;

	list[0] = '\0';
	do {
		struct listing_page *page = NULL;
		struct error error = { .text = "" };

		request.after = after;
		ck_assert_msg(listing_read(ours.db, kind, &request, &page, &error) == RESULT_OK,
			"%s", error.text);
		ck_assert_uint_le(listing_page_count(page), limit);
		for (size_t row = 0; row < listing_page_count(page); row++) {
			const char *value =
				listing_page_value(page, row, find_column(kind, column));

			ck_assert(text_format(list + used, LIST_SIZE - used, "%s%s",
				used == 0 ? "" : " ", value == NULL ? "-" : value));
			used = strlen(list);
		}
		(void)text_copy(after, sizeof(after), listing_page_next(page));
		listing_page_destroy(&page);
	} while (after[0] != '\0');
}

/* The same list comes out whatever the size of a page is. */
static void expect_list(const char *kind, const char *column, const char *expected,
	const struct listing_value *values, size_t value_count)
{
	static const uint32_t limits[] = { 1, 2, 3, LISTING_PAGE_MAX };
	char list[LIST_SIZE];

	for (size_t i = 0; i < ARRAY_LENGTH(limits); i++) {
		read_all(kind, column, limits[i], values, value_count, list);
		ck_assert_msg(text_equals(list, expected), "%s by %u: \"%s\", not \"%s\"", kind,
			limits[i], list, expected);
	}
}

static void expect_one(const char *kind, const char *column, const char *name, const char *value,
	const char *expected)
{
	const struct listing_value values[] = { { name, value } };

	expect_list(kind, column, expected, values, ARRAY_LENGTH(values));
}

static void insert_tasks(void)
{
	query_run(query,
		"INSERT INTO t_compensation (id, kind, target, idempotency_key, order_no, payload, "
		"status, retry_count, last_error) VALUES "
		"(1, 'REFUND', 'refund', 'k1', 'A1', '{}', 'PENDING', 2, 'HTTP 503'), "
		"(2, 'STOCK_RESTORE', 'stock', 'k2', 'A1', '{}', 'DEAD', 5, 'http 404'), "
		"(3, 'STOCK_RESTORE', 'stock', 'k3', 'A2', '{}', 'DONE', 0, NULL), "
		"(4, 'WEBHOOK', 'crm', 'k4', 'A3', '{}', 'PENDING', 0, NULL), "
		"(5, 'STOCK_RESTORE', 'stock', 'k5', 'A_3', '{}', 'DEAD', 5, 'timeout'), "
		"(6, 'STOCK_RESTORE', 'stock', 'k6', 'A4', '{}', 'PENDING', 1, 'HTTP 500'), "
		"(7, 'STOCK_RESTORE', 'stock', 'k7', 'A4', '{}', 'RESOLVED', 5, 'HTTP 500'); "
		"INSERT INTO t_alert (kind, ref, severity, labels, annotations) VALUES "
		"('TASK_DEAD', '5', 'warning', '{}', '{}')");
}

START_TEST(tasks_in_trouble_come_first_and_page_by_page)
{
	insert_tasks();
	expect_list("tasks", "id", "2 5 1 6", NULL, 0);
	expect_list("tasks", "alert", "- FIRING - -", NULL, 0);
}
END_TEST

START_TEST(each_filter_of_tasks_finds_what_it_says)
{
	static const struct listing_value two[] = { { "state", "pending" }, { "kind", "REFUND" } };

	insert_tasks();
	expect_one("tasks", "id", "state", "all", "1 2 3 4 5 6 7");
	expect_one("tasks", "id", "state", "DEAD", "2 5");
	expect_one("tasks", "id", "state", "done", "3");
	expect_one("tasks", "id", "order", "A1", "1 2");
	expect_one("tasks", "id", "target", "crm", "");
	expect_one("tasks", "id", "error", "http", "2 1 6");
	expect_one("tasks", "id", "up_to", "2", "2 1");
	expect_one("tasks", "id", "unchanged_since", "2026-01-01T00:00:00Z", "");
	expect_one("tasks", "id", "unchanged_since", "2999-01-01T00:00:00Z", "2 5 1 6");
	expect_one("tasks", "id", "older_than", "1h", "");
	expect_one("tasks", "id", "older_than", "0", "2 5 1 6");
	expect_list("tasks", "id", "1", two, ARRAY_LENGTH(two));
}
END_TEST

static void insert_orders(void)
{
	query_run(query,
		"INSERT INTO t_order (id, order_no, amount_cents, status, expire_time, pay_time, "
		"close_time, close_reason, close_source) VALUES "
		"(1, 'A1', 5, 'UNPAID', UTC_TIMESTAMP(3) - INTERVAL 1 HOUR, NULL, NULL, NULL, "
		"NULL), "
		"(2, 'A2', 5, 'UNPAID', UTC_TIMESTAMP(3) - INTERVAL 2 HOUR, NULL, NULL, NULL, "
		"NULL), "
		"(3, 'A_3', 5, 'PAID', '2026-01-01', '2026-01-01', NULL, NULL, NULL), "
		"(4, 'AB4', 5, 'CLOSED', '2026-01-01 10:00:00.000', NULL, "
		"'2026-01-01 10:00:00.120', 'TIMEOUT', 'message'), "
		"(5, 'A5', 5, 'CLOSED', '2026-01-02', NULL, '2026-01-02', 'OPERATOR', 'console'), "
		"(6, 'A6', 5, 'CLOSED', '2026-01-02', NULL, '2026-01-02', 'TIMEOUT', 'sweep'), "
		"(7, 'A7', 5, 'UNPAID', NULL, NULL, NULL, NULL, NULL); "
		"INSERT INTO t_payment (channel, trade_no, order_no, amount_cents, currency, "
		"outcome, refund_state) VALUES ('wx', 'T4', 'AB4', 5, 'CNY', 'LATE', 'PENDING'), "
		"('wx', 'T3', 'A_3', 5, 'CNY', 'APPLIED', 'NONE'); "
		"INSERT INTO t_compensation (id, kind, target, idempotency_key, order_no, payload, "
		"status) VALUES (100, 'REFUND', 'refund', 'refund:wx:T4', 'AB4', '{}', 'DEAD')");
}

START_TEST(orders_are_found_by_number_deadline_and_close)
{
	static const struct listing_value january[] = { { "closed_from", "2026-01-01T00:00:00Z" },
		{ "closed_to", "2026-01-02T00:00Z" } };

	insert_orders();
	expect_list("orders", "order_no", "A7 A6 A5 AB4 A_3 A2 A1", NULL, 0);
	expect_one("orders", "order_no", "order", "A1", "A1");
	expect_one("orders", "order_no", "order", "A*", "A1 A2 A5 A6 A7 AB4 A_3");
	expect_one("orders", "order_no", "order", "A_*", "A_3");
	expect_one("orders", "order_no", "overdue_by", "30m", "A2 A1");
	expect_one("orders", "order_no", "overdue_by", "90m", "A2");
	expect_one("orders", "order_no", "state", "closed", "A6 A5 AB4");
	expect_one("orders", "order_no", "reason", "timeout", "A6 AB4");
	expect_one("orders", "order_no", "source", "console", "A5");
	expect_list("orders", "order_no", "AB4", january, ARRAY_LENGTH(january));
	expect_one("orders", "lateness_ms", "order", "AB4", "120");
	expect_one("orders", "has_late_payment", "order", "A*", "0 0 0 0 0 1 0");
	expect_one("orders", "has_dead_task", "order", "A*", "0 0 0 0 0 1 0");
	expect_one("orders", "is_overdue", "order", "A*", "1 1 0 0 0 0 0");
}
END_TEST

START_TEST(payments_outbox_rules_alerts_and_audit_are_listed_too)
{
	insert_orders();
	insert_tasks();
	query_run(query,
		"INSERT INTO t_outbox_event (id, event_type, order_no, status, available_at) "
		"VALUES (1, 'ORDER_CLOSED', 'A1', 'SENT', '2026-01-01'), "
		"(2, 'ORDER_PAID', 'A1', 'NEW', '2026-01-03'), "
		"(3, 'ORDER_CREATED', 'A2', 'FAILED', '2026-01-02'), "
		"(4, 'ORDER_CREATED', 'A2', 'NEW', '2026-01-03'), "
		"(5, 'ORDER_CREATED', 'A2', 'NEW', '2026-01-01'); "
		"INSERT INTO t_timeout_rule (id, tenant, timeout_seconds, valid_from, valid_to) "
		"VALUES (1, 't', 60, '2026-01-01', NULL), "
		"(2, 't', 60, '2026-01-01', '2026-01-02'), "
		"(3, 'u', 60, UTC_TIMESTAMP(3) + INTERVAL 1 DAY, NULL); "
		"INSERT INTO t_operator_audit (id, actor, role, auth, request_id, action, "
		"target_type, target_id, result) VALUES "
		"(1, 'maria', 'admin', 'cli', 'r1', 'requeue', 'task', '7', 'ok'), "
		"(2, 'li', 'admin', 'cli', 'r2', 'requeue', 'task', '8', 'conflict'), "
		"(3, 'maria', 'admin', 'cli', 'r3', 'cancel', 'order', 'A1', 'ok')");
	expect_list("outbox", "id", "3 5 2 4", NULL, 0);
	expect_one("outbox", "id", "state", "all", "5 4 3 2 1");
	expect_one("outbox", "id", "order", "A1", "1 2");
	expect_one("outbox", "id", "type", "ORDER_CREATED", "3 5 4");
	expect_one("payments", "trade_no", "outcome", "late", "T4");
	expect_one("payments", "refund_task_status", "refund_state", "pending", "DEAD");
	expect_one("payments", "trade_no", "channel", "wx", "T3 T4");
	expect_list("rules", "id", "3 1", NULL, 0);
	expect_one("rules", "valid", "valid", "all", "later ended now");
	expect_one("rules", "id", "valid", "ended", "2");
	expect_one("alerts", "ref", "kind", "TASK_DEAD", "5");
	expect_one("alerts", "ref", "state", "resolved", "");
	expect_one("alerts", "ref", "target", "ops", "");
	expect_list("audit", "id", "3 2 1", NULL, 0);
	expect_one("audit", "id", "actor", "maria", "3 1");
	expect_one("audit", "id", "target", "task", "2 1");
	expect_one("audit", "id", "target", "task:8", "2");
	expect_one("audit", "id", "result", "conflict", "2");
	expect_one("audit", "id", "from", "2026-01-01T00:00:00Z", "3 2 1");
	expect_one("audit", "id", "to", "2026-01-01T00:00:00Z", "");
}
END_TEST

static void expect_refusal(
	const char *kind, const struct listing_request *request, const char *says)
{
	struct error error = { .text = "" };
	struct listing_page *page = NULL;

	ck_assert_int_eq(listing_check(listing_find(kind), request, &error), RESULT_PERMANENT);
	ck_assert_msg(strstr(error.text, says) != NULL, "%s", error.text);
	ck_assert_int_eq(listing_read(ours.db, listing_find(kind), request, &page, &error),
		RESULT_PERMANENT);
	ck_assert_ptr_null(page);
}

START_TEST(what_cannot_be_is_refused_with_what_can)
{
	static const struct {
		const char *kind, *name, *value, *says;
	} cases[] = {
		{ "tasks", "colour", "red", "there are state, kind" },
		{ "tasks", "state", "GONE", "PENDING, RUNNING, DONE, DEAD, RESOLVED, all" },
		{ "tasks", "order", "A'1", "letters, digits" },
		{ "tasks", "error", "\xff", "no text" },
		{ "tasks", "error", "a\nb", "no text" },
		{ "tasks", "older_than", "5", "duration" },
		{ "tasks", "up_to", "-1", "id" },
		{ "tasks", "unchanged_since", "5", "time" },
		{ "orders", "order", "*", "order number" },
		{ "orders", "closed_from", "yesterday", "2026-01-31T18:30:00Z" },
		{ "audit", "target", ":8", "task:12" },
	};
	static const struct listing_value twice[] = { { "state", "DEAD" }, { "state", "DONE" } };
	char long_value[256] = "";

	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		const struct listing_value value = { cases[i].name, cases[i].value };
		const struct listing_request request = { .values = &value, .value_count = 1 };

		expect_refusal(cases[i].kind, &request, cases[i].says);
	}
	memset(long_value, 'x', sizeof(long_value) - 1);
	const struct listing_value longer = { "error", long_value };
	expect_refusal("tasks", &(struct listing_request){ .values = &longer, .value_count = 1 },
		"too long");
	expect_refusal("tasks", &(struct listing_request){ .values = twice, .value_count = 2 },
		"given twice");
	expect_refusal("tasks", &(struct listing_request){ .limit = 201 }, "at most 200");
	expect_refusal("tasks", &(struct listing_request){ .after = "x" }, "no place");
	expect_refusal("orders", &(struct listing_request){ .after = "2:5" }, "no place");
	ck_assert_ptr_null(listing_find("t_order"));
}
END_TEST

START_TEST(an_empty_value_is_as_if_it_were_not_given)
{
	insert_tasks();
	expect_one("tasks", "id", "state", "", "2 5 1 6");
	expect_one("tasks", "id", "colour", NULL, "2 5 1 6");
}
END_TEST

START_TEST(ids_are_strings_and_an_empty_list_is_one)
{
	const struct listing_request request = { .limit = 5 };
	struct listing_page *page = NULL;
	struct error error = { .text = "" };

	for (size_t i = 0; listing_kind_names[i] != NULL; i++) {
		const struct listing_kind *kind = listing_find(listing_kind_names[i]);

		ck_assert_int_eq(listing_read(ours.db, kind, &request, &page, &error), RESULT_OK);
		struct json *array = listing_page_to_json(page);
		char *text = json_write(array);
		ck_assert_str_eq(text, "[]");
		free(text);
		json_destroy(&array);
		listing_page_destroy(&page);
	}
	query_run(query, "INSERT INTO t_order (id, order_no, amount_cents) "
			 "VALUES (9223372036854775807, 'A1', 5)");
	ck_assert_int_eq(
		listing_read(ours.db, listing_find("orders"), &request, &page, &error), RESULT_OK);
	struct json *array = listing_page_to_json(page);
	ck_assert_str_eq(json_get_text(json_at(array, 0), "id"), "9223372036854775807");
	json_destroy(&array);
	listing_page_destroy(&page);
}
END_TEST

START_TEST(a_count_is_frozen_with_its_highest_id)
{
	static const struct listing_value dead[] = { { "state", "DEAD" } };
	const struct listing_request request = { .values = dead, .value_count = 1 };
	struct listing_count count;
	struct error error = { .text = "" };

	insert_tasks();
	ck_assert_int_eq(
		listing_count(ours.db, listing_find("tasks"), &request, 500, &count, &error),
		RESULT_OK);
	ck_assert_uint_eq(count.count, 2);
	ck_assert_uint_eq(count.highest_id, 5);
	ck_assert(!count.is_more);
	ck_assert_int_eq(listing_count(ours.db, listing_find("tasks"), &request, 1, &count, &error),
		RESULT_OK);
	ck_assert_uint_eq(count.count, 1);
	ck_assert(count.is_more);
	ck_assert_int_eq(listing_count(ours.db, listing_find("tasks"),
				 &(struct listing_request){ .limit = 1 }, 1, &count, &error),
		RESULT_PERMANENT);
}
END_TEST

START_TEST(a_question_that_takes_too_long_is_ended_by_the_server)
{
	static const struct listing_value values[] = { { "error", "x" }, { "state", "all" } };
	const struct listing_request both = { .values = values, .value_count = 2 };
	struct listing_page *page = NULL;
	struct error error = { .text = "" };

	/* A view in place of the table, in which reading a row takes a second. */
	query_run(query,
		"INSERT INTO t_compensation (kind, target, idempotency_key, order_no, payload, "
		"status, last_error) SELECT 'REFUND', 'refund', CONCAT('k', seq), 'A1', '{}', "
		"'RESOLVED', 'y' FROM seq_1_to_8; "
		"RENAME TABLE t_compensation TO t_real; "
		"CREATE VIEW t_compensation AS SELECT id, IF(SLEEP(1) = 0, kind, NULL) AS kind, "
		"target, order_no, status, calls, retry_count, max_retries, next_retry_at, "
		"created_at, IF(SLEEP(1) = 0, last_error, NULL) AS last_error FROM t_real");
	ck_assert_int_eq(listing_read(ours.db, listing_find("tasks"), &both, &page, &error),
		RESULT_TEMPORARY);
	ck_assert_msg(strstr(error.text, "narrow the filter") != NULL, "%s", error.text);
	/* The connection goes on. */
	ck_assert_int_eq(listing_read(ours.db, listing_find("orders"),
				 &(struct listing_request){ .limit = 1 }, &page, &error),
		RESULT_OK);
	listing_page_destroy(&page);
}
END_TEST

int main(void)
{
	static const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = {
		tasks_in_trouble_come_first_and_page_by_page,
		each_filter_of_tasks_finds_what_it_says,
		orders_are_found_by_number_deadline_and_close,
		payments_outbox_rules_alerts_and_audit_are_listed_too,
		what_cannot_be_is_refused_with_what_can,
		an_empty_value_is_as_if_it_were_not_given,
		ids_are_strings_and_an_empty_list_is_one,
		a_count_is_frozen_with_its_highest_id,
		a_question_that_takes_too_long_is_ended_by_the_server,
	};

	sandbox_need_servers();
	return runner_run_with("listing", &fixture, tests, ARRAY_LENGTH(tests));
}
