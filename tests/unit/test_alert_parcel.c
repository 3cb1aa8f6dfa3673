/* alert_parcel: each target has its own tries, schedule and end. */
#include <stdlib.h>
#include <string.h>

#include "common/base/text.h"
#include "retry/alert_parcel.h"
#include "tests/support/runner.h"

/* 2026-01-31T10:21:03.120Z */
#define NOW_MS UINT64_C(1769854863120)

static struct alert_row row;
static struct alert_target_list targets;
static struct alert_parcel *parcel;

static void set_up(const char *known)
{
	row = (struct alert_row){ .id = 7, .severity = ALERT_SEVERITY_WARNING };
	(void)text_copy(row.targets, sizeof(row.targets), known);
	targets = (struct alert_target_list){ .items = { { .name = "ops" }, { .name = "pager" } },
		.count = 2 };
}

static void create(void)
{
	alert_parcel_create(&row, &targets, NOW_MS, &parcel);
}

static void expect_targets(const char *expected)
{
	char *text = alert_parcel_write_targets(parcel, &targets);

	ck_assert_str_eq(text, expected);
	free(text);
}

static void note(size_t target, enum alert_result result, int64_t code, uint64_t retry_after_ms)
{
	const struct alert_verdict verdict = { .result = result,
		.code = code,
		.retry_after_ms = retry_after_ms,
		.reason = "pager: HTTP 500" };

	alert_parcel_note(parcel, target, &verdict, 200, NOW_MS);
}

START_TEST(a_new_row_waits_for_all_that_want_it)
{
	uint64_t delay_ms = 7;

	set_up("");
	targets.items[1].min_severity = ALERT_SEVERITY_CRITICAL;
	create();
	ck_assert_int_eq(parcel->legs[0].state, ALERT_LEG_WAITING);
	ck_assert_int_eq(parcel->legs[1].state, ALERT_LEG_UNWANTED);
	ck_assert(!alert_parcel_is_over(parcel));
	note(0, ALERT_RESULT_OK, 200, 0);
	ck_assert(alert_parcel_is_over(parcel));
	ck_assert_int_eq(alert_parcel_find_state(parcel, NOW_MS, &delay_ms), ALERT_DELIVERY_SENT);
	ck_assert_uint_eq(delay_ms, 0);
	expect_targets("{\"ops\":{\"of\":\"firing\",\"state\":\"sent\",\"result\":\"ok\","
		       "\"code\":200,\"tries\":1,\"told\":true}}");
	alert_parcel_destroy(&parcel);
}
END_TEST

START_TEST(one_target_that_fails_is_tried_again_alone)
{
	uint64_t delay_ms = 0;

	set_up("");
	create();
	note(0, ALERT_RESULT_OK, 200, 0);
	note(1, ALERT_RESULT_HTTP_ERROR, 500, 0);
	ck_assert_int_eq(
		alert_parcel_find_state(parcel, NOW_MS, &delay_ms), ALERT_DELIVERY_PENDING);
	ck_assert_uint_eq(delay_ms, 10000);
	ck_assert_str_eq(parcel->reason, "pager: HTTP 500");
	char *known = alert_parcel_write_targets(parcel, &targets);
	alert_parcel_destroy(&parcel);
	ck_assert_ptr_nonnull(strstr(known, "\"next\":\"2026-01-31T10:21:13.120Z\""));
	(void)text_copy(row.targets, sizeof(row.targets), known);
	free(known);
	/* Before its time, and at its time. */
	create();
	ck_assert_int_eq(parcel->legs[0].state, ALERT_LEG_DONE);
	ck_assert_int_eq(parcel->legs[1].state, ALERT_LEG_RESTING);
	alert_parcel_destroy(&parcel);
	alert_parcel_create(&row, &targets, NOW_MS + 10000, &parcel);
	ck_assert_int_eq(parcel->legs[1].state, ALERT_LEG_WAITING);
	ck_assert_uint_eq(parcel->legs[1].tries, 1);
	alert_parcel_destroy(&parcel);
}
END_TEST

START_TEST(delays_grow_spread_by_a_fifth_and_obey_retry_after)
{
	static const uint64_t expected_ms[] = { 10000, 10000, 30000, 120000, 600000, 1800000,
		1800000 };
	uint64_t delay_ms = 0;

	for (uint32_t i = 0; i < ARRAY_LENGTH(expected_ms); i++)
		ck_assert_uint_eq(alert_parcel_delay_ms(i), expected_ms[i]);
	ck_assert_uint_eq(alert_parcel_delay_ms(ALERT_TRIES_MAX), 1800000);
	set_up("");
	for (uint32_t spread = 0; spread <= 400; spread += 400) {
		const struct alert_verdict verdict = { .result = ALERT_RESULT_TIMEOUT };

		create();
		alert_parcel_note(parcel, 0, &verdict, spread, NOW_MS);
		ck_assert_uint_eq(parcel->legs[0].next_ms, NOW_MS + 8000 + UINT64_C(10) * spread);
		alert_parcel_destroy(&parcel);
	}
	create();
	note(0, ALERT_RESULT_RATE_LIMITED, 429, 60000);
	note(1, ALERT_RESULT_OK, 200, 0);
	ck_assert_int_eq(
		alert_parcel_find_state(parcel, NOW_MS, &delay_ms), ALERT_DELIVERY_PENDING);
	ck_assert_uint_eq(delay_ms, 60000);
	alert_parcel_destroy(&parcel);
}
END_TEST

START_TEST(after_the_last_try_a_target_is_given_up_until_somebody_acts)
{
	uint64_t delay_ms = 0;

	set_up("{\"pager\":{\"of\":\"firing\",\"state\":\"waiting\",\"result\":\"timeout\","
	       "\"code\":0,\"tries\":27}}");
	create();
	note(0, ALERT_RESULT_OK, 200, 0);
	note(1, ALERT_RESULT_HTTP_ERROR, 500, 0);
	ck_assert_int_eq(alert_parcel_find_state(parcel, NOW_MS, &delay_ms), ALERT_DELIVERY_FAILED);
	char *known = alert_parcel_write_targets(parcel, &targets);
	alert_parcel_destroy(&parcel);
	(void)text_copy(row.targets, sizeof(row.targets), known);
	free(known);
	/* A reminder for the one that is well. */
	row.delivery = ALERT_DELIVERY_FAILED;
	create();
	ck_assert_int_eq(parcel->legs[0].state, ALERT_LEG_WAITING);
	ck_assert_uint_eq(parcel->legs[0].tries, 0);
	ck_assert_int_eq(parcel->legs[1].state, ALERT_LEG_GIVEN_UP);
	alert_parcel_destroy(&parcel);
}
END_TEST

START_TEST(those_who_were_told_are_told_that_it_is_over)
{
	set_up("{\"ops\":{\"of\":\"firing\",\"state\":\"sent\",\"result\":\"ok\",\"tries\":3},"
	       "\"pager\":{\"of\":\"firing\",\"state\":\"failed\",\"result\":\"http_error\","
	       "\"tries\":27}}");
	row.is_resolved = true;
	create();
	ck_assert_int_eq(parcel->legs[0].state, ALERT_LEG_WAITING);
	ck_assert_uint_eq(parcel->legs[0].tries, 0);
	ck_assert_int_eq(parcel->legs[1].state, ALERT_LEG_UNWANTED);
	note(0, ALERT_RESULT_OK, 200, 0);
	char *known = alert_parcel_write_targets(parcel, &targets);
	ck_assert_ptr_nonnull(strstr(known, "\"of\":\"resolved\",\"state\":\"sent\""));
	alert_parcel_destroy(&parcel);
	(void)text_copy(row.targets, sizeof(row.targets), known);
	free(known);
	create();
	ck_assert_int_eq(parcel->legs[0].state, ALERT_LEG_DONE);
	alert_parcel_destroy(&parcel);
}
END_TEST

/* A time-out may have been heard, a reminder that failed was not the first word. */
START_TEST(who_may_have_been_told_is_told_that_it_is_over)
{
	set_up("{\"ops\":{\"of\":\"firing\",\"state\":\"waiting\",\"result\":\"timeout\"},"
	       "\"pager\":{\"of\":\"firing\",\"state\":\"waiting\",\"result\":\"http_error\","
	       "\"told\":true}}");
	row.is_resolved = true;
	create();
	ck_assert_int_eq(parcel->legs[0].state, ALERT_LEG_WAITING);
	ck_assert_int_eq(parcel->legs[1].state, ALERT_LEG_WAITING);
	alert_parcel_destroy(&parcel);
}
END_TEST

START_TEST(what_is_known_may_be_old_broken_or_hostile)
{
	static const struct {
		const char *known;
		enum alert_leg_state state;
	} cases[] = {
		{ "{\"ops\":{\"result\":\"ok\",\"code\":200}}", ALERT_LEG_DONE },
		{ "{\"ops\":{\"result\":\"http_error\",\"code\":500}}", ALERT_LEG_WAITING },
		{ "{\"ops\":[\"ok", ALERT_LEG_WAITING },
		{ "[]", ALERT_LEG_WAITING },
		{ "{\"ops\":{\"of\":7,\"result\":7,\"tries\":\"x\"}}", ALERT_LEG_WAITING },
		{ "{\"ops\":{\"result\":\"x\",\"tries\":-5,\"next\":\"2026-13-99Txx:00:00.000Z\"}}",
			ALERT_LEG_WAITING },
		{ "{\"ops\":{\"result\":\"timeout\",\"state\":\"waiting\","
		  "\"next\":\"2100-01-01T00:00:00.000Z\"}}",
			ALERT_LEG_RESTING },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		set_up(cases[i].known);
		create();
		ck_assert_msg(parcel->legs[0].state == cases[i].state, "%s", cases[i].known);
		ck_assert_uint_lt(parcel->legs[0].tries, ALERT_TRIES_MAX);
		alert_parcel_destroy(&parcel);
	}
}
END_TEST

START_TEST(what_is_given_back_is_due_at_once)
{
	uint64_t delay_ms = 0;

	set_up("{\"ops\":{\"of\":\"firing\",\"state\":\"sent\",\"result\":\"ok\",\"tries\":1}}");
	row.delivery = ALERT_DELIVERY_SENT;
	create();
	alert_parcel_give_back(parcel, NOW_MS);
	ck_assert(alert_parcel_is_over(parcel));
	ck_assert_int_eq(
		alert_parcel_find_state(parcel, NOW_MS, &delay_ms), ALERT_DELIVERY_PENDING);
	ck_assert_uint_eq(delay_ms, 1);
	char *known = alert_parcel_write_targets(parcel, &targets);
	alert_parcel_destroy(&parcel);
	(void)text_copy(row.targets, sizeof(row.targets), known);
	free(known);
	row.delivery = ALERT_DELIVERY_PENDING;
	create();
	ck_assert_int_eq(parcel->legs[0].state, ALERT_LEG_WAITING);
	ck_assert_int_eq(parcel->legs[1].state, ALERT_LEG_WAITING);
	alert_parcel_destroy(&parcel);
}
END_TEST

START_TEST(a_target_that_is_off_costs_no_try)
{
	set_up("");
	create();
	alert_parcel_note_off(parcel, 0, NOW_MS);
	ck_assert_int_eq(parcel->legs[0].state, ALERT_LEG_RESTING);
	ck_assert_uint_eq(parcel->legs[0].tries, 0);
	ck_assert_uint_eq(parcel->legs[0].next_ms, NOW_MS + ALERT_OFF_MS);
	alert_parcel_destroy(&parcel);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		a_new_row_waits_for_all_that_want_it,
		one_target_that_fails_is_tried_again_alone,
		delays_grow_spread_by_a_fifth_and_obey_retry_after,
		after_the_last_try_a_target_is_given_up_until_somebody_acts,
		those_who_were_told_are_told_that_it_is_over,
		who_may_have_been_told_is_told_that_it_is_over,
		what_is_known_may_be_old_broken_or_hostile,
		what_is_given_back_is_due_at_once,
		a_target_that_is_off_costs_no_try,
	};

	return runner_run("alert_parcel", tests, ARRAY_LENGTH(tests));
}
