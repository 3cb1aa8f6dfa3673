/*
 * service: the life of a daemon from its start to its end, each in a process of its own.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <check.h>

#include "common/base/clock.h"
#include "common/base/compiler.h"
#include "common/base/log.h"
#include "common/base/shutdown.h"
#include "tests/support/child.h"
#include "tests/support/life.h"
#include "tests/support/runner.h"

enum {
	SOON_MS = 3000,
	STOP_AFTER_MS = 300,
};

START_TEST(a_daemon_that_is_asked_to_stop_ends_with_0)
{
	struct life life = { .step = life_stop_at_once };

	life_expect(&life, EXIT_STATUS_OK, "\"event\":\"started\"");
	ck_assert_uint_eq(life_count("\"event\":\"stopping\""), 1);
	ck_assert_uint_eq(life_count("\"event\":\"stopped\""), 1);
	ck_assert_uint_eq(life_count("the secret"), 0);
}
END_TEST

static enum result stop_twice(void *context, struct error *error)
{
	(void)context;
	(void)error;
	(void)raise(SIGTERM);
	(void)raise(SIGINT);
	return RESULT_OK;
}

START_TEST(a_second_signal_ends_it_at_once)
{
	struct life life = { .step = stop_twice };

	life_expect(&life, EXIT_STATUS_FAILED, "\"event\":\"started\"");
	ck_assert_uint_eq(life_count("stopping"), 0);
}
END_TEST

static enum result fail_three_times(void *context, struct error *error)
{
	struct life *life = context;

	if (life->turns++ < 3)
		return error_set(RESULT_TEMPORARY, error, "connect to nowhere: refused");
	if (life->turns == 5)
		shutdown_request();
	return RESULT_NONE;
}

START_TEST(repeated_trouble_is_logged_once_and_so_is_its_end)
{
	struct life life = { .step = fail_three_times };

	life_expect(&life, EXIT_STATUS_OK, "connect to nowhere: refused");
	ck_assert_uint_eq(life_count("\"event\":\"step_failed\""), 1);
	ck_assert_uint_eq(life_count("\"event\":\"recovered\""), 1);
	ck_assert_ptr_nonnull(strstr(life_output(), "\"failures\":3"));
}
END_TEST

static enum result fail_for_good(void *context, struct error *error)
{
	struct life *life = context;

	life->turns++;
	return error_set(RESULT_PERMANENT, error, "exchange lapse.timeout has another type");
}

static void live_until_killed(void *context)
{
	pid_t daemon = getpid();

	if (fork() == 0) {
		clock_wait_ms(STOP_AFTER_MS);
		(void)kill(daemon, SIGTERM);
		_exit(EXIT_SUCCESS);
	}
	life_live(context);
}

START_TEST(a_stop_request_ends_the_longest_wait)
{
	struct life life = { .step = fail_for_good };
	static struct child_end end;
	uint64_t begin_ms = clock_now_ms();

	child_run(live_until_killed, &life, &end);
	ck_assert_int_eq(end.status, EXIT_STATUS_OK);
	ck_assert_uint_lt(clock_now_ms() - begin_ms, SOON_MS);
	ck_assert_ptr_nonnull(strstr(end.output, "\"level\":\"error\",\"event\":\"step_failed\""));
}
END_TEST

static enum result lose_races(void *context, struct error *error)
{
	struct life *life = context;

	if (life->turns++ < 20)
		return error_set(RESULT_CONFLICT, error, "deadlock");
	shutdown_request();
	return RESULT_OK;
}

START_TEST(a_lost_race_is_tried_again_soon_and_not_logged)
{
	struct life life = { .step = lose_races };
	uint64_t begin_ms = clock_now_ms();

	life_expect(&life, EXIT_STATUS_OK, "stopped");
	ck_assert_uint_lt(clock_now_ms() - begin_ms, SOON_MS);
	ck_assert_uint_eq(life_count("deadlock"), 0);
}
END_TEST

static enum result ask_for_dump(void *context, struct error *error)
{
	struct life *life = context;

	(void)error;
	metrics_add(&life_metrics[0], 0, 1);
	(void)raise(life->turns++ == 0 ? SIGUSR1 : SIGTERM);
	return RESULT_OK;
}

START_TEST(a_dump_tells_the_state_and_the_metrics)
{
	struct life life = { .step = ask_for_dump };

	life_expect(&life, EXIT_STATUS_OK, "\"event\":\"dump_of_test\"");
	ck_assert_ptr_nonnull(
		strstr(life_output(), "\"series\":\"t_turns_total\",\"value\":\"1\""));
}
END_TEST

static enum result drain_twice(void *context, struct error *error)
{
	struct life *life = context;

	(void)error;
	log_info(log_event("draining"));
	return ++life->drains < 3 ? RESULT_OK : RESULT_NONE;
}

static enum result drain_for_ever(void *context, struct error *error)
{
	struct life *life = context;

	(void)error;
	life->drains++;
	clock_wait_ms(20);
	return RESULT_OK;
}

START_TEST(what_is_under_way_is_drained_until_nothing_is_left)
{
	struct life life = { .step = life_stop_at_once, .drain = drain_twice };

	life_expect(&life, EXIT_STATUS_OK, "stopped");
	ck_assert_uint_eq(life_count("\"event\":\"draining\""), 3);
	ck_assert_uint_eq(life_count("drain_incomplete"), 0);
}
END_TEST

START_TEST(a_drain_without_end_ends_when_the_time_is_up)
{
	struct life life = { .step = life_stop_at_once, .drain = drain_for_ever };
	uint64_t begin_ms = clock_now_ms();

	(void)setenv("LAPSE_SHUTDOWN_TIMEOUT", "1s", 1);
	life_expect(&life, EXIT_STATUS_OK, "drain_incomplete");
	ck_assert_uint_lt(clock_now_ms() - begin_ms, SOON_MS);
}
END_TEST

int main(void)
{
	static const struct runner_fixture fixture = { life_set_up, life_tear_down };
	const TTest *const tests[] = {
		a_daemon_that_is_asked_to_stop_ends_with_0,
		a_second_signal_ends_it_at_once,
		repeated_trouble_is_logged_once_and_so_is_its_end,
		a_stop_request_ends_the_longest_wait,
		a_lost_race_is_tried_again_soon_and_not_logged,
		a_dump_tells_the_state_and_the_metrics,
		what_is_under_way_is_drained_until_nothing_is_left,
		a_drain_without_end_ends_when_the_time_is_up,
	};

	return runner_run_with("service", &fixture, tests, ARRAY_LENGTH(tests));
}
