#include "common/service/service.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/backoff.h"
#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/random.h"
#include "common/base/shutdown.h"
#include "common/base/text.h"
#include "common/io/endpoint.h"
#include "common/service/notify.h"
#include "common/service/ops.h"
#include "common/service/options.h"
#include "common/service/process_metrics.h"
#include "common/service/vital_signs.h"
#include "version.h"

enum {
	PERMANENT_CAP_MS = 30000, /* waiting for a person, not for a server */
	LAST_ATTEMPT = 16,        /* one that has reached any cap */
	CONFLICT_WAIT_MAX_MS = 20,
	SLICE_MS = 1000,
	DISCONNECT_MS = 1000, /* of the shutdown time, kept for the end */
	HOST_NAME_SIZE = 65,
};

static const char loop_check[] = "loop";

const struct setting service_settings_table[] = {
	SETTING_TEXT(struct service_settings, ops_addr, "LAPSE_OPS_ADDR", NULL,
		"HOST:PORT of /livez, /readyz and /metrics; off unless set"),
	SETTING_CHOICE(struct service_settings, log_level, "LAPSE_LOG_LEVEL", "info",
		log_level_names, "error, warn, info or debug"),
	SETTING_CHOICE(struct service_settings, log_format, "LAPSE_LOG_FORMAT", "auto",
		log_format_names, "json, text, or auto: text on a terminal, else json"),
	SETTING_TEXT(struct service_settings, instance, "LAPSE_INSTANCE", NULL,
		"name of this process in the log; the host name unless set"),
	SETTING_DURATION(struct service_settings, shutdown_timeout_ms, "LAPSE_SHUTDOWN_TIMEOUT",
		"25s", SECONDS(1), HOURS(1), "longest time to finish after a stop request"),
	SETTING_END,
};

/* The process has one life. */
static struct {
	const struct service_program *program;
	void *settings;
	const char *env_file;
	char host_name[HOST_NAME_SIZE];
	/* Of the trouble that lasts. */
	uint32_t attempt;
	uint64_t repeats;
	uint64_t failures;
	uint64_t trouble_since_ms;
	uint64_t calm_ms; /* when the loop last saw that nobody had asked to stop */
	char trouble[sizeof(struct error)];
} service;

extern char **environ;

static const struct service_settings *common_settings(void)
{
	return service.settings;
}

static void print_problems(const struct settings_report *report)
{
	for (size_t i = 0; i < settings_report_count(report); i++)
		(void)fprintf(
			stderr, "%s: %s\n", service.program->name, settings_report_get(report, i));
}

static void check_settings(const struct settings_source *source, struct settings_report *report)
{
	const char *address = common_settings()->ops_addr;

	settings_check_names(source, report);
	if (address != NULL && !endpoint_is_valid(address))
		settings_report_add(report, "LAPSE_OPS_ADDR: \"%.80s\" is no HOST:PORT", address);
	if (service.program->check != NULL)
		service.program->check(service.settings, report);
}

/* Leaves when something is wrong, or when no more was asked for. */
static void read_settings(enum options_mode mode)
{
	struct settings_report *report = settings_report_create();
	struct settings_source *source = settings_source_create(environ, service.env_file, report);

	settings_read(service.program->settings, source, service.settings, report);
	check_settings(source, report);
	bool is_wrong = settings_report_count(report) > 0;
	if (mode == OPTIONS_MODE_CHECK_CONFIG) {
		settings_print_values(service.program->settings, source, stdout);
		(void)fflush(stdout);
	}
	print_problems(report);
	settings_source_destroy(&source);
	settings_report_destroy(&report);
	if (mode == OPTIONS_MODE_RUN && !is_wrong)
		return;
	settings_clear(service.program->settings, service.settings);
	exit(is_wrong ? EXIT_STATUS_CONFIGURATION : EXIT_STATUS_OK);
}

/* Looks at one setting only: others may be meant for the program itself, in another environment. */
NO_RETURN static void check_health(bool only_live)
{
	struct settings_report *report = settings_report_create();
	struct settings_source *source = settings_source_create(environ, service.env_file, report);
	int status = EXIT_STATUS_FAILED;

	print_problems(report);
	if (settings_report_count(report) == 0)
		status = ops_healthcheck(settings_source_find(source, "LAPSE_OPS_ADDR"), only_live);
	settings_source_destroy(&source);
	settings_report_destroy(&report);
	exit(status);
}

static void obey_options(int argc, char **argv)
{
	struct options options;
	struct error error = { 0 };

	if (options_read(argc, argv, service.program, service.settings, &options, &error) !=
		RESULT_OK) {
		(void)fprintf(stderr, "%s: %s\n", service.program->name, error.text);
		exit(EXIT_STATUS_USAGE);
	}
	service.env_file = options.env_file;
	switch (options.mode) {
	case OPTIONS_MODE_HELP:
		options_print_help(service.program);
		exit(EXIT_STATUS_OK);
	case OPTIONS_MODE_VERSION:
		options_print_version(service.program);
		exit(EXIT_STATUS_OK);
	case OPTIONS_MODE_HEALTHCHECK:
		check_health(false);
	case OPTIONS_MODE_HEALTHCHECK_LIVE:
		check_health(true);
	case OPTIONS_MODE_CHECK_CONFIG:
	case OPTIONS_MODE_RUN:
		read_settings(options.mode);
		return;
	}
}

static void open_log(void)
{
	const struct service_settings *settings = common_settings();

	if (gethostname(service.host_name, sizeof(service.host_name) - 1) != 0)
		(void)text_copy(service.host_name, sizeof(service.host_name), "unknown");
	log_open(service.program->name, LAPSE_VERSION,
		settings->instance == NULL ? service.host_name : settings->instance,
		(enum log_format)settings->log_format);
	log_set_level((enum log_level)settings->log_level);
}

void service_begin(int argc, char **argv, const struct service_program *program, void *settings)
{
	struct error error = { 0 };

	service.program = program;
	service.settings = settings;
	obey_options(argc, argv);
	notify_open();
	open_log();
	shutdown_install();
	metrics_open();
	metrics_register(program->metrics);
	ops_add_check(loop_check);
	vital_signs_open(program->name, program->checks);
	metrics_register(process_metrics_families);
	if (ops_start(common_settings()->ops_addr, program->name, LAPSE_VERSION, &error) !=
		RESULT_OK)
		exit(service_fail("the ops port did not open", &error));
	log_info(log_event("started"), log_text("revision", LAPSE_REVISION),
		log_uint("schema", LAPSE_SCHEMA_VERSION), log_uint("pid", (uint64_t)getpid()),
		log_uint("ops_port", ops_port()));
}

/* The level is a choice, so that it can be read by itself. */
static enum log_level find_log_level(
	const struct settings_source *source, struct settings_report *report)
{
	const char *name = settings_source_find(source, "LAPSE_LOG_LEVEL");

	for (int level = LOG_LEVEL_ERROR; level <= LOG_LEVEL_DEBUG; level++)
		if (text_equals(name == NULL ? "info" : name, log_level_names[level]))
			return (enum log_level)level;
	settings_report_add(report, "LAPSE_LOG_LEVEL: \"%.40s\" is no level", name);
	return log_get_level();
}

/* True when it has been read; with a mistake everything stays as it is. */
static bool read_again(struct settings_report *report)
{
	struct settings_source *source = settings_source_create(environ, service.env_file, report);
	enum log_level level = find_log_level(source, report);
	bool is_read = false;

	if (settings_report_count(report) == 0)
		settings_reload(service.program->settings, source, service.settings, report);
	if (settings_report_count(report) == 0) {
		is_read = true;
		log_set_level(level);
		/* What breaks a rule now is told; there is nothing to go back to. */
		if (service.program->check != NULL)
			service.program->check(service.settings, report);
		log_info(log_event("reloaded"), log_text("log_level", log_level_names[level]));
	}
	settings_source_destroy(&source);
	return is_read;
}

static void reload(void *context)
{
	struct settings_report *report = settings_report_create();

	bool is_read = read_again(report);
	for (size_t i = 0; i < settings_report_count(report); i++)
		log_error(log_event(is_read ? "settings_wrong" : "reload_refused"),
			log_text("problem", settings_report_get(report, i)));
	if (is_read && service.program->reload != NULL)
		service.program->reload(context);
	settings_report_destroy(&report);
}

static void dump(void *context)
{
	log_info(log_event("dump"), log_text("ready", ops_is_ready() ? "yes" : "no"),
		log_uint("failures", service.failures), log_text("trouble", service.trouble));
	if (service.program->dump != NULL)
		service.program->dump(context);
	vital_signs_log_metrics();
}

static void serve_requests(void *context)
{
	service_note_turn();
	if (shutdown_take_reload())
		reload(context);
	if (shutdown_take_dump())
		dump(context);
}

static void wait_in_slices(void *context, uint64_t wait_ms)
{
	uint64_t end_ms = clock_now_ms() + wait_ms;
	uint64_t now_ms = clock_now_ms();

	while (now_ms < end_ms && !shutdown_is_requested()) {
		service.calm_ms = now_ms;
		clock_wait_ms(end_ms - now_ms < SLICE_MS ? end_ms - now_ms : SLICE_MS);
		serve_requests(context);
		now_ms = clock_now_ms();
	}
}

static void note_success(void)
{
	if (service.failures == 0 && ops_is_check_well(loop_check))
		return;
	if (service.failures > 0)
		log_info(log_event("recovered"), log_uint("failures", service.failures),
			log_uint("after_ms", clock_now_ms() - service.trouble_since_ms));
	service.failures = 0;
	service.attempt = 0;
	service.repeats = 0;
	service.trouble[0] = '\0';
	ops_set_check(loop_check, true, NULL);
}

static void note_failure(enum result result, const struct error *error)
{
	if (service.failures++ == 0)
		service.trouble_since_ms = clock_now_ms();
	if (!text_equals(service.trouble, error->text))
		service.repeats = 0;
	(void)text_copy(service.trouble, sizeof(service.trouble), error->text);
	ops_set_check(loop_check, false, error->text);
	bool is_worth_it = log_is_worth_repeating(&service.repeats);
	if (result == RESULT_PERMANENT)
		log_error(log_event("step_failed"), log_text("error", error->text),
			log_uint("repeated", service.repeats));
	else if (is_worth_it)
		log_warn(log_event("step_failed"), log_text("error", error->text),
			log_uint("repeated", service.repeats));
}

static void act_on(enum result result, const struct error *error, void *context)
{
	switch (result) {
	case RESULT_OK:
	case RESULT_NONE:
		note_success();
		return;
	case RESULT_CONFLICT:
		log_debug(log_event("step_lost_race"), log_text("error", error->text));
		wait_in_slices(context, 1 + random_up_to(CONFLICT_WAIT_MAX_MS));
		return;
	case RESULT_TEMPORARY:
		note_failure(result, error);
		wait_in_slices(context, backoff_delay_ms(service.attempt++, SERVICE_BACKOFF_BASE_MS,
						SERVICE_BACKOFF_CAP_MS));
		return;
	case RESULT_PERMANENT:
		note_failure(result, error);
		wait_in_slices(context,
			backoff_delay_ms(LAST_ATTEMPT, SERVICE_BACKOFF_BASE_MS, PERMANENT_CAP_MS));
		return;
	}
}

/* Ends early because the rest of the time is needed for disconnecting. */
static void drain(void *context)
{
	uint64_t timeout_ms = common_settings()->shutdown_timeout_ms;
	uint64_t keep_ms = timeout_ms / 4 < DISCONNECT_MS ? timeout_ms / 4 : DISCONNECT_MS;
	uint64_t end_ms = service.calm_ms + timeout_ms - keep_ms;
	struct error error = { 0 };
	enum result result = RESULT_OK;

	if (service.program->drain == NULL)
		return;
	while ((result == RESULT_OK || result == RESULT_CONFLICT) && clock_now_ms() < end_ms) {
		result = service.program->drain(context, &error);
		service_note_turn();
		if (result == RESULT_CONFLICT)
			clock_wait_ms(1 + random_up_to(CONFLICT_WAIT_MAX_MS));
	}
	if (result != RESULT_NONE)
		log_warn(log_event("drain_incomplete"), log_text("error", error.text),
			log_uint("took_ms", clock_now_ms() - service.calm_ms));
}

int service_run(enum result (*step)(void *context, struct error *error), void *context)
{
	notify_ready();
	while (!shutdown_is_requested()) {
		struct error error = { 0 };

		service.calm_ms = clock_now_ms();
		enum result result = step(context, &error);
		serve_requests(context);
		if (!shutdown_is_requested())
			act_on(result, &error, context);
	}
	ops_set_draining();
	notify_stopping();
	log_info(log_event("stopping"));
	drain(context);
	return EXIT_STATUS_OK;
}

int service_fail(const char *what, const struct error *error)
{
	log_error(
		log_event("start_failed"), log_text("what", what), log_text("error", error->text));
	return EXIT_STATUS_FAILED;
}

void service_end(void)
{
	ops_stop();
	log_info(log_event("stopped"));
	notify_close();
	metrics_close();
	settings_clear(service.program->settings, service.settings);
}

void service_note_turn(void)
{
	ops_note_turn();
	notify_alive();
	vital_signs_note_turn();
}

void service_set_check(enum service_check check, bool is_well, const char *text)
{
	vital_signs_set_check(check, is_well, text);
}

void service_note_reconnect(enum service_check check)
{
	vital_signs_note_reconnect(check);
}
