/* alert_sender: when a target may be told what it has to be, and how long that takes. */
#include <string.h>

#include "common/base/compiler.h"
#include "common/io/http.h"
#include "retry/alert_sender.h"
#include "retry/receiver.h"
#include "retry/retry.h"
#include "retry/retry_metrics.h"
#include "tests/support/fake_clock.h"
#include "tests/support/runner.h"

enum {
	LIMIT_MS = 86400000,
	HALF_HOUR_MS = 1800000,
	START_MS = HALF_HOUR_MS + 60000,
};

static struct retry_settings settings;
static struct alert_parcel_list list;
static struct alert_parcel parcel;
static struct alert_sender *sender;
static struct receiver *receiver; /* of the message that was started last */

/* In place of the real ones. */
void http_start(struct http *http, const struct http_request *request)
{
	(void)http;
	receiver = request->context;
}

bool http_is_url(const char *url)
{
	(void)url;
	return true;
}

void retry_metrics_count_alert(const char *target, enum alert_result result)
{
	(void)target;
	(void)result;
}

void retry_metrics_count_suppressed(enum retry_suppressed reason, uint64_t count)
{
	(void)reason;
	(void)count;
}

static void set_up(enum alert_type type)
{
	static char url[] = "http://127.0.0.1:9/hook";
	static char env[] = "dev";

	settings = (struct retry_settings){ .env_label = env,
		.alert_targets = {
			.items = { { .name = "ops", .type = type, .url = url } }, .count = 1 } };
	list = (struct alert_parcel_list){ .count = 0 };
	parcel = (struct alert_parcel){ .row = { .id = 1, .severity = ALERT_SEVERITY_WARNING } };
	fake_clock_set_ms(START_MS);
	alert_sender_create(&settings, NULL, &list, &sender);
	fake_clock_advance_ms(60000); /* a new process begins without a burst */
}

static void tear_down(void)
{
	list.count = 0;
	alert_sender_destroy(&sender);
}

static void add_waiting(void)
{
	parcel.legs[0].state = ALERT_LEG_WAITING;
	list.items[0] = &parcel;
	list.count = 1;
}

static uint64_t find_wait_ms(void)
{
	return alert_sender_wait_ms(sender, LIMIT_MS);
}

/* What alert_sender_wait_ms says is so: not a millisecond earlier. */
static void expect_ready_in(uint64_t wait_ms)
{
	ck_assert_uint_eq(find_wait_ms(), wait_ms);
	ck_assert(wait_ms > 0);
	fake_clock_advance_ms(wait_ms - 1);
	ck_assert(!alert_sender_is_ready(sender, 0));
	ck_assert_uint_eq(find_wait_ms(), 1);
	fake_clock_advance_ms(1);
	ck_assert(alert_sender_is_ready(sender, 0));
	ck_assert_uint_eq(find_wait_ms(), 0);
}

static void answer(long status, uint64_t retry_after_ms)
{
	const struct http_answer answer = { .status = status,
		.head_status = status,
		.retry_after_ms = retry_after_ms,
		.body = "" };

	receiver->take(receiver, &answer);
}

START_TEST(nothing_to_tell_is_no_reason_to_turn)
{
	set_up(ALERT_TYPE_GENERIC);
	ck_assert_uint_eq(find_wait_ms(), LIMIT_MS);
	add_waiting();
	ck_assert_uint_eq(find_wait_ms(), 0);
	ck_assert(alert_sender_is_ready(sender, 0));
	tear_down();
}
END_TEST

START_TEST(a_message_under_way_is_waited_for_by_its_answer)
{
	set_up(ALERT_TYPE_GENERIC);
	add_waiting();
	alert_sender_start(sender, 0, NULL);
	ck_assert_uint_eq(find_wait_ms(), LIMIT_MS);
	answer(200, 0);
	ck_assert_uint_eq(find_wait_ms(), LIMIT_MS);
	tear_down();
}
END_TEST

START_TEST(the_next_message_waits_for_the_pace_of_its_target)
{
	set_up(ALERT_TYPE_GENERIC);
	add_waiting();
	alert_sender_start(sender, 0, NULL);
	answer(200, 0);
	add_waiting();
	expect_ready_in(60000 / 59);
	tear_down();
}
END_TEST

START_TEST(a_target_that_asks_for_an_hour_gets_it)
{
	set_up(ALERT_TYPE_SLACK);
	add_waiting();
	alert_sender_start(sender, 0, NULL);
	answer(429, 3600000);
	add_waiting();
	expect_ready_in(3600000);
	tear_down();
}
END_TEST

START_TEST(the_rush_of_a_half_hour_is_left_alone)
{
	set_up(ALERT_TYPE_FEISHU);
	add_waiting();
	ck_assert_uint_eq(find_wait_ms(), 0);
	fake_clock_set_ms(UINT64_C(2) * HALF_HOUR_MS + 1000);
	expect_ready_in(4000);
	tear_down();
}
END_TEST

START_TEST(a_target_that_wants_all_that_fires_is_due_by_time)
{
	static struct alert_firing_list firing;

	set_up(ALERT_TYPE_ALERTMANAGER);
	ck_assert_uint_eq(find_wait_ms(), 0);
	alert_sender_start(sender, 0, &firing); /* nothing fires */
	expect_ready_in(60000);
	tear_down();
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		nothing_to_tell_is_no_reason_to_turn,
		a_message_under_way_is_waited_for_by_its_answer,
		the_next_message_waits_for_the_pace_of_its_target,
		a_target_that_asks_for_an_hour_gets_it,
		the_rush_of_a_half_hour_is_left_alone,
		a_target_that_wants_all_that_fires_is_due_by_time,
	};

	return runner_run("alert_sender", tests, ARRAY_LENGTH(tests));
}
