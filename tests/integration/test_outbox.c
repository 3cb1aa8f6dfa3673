/* Rows of t_outbox_event on a real server: claimed, marked, put off, lost. */
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/db.h"
#include "common/order/outbox.h"
#include "tests/support/direct_db.h"
#include "tests/support/orders.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"

enum {
	LEASE_MS = 30000,
	ROWS_MAX = 64,
	MEGABYTE = 1048576
};

static struct sandbox *sandbox;
static struct query *query;
static struct direct_db direct;
static struct direct_db second;
static struct error error;
static struct outbox_batch *batch;
static uint64_t ids[ROWS_MAX];

static void set_up(void)
{
	sandbox_create(SANDBOX_NO_BROKER, &sandbox);
	query = sandbox_query(sandbox);
	direct_db_open(&direct, sandbox, NULL, NULL);
	direct_db_open(&second, sandbox, NULL, NULL);
}

static void tear_down(void)
{
	outbox_batch_destroy(&batch);
	direct_db_close(&direct);
	direct_db_close(&second);
	sandbox_destroy(&sandbox);
}

static void insert_rows(int count)
{
	for (int i = 0; i < count; i++)
		query_run(query,
			"INSERT INTO t_outbox_event(event_type,order_no) "
			"VALUES ('ORDER_PAID','A%d')",
			i);
}

static void expect(enum result result, enum result expected)
{
	ck_assert_msg(result == expected, "%s: %s", result_name(result), error.text);
}

static void claim_with(struct direct_db *mine, uint32_t limit, uint64_t lease_ms, size_t expected)
{
	outbox_batch_destroy(&batch);
	expect(outbox_claim(mine->db, limit, lease_ms, NULL, &batch, &error),
		expected == 0 ? RESULT_NONE : RESULT_OK);
	ck_assert_uint_eq(batch == NULL ? 0 : batch->count, expected);
}

static void claim(uint32_t limit, size_t expected)
{
	claim_with(&direct, limit, LEASE_MS, expected);
}

/* All rows of the last claim. */
static struct outbox_ids claimed(void)
{
	for (size_t i = 0; i < batch->count; i++)
		ids[i] = batch->rows[i].id;
	return (struct outbox_ids){ batch->lease_token, ids, batch->count };
}

static void mark_sent(size_t expected_lost)
{
	const struct outbox_ids rows = claimed();
	size_t lost = 0;

	expect(outbox_mark_sent(direct.db, &rows, &lost, &error), RESULT_OK);
	ck_assert_uint_eq(lost, expected_lost);
}

static int64_t count_rows(const char *status)
{
	return query_number(
		query, "SELECT COUNT(*) FROM t_outbox_event WHERE status = '%s'", status);
}

START_TEST(a_claim_takes_the_oldest_rows_and_all_they_say)
{
	query_run(query, "INSERT INTO t_outbox_event(event_type,order_no,event_id,payload,"
			 "trace_parent,attempts,created_at,available_at) VALUES "
			 "('ORDER_PAID','A1','E1','{\"a\": 1}','00-t',3,'2026-01-02 03:04:05.006',"
			 "'2026-01-02 03:04:05.006')");
	insert_rows(2);
	claim(1, 1);
	ck_assert(batch->has_more);
	const struct outbox_row *row = &batch->rows[0];
	ck_assert_str_eq(row->event_id, "E1");
	ck_assert_str_eq(row->event_type, "ORDER_PAID");
	ck_assert_str_eq(row->order_no, "A1");
	ck_assert_str_eq(row->trace_parent, "00-t");
	ck_assert_str_eq(row->payload, "{\"a\": 1}");
	ck_assert_uint_eq(row->payload_size, strlen(row->payload));
	ck_assert_uint_eq(row->attempts, 3);
	ck_assert_str_eq(row->created_at, "2026-01-02T03:04:05.006Z");
	ck_assert_int_gt(row->age_ms, 0);
	ck_assert_uint_eq(row->created_s, 1767323045);
	claim(10, 2);
	ck_assert(!batch->has_more);
	ck_assert_ptr_null(batch->rows[0].payload);
	ck_assert_uint_eq(batch->rows[0].payload_size, 0);
	ck_assert_str_eq(batch->rows[0].trace_parent, "");
	ck_assert_uint_eq(strlen(batch->rows[0].event_id), 36);
	claim(10, 0);
}
END_TEST

START_TEST(a_lower_id_that_commits_later_is_claimed)
{
	struct query *other = NULL;

	query_create(sandbox_mysql_url(sandbox), &other);
	query_run(other, "START TRANSACTION");
	query_run(other, "INSERT INTO t_outbox_event(event_type,order_no) "
			 "VALUES ('ORDER_PAID','LATE')");
	insert_rows(1);
	claim(10, 1);
	ck_assert_str_eq(batch->rows[0].order_no, "A0");
	mark_sent(0);
	claim(10, 0);
	query_run(other, "COMMIT");
	claim(10, 1);
	ck_assert_str_eq(batch->rows[0].order_no, "LATE");
	mark_sent(0);
	query_destroy(&other);
}
END_TEST

START_TEST(two_claimers_share_the_rows)
{
	insert_rows(10);
	claim_with(&direct, 6, LEASE_MS, 6);
	const struct outbox_ids first = claimed();
	char token[ULID_SIZE];
	(void)text_copy(token, sizeof(token), first.lease_token);
	claim_with(&second, 6, LEASE_MS, 4);
	ck_assert_str_ne(batch->lease_token, token);
	ck_assert_int_eq(
		query_number(query, "SELECT COUNT(DISTINCT lease_token) FROM t_outbox_event"), 2);
	ck_assert_int_eq(query_number(query,
				 "SELECT COUNT(*) FROM t_outbox_event "
				 "WHERE lease_token = '%s'",
				 token),
		6);
}
END_TEST

START_TEST(the_mark_of_a_zombie_is_lost)
{
	insert_rows(3);
	claim_with(&second, 10, 1, 3);
	const struct outbox_ids zombie = claimed();
	uint64_t zombie_ids[] = { ids[0], ids[1], ids[2] };
	char token[ULID_SIZE];
	(void)text_copy(token, sizeof(token), zombie.lease_token);
	const struct outbox_ids late = { token, zombie_ids, 3 };
	size_t lost = 0;

	query_run(query, "DO SLEEP(0.01)");
	claim(10, 3);
	expect(outbox_mark_sent(second.db, &late, &lost, &error), RESULT_OK);
	ck_assert_uint_eq(lost, 3);
	ck_assert_int_eq(count_rows("NEW"), 3);
	expect(outbox_put_off(second.db, &late, 3600000, "too late", &error), RESULT_OK);
	ck_assert_int_eq(query_number(query, "SELECT SUM(attempts) FROM t_outbox_event"), 0);
	struct outbox_row row = batch->rows[0];
	expect(outbox_mark_failed(second.db, token, &row, "too late", &error), RESULT_CONFLICT);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_alert"), 0);
	mark_sent(0);
	ck_assert_int_eq(count_rows("SENT"), 3);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_outbox_event WHERE "
					     "lease_token IS NOT NULL OR sent_at IS NULL"),
		0);
	/* Marked is marked: nothing leads back. */
	expect(outbox_put_off(direct.db, &late, 0, "again", &error), RESULT_OK);
	ck_assert_int_eq(count_rows("SENT"), 3);
}
END_TEST

START_TEST(a_row_put_off_comes_back_with_one_more_attempt)
{
	char text[QUERY_TEXT_SIZE];
	char longest[600];

	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	insert_rows(1);
	claim(10, 1);
	struct outbox_ids rows = claimed();
	expect(outbox_put_off(direct.db, &rows, 3600000, longest, &error), RESULT_OK);
	claim(10, 0);
	query_text(query, text,
		"SELECT attempts, status, lease_token, CHAR_LENGTH(last_error), "
		"available_at > UTC_TIMESTAMP(3) + INTERVAL 3590 SECOND "
		"FROM t_outbox_event");
	ck_assert_str_eq(text, "1 NEW NULL 255 1");
	query_run(query, "UPDATE t_outbox_event SET available_at = UTC_TIMESTAMP(3)");
	claim(10, 1);
	rows = claimed();
	expect(outbox_put_off(direct.db, &rows, 0, "bad \xff\x01 bytes", &error), RESULT_OK);
	claim(10, 1);
	rows = claimed();
	expect(outbox_put_off(direct.db, &rows, 0, NULL, &error), RESULT_OK);
	query_text(query, text, "SELECT attempts, last_error FROM t_outbox_event");
	ck_assert_str_eq(text, "2 bad ?? bytes");
}
END_TEST

START_TEST(a_far_deadline_sleeps_until_the_horizon)
{
	const struct order_plan never = { .order_no = "N", .has_no_deadline = true };

	orders_insert_one(query, "FAR", 10 * INT64_C(86400000));
	orders_insert_one(query, "NEAR", 60000);
	orders_insert(query, &never);
	query_run(query, "INSERT INTO t_outbox_event(event_type,order_no) "
			 "VALUES ('ORDER_CREATED','NOBODY')");
	claim(10, 4);
	const struct outbox_ids rows = claimed();
	expect(outbox_put_off_to_horizon(direct.db, &rows, 3600000, &error), RESULT_OK);
	ck_assert_int_eq(
		query_number(query, "SELECT e.available_at = o.expire_time - INTERVAL 1 HOUR "
				    "FROM t_outbox_event e JOIN t_order o "
				    "ON o.order_no = e.order_no WHERE o.order_no = 'FAR'"),
		1);
	claim(10, 3);
}
END_TEST

START_TEST(a_row_that_can_never_be_published_fails_with_one_alert)
{
	char text[QUERY_TEXT_SIZE];

	insert_rows(1);
	claim(10, 1);
	expect(outbox_mark_failed(
		       direct.db, batch->lease_token, &batch->rows[0], "no \xff type", &error),
		RESULT_OK);
	query_text(query, text, "SELECT status, last_error, lease_token FROM t_outbox_event");
	ck_assert_str_eq(text, "FAILED no ? type NULL");
	query_text(query, text,
		"SELECT COUNT(*), MIN(kind), MIN(ref) = (SELECT MIN(id) FROM "
		"t_outbox_event) FROM t_alert");
	ck_assert_str_eq(text, "1 OUTBOX_FAILED 1");
	claim(10, 0);
}
END_TEST

START_TEST(big_payloads_come_a_few_at_a_time)
{
	uint32_t taken = 0;

	for (int i = 0; i < 6; i++)
		query_run(query,
			"INSERT INTO t_outbox_event(event_type,order_no,payload) VALUES "
			"('ORDER_PAID','A%d', CONCAT('{\"x\":\"', REPEAT('y', %d), '\"}'))",
			i, MEGABYTE - 8);
	query_run(query,
		"INSERT INTO t_outbox_event(event_type,order_no,payload) VALUES "
		"('ORDER_PAID','TOO-BIG', CONCAT('{\"x\":\"', REPEAT('y', %d), '\"}'))",
		MEGABYTE);
	while (taken < 7) {
		outbox_batch_destroy(&batch);
		expect(outbox_claim(direct.db, 100, LEASE_MS, NULL, &batch, &error), RESULT_OK);
		ck_assert_uint_ge(batch->count, 1);
		for (size_t i = 0; i < batch->count; i++) {
			const struct outbox_row *row = &batch->rows[i];
			bool fits = row->payload_size <= OUTBOX_PAYLOAD_MAX;

			ck_assert(fits == (strcmp(row->order_no, "TOO-BIG") != 0));
			ck_assert(fits == (row->payload != NULL));
			ck_assert(!fits || strlen(row->payload) == MEGABYTE);
		}
		taken += (uint32_t)batch->count;
		ck_assert(batch->has_more == (taken < 7));
		ck_assert_uint_le(batch->count, 5);
	}
	claim(10, 0);
}
END_TEST

START_TEST(rows_of_a_session_with_its_own_time_zone_are_due_at_once)
{
	struct query *other = NULL;

	query_create(sandbox_mysql_url(sandbox), &other);
	query_run(other, "SET time_zone = '+08:00'");
	query_run(other, "INSERT INTO t_order(order_no,user_id,amount_cents,expire_time) VALUES "
			 "('Z',1,1,UTC_TIMESTAMP(3) + INTERVAL 30 MINUTE)");
	query_run(other, "INSERT INTO t_outbox_event(event_type,order_no) "
			 "VALUES ('ORDER_CREATED','Z')");
	claim(10, 1);
	ck_assert_int_lt(batch->rows[0].age_ms, 60000);
	ck_assert_int_ge(batch->rows[0].age_ms, 0);
	query_run(other, "SET time_zone = '-11:00'");
	query_run(other, "INSERT INTO t_outbox_event(event_type,order_no) "
			 "VALUES ('ORDER_CREATED','Z')");
	claim(10, 1);
	query_destroy(&other);
}
END_TEST

START_TEST(a_locked_row_is_passed_over_and_found)
{
	struct query *other = NULL;
	size_t count = 0;

	insert_rows(3);
	query_create(sandbox_mysql_url(sandbox), &other);
	query_run(other, "START TRANSACTION");
	query_run(other, "SELECT id FROM t_outbox_event WHERE order_no = 'A1' FOR UPDATE");
	claim(10, 2);
	query_run(other, "ROLLBACK");
	claim(10, 1);
	query_run(query, "UPDATE t_outbox_event SET lease_token = '%s'", batch->lease_token);
	for (size_t i = 0; i < 3; i++)
		ids[i] = (uint64_t)query_number(
			query, "SELECT id FROM t_outbox_event ORDER BY id LIMIT %zu, 1", i);
	query_run(other, "START TRANSACTION");
	query_run(other, "UPDATE t_outbox_event SET attempts = 1 WHERE order_no = 'A1'");
	const struct outbox_ids rows = { batch->lease_token, ids, 3 };
	uint64_t locked = ids[1];
	expect(outbox_find_free(direct.db, &rows, ids, &count, &error), RESULT_OK);
	ck_assert_uint_eq(count, 2);
	ck_assert(ids[0] != locked && ids[1] != locked);
	query_destroy(&other);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		a_claim_takes_the_oldest_rows_and_all_they_say,
		a_lower_id_that_commits_later_is_claimed,
		two_claimers_share_the_rows,
		the_mark_of_a_zombie_is_lost,
		a_row_put_off_comes_back_with_one_more_attempt,
		a_far_deadline_sleeps_until_the_horizon,
		a_row_that_can_never_be_published_fails_with_one_alert,
		big_payloads_come_a_few_at_a_time,
		rows_of_a_session_with_its_own_time_zone_are_due_at_once,
		a_locked_row_is_passed_over_and_found,
	};
	const struct runner_fixture fixture = { set_up, tear_down };

	sandbox_need_servers();
	return runner_run_with("outbox", &fixture, tests, ARRAY_LENGTH(tests));
}
