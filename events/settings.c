#include "events/settings.h"

#include "common/order/subscriber.h"

enum {
	PREFETCH_MAX = 2000
}; /* what quorum queues of RabbitMQ 4 allow */

const struct setting events_settings_table[] = {
	SETTINGS_SHARED(struct events_settings, service, service_settings_table),
	SETTINGS_SHARED(struct events_settings, mysql, db_settings_table),
	SETTINGS_SHARED(struct events_settings, amqp, broker_settings_table),
	SETTING_TEXT(struct events_settings, webhooks_file, "LAPSE_WEBHOOKS_FILE", NULL,
		"subscribers, one a line: name, events, address, secret; read again on HUP"),
	SETTING_UINT(struct events_settings, prefetch, "LAPSE_PREFETCH", "1000", 1, PREFETCH_MAX,
		"messages in hand, not yet acked"),
	SETTING_END,
};

void events_check_settings(const void *settings, struct settings_report *report)
{
	const struct events_settings *events = settings;

	db_check_settings(&events->mysql, report);
	broker_check_settings(&events->amqp, true, report);
	if (events->webhooks_file == NULL)
		settings_report_add(report, "LAPSE_WEBHOOKS_FILE: is not set");
	subscriber_check_file(events->webhooks_file, report);
}
