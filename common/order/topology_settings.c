#include <assert.h>
#include <string.h>

#include "common/base/text.h"
#include "common/order/topology.h"

enum {
	DURATION_SIZE = 24,
	FIXED_MIN_MS = 1000
};

const char *const topology_mode_names[] = { "auto", "plugin", "levels", "none", NULL };

static_assert(ARRAY_LENGTH(topology_mode_names) == TOPOLOGY_MODE_NONE + 2, "one name per mode");

/* One entry of the list; false when it cannot be used. */
static bool add_fixed(struct topology_fixed *fixed, const char *text, size_t size)
{
	char duration[DURATION_SIZE];
	uint64_t timeout_ms;

	if (size >= sizeof(duration) || fixed->count == TOPOLOGY_FIXED_MAX)
		return false;
	memcpy(duration, text, size);
	duration[size] = '\0';
	if (!text_parse_duration(duration, &timeout_ms) || timeout_ms < FIXED_MIN_MS ||
		timeout_ms > TOPOLOGY_LEVELS_MAX_MS)
		return false;
	fixed->timeouts_ms[fixed->count++] = timeout_ms;
	return true;
}

static void read_fixed(void *field, const char *name, const char *fallback,
	const struct settings_source *source, struct settings_report *report)
{
	struct topology_fixed *fixed = field;
	const char *list = settings_source_find(source, name);

	if (list == NULL)
		list = fallback;
	memset(fixed, 0, sizeof(*fixed));
	if (text_equals(list, "off"))
		return;
	for (const char *entry = list; entry != NULL;) {
		size_t size = strcspn(entry, ",");

		if (!add_fixed(fixed, entry, size)) {
			settings_report_add(report,
				"%s: must be \"off\" or at most %d durations from 1s to 19d, like "
				"15m,30m,1h",
				name, (int)TOPOLOGY_FIXED_MAX);
			return;
		}
		entry = entry[size] == ',' ? entry + size + 1 : NULL;
	}
}

static void clear_fixed(void *field)
{
	memset(field, 0, sizeof(struct topology_fixed));
}

static void show_fixed(const void *field, char *text_out, size_t text_size)
{
	const struct topology_fixed *fixed = field;
	char duration[DURATION_SIZE];
	size_t used = 0;

	(void)text_copy(text_out, text_size, fixed->count == 0 ? "off" : "");
	for (size_t i = 0; i < fixed->count; i++) {
		text_format_duration(duration, sizeof(duration), fixed->timeouts_ms[i]);
		(void)text_format(
			text_out + used, text_size - used, "%s%s", i == 0 ? "" : ",", duration);
		used += strlen(text_out + used);
	}
}

static const struct setting_custom fixed_setting = { read_fixed, clear_fixed, show_fixed };

const struct setting topology_settings_table[] = {
	SETTING_CHOICE(struct topology_settings, delay, "LAPSE_DELAY", "auto", topology_mode_names,
		"who holds timeouts until they are due: the broker's plugin, or queues with a "
		"fixed time to live"),
	SETTING_CUSTOM(struct topology_settings, fixed, "LAPSE_DELAY_FIXED", "15m,30m,1h",
		&fixed_setting, "common timeouts, each with a queue of its own in mode levels"),
	SETTING_DURATION(struct topology_settings, horizon_ms, "LAPSE_DELAY_HORIZON", "1h",
		SECONDS(1), DAYS(24), "timeouts further away than this wait in the outbox"),
	SETTING_END,
};

uint64_t topology_mode_max_ms(enum topology_mode mode)
{
	switch (mode) {
	case TOPOLOGY_MODE_PLUGIN:
		return TOPOLOGY_PLUGIN_MAX_MS;
	case TOPOLOGY_MODE_AUTO: /* may become either: the smaller of the two */
	case TOPOLOGY_MODE_LEVELS:
		break;
	case TOPOLOGY_MODE_NONE: /* nothing is delayed, so nothing is too far away */
		return UINT64_MAX;
	}
	return TOPOLOGY_LEVELS_MAX_MS;
}

void topology_check_settings(
	const struct topology_settings *settings, struct settings_report *report)
{
	enum topology_mode mode = (enum topology_mode)settings->delay;
	char horizon[DURATION_SIZE];

	if (settings->horizon_ms <= topology_mode_max_ms(mode))
		return;
	text_format_duration(horizon, sizeof(horizon), settings->horizon_ms);
	settings_report_add(report,
		"LAPSE_DELAY_HORIZON: %s is more than LAPSE_DELAY=%s can hold, which is %s",
		horizon, topology_mode_names[mode], mode == TOPOLOGY_MODE_PLUGIN ? "24d" : "19d");
}
