#include "ctl/alert_target_setting.h"

static void read(void *field, const char *name, const char *fallback,
	const struct settings_source *source, struct settings_report *report)
{
	struct ctl_alert_targets *targets = field;

	(void)report; /* the mistakes are told by whoever needs the targets */
	targets->mistakes = settings_report_create();
	alert_target_setting.read(&targets->list, name, fallback, source, targets->mistakes);
}

static void clear(void *field)
{
	struct ctl_alert_targets *targets = field;

	alert_target_setting.clear(&targets->list);
	settings_report_destroy(&targets->mistakes);
}

const struct setting_custom ctl_alert_target_setting = { .read = read, .clear = clear };
