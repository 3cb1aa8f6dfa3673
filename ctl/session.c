#include "ctl/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/log.h"
#include "common/base/text.h"
#include "common/report/alert_origin.h"
#include "version.h"

enum {
	ERROR_NO_TABLE = 1146,
	HOST_SIZE = 64,
};

const struct setting session_settings_table[] = {
	SETTINGS_SHARED(struct session_settings, db, db_settings_table),
	SETTINGS_SHARED(struct session_settings, broker, broker_settings_table),
	SETTINGS_SHARED(struct session_settings, topology, topology_settings_table),
	SETTING_DURATION(struct session_settings, sweep_interval_ms, "LAPSE_SWEEP_INTERVAL", "60s",
		SECONDS(1), HOURS(1), "time between two sweeps: two of them are the promise"),
	SETTING_DURATION(struct session_settings, lease_ms, "LAPSE_LEASE", "30s", SECONDS(1),
		HOURS(1), "how long rows are leased"),
	SETTING_DURATION(struct session_settings, retention_ms, "LAPSE_RETENTION", "7d", HOURS(1),
		DAYS(3650), "how long settled rows are kept"),
	SETTING_DURATION(struct session_settings, overdue_grace_ms, "LAPSE_OVERDUE_GRACE", "5s", 0,
		HOURS(1), "an order later than this counts as overdue"),
	SETTING_TEXT(struct session_settings, stock_url, "LAPSE_STOCK_URL", NULL,
		"the product service, for doctor"),
	SETTING_TEXT(struct session_settings, refund_url, "LAPSE_REFUND_URL", NULL,
		"the refund service, for doctor"),
	SETTING_TEXT(struct session_settings, fleet, "LAPSE_CONSOLE_FLEET", NULL,
		"NAME:PORT of ops ports with commas between, for doctor"),
	SETTING_CUSTOM(struct session_settings, alert_targets, "LAPSE_ALERT_TARGETS", NULL,
		&ctl_alert_target_setting, "names of targets, as of lapse-retry, for alert test"),
	SETTING_TEXT(
		struct session_settings, env_label, "LAPSE_ENV_LABEL", "dev", "label of alerts"),
	SETTING_CHOICE(struct session_settings, language, "LAPSE_CONSOLE_LANG", "en",
		alert_language_names, "language of messages to people"),
	SETTING_TEXT(struct session_settings, console_url, "LAPSE_CONSOLE_URL", NULL,
		"address of the console, for links"),
	SETTING_TEXT(struct session_settings, runbook_url, "LAPSE_RUNBOOK_URL", NULL,
		"address of the runbook, for links"),
	SETTING_END,
};

void session_check_settings(const struct session_settings *settings, struct settings_report *report)
{
	db_check_settings(&settings->db, report);
	broker_check_settings(&settings->broker, false, report);
	topology_check_settings(&settings->topology, report);
}

static void set_output(struct output *output, const struct option_set *options)
{
	const char *no_color = getenv("NO_COLOR");

	if (option_is_given(options, OPTION_JSON))
		output->form = OUTPUT_FORM_JSON;
	else if (option_is_given(options, OPTION_PLAIN))
		output->form = OUTPUT_FORM_PLAIN;
	output->is_quiet = option_is_given(options, OPTION_QUIET);
	output->is_verbose = option_is_given(options, OPTION_VERBOSE);
	output->has_color = !option_is_given(options, OPTION_NO_COLOR) &&
			    (no_color == NULL || no_color[0] == '\0') &&
			    output->form == OUTPUT_FORM_TEXT && isatty(STDOUT_FILENO) == 1;
	output->has_terminal = isatty(STDERR_FILENO) == 1;
}

/* --actor, or user@host. */
static void set_actor(struct session *session)
{
	const char *given = option_text(session->options, OPTION_ACTOR);
	const char *user = getenv("USER");
	char host[HOST_SIZE] = "";

	if (given != NULL) {
		(void)text_clip(session->actor, sizeof(session->actor), given, strlen(given));
		return;
	}
	if (gethostname(host, sizeof(host) - 1) != 0)
		(void)text_copy(host, sizeof(host), "localhost");
	if (user != NULL && user[0] != '\0')
		(void)text_format(session->actor, sizeof(session->actor), "%.60s@%s", user, host);
	else
		(void)text_format(session->actor, sizeof(session->actor), "uid%lu@%s",
			(unsigned long)getuid(), host);
}

void session_begin(struct session *session, const struct option_set *options,
	const struct session_settings *settings)
{
	*session = (struct session){ .options = options, .settings = settings };
	set_output(&session->output, options);
	set_actor(session);
	log_open("lapsectl", LAPSE_VERSION, "", LOG_FORMAT_AUTO);
	log_set_level(session->output.is_verbose ? LOG_LEVEL_DEBUG : LOG_LEVEL_WARN);
	db_create(&settings->db, &session->db);
	db_skip_schema_check(session->db);
}

void session_end(struct session *session)
{
	db_destroy(&session->db);
}

int session_refuse_usage(const char *words)
{
	output_complain("%s", words);
	return EXIT_STATUS_USAGE;
}

int session_connect(const struct session *session)
{
	struct error error = { 0 };
	enum result result = db_ensure_connected(session->db, &error);

	if (result == RESULT_OK)
		return EXIT_STATUS_OK;
	int status = session_fail(session, result, &error);
	return status == EXIT_STATUS_NO_PERMISSION ? status : EXIT_STATUS_UNAVAILABLE;
}

enum result session_read_schema(
	const struct session *session, uint32_t *version_out, struct error *error)
{
	static const char sql[] = "SELECT COALESCE(MAX(version), 0) FROM t_schema_version";
	struct db_rows *rows = NULL;
	enum result result = db_query(session->db, sql, NULL, 0, &rows, error);

	*version_out = 0;
	if (result == RESULT_OK && db_rows_next(rows))
		*version_out = (uint32_t)db_rows_uint(rows, 0);
	db_rows_destroy(&rows);
	if (result != RESULT_OK && db_last_errno(session->db) == ERROR_NO_TABLE)
		return RESULT_OK;
	return result;
}

int session_connect_to_schema(const struct session *session)
{
	struct error error = { 0 };
	uint32_t version = 0;
	int status = session_connect(session);

	if (status != EXIT_STATUS_OK)
		return status;
	enum result result = session_read_schema(session, &version, &error);
	if (result != RESULT_OK)
		return session_fail(session, result, &error);
	if (version >= LAPSE_SCHEMA_VERSION)
		return EXIT_STATUS_OK;
	output_complain("the schema is not there or too old: run lapsectl migrate");
	return EXIT_STATUS_UNAVAILABLE;
}

/* Access denied, in its several numbers. */
static bool is_denied(unsigned int number)
{
	static const unsigned int numbers[] = { 1044, 1045, 1142, 1143, 1227, 1370, 1419, 1698,
		3118 };

	for (size_t i = 0; i < ARRAY_LENGTH(numbers); i++)
		if (numbers[i] == number)
			return true;
	return false;
}

int session_fail(const struct session *session, enum result result, const struct error *error)
{
	output_complain("%s", error->text);
	if (is_denied(db_last_errno(session->db)))
		return EXIT_STATUS_NO_PERMISSION;
	switch (result) {
	case RESULT_OK:
		return EXIT_STATUS_OK;
	case RESULT_NONE:
		return EXIT_STATUS_NOT_FOUND;
	case RESULT_CONFLICT:
		return EXIT_STATUS_CONFLICT;
	case RESULT_TEMPORARY:
		return EXIT_STATUS_TRY_AGAIN;
	case RESULT_PERMANENT:
		return EXIT_STATUS_FAILED;
	}
	return EXIT_STATUS_FAILED;
}
