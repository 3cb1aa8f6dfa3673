/*
 * A broker that cannot delay messages, and one on which somebody else has taken the name of our
 * exchange: the fleet says so, closes by sweep what it cannot close by message, and goes on by
 * itself.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "tests/support/fleet.h"
#include "tests/support/http_client.h"
#include "tests/support/process.h"
#include "tests/support/rabbit.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/scratch.h"
#include "tests/support/wait_until.h"

extern char **environ;

enum {
	STACK_LIMIT_MS = 120000,
	PROBE_LIMIT_MS = 5000
};

static struct fleet *fleet;

static const struct fleet_expectation all_is_well = { .latest_ms = FLEET_ANY_LATENESS };

/* The stack of this run, and beside it a broker of our own that has no delayed exchange. */
static char plain_name[64];

/* Output is the caller's. */
static char *run_plain_stack(const char *word, const char *option)
{
	const char *const words[] = { "--name", plain_name, word, option, NULL };
	char program[PATH_MAX];
	struct process *process = NULL;

	(void)text_format(
		program, sizeof(program), "%s/../../scripts/stack", getenv("STACK_FOLDER"));
	const struct process_plan plan = { .program = program,
		.arguments = words,
		.environment = environ,
		.folder = scratch_folder() };
	process_start(&plan, &process);
	int status = process_wait(process, STACK_LIMIT_MS);
	char *output = process_output(process);
	process_destroy(&process);
	ck_assert_msg(status == 0, "scripts/stack %s: status %d", word, status);
	return output;
}

static void set_up(void)
{
	fleet_create(&fleet);
}

static void tear_down(void)
{
	if (plain_name[0] != '\0')
		free(run_plain_stack("down", NULL));
	plain_name[0] = '\0';
	fleet_destroy(&fleet);
}

/* The fleet talks to the plain broker from now on. */
static void use_plain_broker(void)
{
	static const char name[] = "LAPSE_AMQP_URL=";

	(void)text_format(plain_name, sizeof(plain_name), "%s-plain", getenv("STACK_NAME"));
	free(run_plain_stack("up", "--no-db"));
	char *output = run_plain_stack("env", "--plain");
	char *url = strstr(output, name);
	ck_assert_ptr_nonnull(url);
	url += strlen(name);
	url[strcspn(url, "\n")] = '\0';
	sandbox_set(fleet_sandbox(fleet), "LAPSE_AMQP_URL", "%s", url);
	free(output);
}

static void expect_answer(enum fleet_member member, const char *path, const char *part)
{
	char *answer = memory_allocate(HTTP_CLIENT_SIZE);

	(void)http_client_get(fleet_ops_port(fleet, member), path, PROBE_LIMIT_MS, answer);
	ck_assert_msg(strstr(answer, part) != NULL, "no \"%s\" in %s", part, answer);
	free(answer);
}

static bool are_closed(void *context)
{
	const int64_t *wanted = context;

	return fleet_count_closed(fleet, "", "%") >= *wanted;
}

START_TEST(auto_takes_the_levels_where_there_is_nothing_else_and_says_so)
{
	use_plain_broker();
	fleet_start(fleet);
	fleet_await_ready(fleet, FLEET_PRODUCER, true);
	fleet_await_ready(fleet, FLEET_CONSUMER, true);
	fleet_feed(fleet, "A", 100, 2500, 1000);
	fleet_settle(fleet);
	ck_assert_int_ge(fleet_count_closed(fleet, "A", "message"), 90);
	expect_answer(FLEET_PRODUCER, "/metrics", "lapse_delay_mode{mode=\"levels\"} 1");
	sandbox_expect_all_alive(fleet_sandbox(fleet));
}
END_TEST

START_TEST(a_plugin_that_is_not_there_costs_lateness_and_no_order)
{
	int64_t wanted = 100;

	use_plain_broker();
	sandbox_set(fleet_sandbox(fleet), "LAPSE_DELAY", "plugin");
	fleet_start(fleet);
	fleet_await_ready(fleet, FLEET_PRODUCER, false);
	fleet_feed(fleet, "P", 100, 500, 1000);
	ck_assert(wait_until(are_closed, &wanted, WAIT_LIMIT_MS));
	ck_assert_int_eq(fleet_count_closed(fleet, "P", "sweep"), 100);
	expect_answer(FLEET_PRODUCER, "/readyz?verbose", "x-delayed-message");
	expect_answer(FLEET_SWEEPER, "/readyz", "200");
	sandbox_expect_all_alive(fleet_sandbox(fleet));
}
END_TEST

START_TEST(an_exchange_of_another_type_is_named_and_replaced_by_nobody)
{
	struct rabbit *rabbit = sandbox_rabbit(fleet_sandbox(fleet));
	int64_t wanted = 50;

	rabbit_declare_exchange(rabbit, "lapse.timeout", "direct");
	sandbox_set(fleet_sandbox(fleet), "LAPSE_DELAY", "plugin");
	fleet_start(fleet);
	fleet_await_ready(fleet, FLEET_PRODUCER, false);
	fleet_feed(fleet, "X", 50, 500, 500);
	ck_assert(wait_until(are_closed, &wanted, WAIT_LIMIT_MS));
	expect_answer(FLEET_PRODUCER, "/readyz?verbose", "direct");
	rabbit_delete_exchange(rabbit, "lapse.timeout");
	fleet_await_ready(fleet, FLEET_PRODUCER, true);
	fleet_await_ready(fleet, FLEET_CONSUMER, true);
	fleet_feed(fleet, "Y", 50, 2500, 500);
	fleet_settle(fleet);
	ck_assert_int_ge(fleet_count_closed(fleet, "Y", "message"), 45);
	fleet_check(fleet, &all_is_well);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		auto_takes_the_levels_where_there_is_nothing_else_and_says_so,
		a_plugin_that_is_not_there_costs_lateness_and_no_order,
		an_exchange_of_another_type_is_named_and_replaced_by_nobody,
	};
	const struct runner_fixture fixture = { set_up, tear_down };

	sandbox_need_servers();
	return runner_run_with("other_broker", &fixture, tests, ARRAY_LENGTH(tests));
}
