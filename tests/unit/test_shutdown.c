#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/base/shutdown.h"
#include "tests/support/child.h"
#include "tests/support/runner.h"

enum {
	WRONG = 40
};

/* Each runs in a process of its own: signals and flags belong to the whole process. */
static struct child_end run(void (*function)(void *context), int number)
{
	struct child_end end;

	child_run(function, &number, &end);
	return end;
}

static void stop_once(void *context)
{
	const int *number = context;

	shutdown_install();
	if (shutdown_is_requested())
		_exit(WRONG);
	(void)raise(*number);
	_exit(shutdown_is_requested() ? 0 : WRONG);
}

START_TEST(a_stop_signal_is_a_question)
{
	ck_assert_int_eq(run(stop_once, SIGTERM).status, 0);
	ck_assert_int_eq(run(stop_once, SIGINT).status, 0);
}
END_TEST

static void stop_twice(void *context)
{
	const int *number = context;

	shutdown_install();
	(void)raise(*number);
	(void)raise(SIGTERM);
	_exit(WRONG);
}

START_TEST(a_second_stop_signal_leaves_at_once)
{
	ck_assert_int_eq(run(stop_twice, SIGTERM).status, EXIT_STATUS_FAILED);
	ck_assert_int_eq(run(stop_twice, SIGINT).status, EXIT_STATUS_FAILED);
}
END_TEST

static void stop_by_itself(void *context)
{
	const int *number = context;

	shutdown_install();
	shutdown_request();
	if (!shutdown_is_requested())
		_exit(WRONG);
	(void)raise(*number);
	_exit(shutdown_is_requested() ? 0 : WRONG);
}

START_TEST(a_signal_to_a_program_that_ends_by_itself_is_the_first_one)
{
	ck_assert_int_eq(run(stop_by_itself, SIGTERM).status, 0);
}
END_TEST

static void ask_for_a_reload(void *context)
{
	(void)context;
	shutdown_install();
	if (shutdown_take_reload() || shutdown_take_dump())
		_exit(WRONG);
	(void)raise(SIGHUP);
	(void)raise(SIGHUP);
	if (!shutdown_take_reload() || shutdown_take_reload() || shutdown_take_dump())
		_exit(WRONG);
	(void)raise(SIGUSR1);
	if (!shutdown_take_dump() || shutdown_take_dump() || shutdown_take_reload())
		_exit(WRONG);
	_exit(shutdown_is_requested() ? WRONG : 0);
}

START_TEST(reload_and_dump_are_taken_once)
{
	ck_assert_int_eq(run(ask_for_a_reload, 0).status, 0);
}
END_TEST

static void write_to_nobody(void *context)
{
	int lines[2];

	(void)context;
	shutdown_install();
	if (pipe(lines) != 0)
		_exit(WRONG);
	(void)close(lines[0]);
	_exit(write(lines[1], "x", 1) < 0 ? 0 : WRONG);
}

START_TEST(a_broken_pipe_is_an_error_and_no_end)
{
	ck_assert_int_eq(run(write_to_nobody, 0).status, 0);
}
END_TEST

static void wait_for_a_signal(void *context)
{
	sigset_t all;

	(void)context;
	shutdown_install();
	uint64_t start_ms = clock_now_ms();
	(void)sigfillset(&all);
	(void)sigprocmask(SIG_BLOCK, &all, NULL);
	pid_t parent = getpid();
	pid_t child = fork();
	if (child == 0) {
		clock_wait_ms(20);
		(void)kill(parent, SIGTERM);
		_exit(0);
	}
	(void)sigprocmask(SIG_UNBLOCK, &all, NULL);
	clock_wait_ms(30000);
	_exit(clock_now_ms() - start_ms < 20000 && shutdown_is_requested() ? 0 : WRONG);
}

START_TEST(a_stop_signal_ends_a_wait)
{
	ck_assert_int_eq(run(wait_for_a_signal, 0).status, 0);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		a_stop_signal_is_a_question,
		a_second_stop_signal_leaves_at_once,
		a_signal_to_a_program_that_ends_by_itself_is_the_first_one,
		reload_and_dump_are_taken_once,
		a_broken_pipe_is_an_error_and_no_end,
		a_stop_signal_ends_a_wait,
	};

	return runner_run("shutdown", tests, ARRAY_LENGTH(tests));
}
