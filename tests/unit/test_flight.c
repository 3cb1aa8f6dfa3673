/* flight with an outbox that only remembers what it was told. */
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "producer/flight.h"
#include "tests/support/runner.h"

enum {
	ROWS = 6,
	TOLD_SIZE = 512
};

static struct flight flight;
static char told[TOLD_SIZE];       /* what the outbox was told, in words */
static enum result next_result;    /* of the next write, once */
static uint64_t locked_id;         /* a row that somebody holds; 0: none */
static uint64_t shortest_delay_ms; /* of rows put off */

/* ---- the outbox */

static void tell(const char *what, const struct outbox_ids *rows)
{
	size_t used = strlen(told);

	(void)text_format(told + used, sizeof(told) - used, "%s", what);
	for (size_t i = 0; rows != NULL && i < rows->count; i++) {
		used = strlen(told);
		(void)text_format(told + used, sizeof(told) - used, " %d", (int)rows->ids[i]);
	}
	used = strlen(told);
	(void)text_format(told + used, sizeof(told) - used, ";");
}

static enum result answer(const struct outbox_ids *rows)
{
	enum result result = next_result;

	next_result = RESULT_OK;
	for (size_t i = 0; i < rows->count; i++)
		if (rows->ids[i] == locked_id)
			return RESULT_CONFLICT;
	return result;
}

void outbox_batch_destroy(struct outbox_batch **batch)
{
	if (*batch != NULL)
		free((*batch)->rows);
	free(*batch);
	*batch = NULL;
}

enum result outbox_find_free(struct db *db, const struct outbox_ids *rows, uint64_t *ids,
	size_t *count_out, struct error *error)
{
	(void)db;
	(void)error;
	tell("free?", rows);
	*count_out = 0;
	for (size_t i = 0; i < rows->count; i++)
		if (rows->ids[i] != locked_id)
			ids[(*count_out)++] = rows->ids[i];
	return RESULT_OK;
}

enum result outbox_mark_sent(
	struct db *db, const struct outbox_ids *rows, size_t *lost_out, struct error *error)
{
	(void)db;
	(void)error;
	*lost_out = 0;
	tell("sent", rows);
	return answer(rows);
}

enum result outbox_put_off(struct db *db, const struct outbox_ids *rows, uint64_t delay_ms,
	const char *reason, struct error *error)
{
	(void)db;
	(void)error;
	shortest_delay_ms = delay_ms < shortest_delay_ms ? delay_ms : shortest_delay_ms;
	tell(reason, rows);
	return answer(rows);
}

enum result outbox_put_off_to_horizon(
	struct db *db, const struct outbox_ids *rows, uint64_t horizon_ms, struct error *error)
{
	(void)db;
	(void)error;
	ck_assert_uint_eq(horizon_ms, 3600000);
	tell("horizon", rows);
	return answer(rows);
}

enum result outbox_mark_failed(struct db *db, const char *lease_token, const struct outbox_row *row,
	const char *reason, struct error *error)
{
	const struct outbox_ids rows = { lease_token, &row->id, 1 };

	(void)db;
	(void)error;
	ck_assert_str_eq(lease_token, "TOKEN");
	tell(reason, &rows);
	return answer(&rows);
}

/* ---- the tests */

static void start(void)
{
	struct outbox_batch *batch = memory_allocate(sizeof(*batch));

	batch->rows = memory_allocate_array(ROWS, sizeof(*batch->rows));
	batch->count = ROWS;
	(void)text_copy(batch->lease_token, sizeof(batch->lease_token), "TOKEN");
	for (size_t i = 0; i < ROWS; i++)
		batch->rows[i].id = i + 1;
	flight_start(&flight, batch, 1000);
}

static void set_up(void)
{
	flight.put_off_count = 0;
	start();
	told[0] = '\0';
	next_result = RESULT_OK;
	locked_id = 0;
	shortest_delay_ms = UINT64_MAX;
}

static void tear_down(void)
{
	flight_end(&flight);
	ck_assert_ptr_null(flight.batch);
	flight_end(&flight);
}

static enum result settle(size_t expected_lost)
{
	struct error error = { .text = "" };
	size_t lost = 0;
	enum result result = flight_settle(&flight, NULL, 3600000, &lost, &error);

	if (result == RESULT_OK)
		ck_assert_uint_eq(lost, expected_lost);
	return result;
}

START_TEST(rows_without_a_message_are_sent)
{
	ck_assert_uint_eq(flight.open, 0);
	ck_assert_int_eq(settle(0), RESULT_OK);
	ck_assert_str_eq(told, "sent 1 2 3 4 5 6;");
}
END_TEST

START_TEST(each_fate_is_written_once)
{
	flight_set_fate(&flight, 1, FLIGHT_FATE_HORIZON, NULL);
	flight_set_fate(&flight, 2, FLIGHT_FATE_AGAIN, "nacked");
	flight_set_fate(&flight, 3, FLIGHT_FATE_NEVER, "unknown");
	flight_set_fate(&flight, 4, FLIGHT_FATE_NEVER, "too long");
	ck_assert_int_eq(settle(0), RESULT_OK);
	ck_assert_str_eq(told, "sent 1 6;horizon 2;nacked 3;unknown 4;too long 5;");
}
END_TEST

START_TEST(a_row_with_two_messages_waits_for_both)
{
	flight_open_message(&flight, 0);
	flight_open_message(&flight, 0);
	flight_open_message(&flight, 1);
	ck_assert_uint_eq(flight.open, 2);
	flight_close_message(&flight, 0, true, NULL);
	ck_assert_uint_eq(flight.open, 2);
	flight_close_message(&flight, 0, true, NULL);
	flight_close_message(&flight, 1, true, NULL);
	ck_assert_uint_eq(flight.open, 0);
	ck_assert_int_eq(settle(0), RESULT_OK);
	ck_assert_str_eq(told, "sent 1 2 3 4 5 6;");
}
END_TEST

START_TEST(one_refused_message_of_two_is_enough_to_try_again)
{
	flight_open_message(&flight, 0);
	flight_open_message(&flight, 0);
	flight_close_message(&flight, 0, false, "refused");
	flight_close_message(&flight, 0, true, NULL);
	ck_assert_int_eq(settle(0), RESULT_OK);
	ck_assert_str_eq(told, "sent 2 3 4 5 6;refused 1;");
}
END_TEST

START_TEST(a_lost_connection_loses_what_is_open)
{
	for (size_t i = 0; i < 3; i++)
		flight_open_message(&flight, i);
	flight_open_message(&flight, 2);
	flight_close_message(&flight, 1, true, NULL);
	flight_lose(&flight, "lost");
	ck_assert_uint_eq(flight.open, 0);
	flight_lose(&flight, "lost again");
	ck_assert_int_eq(settle(0), RESULT_OK);
	ck_assert_str_eq(told, "sent 2 4 5 6;lost 1 3;");
}
END_TEST

START_TEST(rows_that_failed_often_hold_up_no_others)
{
	flight.batch->rows[0].attempts = 10;
	flight.batch->rows[3].attempts = 10;
	for (size_t i = 0; i < ROWS; i++)
		flight_set_fate(&flight, i, FLIGHT_FATE_AGAIN, "no");
	ck_assert_int_eq(settle(0), RESULT_OK);
	ck_assert_str_eq(told, "no 1 4;no 2 3 5 6;");
	ck_assert_uint_le(shortest_delay_ms, 500);
}
END_TEST

START_TEST(a_second_settle_writes_only_what_is_missing)
{
	flight_set_fate(&flight, 1, FLIGHT_FATE_AGAIN, "no");
	flight_set_fate(&flight, 2, FLIGHT_FATE_NEVER, "bad");
	next_result = RESULT_TEMPORARY;
	ck_assert_int_eq(settle(0), RESULT_TEMPORARY);
	ck_assert_str_eq(told, "sent 1 4 5 6;");
	told[0] = '\0';
	ck_assert_int_eq(settle(0), RESULT_OK);
	ck_assert_str_eq(told, "sent 1 4 5 6;no 2;bad 3;");
	told[0] = '\0';
	ck_assert_int_eq(settle(0), RESULT_OK);
	ck_assert_str_eq(told, "");
}
END_TEST

START_TEST(a_locked_row_is_left_to_its_lease)
{
	locked_id = 3;
	flight_set_fate(&flight, 5, FLIGHT_FATE_NEVER, "bad");
	ck_assert_int_eq(settle(1), RESULT_OK);
	ck_assert_str_eq(told, "sent 1 2 3 4 5;free? 1 2 3 4 5;sent 1 2 4 5;bad 6;");
}
END_TEST

START_TEST(a_lone_locked_row_does_not_stop_the_loop)
{
	for (size_t i = 0; i < ROWS; i++)
		flight_set_fate(&flight, i, FLIGHT_FATE_NEVER, "bad");
	flight_set_fate(&flight, 0, FLIGHT_FATE_SENT, NULL);
	locked_id = 1;
	ck_assert_int_eq(settle(1), RESULT_OK);
	ck_assert(text_starts_with(told, "sent 1;free? 1;bad 2;"));
	told[0] = '\0';
	ck_assert_int_eq(settle(0), RESULT_OK);
	ck_assert_str_eq(told, "");
}
END_TEST

/* The first, the tenth, the hundredth in a row is told. */
START_TEST(refusals_in_a_row_are_counted_until_all_goes)
{
	for (uint64_t i = 1; i <= 3; i++) {
		flight_set_fate(&flight, 0, FLIGHT_FATE_AGAIN, "nacked");
		ck_assert_int_eq(settle(0), RESULT_OK);
		ck_assert_uint_eq(flight.put_off_count, i);
		flight_end(&flight);
		start();
	}
	ck_assert_int_eq(settle(0), RESULT_OK);
	ck_assert_uint_eq(flight.put_off_count, 0);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		rows_without_a_message_are_sent,
		each_fate_is_written_once,
		a_row_with_two_messages_waits_for_both,
		one_refused_message_of_two_is_enough_to_try_again,
		a_lost_connection_loses_what_is_open,
		rows_that_failed_often_hold_up_no_others,
		a_second_settle_writes_only_what_is_missing,
		a_locked_row_is_left_to_its_lease,
		a_lone_locked_row_does_not_stop_the_loop,
		refusals_in_a_row_are_counted_until_all_goes,
	};
	const struct runner_fixture fixture = { set_up, tear_down };

	return runner_run_with("flight", &fixture, tests, ARRAY_LENGTH(tests));
}
