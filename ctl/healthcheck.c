#include "ctl/healthcheck.h"

#include "common/base/result.h"
#include "common/base/settings.h"
#include "common/base/settings_source.h"
#include "common/service/ops.h"
#include "ctl/output.h"

int healthcheck_run(const struct option_set *options, char *const *environment)
{
	struct settings_report *report = settings_report_create();
	struct settings_source *source =
		settings_source_create(environment, option_text(options, OPTION_ENV_FILE), report);
	int status = EXIT_STATUS_FAILED;

	for (size_t i = 0; i < settings_report_count(report); i++)
		output_complain("%s", settings_report_get(report, i));
	if (settings_report_count(report) == 0)
		status = ops_healthcheck(settings_source_find(source, "LAPSE_OPS_ADDR"),
			option_text(options, OPTION_HEALTHCHECK) != NULL);
	settings_source_destroy(&source);
	settings_report_destroy(&report);
	return status;
}
