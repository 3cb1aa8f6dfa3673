#include "console/console.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/random.h"
#include "common/base/text.h"
#include "common/io/httpd.h"
#include "common/report/close_report.h"
#include "common/report/pulse.h"
#include "common/service/database.h"
#include "console/access.h"
#include "console/bulk.h"
#include "console/context.h"
#include "console/counts.h"
#include "console/fleet.h"
#include "console/lookout.h"
#include "console/respond.h"
#include "console/routes.h"
#include "console/visit.h"

enum {
	STEP_WAIT_MS = 500,
	BODY_MAX = 65536,
	CONNECTION_MAX = 128,
	CONNECTION_PER_ADDRESS_MAX = 8,
	TIME_LIMIT_MS = 10000,
	SECRET_BYTES = 32,
};

struct console {
	struct context context;
	struct httpd *httpd;
	char made_secret[2 * SECRET_BYTES + 1]; /* with --insecure-no-auth and no secret of ours */
};

/* Every path; which page it is, visit knows. */
static const struct httpd_route all_paths[] = {
	{ "GET", "/*", visit_handle },
	{ "POST", "/*", visit_handle },
	{ NULL, NULL, NULL },
};

static void dump(void *context)
{
	const struct console *console = context;

	log_info(log_event("dump"), log_uint("port", httpd_port(console->httpd)),
		log_uint("under_way", httpd_count_under_way(console->httpd)),
		log_uint("fleet", fleet_count(console->context.fleet)));
}

/* The settings have replaced their secrets; the files are ours. */
static void reload(void *context)
{
	struct console *console = context;
	const struct console_settings *settings = console->context.settings;
	struct error error = { .text = "" };

	if (settings->secret != NULL)
		console->context.secret = settings->secret;
	if (access_reload(console->context.access, &error) != RESULT_OK)
		log_error(log_event("reload_failed"), log_text("error", error.text));
}

static enum result drain(void *context, struct error *error)
{
	const struct console *console = context;

	(void)error;
	return httpd_drain(console->httpd) ? RESULT_NONE : RESULT_OK;
}

const struct service_program console_program = {
	.name = "lapse-console",
	.summary = "operator page and API: see what there is, repair it",
	.settings = console_settings_table,
	.check = console_check_settings,
	.metrics = counts_metrics,
	.checks = SERVICE_CHECK_MYSQL | SERVICE_CHECK_HTTP,
	.dump = dump,
	.reload = reload,
	.drain = drain,
	.take_argument = console_take_argument,
	.usage = console_usage,
};

/* A slow statement makes a turn long, but the loop turns. */
static void note_turn(void *context)
{
	(void)context;
	service_note_turn();
}

static void create_parts(struct console *console)
{
	struct context *context = &console->context;
	const struct console_settings *settings = context->settings;
	const struct lookout_settings lookout = {
		.snapshot = {
			.mysql = &settings->mysql,
			.amqp = &settings->amqp,
			.topology = &settings->topology,
			.amqp_metrics_url = settings->amqp_metrics_url,
			.overdue_grace_ms = settings->overdue_grace_ms,
			.sweep_interval_ms = settings->sweep_interval_ms,
			.lease_ms = settings->lease_ms,
			.retention_ms = settings->retention_ms,
			.serve = note_turn,
		},
		.thresholds = (enum thresholds_mode)settings->thresholds,
	};

	database_create(&settings->mysql, &context->database);
	db_set_companion(database_db(context->database), note_turn, NULL);
	lookout_create(&lookout, &context->lookout);
	context->snapshot = lookout_snapshot(context->lookout);
	fleet_create(settings->fleet, &context->fleet);
	bulk_create(context->database, &context->bulk);
	pulse_create(&context->pulse);
}

/* "/" becomes "", "/lapse/" becomes "/lapse". */
static bool set_prefix(struct context *context, const char *prefix)
{
	size_t size = strlen(prefix);

	if (!text_copy(context->prefix, sizeof(context->prefix), prefix))
		return false;
	if (size > 0 && context->prefix[size - 1] == '/')
		context->prefix[size - 1] = '\0';
	return true;
}

static void set_secret(struct console *console)
{
	uint8_t bytes[SECRET_BYTES];

	console->context.secret = console->context.settings->secret;
	if (console->context.secret != NULL)
		return;
	random_bytes(bytes, sizeof(bytes));
	text_hex(console->made_secret, bytes, sizeof(bytes));
	console->context.secret = console->made_secret;
}

static enum result open_door(struct console *console, struct error *error)
{
	const struct console_settings *settings = console->context.settings;
	const struct access_settings access = {
		.users_file = settings->users_file,
		.tokens_file = settings->tokens_file,
		.trusted_proxies = settings->trusted_proxies,
		.is_open = settings->is_open,
	};
	/* All visitors of a proxy come from one address: it has to count them itself. */
	bool has_proxies =
		settings->trusted_proxies != NULL && settings->trusted_proxies[0] != '\0';
	const struct httpd_settings server = {
		.address = settings->address,
		.constants = respond_constants,
		.routes = all_paths,
		.refuse = visit_refuse,
		.context = &console->context,
		.body_max = BODY_MAX,
		.connection_max = CONNECTION_MAX,
		.connection_per_address_max = has_proxies ? 0 : CONNECTION_PER_ADDRESS_MAX,
		.time_limit_ms = TIME_LIMIT_MS,
	};

	if (!set_prefix(&console->context, settings->prefix))
		return error_set(
			RESULT_PERMANENT, error, "LAPSE_CONSOLE_PREFIX: the path is too long");
	enum result result = access_create(&access, &console->context.access, error);
	if (result == RESULT_OK)
		result = httpd_create(&server, &console->httpd, error);
	return result;
}

enum result console_create(
	const struct console_settings *settings, struct console **console_out, struct error *error)
{
	struct console *console = memory_allocate(sizeof(*console));

	*console_out = NULL;
	memory_return_early(); /* pages are of every size */
	console->context.settings = settings;
	console->context.language = (enum language)settings->language;
	set_secret(console);
	create_parts(console);
	enum result result = open_door(console, error);
	if (result != RESULT_OK) {
		console_destroy(&console);
		return result;
	}
	counts_register_routes(routes);
	close_report_register();
	service_set_check(SERVICE_CHECK_HTTP, true, NULL);
	log_info(log_event("listening"), log_uint("port", httpd_port(console->httpd)));
	*console_out = console;
	return RESULT_OK;
}

void console_destroy(struct console **console)
{
	if (*console == NULL)
		return;
	struct context *context = &(*console)->context;

	httpd_destroy(&(*console)->httpd);
	access_destroy(&context->access);
	bulk_destroy(&context->bulk);
	fleet_destroy(&context->fleet);
	lookout_destroy(&context->lookout);
	pulse_destroy(&context->pulse);
	database_destroy(&context->database);
	free(*console);
	*console = NULL;
}

static void update_pulse(struct context *context)
{
	struct error error = { .text = "" };

	if (!database_is_there(context->database))
		return;
	enum result result = pulse_update(context->pulse, database_db(context->database), &error);
	if (result == RESULT_TEMPORARY && !db_is_connected(database_db(context->database)))
		database_note(context->database, result, &error);
}

/* For the rules about processes. */
static void note_fleet(struct context *context)
{
	struct thresholds_fleet fleet = { .is_known = fleet_is_configured(context->fleet) &&
						      fleet_age_ms(context->fleet) != UINT64_MAX };

	fleet.down = (uint32_t)fleet_count_down(context->fleet);
	fleet.versions = (uint32_t)fleet_count_versions(context->fleet);
	lookout_note_fleet(context->lookout, &fleet);
}

static uint64_t least(uint64_t one, uint64_t other)
{
	return one < other ? one : other;
}

enum result console_step(void *context, struct error *error)
{
	struct console *console = context;
	uint64_t wait_ms = lookout_work(console->context.lookout);

	(void)error;
	update_pulse(&console->context);
	wait_ms = least(wait_ms, fleet_work(console->context.fleet));
	note_fleet(&console->context);
	wait_ms = least(wait_ms, bulk_work(console->context.bulk));
	httpd_step(console->httpd, least(wait_ms, STEP_WAIT_MS));
	return RESULT_OK;
}
