#include "ctl/doctor_alerts.h"

#include <string.h>

#include "common/base/text.h"
#include "common/report/alert_target.h"
#include "ctl/finding.h"
#include "ctl/session.h"

enum {
	NAMES_SIZE = 256
};

/* Each mistake says which setting it is about, and no secret. */
static bool tell_mistakes(const struct settings_report *mistakes, struct finding_list *list)
{
	size_t count = mistakes == NULL ? 0 : settings_report_count(mistakes);

	for (size_t i = 0; i < count; i++)
		finding_fail(list, "alert_targets", "%s", settings_report_get(mistakes, i));
	return count > 0;
}

void doctor_check_alert_targets(const struct session *session, struct finding_list *list)
{
	const struct ctl_alert_targets *targets = &session->settings->alert_targets;
	char names[NAMES_SIZE] = "";

	if (tell_mistakes(targets->mistakes, list))
		return;
	if (targets->list.count == 0) {
		finding_warn(list, "alert_targets",
			"LAPSE_ALERT_TARGETS is not set here: unless lapse-retry has it, nobody is "
			"told when a task dies");
		return;
	}
	for (size_t i = 0; i < targets->list.count; i++) {
		size_t used = strlen(names);

		(void)text_format(names + used, sizeof(names) - used, "%s%s (%s)",
			i == 0 ? "" : ", ", targets->list.items[i].name,
			alert_type_names[targets->list.items[i].type]);
	}
	finding_ok(list, "alert_targets", "%s; lapsectl alert test --target NAME sends one message",
		names);
}
