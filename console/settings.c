#include "console/settings.h"

#include <string.h>

#include "common/base/text.h"
#include "common/io/endpoint.h"
#include "console/access.h"
#include "console/csrf.h"
#include "console/fleet.h"
#include "console/phrase.h"
#include "console/thresholds.h"

enum {
	BULK_MAX = 5000
};

static const char *const switch_words[] = { "false", "true", "0", "1", NULL };
static const char open_argument[] = "--insecure-no-auth";

const char console_usage[] =
	"  --insecure-no-auth         everybody is an admin; on a loopback address only\n";

const struct setting console_settings_table[] = {
	SETTINGS_SHARED(struct console_settings, service, service_settings_table),
	SETTINGS_SHARED(struct console_settings, mysql, db_settings_table),
	SETTINGS_SHARED(struct console_settings, amqp, broker_settings_table),
	SETTINGS_SHARED(struct console_settings, topology, topology_settings_table),
	SETTING_TEXT(struct console_settings, address, "LAPSE_CONSOLE_ADDR", "127.0.0.1:8080",
		"where to serve"),
	SETTING_TEXT(struct console_settings, prefix, "LAPSE_CONSOLE_PREFIX", "/",
		"path in front of all pages, behind a proxy"),
	SETTING_TEXT(struct console_settings, url, "LAPSE_CONSOLE_URL", NULL,
		"address of the console as people reach it"),
	SETTING_TEXT(struct console_settings, users_file, "LAPSE_CONSOLE_USERS_FILE", NULL,
		"lines name:role:crypt-hash; read again on HUP"),
	SETTING_TEXT(struct console_settings, tokens_file, "LAPSE_CONSOLE_TOKENS_FILE", NULL,
		"lines name:role:sha256-of-the-token in hex; read again on HUP"),
	SETTING_SECRET(struct console_settings, secret, "LAPSE_CONSOLE_SECRET", false,
		"key of forms, 32 bytes or more, the same on all replicas"),
	SETTING_TEXT(struct console_settings, origins, "LAPSE_CONSOLE_ORIGINS", NULL,
		"more origins that forms may come from, https://name"),
	SETTING_TEXT(struct console_settings, trusted_proxies, "LAPSE_CONSOLE_TRUSTED_PROXIES",
		NULL, "addresses and ranges whose X-Forwarded-For and X-Remote-User count"),
	SETTING_CHOICE(struct console_settings, read_only, "LAPSE_CONSOLE_READ_ONLY", "false",
		switch_words, "true: nothing can be changed"),
	SETTING_UINT(struct console_settings, bulk_max, "LAPSE_BULK_MAX", "500", 0, BULK_MAX,
		"rows of one bulk act, admins 5000; 0: no bulk"),
	SETTING_TEXT(struct console_settings, fleet, "LAPSE_CONSOLE_FLEET", NULL,
		"ops ports to ask: producer:9464,consumer:9464"),
	SETTING_CHOICE(struct console_settings, language, "LAPSE_CONSOLE_LANG", "en",
		language_names, "en or zh-CN"),
	SETTING_TEXT(struct console_settings, environment, "LAPSE_ENV_LABEL", "dev",
		"name of this installation, in titles"),
	SETTING_TEXT(struct console_settings, runbook_url, "LAPSE_RUNBOOK_URL", NULL,
		"where alerts link to"),
	SETTING_TEXT(struct console_settings, amqp_metrics_url, "LAPSE_AMQP_METRICS_URL", NULL,
		"http://broker:15692, which knows unacked messages"),
	SETTING_DURATION(struct console_settings, overdue_grace_ms, "LAPSE_OVERDUE_GRACE", "5s", 0,
		HOURS(1), "an order later than this is overdue"),
	SETTING_DURATION(struct console_settings, sweep_interval_ms, "LAPSE_SWEEP_INTERVAL", "60s",
		SECONDS(1), HOURS(1), "what the sweepers have: twice as late is a broken promise"),
	SETTING_DURATION(struct console_settings, lease_ms, "LAPSE_LEASE", "30s", SECONDS(1),
		HOURS(1), "what the fleet has: a longer lease is a broken promise"),
	SETTING_DURATION(struct console_settings, retention_ms, "LAPSE_RETENTION", "7d", HOURS(1),
		DAYS(3650), "what the sweepers have: older rows may be gone"),
	SETTING_CHOICE(struct console_settings, thresholds, "LAPSE_ALERT_THRESHOLDS", "auto",
		thresholds_mode_names, "alerts without Prometheus: auto, on or off"),
	SETTING_END,
};

bool console_take_argument(void *settings, const char *argument)
{
	struct console_settings *console = settings;

	if (!text_equals(argument, open_argument))
		return false;
	console->is_open = true;
	return true;
}

static bool is_loopback(const char *address)
{
	return text_starts_with(address, "127.") || text_starts_with(address, "[::1]:") ||
	       text_starts_with(address, "localhost:");
}

/* The files are read again when the program begins; here their mistakes are found before that. */
static void check_access(const struct console_settings *console, struct settings_report *report)
{
	const struct access_settings settings = {
		.users_file = console->users_file,
		.tokens_file = console->tokens_file,
		.trusted_proxies = console->trusted_proxies,
		.is_open = console->is_open,
	};
	struct access *access = NULL;
	struct error error = { .text = "" };

	if (access_create(&settings, &access, &error) != RESULT_OK)
		settings_report_add(report, "%s", error.text);
	access_destroy(&access);
	if (console->users_file == NULL && !console->is_open)
		settings_report_add(report, "LAPSE_CONSOLE_USERS_FILE: is not set, and nobody "
					    "could log in; lapsectl hash-password makes its lines");
}

static void check_address(const struct console_settings *console, struct settings_report *report)
{
	if (console->address == NULL || !endpoint_is_valid(console->address))
		settings_report_add(report, "LAPSE_CONSOLE_ADDR: is not host:port");
	else if (console->is_open && !is_loopback(console->address))
		settings_report_add(report,
			"LAPSE_CONSOLE_ADDR: %s is not loopback, which --insecure-no-auth needs",
			console->address);
}

/* "/" or "/lapse" or "/lapse/": letters, digits and a few more, which need no escape. */
static bool is_prefix(const char *prefix)
{
	return prefix[0] == '/' && strstr(prefix, "//") == NULL &&
	       strspn(prefix,
		       "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/-_") ==
		       strlen(prefix);
}

void console_check_settings(const void *settings, struct settings_report *report)
{
	const struct console_settings *console = settings;
	struct error error = { .text = "" };

	db_check_settings(&console->mysql, report);
	broker_check_settings(&console->amqp, false, report);
	topology_check_settings(&console->topology, report);
	check_address(console, report);
	check_access(console, report);
	if (console->prefix == NULL || !is_prefix(console->prefix))
		settings_report_add(report, "LAPSE_CONSOLE_PREFIX: is no path like /lapse");
	if (console->secret == NULL ? !console->is_open : strlen(console->secret) < CSRF_SECRET_MIN)
		settings_report_add(report, "LAPSE_CONSOLE_SECRET: %s %d bytes",
			console->secret == NULL ? "is not set; it has at least" : "is shorter than",
			CSRF_SECRET_MIN);
	if (fleet_check(console->fleet, &error) != RESULT_OK)
		settings_report_add(report, "%s", error.text);
}
