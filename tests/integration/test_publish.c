/* "lapse-producer publish": words and lines of any kind, what it arms and how it ends. */
#include <stdlib.h>
#include <string.h>

#include "common/base/text.h"
#include "tests/support/orders.h"
#include "tests/support/process.h"
#include "tests/support/query.h"
#include "tests/support/rabbit.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/scratch.h"
#include "tests/support/stack.h"
#include "tests/support/wait_until.h"

#define DUE_QUEUE "lapse.timeout.due"
#define PUBLISH   TEST_BIN_DIR "/lapse-producer publish"

enum {
	SCRIPT_SIZE = 2048,
	SOON_MS = 1500,
	HELD_US = 300000
};

static struct sandbox *sandbox;
static struct query *query;
static struct rabbit *rabbit;

static void set_up(void)
{
	sandbox_create(SANDBOX_EVERYTHING, &sandbox);
	query = sandbox_query(sandbox);
	rabbit = sandbox_rabbit(sandbox);
	sandbox_set(sandbox, "LAPSE_DELAY", "%s", stack_has_delay_exchange() ? "plugin" : "levels");
	orders_insert_one(query, "DUE", -1000);
	orders_insert_one(query, "DUE-2", -1000);
	orders_insert_one(query, "LATER", 600000);
	orders_insert_one(query, "PAID", 60000);
	ck_assert(orders_pay(query, "PAID"));
}

static void tear_down(void)
{
	sandbox_destroy(&sandbox);
}

/* Runs a script of the shell; the last line of its output must be the summary. */
static void run(const char *script, int status, const char *summary)
{
	const char *const words[] = { "-c", script, NULL };
	char *output = NULL;
	int ended = sandbox_run(sandbox, "/bin/sh", words, &output);

	ck_assert_msg(ended == status, "%s: status %d\n%s", script, ended, output);
	ck_assert_msg(strstr(output, summary) != NULL, "%s: %s", script, output);
	free(output);
}

static void expect_due(int64_t count)
{
	ck_assert_int_eq(rabbit_count(rabbit, DUE_QUEUE), count);
}

START_TEST(words_are_armed)
{
	struct rabbit_delivery timeout;

	run(PUBLISH " DUE LATER PAID", 0, "armed=2 final=1 not_found=0 malformed=0\n");
	expect_due(1);
	ck_assert(rabbit_get(rabbit, DUE_QUEUE, &timeout));
	ck_assert_str_eq(timeout.body, "{\"order_no\":\"DUE\"}");
	ck_assert_str_eq(timeout.type, "order.timeout.v1");
	ck_assert_uint_gt(strlen(timeout.message_id), 0);
	ck_assert(strstr(timeout.headers, "x-due=") != NULL);
}
END_TEST

static bool has_arrived(void *context)
{
	return rabbit_count(context, DUE_QUEUE) == 1;
}

/* Never earlier than what is held; how late is no business of this test. */
static void arrive_in_time(const char *mode)
{
	sandbox_set(sandbox, "LAPSE_DELAY", "%s", mode);
	orders_insert_one(query, "SOON", SOON_MS);
	run(PUBLISH " SOON", 0, "armed=1");
	WAIT_UNTIL(has_arrived, rabbit);
	ck_assert_int_le(query_number(query, "SELECT TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(3), "
					     "expire_time) FROM t_order WHERE order_no = 'SOON'"),
		HELD_US);
}

START_TEST(what_is_armed_arrives_through_the_levels)
{
	arrive_in_time("levels");
}
END_TEST

START_TEST(what_is_armed_arrives_through_the_plugin)
{
	if (stack_has_delay_exchange())
		arrive_in_time("plugin");
}
END_TEST

START_TEST(lines_are_armed)
{
	run("printf 'DUE\\n\\n{\"order_no\":\"DUE-2\",\"more\":[1]}\\r\\nDUE\\r\\nPAID' | " PUBLISH
	    " --stdin",
		0, "armed=3 final=1 not_found=0 malformed=0\n");
	expect_due(3);
}
END_TEST

START_TEST(garbage_is_counted_and_the_rest_is_armed)
{
	run("printf 'DUE\\0X\\nDUE \\n DUE\\n{\\n{}\\n[\"DUE\"]\\n{\"order_no\":7}\\nDUE\\rDUE\\n"
	    "DUE-2\\n\\377\\n' | " PUBLISH " --stdin",
		1, "armed=1 final=0 not_found=0 malformed=9\n");
	expect_due(1);
	run("(head -c 100000 /dev/zero | tr '\\0' D; echo; echo DUE; head -c 9000 /dev/urandom | "
	    "tr -d '\\n') | " PUBLISH " --stdin",
		1, "armed=1 final=0 not_found=0 malformed=2\n");
	expect_due(2);
	run(PUBLISH " 'DUE X' '' '{\"order_no\":\"DUE\"}'", 1, "armed=1");
}
END_TEST

START_TEST(the_exit_status_says_what_was_missing)
{
	run(PUBLISH " NOBODY DUE", 3, "armed=1 final=0 not_found=1");
	run(PUBLISH " due", 3, "armed=0 final=0 not_found=1");
	run(PUBLISH " NOBODY 'no key'", 1, "not_found=1 malformed=1");
	run(PUBLISH, 64, "--stdin");
	run(PUBLISH " --what", 64, "--what");
	run("printf '' | " PUBLISH " --stdin", 0, "armed=0");
	sandbox_set(sandbox, "LAPSE_DELAY", "none");
	run(PUBLISH " DUE", 1, "LAPSE_DELAY is none");
	sandbox_set(sandbox, "LAPSE_DELAY", "levels");
	sandbox_set(sandbox, "LAPSE_AMQP_URL", "amqp://127.0.0.1:1/");
	run(PUBLISH " DUE", 75, "armed=0");
}
END_TEST

START_TEST(thousands_of_lines_are_armed)
{
	const struct orders_plan plan = {
		.prefix = "M", .count = 1300, .due_in_ms = -1000, .has_no_events = true
	};

	orders_insert_many(query, &plan);
	run("i=0; while [ $i -lt 1300 ]; do echo M$i; i=$((i+1)); done | " PUBLISH " --stdin", 0,
		"armed=1300 ");
	expect_due(1300);
}
END_TEST

static bool is_armed(void *context)
{
	return rabbit_count(context, DUE_QUEUE) >= 1;
}

static void shell(const char *command, const char *name)
{
	char script[SCRIPT_SIZE];
	const char *const words[] = { "-c", script, NULL };

	(void)text_format(script, sizeof(script), "%s %s", command, name);
	ck_assert_int_eq(sandbox_run(sandbox, "/bin/sh", words, NULL), 0);
}

START_TEST(a_slow_pipe_is_not_waited_for)
{
	char script[SCRIPT_SIZE];
	const char *const words[] = { "-c", script, NULL };
	char fifo[SCRIPT_SIZE / 4];

	(void)text_format(fifo, sizeof(fifo), "%s/fifo", scratch_folder());
	shell("mkfifo", fifo);
	(void)text_format(script, sizeof(script),
		"(echo DUE; read line < %s; echo DUE-2) | " PUBLISH " --stdin", fifo);
	struct process *process = sandbox_start(sandbox, "/bin/sh", words);
	WAIT_UNTIL(is_armed, rabbit);
	shell("echo go >", fifo);
	ck_assert_int_eq(process_wait(process, WAIT_LIMIT_MS), 0);
	expect_due(2);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		words_are_armed,
		what_is_armed_arrives_through_the_levels,
		what_is_armed_arrives_through_the_plugin,
		lines_are_armed,
		garbage_is_counted_and_the_rest_is_armed,
		the_exit_status_says_what_was_missing,
		thousands_of_lines_are_armed,
		a_slow_pipe_is_not_waited_for,
	};
	const struct runner_fixture fixture = { set_up, tear_down };

	sandbox_need_servers();
	return runner_run_with("publish", &fixture, tests, ARRAY_LENGTH(tests));
}
