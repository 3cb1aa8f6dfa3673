/*
 * alert_target_setting - the targets of alerts, for the one command that speaks to them.
 *
 * A mistake in them, or a secret this user may not read, is in the way of that command only.
 */
#ifndef CTL_ALERT_TARGET_SETTING_H
#define CTL_ALERT_TARGET_SETTING_H

#include "common/report/alert_target.h"

/* All zero bytes is empty. */
struct ctl_alert_targets {
	struct alert_target_list list;
	struct settings_report *mistakes; /* NULL: never read */
};

/* Reads and clears a struct ctl_alert_targets as a field of settings. */
extern const struct setting_custom ctl_alert_target_setting;

#endif
