#include "bench/load/settings.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/base/settings.h"

extern char **environ;

static const struct setting load_settings_table[] = {
	SETTINGS_SHARED(struct load_settings, amqp, broker_settings_table),
	SETTINGS_SHARED(struct load_settings, topology, topology_settings_table),
	SETTING_END,
};

void load_settings_read(struct load_settings *settings)
{
	struct settings_report *report = settings_report_create();
	struct settings_source *source = settings_source_create(environ, NULL, report);

	settings_read(load_settings_table, source, settings, report);
	broker_check_settings(&settings->amqp, true, report);
	topology_check_settings(&settings->topology, report);
	for (size_t i = 0; i < settings_report_count(report); i++)
		(void)fprintf(stderr, "%s\n", settings_report_get(report, i));
	if (settings_report_count(report) > 0)
		exit(EXIT_STATUS_CONFIGURATION);
	settings_source_destroy(&source);
	settings_report_destroy(&report);
}

void load_settings_clear(struct load_settings *settings)
{
	settings_clear(load_settings_table, settings);
}
