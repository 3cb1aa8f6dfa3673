#include "consumer/settings.h"

#include "common/order/close.h"

enum {
	PREFETCH_MAX = 2000
}; /* what quorum queues of RabbitMQ 4 allow */

const struct setting consumer_settings_table[] = {
	SETTINGS_SHARED(struct consumer_settings, service, service_settings_table),
	SETTINGS_SHARED(struct consumer_settings, mysql, db_settings_table),
	SETTINGS_SHARED(struct consumer_settings, amqp, broker_settings_table),
	SETTINGS_SHARED(struct consumer_settings, topology, topology_settings_table),
	SETTING_UINT(struct consumer_settings, prefetch, "LAPSE_PREFETCH", "1000", 1, PREFETCH_MAX,
		"messages in hand, not yet acked"),
	SETTING_UINT(struct consumer_settings, batch, "LAPSE_CLOSE_BATCH", "500", 1,
		CLOSE_BATCH_MAX, "orders closed in one transaction"),
	SETTING_DURATION(struct consumer_settings, linger_ms, "LAPSE_CLOSE_LINGER", "3ms", 0,
		SECONDS(1), "wait for company of a message while others are about"),
	SETTING_DURATION(struct consumer_settings, hold_ms, "LAPSE_HOLD", "300ms", 0, SECONDS(10),
		"a message early by at most this is held until its time"),
	SETTING_END,
};

void consumer_check_settings(const void *settings, struct settings_report *report)
{
	const struct consumer_settings *consumer = settings;

	db_check_settings(&consumer->mysql, report);
	broker_check_settings(&consumer->amqp, true, report);
	topology_check_settings(&consumer->topology, report);
}
