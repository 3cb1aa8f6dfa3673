#include "common/io/broker_settings.h"

#include <string.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/broker_url.h"

enum {
	PREFIX_MAX = 64
};

const struct setting broker_settings_table[] = {
	SETTING_SECRET(struct broker_settings, url, "LAPSE_AMQP_URL", false,
		"amqp[s]://user:password@host:port/vhost[?ca=FILE]"),
	SETTING_TEXT(struct broker_settings, prefix, "LAPSE_AMQP_PREFIX", "lapse",
		"in front of the name of every exchange and queue"),
	SETTING_DURATION(struct broker_settings, heartbeat_ms, "LAPSE_AMQP_HEARTBEAT", "20s",
		SECONDS(2), SECONDS(60), "silence of twice this long is a dead connection"),
	SETTING_END,
};

static bool is_prefix(const char *text)
{
	/* The broker keeps names that begin with "amq." to itself. */
	return text != NULL && text_is_key(text, strlen(text), PREFIX_MAX) &&
	       !text_starts_with(text, "amq.");
}

void broker_check_settings(
	const struct broker_settings *settings, bool is_required, struct settings_report *report)
{
	struct broker_url url;
	struct error error = { 0 };

	if (settings->url == NULL && is_required)
		settings_report_add(report, "LAPSE_AMQP_URL: is not set");
	if (settings->url != NULL && broker_url_parse(settings->url, &url, &error) != RESULT_OK)
		settings_report_add(report, "LAPSE_AMQP_URL: %s", error.text);
	memory_wipe(&url, sizeof(url));
	if (!is_prefix(settings->prefix))
		settings_report_add(report,
			"LAPSE_AMQP_PREFIX: must be 1 to %d of [A-Za-z0-9._:-] and not begin with "
			"amq.",
			(int)PREFIX_MAX);
	if (settings->heartbeat_ms % 1000 != 0)
		settings_report_add(report, "LAPSE_AMQP_HEARTBEAT: must be whole seconds");
}
