#include "ctl/alert_test.h"

#include <inttypes.h>
#include <stdio.h>

#include "common/base/text.h"
#include "common/base/ulid.h"
#include "common/order/act.h"
#include "common/report/alert_probe.h"
#include "ctl/consent.h"
#include "ctl/session.h"
#include "ctl/table.h"

enum {
	NUMBER_SIZE = 24
};

static const struct table_column columns[] = {
	{ "target", TABLE_KIND_TEXT },
	{ "type", TABLE_KIND_TEXT },
	{ "address", TABLE_KIND_TEXT },
	{ "result", TABLE_KIND_TEXT },
	{ "status", TABLE_KIND_NUMBER },
	{ "code", TABLE_KIND_NUMBER },
	{ "reason", TABLE_KIND_TEXT },
	{ "took_ms", TABLE_KIND_NUMBER },
	{ "body", TABLE_KIND_TEXT },
};

static int refuse_settings(const struct settings_report *mistakes)
{
	for (size_t i = 0; i < settings_report_count(mistakes); i++)
		output_complain("%s", settings_report_get(mistakes, i));
	return EXIT_STATUS_CONFIGURATION;
}

static int refuse_name(const struct session *session, const char *name)
{
	const struct alert_target_list *list = &session->settings->alert_targets.list;

	output_complain("LAPSE_ALERT_TARGETS has no target \"%.40s\"%s", name,
		list->count == 0 ? ": it is empty" : "; it has:");
	for (size_t i = 0; i < list->count; i++)
		output_complain("  %s", list->items[i].name);
	return EXIT_STATUS_NOT_FOUND;
}

static void print(const struct session *session, const struct alert_target *target,
	const struct alert_probe *probe)
{
	struct table *table = table_create(columns, ARRAY_LENGTH(columns));
	char address[ALERT_ADDRESS_SIZE];
	char status[NUMBER_SIZE];
	char code[NUMBER_SIZE];
	char took[NUMBER_SIZE];
	const char *const values[] = { target->name, alert_type_names[target->type], address,
		alert_result_names[probe->verdict.result], status, code,
		probe->verdict.reason[0] == '\0' ? NULL : probe->verdict.reason, took,
		probe->body };

	alert_target_format_address(target, address);
	(void)text_format(status, sizeof(status), "%ld", probe->status);
	(void)text_format(code, sizeof(code), "%" PRId64, probe->verdict.code);
	(void)text_format(took, sizeof(took), "%" PRIu64, probe->duration_ms);
	table_add(table, values);
	table_print_record(table, &session->output, stdout);
	table_destroy(&table);
}

/* The answer is there already: without a database it is told that nothing was written down. */
static void write_down(const struct session *session, const struct alert_target *target,
	const struct alert_probe *probe)
{
	char request_id[ULID_SIZE];
	const struct act_note note = { .action = "test",
		.target_type = "alert_target",
		.target_id = target->name,
		.outcome = probe->verdict.result == ALERT_RESULT_OK ? ACT_OUTCOME_DONE
								    : ACT_OUTCOME_FAILED,
		.words = probe->verdict.reason[0] == '\0' ? NULL : probe->verdict.reason };
	struct error error = { .text = "" };

	ulid_generate(request_id);
	const struct audit_actor actor = consent_actor(session, request_id);
	enum result result = db_ensure_connected(session->db, &error);
	if (result == RESULT_OK)
		result = act_write_note(session->db, &note, &actor, &error);
	if (result != RESULT_OK)
		output_say(&session->output, "the audit has no row of it: %s", error.text);
}

int alert_test_run(const struct session *session)
{
	const struct session_settings *settings = session->settings;
	const char *name = option_text(session->options, OPTION_ALERT_TARGET);
	const struct alert_origin origin = { .env = settings->env_label,
		.console_url = settings->console_url,
		.runbook_url = settings->runbook_url,
		.language = (enum alert_language)settings->language };
	struct alert_probe probe;

	if (name == NULL)
		return session_refuse_usage("--target is needed: a name of LAPSE_ALERT_TARGETS");
	if (settings_report_count(settings->alert_targets.mistakes) > 0)
		return refuse_settings(settings->alert_targets.mistakes);
	const struct alert_target *target = alert_target_find(&settings->alert_targets.list, name);
	if (target == NULL)
		return refuse_name(session, name);
	if (option_is_given(session->options, OPTION_DRY_RUN)) {
		output_say(&session->output, "one message marked TEST would be sent to %s", name);
		return EXIT_STATUS_OK;
	}
	alert_probe_send(target, &origin, &probe);
	print(session, target, &probe);
	write_down(session, target, &probe);
	return probe.verdict.result == ALERT_RESULT_OK ? EXIT_STATUS_OK : EXIT_STATUS_FAILED;
}
