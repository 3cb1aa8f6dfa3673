#include "tests/support/life.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <check.h>

#include "common/base/compiler.h"
#include "common/base/log.h"
#include "common/base/text.h"
#include "tests/support/child.h"

static const struct setting settings_table[] = {
	SETTINGS_SHARED(struct life_settings, service, service_settings_table),
	SETTING_SECRET(struct life_settings, secret, "LAPSE_MYSQL_URL", true, "where"),
	SETTING_UINT(struct life_settings, batch, "LAPSE_SWEEP_BATCH", "500", 1, 5000, "rows"),
	SETTING_END,
};

const struct metric_family life_metrics[] = {
	{ .type = METRIC_TYPE_COUNTER, .name = "t_turns_total", .help = "Turns." },
	METRIC_END,
};

static struct child_end end;

static void note_dump(void *context)
{
	const struct life *life = context;

	log_info(log_event("dump_of_test"), log_int("turns", life->turns));
}

static void note_reload(void *context)
{
	struct life *life = context;

	life->reloads++;
}

static void check_batch(const void *context, struct settings_report *report)
{
	const struct life_settings *settings = context;

	if (settings->batch == 13)
		settings_report_add(report, "LAPSE_SWEEP_BATCH: 13 brings bad luck");
}

/* Lives the whole life of a daemon and ends the process with its status. */
void life_live(void *context)
{
	struct life *life = context;
	const struct service_program program = {
		.name = "lapse-test",
		.summary = "Lives.",
		.settings = settings_table,
		.check = check_batch,
		.metrics = life_metrics,
		.checks = SERVICE_CHECK_MYSQL,
		.dump = note_dump,
		.reload = note_reload,
		.drain = life->drain,
	};
	static char name[] = "anything";
	char copies[LIFE_ARGUMENT_MAX][PATH_MAX];
	char *argv[LIFE_ARGUMENT_MAX + 1] = { name };
	int argc = 1;

	(void)dup2(STDERR_FILENO, STDOUT_FILENO);
	for (; argc < LIFE_ARGUMENT_MAX && life->arguments[argc - 1] != NULL; argc++) {
		(void)text_copy(copies[argc], sizeof(copies[argc]), life->arguments[argc - 1]);
		argv[argc] = copies[argc];
	}
	service_begin(argc, argv, &program, &life->settings);
	int status = service_run(life->step, life);
	service_end();
	(void)fflush(stdout);
	_exit(status);
}

size_t life_count(const char *words)
{
	size_t count = 0;

	for (const char *found = strstr(end.output, words); found != NULL;
		found = strstr(found + 1, words))
		count++;
	return count;
}

const char *life_output(void)
{
	return end.output;
}

void life_expect(struct life *life, int status, const char *words)
{
	child_run(life_live, life, &end);
	ck_assert_msg(
		end.status == status, "%d (signal %d): %s", end.status, end.signal, end.output);
	ck_assert_msg(strstr(end.output, words) != NULL, "no \"%s\" in %s", words, end.output);
}

void life_set_up(void)
{
	(void)setenv("LAPSE_MYSQL_URL", "the secret", 1);
	(void)setenv("LAPSE_LOG_FORMAT", "json", 1);
}

void life_tear_down(void)
{
	static const char *const names[] = { "LAPSE_MYSQL_URL", "LAPSE_MYSQL_URL_FILE",
		"LAPSE_LOG_FORMAT", "LAPSE_LOG_LEVEL", "LAPSE_OPS_ADDR", "LAPSE_SWEEP_BATCH",
		"LAPSE_SWEEP_INTERVL", "LAPSE_SHUTDOWN_TIMEOUT" };

	for (size_t i = 0; i < ARRAY_LENGTH(names); i++)
		(void)unsetenv(names[i]);
}

enum result life_stop_at_once(void *context, struct error *error)
{
	(void)context;
	(void)error;
	(void)raise(SIGTERM);
	return RESULT_OK;
}
