#include "ctl/verify.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/base/memory.h"
#include "common/base/settings.h"
#include "common/base/text.h"
#include "common/io/db.h"
#include "common/io/json.h"
#include "common/order/invariant.h"
#include "ctl/session.h"

enum {
	TIME_LIMIT_S = 120 /* of one statement */
};

static void tell_progress(void *context, const char *table, unsigned int share)
{
	output_progress(context, "checking %s: %u %%", table, share);
}

static bool is_clean(const struct invariant_report *report)
{
	for (size_t i = 0; i < INVARIANT_COUNT; i++)
		if (report->findings[i].count > 0)
			return false;
	return true;
}

static void print_finding(const struct output *output, const struct invariant_info *info,
	const struct invariant_finding *finding)
{
	if (finding->count == 0) {
		(void)printf("%s[ok]%s     %s %-19s  %s\n",
			output_color(output, OUTPUT_COLOR_GREEN), output_no_color(output),
			info->promise, info->name, info->help);
		return;
	}
	(void)printf("%s[broken]%s %s %-19s  %" PRIu64 "%s found; wanted: %s\n",
		output_color(output, OUTPUT_COLOR_RED), output_no_color(output), info->promise,
		info->name, finding->count, finding->is_more ? " or more" : "", info->help);
	for (size_t i = 0; i < finding->example_count; i++)
		(void)printf("           %s: %s\n", finding->examples[i].ref,
			finding->examples[i].detail);
	if (finding->count > finding->example_count)
		(void)printf("           and %" PRIu64 " more\n",
			finding->count - finding->example_count);
}

static void print_plain(const struct invariant_info *info, const struct invariant_finding *finding)
{
	(void)printf("%s\t%s\t%" PRIu64 "\n", info->name, finding->count == 0 ? "ok" : "broken",
		finding->count);
}

static struct json *finding_to_json(
	const struct invariant_info *info, const struct invariant_finding *finding)
{
	struct json *object = json_create_object();
	struct json *examples = json_create_array();

	json_set_text(object, "check", info->name);
	json_set_text(object, "promise", info->promise);
	json_set_bool(object, "ok", finding->count == 0);
	json_set_int(object, "count", (int64_t)finding->count);
	json_set_bool(object, "more", finding->is_more);
	for (size_t i = 0; i < finding->example_count; i++) {
		struct json *example = json_create_object();

		json_set_text(example, "ref", finding->examples[i].ref);
		json_set_text(example, "detail", finding->examples[i].detail);
		json_append_adopt(examples, &example);
	}
	json_adopt(object, "examples", &examples);
	return object;
}

static void print_json(const struct invariant_report *report)
{
	struct json *root = json_create_object();
	struct json *checks = json_create_array();

	json_set_bool(root, "clean", is_clean(report));
	for (size_t i = 0; i < INVARIANT_COUNT; i++) {
		struct json *check = finding_to_json(&invariant_infos[i], &report->findings[i]);

		json_append_adopt(checks, &check);
	}
	json_adopt(root, "checks", &checks);
	char *text = json_write(root);
	(void)printf("%s\n", text);
	free(text);
	json_destroy(&root);
}

static void print_report(const struct output *output, const struct invariant_report *report)
{
	switch (output->form) {
	case OUTPUT_FORM_TEXT:
		for (size_t i = 0; i < INVARIANT_COUNT; i++)
			print_finding(output, &invariant_infos[i], &report->findings[i]);
		return;
	case OUTPUT_FORM_PLAIN:
		for (size_t i = 0; i < INVARIANT_COUNT; i++)
			print_plain(&invariant_infos[i], &report->findings[i]);
		return;
	case OUTPUT_FORM_JSON:
		print_json(report);
		return;
	}
}

int verify_run(const struct session *session)
{
	const struct option_set *options = session->options;
	const uint64_t grace_ms = 2 * session->settings->sweep_interval_ms;
	struct output output = session->output;
	const struct invariant_progress progress = { .tell = tell_progress, .context = &output };
	const struct invariant_limits limits = {
		.since_ms = option_number(options, OPTION_SINCE, DAYS(1)),
		.retention_ms = session->settings->retention_ms,
		.overdue_ms = option_number(options, OPTION_OVERDUE_GRACE, grace_ms),
		.stale_ms = grace_ms + session->settings->lease_ms,
	};
	struct error error = { 0 };
	int status;

	db_set_time_limit(session->db, TIME_LIMIT_S);
	status = session_connect_to_schema(session);
	if (status != EXIT_STATUS_OK)
		return status;
	struct invariant_report *report = memory_allocate(sizeof(*report));
	enum result result = invariant_verify(session->db, &limits, &progress, report, &error);
	output_end_progress(&output);
	if (result != RESULT_OK) {
		status = session_fail(session, result, &error);
	} else {
		print_report(&output, report);
		status = is_clean(report) ? EXIT_STATUS_OK : EXIT_STATUS_FAILED;
	}
	free(report);
	return status;
}
