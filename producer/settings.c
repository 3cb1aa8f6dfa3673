#include "producer/settings.h"

#include <stdlib.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/order/outbox.h"

enum {
	CONFIRM_AND_SETTLE_MS = 15000
}; /* the longest work under a lease, with a margin */

static const char *const switch_names[] = { "off", "on", NULL };

const struct setting producer_settings_table[] = {
	SETTINGS_SHARED(struct producer_settings, service, service_settings_table),
	SETTINGS_SHARED(struct producer_settings, mysql, db_settings_table),
	SETTINGS_SHARED(struct producer_settings, amqp, broker_settings_table),
	SETTINGS_SHARED(struct producer_settings, topology, topology_settings_table),
	SETTING_UINT(struct producer_settings, window, "LAPSE_PUBLISH_WINDOW", "1000", 1, 5000,
		"messages published and not yet confirmed"),
	SETTING_DURATION(struct producer_settings, interval_ms, "LAPSE_OUTBOX_INTERVAL", "50ms",
		MILLISECONDS(5), SECONDS(60), "time between two looks at an empty outbox"),
	SETTING_DURATION(struct producer_settings, lease_ms, "LAPSE_LEASE", "30s", SECONDS(5),
		MINUTES(30), "how long a claimed row is ours"),
	SETTING_CHOICE(struct producer_settings, created_event, "LAPSE_CREATED_EVENT", "off",
		switch_names, "publish order.created, too: off, on"),
	SETTING_TEXT(struct producer_settings, env_label, "LAPSE_ENV_LABEL", "dev",
		"name of this installation, in events and alerts"),
	SETTING_END,
};

void producer_check_settings(const void *settings, struct settings_report *report)
{
	const struct producer_settings *producer = settings;

	db_check_settings(&producer->mysql, report);
	broker_check_settings(&producer->amqp, true, report);
	topology_check_settings(&producer->topology, report);
	if (producer->lease_ms < CONFIRM_AND_SETTLE_MS)
		settings_report_add(report, "LAPSE_LEASE: is shorter than the 15s that waiting for "
					    "confirms and settling can take");
}

bool producer_take_argument(void *settings, const char *argument)
{
	struct producer_publish *publish = &((struct producer_settings *)settings)->publish;

	if (!publish->is_wanted) {
		publish->is_wanted = text_equals(argument, "publish");
		return publish->is_wanted;
	}
	if (text_equals(argument, "--stdin")) {
		publish->reads_stdin = true;
		return true;
	}
	if (text_starts_with(argument, "-"))
		return false;
	publish->order_nos = memory_resize_array(
		publish->order_nos, publish->count + 1, sizeof(*publish->order_nos));
	publish->order_nos[publish->count++] = argument;
	return true;
}

void producer_clear_arguments(struct producer_settings *settings)
{
	free(settings->publish.order_nos);
	settings->publish.order_nos = NULL;
	settings->publish.count = 0;
}
