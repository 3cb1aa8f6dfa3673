#include "retry/alert_target.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/http.h"
#include "common/io/signature.h"

enum {
	KEY_SIZE = 64
};

/* What is being read. */
struct reading {
	struct alert_target *target;
	const struct settings_source *source;
	struct settings_report *report;
};

static bool is_name(const char *name, size_t size)
{
	if (size == 0 || size >= ALERT_TARGET_NAME_SIZE)
		return false;
	for (size_t i = 0; i < size; i++)
		if (strchr("abcdefghijklmnopqrstuvwxyz0123456789_", name[i]) == NULL)
			return false;
	return true;
}

/* LAPSE_ALERT_OPS_URL for "ops" and "_URL". */
static void format_key(const char *name, const char *ending, char key[KEY_SIZE])
{
	(void)text_format(key, KEY_SIZE, "LAPSE_ALERT_%s%s", name, ending);
	for (char *c = key; *c != '\0'; c++)
		if (*c >= 'a' && *c <= 'z')
			*c = (char)(*c - 'a' + 'A');
}

static char *read_secret(const struct reading *reading, const char *ending)
{
	char key[KEY_SIZE];

	format_key(reading->target->name, ending, key);
	return settings_source_read_secret(reading->source, key, reading->report);
}

static void check_type(const struct reading *reading)
{
	char key[KEY_SIZE];

	format_key(reading->target->name, "_TYPE", key);
	const char *type = settings_source_find(reading->source, key);
	if (type != NULL && !text_equals(type, "generic"))
		settings_report_add(
			reading->report, "%s: \"%.40s\" is not one of generic", key, type);
}

static void read_url(const struct reading *reading)
{
	size_t mistakes = settings_report_count(reading->report);
	struct alert_target *target = reading->target;
	char key[KEY_SIZE];

	target->url = read_secret(reading, "_URL");
	format_key(target->name, "_URL", key);
	if (settings_report_count(reading->report) > mistakes)
		return;
	if (target->url == NULL)
		settings_report_add(reading->report, "%s: is not set", key);
	else if (!http_is_url(target->url))
		settings_report_add(reading->report, "%s: is no http:// or https:// address", key);
}

/* A header ends where its line ends. */
static bool is_header_value(const char *text)
{
	for (; *text != '\0'; text++)
		if ((unsigned char)*text < ' ' || (unsigned char)*text >= 0x7F)
			return false;
	return true;
}

static void read_credentials(const struct reading *reading)
{
	struct alert_target *target = reading->target;

	target->secret = read_secret(reading, "_SECRET");
	target->token = read_secret(reading, "_TOKEN");
	if (target->secret != NULL && !signature_is_webhook_secret(target->secret))
		settings_report_add(reading->report,
			"LAPSE_ALERT_TARGETS: the secret of %s is not whsec_<base64>",
			target->name);
	if (target->token != NULL && !is_header_value(target->token))
		settings_report_add(reading->report,
			"LAPSE_ALERT_TARGETS: the token of %s cannot stand in a header",
			target->name);
}

static void read_min_severity(const struct reading *reading)
{
	char key[KEY_SIZE];

	format_key(reading->target->name, "_MIN_SEVERITY", key);
	const char *name = settings_source_find(reading->source, key);
	reading->target->min_severity = ALERT_SEVERITY_INFO;
	if (name == NULL)
		return;
	for (int i = 0; alert_severity_names[i] != NULL; i++) {
		if (text_equals(name, alert_severity_names[i])) {
			reading->target->min_severity = (enum alert_severity)i;
			return;
		}
	}
	settings_report_add(
		reading->report, "%s: \"%.40s\" is not one of info, warning, critical", key, name);
}

static bool has_target(const struct alert_target_list *list, const char *name)
{
	for (size_t i = 0; i < list->count; i++)
		if (text_equals(list->items[i].name, name))
			return true;
	return false;
}

static void read_target(struct alert_target_list *list, const char *name,
	const struct settings_source *source, struct settings_report *report)
{
	const struct reading reading = {
		.target = &list->items[list->count], .source = source, .report = report
	};

	if (has_target(list, name)) {
		settings_report_add(report, "LAPSE_ALERT_TARGETS: %s comes twice", name);
		return;
	}
	(void)text_copy(reading.target->name, sizeof(reading.target->name), name);
	list->count++;
	check_type(&reading);
	read_url(&reading);
	read_credentials(&reading);
	read_min_severity(&reading);
}

static void read_list(void *field, const char *name, const char *fallback,
	const struct settings_source *source, struct settings_report *report)
{
	struct alert_target_list *list = field;
	const char *value = settings_source_find(source, name);
	const char *rest = value != NULL ? value : fallback;

	while (rest != NULL && *rest != '\0') {
		char target_name[ALERT_TARGET_NAME_SIZE];
		size_t size = strcspn(rest, ",");

		if (!is_name(rest, size) || list->count == ALERT_TARGET_MAX) {
			settings_report_add(report,
				"%s: is no list of at most %d names of a-z, 0-9 and _", name,
				(int)ALERT_TARGET_MAX);
			return;
		}
		(void)text_format(target_name, sizeof(target_name), "%.*s", (int)size, rest);
		read_target(list, target_name, source, report);
		rest += size;
		rest += *rest == ',' ? 1 : 0;
	}
}

static void clear_text(char **text)
{
	if (*text != NULL)
		memory_wipe(*text, strlen(*text));
	free(*text);
	*text = NULL;
}

void alert_target_clear(struct alert_target_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		clear_text(&list->items[i].url);
		clear_text(&list->items[i].secret);
		clear_text(&list->items[i].token);
	}
	memset(list, 0, sizeof(*list));
}

void alert_target_copy(const struct alert_target_list *list, struct alert_target_list *copy_out)
{
	*copy_out = *list;
	for (size_t i = 0; i < list->count; i++) {
		struct alert_target *target = &copy_out->items[i];

		target->url = memory_copy_text(target->url);
		target->secret = memory_copy_text(target->secret);
		target->token = memory_copy_text(target->token);
	}
}

static void clear_field(void *field)
{
	alert_target_clear(field);
}

const struct setting_custom alert_target_setting = { .read = read_list, .clear = clear_field };
