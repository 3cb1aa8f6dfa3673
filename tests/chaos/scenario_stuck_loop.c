/* A loop that hangs: /livez says so after 30 s, and the process ends itself after two minutes.  A
 * process that is paused for as long is not shot when it wakes. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "tests/support/daemon.h"
#include "tests/support/http_client.h"
#include "tests/support/orders.h"
#include "tests/support/process.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/wait_until.h"

enum {
	PROBE_LIMIT_MS = 2000,
	WATCH_MS = 120000,
	WATCH_MARGIN_MS = 60000, /* of a busy machine */
	NOT_LIVE_MS = 30000,
	NOT_LIVE_MARGIN_MS = 30000,
};

static struct sandbox *sandbox;

static void set_up(void)
{
	sandbox_create(SANDBOX_NO_BROKER, &sandbox);
	sandbox_set(sandbox, "LAPSE_SWEEP_INTERVAL", "1s");
}

static void tear_down(void)
{
	sandbox_destroy(&sandbox);
}

static bool is_not_live(void *daemon)
{
	const struct daemon *asked = daemon;

	return http_client_get(asked->port, "/livez", PROBE_LIMIT_MS, NULL) == 503;
}

static bool has_ended(void *process)
{
	return !process_is_alive(process);
}

/* Stands still in the middle of its first transaction. */
static void start_stuck(struct daemon *stuck)
{
	stuck->port = sandbox_free_port();
	sandbox_set(sandbox, "LAPSE_OPS_ADDR", "127.0.0.1:%u", stuck->port);
	stuck->process =
		sandbox_start_with_failpoint(sandbox, "lapse-sweeper", "before_commit:hang");
	sandbox_unset(sandbox, "LAPSE_OPS_ADDR");
}

static void expect_last_words(const struct daemon *stuck)
{
	static const char *const words[] = { "loop_stuck", "mysql", "dump_metric",
		"process_start_time_seconds" };
	char *errors = process_errors(stuck->process);

	for (size_t i = 0; i < ARRAY_LENGTH(words); i++)
		ck_assert_msg(
			strstr(errors, words[i]) != NULL, "no \"%s\" in\n%s", words[i], errors);
	free(errors);
}

START_TEST(a_stuck_loop_ends_its_process_and_a_paused_one_goes_on)
{
	struct query *query = sandbox_query(sandbox);
	struct daemon paused;
	struct daemon stuck;

	daemon_start_ready(sandbox, "lapse-sweeper", &paused);
	process_signal(paused.process, SIGSTOP);
	WAIT_UNTIL(process_is_stopped, paused.process);
	orders_insert_one(query, "A1", -1000);
	uint64_t begin_ms = clock_now_ms();
	start_stuck(&stuck);

	WAIT_UNTIL_WITHIN(is_not_live, &stuck, NOT_LIVE_MS + NOT_LIVE_MARGIN_MS);
	ck_assert_uint_ge(clock_now_ms() - begin_ms, NOT_LIVE_MS);
	ck_assert(process_is_alive(stuck.process));
	WAIT_UNTIL_WITHIN(has_ended, stuck.process, WATCH_MS + WATCH_MARGIN_MS);
	ck_assert_uint_ge(clock_now_ms() - begin_ms, WATCH_MS);
	ck_assert_int_eq(process_wait(stuck.process, 0), EXIT_STATUS_BUG);
	expect_last_words(&stuck);
	sandbox_kill(sandbox, stuck.process);

	/* Paused for longer than the watchdog waits, and awake for more than one of its checks. */
	process_signal(paused.process, SIGCONT);
	WAIT_UNTIL(daemon_is_ready, &paused);
	WAIT_UNTIL(orders_are_all_final, query);
	query_run(query, "SELECT SLEEP(3)");
	ck_assert(process_is_alive(paused.process));
	ck_assert_uint_eq(http_client_get(paused.port, "/livez", PROBE_LIMIT_MS, NULL), 200);
	daemon_stop(&paused, WAIT_LIMIT_MS);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = { a_stuck_loop_ends_its_process_and_a_paused_one_goes_on };
	const struct runner_fixture fixture = { set_up, tear_down };

	sandbox_need_servers();
	return runner_run_with("stuck_loop", &fixture, tests, ARRAY_LENGTH(tests));
}
