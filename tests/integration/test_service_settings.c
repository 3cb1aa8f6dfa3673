/*
 * service: what a daemon makes of its command line and its settings, when it starts and on HUP.
 */
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <check.h>

#include "common/base/compiler.h"
#include "common/base/log.h"
#include "common/base/shutdown.h"
#include "common/base/text.h"
#include "tests/support/life.h"
#include "tests/support/listener.h"
#include "tests/support/runner.h"
#include "tests/support/scratch.h"

static void write_settings(const char *content, char path[PATH_MAX])
{
	scratch_write("settings", content, path);
}

/* Changes the file, asks for a reload, and says what came of it. */
static enum result reload_once(void *context, struct error *error)
{
	struct life *life = context;
	char path[PATH_MAX];

	(void)error;
	switch (life->turns++) {
	case 0:
		write_settings(life->note, path);
		(void)raise(SIGHUP);
		break;
	default:
		log_error(log_event("seen"), log_int("reloads", life->reloads),
			log_text("secret_is_new",
				text_equals(life->settings.secret, "new") ? "yes" : "no"),
			log_text("level", log_level_names[log_get_level()]));
		shutdown_request();
		break;
	}
	return RESULT_OK;
}

static void expect_reload(const char *content, const char *words)
{
	struct life life = { .step = reload_once, .note = content };
	char path[PATH_MAX];
	char option[PATH_MAX + 16];

	(void)unsetenv("LAPSE_MYSQL_URL");
	write_settings("LAPSE_MYSQL_URL=old\n", path);
	(void)text_format(option, sizeof(option), "--env-file=%s", path);
	life.arguments[0] = option;
	life_expect(&life, EXIT_STATUS_OK, words);
}

START_TEST(a_reload_reads_secrets_and_log_level_again)
{
	expect_reload("LAPSE_MYSQL_URL=new\nLAPSE_LOG_LEVEL=debug\n",
		"\"reloads\":1,\"secret_is_new\":\"yes\",\"level\":\"debug\"");
	ck_assert_uint_eq(life_count("\"event\":\"reloaded\""), 1);
}
END_TEST

START_TEST(a_reload_with_a_mistake_changes_nothing)
{
	expect_reload("LAPSE_LOG_LEVEL=debug\n",
		"\"reloads\":0,\"secret_is_new\":\"no\",\"level\":\"info\"");
	ck_assert_ptr_nonnull(strstr(life_output(), "LAPSE_MYSQL_URL: is not set"));
	expect_reload("LAPSE_MYSQL_URL=new\nLAPSE_LOG_LEVEL=loud\n",
		"\"reloads\":0,\"secret_is_new\":\"no\",\"level\":\"info\"");
	ck_assert_ptr_nonnull(strstr(life_output(), "reload_refused"));
}
END_TEST

START_TEST(a_wrong_command_line_ends_with_64)
{
	struct life life = { .step = life_stop_at_once, .arguments = { "--bogus" } };

	life_expect(&life, EXIT_STATUS_USAGE, "lapse-test: unknown option \"--bogus\"");
	ck_assert_uint_eq(life_count("\n"), 1);
}
END_TEST

START_TEST(all_mistakes_are_told_in_one_run)
{
	struct life life = { .step = life_stop_at_once };

	(void)setenv("LAPSE_SWEEP_INTERVL", "3s", 1);
	(void)setenv("LAPSE_MYSQL_URL_FILE", "/nowhere", 1);
	(void)setenv("LAPSE_LOG_LEVEL", "loud", 1);
	(void)setenv("LAPSE_OPS_ADDR", "somewhere", 1);
	(void)setenv("LAPSE_SWEEP_BATCH", "13", 1);
	life_expect(&life, EXIT_STATUS_CONFIGURATION, "did you mean LAPSE_SWEEP_INTERVAL?");
	ck_assert_ptr_nonnull(strstr(life_output(), "LAPSE_MYSQL_URL and LAPSE_MYSQL_URL_FILE"));
	ck_assert_ptr_nonnull(strstr(life_output(), "LAPSE_LOG_LEVEL: \"loud\""));
	ck_assert_ptr_nonnull(strstr(life_output(), "LAPSE_OPS_ADDR: \"somewhere\""));
	ck_assert_ptr_nonnull(strstr(life_output(), "13 brings bad luck"));
	ck_assert_uint_eq(life_count("\n"), 5);
	ck_assert_uint_eq(life_count("started"), 0);
}
END_TEST

START_TEST(check_config_prints_values_and_no_secret)
{
	struct life life = { .step = life_stop_at_once, .arguments = { "--check-config" } };

	(void)setenv("LAPSE_SWEEP_BATCH", "17", 1);
	life_expect(&life, EXIT_STATUS_OK, "LAPSE_SWEEP_BATCH=17 (environment)\n");
	ck_assert_ptr_nonnull(strstr(life_output(), "LAPSE_MYSQL_URL=set (environment)\n"));
	ck_assert_ptr_nonnull(strstr(life_output(), "LAPSE_SHUTDOWN_TIMEOUT=25s (default)\n"));
	ck_assert_uint_eq(life_count("the secret"), 0);
	(void)setenv("LAPSE_SWEEP_BATCH", "0", 1);
	life_expect(&life, EXIT_STATUS_CONFIGURATION, "LAPSE_SWEEP_BATCH=0 (environment)\n");
	ck_assert_ptr_nonnull(strstr(life_output(), "LAPSE_SWEEP_BATCH: \"0\" is not"));
}
END_TEST

START_TEST(help_and_version_need_no_settings)
{
	struct life help = { .step = life_stop_at_once, .arguments = { "--help" } };
	struct life version = { .step = life_stop_at_once, .arguments = { "--version" } };

	(void)unsetenv("LAPSE_MYSQL_URL");
	life_expect(&help, EXIT_STATUS_OK, "LAPSE_SWEEP_BATCH");
	ck_assert_ptr_nonnull(strstr(life_output(), "Usage: lapse-test"));
	life_expect(&version, EXIT_STATUS_OK, "lapse-test 0.1.0 (git ");
	ck_assert_ptr_nonnull(strstr(life_output(), ", schema "));
}
END_TEST

START_TEST(a_healthcheck_of_nobody_fails_with_one_line)
{
	struct life life = { .step = life_stop_at_once, .arguments = { "--healthcheck" } };

	life_expect(&life, EXIT_STATUS_FAILED, "LAPSE_OPS_ADDR is not set");
	(void)setenv("LAPSE_OPS_ADDR", "127.0.0.1:1", 1);
	life_expect(&life, EXIT_STATUS_FAILED, "Connection refused");
	ck_assert_uint_eq(life_count("\n"), 1);
}
END_TEST

START_TEST(a_port_in_use_keeps_it_from_starting)
{
	struct life life = { .step = life_stop_at_once };
	char address[32];
	uint16_t port = 0;
	int taken = listener_open(&port);

	ck_assert_int_ge(taken, 0);
	(void)text_format(address, sizeof(address), "127.0.0.1:%u", port);
	(void)setenv("LAPSE_OPS_ADDR", address, 1);
	life_expect(&life, EXIT_STATUS_FAILED, "start_failed");
	ck_assert_ptr_nonnull(strstr(life_output(), "in use"));
	(void)close(taken);
}
END_TEST

int main(void)
{
	static const struct runner_fixture fixture = { life_set_up, life_tear_down };
	const TTest *const tests[] = {
		a_reload_reads_secrets_and_log_level_again,
		a_reload_with_a_mistake_changes_nothing,
		a_wrong_command_line_ends_with_64,
		all_mistakes_are_told_in_one_run,
		check_config_prints_values_and_no_secret,
		help_and_version_need_no_settings,
		a_healthcheck_of_nobody_fails_with_one_line,
		a_port_in_use_keeps_it_from_starting,
	};

	return runner_run_with("service_settings", &fixture, tests, ARRAY_LENGTH(tests));
}
