#include "common/base/settings_names.h"

#include <stddef.h>
#include <string.h>

#include "common/base/compiler.h"
#include "common/base/text.h"

enum {
	NAME_SIZE = 64,
	NEAR_DISTANCE_MAX = 4
};

/* Every key of all programs, so that one file can serve the whole fleet. */
static const char *const known_names[] = {
	"LAPSE_ALERT_GROUP_WAIT",
	"LAPSE_ALERT_REPEAT",
	"LAPSE_ALERT_TARGETS",
	"LAPSE_ALERT_THRESHOLDS",
	"LAPSE_AMQP_HEARTBEAT",
	"LAPSE_AMQP_METRICS_URL",
	"LAPSE_AMQP_PREFIX",
	"LAPSE_AMQP_URL",
	"LAPSE_API_RATE",
	"LAPSE_API_TOKENS_FILE",
	"LAPSE_BULK_MAX",
	"LAPSE_CLOSE_BATCH",
	"LAPSE_CLOSE_LINGER",
	"LAPSE_CONSOLE_ADDR",
	"LAPSE_CONSOLE_FLEET",
	"LAPSE_CONSOLE_LANG",
	"LAPSE_CONSOLE_ORIGINS",
	"LAPSE_CONSOLE_PREFIX",
	"LAPSE_CONSOLE_READ_ONLY",
	"LAPSE_CONSOLE_SECRET",
	"LAPSE_CONSOLE_TOKENS_FILE",
	"LAPSE_CONSOLE_TRUSTED_PROXIES",
	"LAPSE_CONSOLE_URL",
	"LAPSE_CONSOLE_USERS_FILE",
	"LAPSE_CREATED_EVENT",
	"LAPSE_DELAY",
	"LAPSE_DELAY_FIXED",
	"LAPSE_DELAY_HORIZON",
	"LAPSE_ENV_LABEL",
	"LAPSE_GATEWAY_ADDR",
	"LAPSE_HOLD",
	"LAPSE_HTTP_CONCURRENCY",
	"LAPSE_HTTP_TIMEOUT",
	"LAPSE_INSTANCE",
	"LAPSE_LEASE",
	"LAPSE_LOCK_WAIT",
	"LAPSE_LOG_FORMAT",
	"LAPSE_LOG_LEVEL",
	"LAPSE_MERCHANT_ID",
	"LAPSE_MYSQL_URL",
	"LAPSE_NOTIFY_SECRET",
	"LAPSE_NOTIFY_SECRET_OLD",
	"LAPSE_OPS_ADDR",
	"LAPSE_OUTBOX_INTERVAL",
	"LAPSE_OVERDUE_GRACE",
	"LAPSE_PREFETCH",
	"LAPSE_PUBLISH_WINDOW",
	"LAPSE_REFUND_URL",
	"LAPSE_RETENTION",
	"LAPSE_RETRY_BASE",
	"LAPSE_RETRY_CAP",
	"LAPSE_RETRY_INTERVAL",
	"LAPSE_RETRY_MAX",
	"LAPSE_RUNBOOK_URL",
	"LAPSE_SHUTDOWN_TIMEOUT",
	"LAPSE_STOCK_BATCH",
	"LAPSE_STOCK_SUCCESS",
	"LAPSE_STOCK_URL",
	"LAPSE_SWEEP_BATCH",
	"LAPSE_SWEEP_BUDGET",
	"LAPSE_SWEEP_INTERVAL",
	"LAPSE_TEST_PLUGIN_DIR",
	"LAPSE_UNKNOWN_ORDER_GRACE",
	"LAPSE_WEBHOOKS_FILE",
};

/* LAPSE_ALERT_<NAME> with one of these behind it belongs to an alert target. */
static const char *const alert_endings[] = { "_TYPE", "_URL", "_SECRET", "_TOKEN", "_KEYWORD",
	"_MENTION", "_MIN_SEVERITY" };

static bool is_alert_name(const char *name)
{
	size_t length = strlen(name);

	if (!text_starts_with(name, "LAPSE_ALERT_"))
		return false;
	for (size_t i = 0; i < ARRAY_LENGTH(alert_endings); i++) {
		size_t ending = strlen(alert_endings[i]);

		if (length > strlen("LAPSE_ALERT_") + ending &&
			text_equals(name + length - ending, alert_endings[i]))
			return true;
	}
	return false;
}

static bool is_known_name(const char *name)
{
	for (size_t i = 0; i < ARRAY_LENGTH(known_names); i++)
		if (text_equals(name, known_names[i]))
			return true;
	return is_alert_name(name);
}

/* NAME_FILE is known when NAME is. */
static bool is_known_file_name(const char *name)
{
	size_t length = strlen(name);
	size_t ending = strlen("_FILE");
	char base[NAME_SIZE];

	if (length <= ending || length - ending >= sizeof(base) ||
		!text_equals(name + length - ending, "_FILE"))
		return false;
	memcpy(base, name, length - ending);
	base[length - ending] = '\0';
	return is_known_name(base);
}

const char *settings_names_find_nearest(const char *name)
{
	const char *nearest = NULL;
	size_t least = NEAR_DISTANCE_MAX + 1;

	for (size_t i = 0; i < ARRAY_LENGTH(known_names); i++) {
		size_t distance = text_distance(name, known_names[i]);

		if (distance < least) {
			least = distance;
			nearest = known_names[i];
		}
	}
	return nearest;
}

bool settings_names_has(const char *name)
{
	return is_known_name(name) || is_known_file_name(name);
}
