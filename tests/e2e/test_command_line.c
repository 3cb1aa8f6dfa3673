/* What every program says and does before it does anything: options, settings, exit codes. */
#include <stdlib.h>
#include <string.h>

#include "common/base/result.h"
#include "common/base/text.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"

static struct sandbox *sandbox;

static const char *const daemons[] = { "lapse-producer", "lapse-consumer", "lapse-sweeper",
	"lapse-retry" };
static const char *const all_programs[] = { "lapse-producer", "lapse-consumer", "lapse-sweeper",
	"lapse-retry", "lapse-stock", "lapse-shop", "lapsectl" };

static void set_up(void)
{
	sandbox_create(SANDBOX_NO_SCHEMA | SANDBOX_NO_BROKER, &sandbox);
	sandbox_set(sandbox, "LAPSE_AMQP_URL", "amqp://u:p@127.0.0.1:1/none");
}

static void tear_down(void)
{
	sandbox_destroy(&sandbox);
}

/* Runs with one word and expects the status; the output holds part. */
static void expect(const char *program, const char *word, int status, const char *part)
{
	const char *const words[] = { word, NULL };
	char *output = NULL;
	int got = sandbox_run(sandbox, program, word == NULL ? NULL : words, &output);

	ck_assert_msg(
		got == status, "%s %s: status %d, not %d\n%s", program, word, got, status, output);
	ck_assert_msg(strstr(output, part) != NULL, "%s %s: no \"%s\" in\n%s", program, word, part,
		output);
	free(output);
}

START_TEST(every_program_explains_itself)
{
	for (size_t i = 0; i < ARRAY_LENGTH(all_programs); i++) {
		expect(all_programs[i], "--help", EXIT_STATUS_OK, "LAPSE_MYSQL_URL");
		expect(all_programs[i], "--version", EXIT_STATUS_OK, all_programs[i]);
		expect(all_programs[i], "--no-such-option", EXIT_STATUS_USAGE, "no-such-option");
		expect(all_programs[i], "--check-config", EXIT_STATUS_OK, "LAPSE_MYSQL_URL=set");
	}
}
END_TEST

START_TEST(no_program_shows_a_secret)
{
	sandbox_set(sandbox, "LAPSE_MYSQL_URL", "mysql://u:hush@127.0.0.1:1/d");
	for (size_t i = 0; i < ARRAY_LENGTH(all_programs); i++) {
		const char *const words[] = { "--check-config", NULL };
		char *output = NULL;

		(void)sandbox_run(sandbox, all_programs[i], words, &output);
		ck_assert_msg(strstr(output, "hush") == NULL, "%s: %s", all_programs[i], output);
		free(output);
	}
}
END_TEST

START_TEST(a_wrong_setting_ends_every_daemon_before_it_begins)
{
	sandbox_set(sandbox, "LAPSE_LOG_LEVEL", "loud");
	for (size_t i = 0; i < ARRAY_LENGTH(daemons); i++) {
		expect(daemons[i], NULL, EXIT_STATUS_CONFIGURATION, "LAPSE_LOG_LEVEL");
		expect(daemons[i], "--check-config", EXIT_STATUS_CONFIGURATION, "loud");
	}
}
END_TEST

START_TEST(all_mistakes_are_told_at_once)
{
	static const char *const names[] = { "LAPSE_LOG_LEVEL", "LAPSE_SHUTDOWN_TIMEOUT",
		"LAPSE_LOCK_WAIT", "LAPSE_SWEEP_BACH", "LAPSE_SWEEP_BATCH" };

	sandbox_set(sandbox, "LAPSE_LOG_LEVEL", "loud");
	sandbox_set(sandbox, "LAPSE_SHUTDOWN_TIMEOUT", "soon");
	sandbox_set(sandbox, "LAPSE_LOCK_WAIT", "1y");
	sandbox_set(sandbox, "LAPSE_SWEEP_BACH", "7");
	for (size_t i = 0; i < ARRAY_LENGTH(names); i++)
		expect("lapse-sweeper", NULL, EXIT_STATUS_CONFIGURATION, names[i]);
}
END_TEST

START_TEST(a_secret_and_its_file_are_not_both_given)
{
	sandbox_set(sandbox, "LAPSE_MYSQL_URL_FILE", "/nowhere");
	for (size_t i = 0; i < ARRAY_LENGTH(daemons); i++)
		expect(daemons[i], NULL, EXIT_STATUS_CONFIGURATION, "LAPSE_MYSQL_URL_FILE");
}
END_TEST

START_TEST(a_daemon_without_its_servers_address_says_so)
{
	sandbox_unset(sandbox, "LAPSE_MYSQL_URL");
	for (size_t i = 0; i < ARRAY_LENGTH(daemons); i++)
		expect(daemons[i], NULL, EXIT_STATUS_CONFIGURATION, "LAPSE_MYSQL_URL");
	sandbox_set(sandbox, "LAPSE_MYSQL_URL", "http://u:p@h/d");
	for (size_t i = 0; i < ARRAY_LENGTH(daemons); i++)
		expect(daemons[i], NULL, EXIT_STATUS_CONFIGURATION, "LAPSE_MYSQL_URL");
	sandbox_set(sandbox, "LAPSE_MYSQL_URL", "mysql://u:p@127.0.0.1:1/d");
	sandbox_unset(sandbox, "LAPSE_AMQP_URL");
	expect("lapse-producer", NULL, EXIT_STATUS_CONFIGURATION, "LAPSE_AMQP_URL");
	expect("lapse-consumer", NULL, EXIT_STATUS_CONFIGURATION, "LAPSE_AMQP_URL");
}
END_TEST

START_TEST(a_healthcheck_of_nobody_says_no)
{
	sandbox_set(sandbox, "LAPSE_OPS_ADDR", "127.0.0.1:%u", sandbox_free_port());
	for (size_t i = 0; i < ARRAY_LENGTH(daemons); i++)
		expect(daemons[i], "--healthcheck", EXIT_STATUS_FAILED, "");
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		every_program_explains_itself,
		no_program_shows_a_secret,
		a_wrong_setting_ends_every_daemon_before_it_begins,
		all_mistakes_are_told_at_once,
		a_secret_and_its_file_are_not_both_given,
		a_daemon_without_its_servers_address_says_so,
		a_healthcheck_of_nobody_says_no,
	};
	const struct runner_fixture fixture = { set_up, tear_down };

	sandbox_need_servers();
	return runner_run_with("command_line", &fixture, tests, ARRAY_LENGTH(tests));
}
