#include "common/report/alert_target.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/http.h"
#include "common/io/signature.h"

enum {
	KEY_SIZE = 64
};

const char *const alert_type_names[] = { "generic", "alertmanager", "dingtalk", "feishu", "wecom",
	"slack", NULL };

static_assert(ARRAY_LENGTH(alert_type_names) == ALERT_TYPE_SLACK + 2, "type names");

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

/* NULL when not set.  A copy, so that all texts of a target are freed alike. */
static char *read_words(const struct reading *reading, const char *ending)
{
	char key[KEY_SIZE];

	format_key(reading->target->name, ending, key);
	return memory_copy_text(settings_source_find(reading->source, key));
}

static void read_type(const struct reading *reading)
{
	char key[KEY_SIZE];

	format_key(reading->target->name, "_TYPE", key);
	const char *word = settings_source_find(reading->source, key);
	int type = ALERT_TYPE_GENERIC;

	if (word != NULL)
		settings_report_choose(reading->report, key, alert_type_names, word, &type);
	reading->target->type = (enum alert_type)type;
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
	else if (target->type == ALERT_TYPE_ALERTMANAGER && strchr(target->url, '?') != NULL)
		settings_report_add(reading->report, "%s: a path is put behind it", key);
}

/* A header ends where its line ends, and ours have a largest size. */
static bool is_header_value(const char *text)
{
	if (strlen(text) > ALERT_TOKEN_MAX)
		return false;
	for (; *text != '\0'; text++)
		if ((unsigned char)*text < ' ' || (unsigned char)*text >= 0x7F)
			return false;
	return true;
}

/* What a type has a use for; anything else would be ignored without a word. */
static const struct {
	bool secret, token, keyword, mention;
} uses[] = {
	[ALERT_TYPE_GENERIC] = { .secret = true, .token = true },
	[ALERT_TYPE_ALERTMANAGER] = { .token = true },
	[ALERT_TYPE_DINGTALK] = { .secret = true, .keyword = true, .mention = true },
	[ALERT_TYPE_FEISHU] = { .secret = true, .keyword = true, .mention = true },
	[ALERT_TYPE_WECOM] = { .mention = true },
	[ALERT_TYPE_SLACK] = { .mention = true },
};

static_assert(ARRAY_LENGTH(uses) == ALERT_TYPE_SLACK + 1, "one for each type");

static void refuse_unused(
	const struct reading *reading, const char *value, bool is_used, const char *ending)
{
	char key[KEY_SIZE];

	format_key(reading->target->name, ending, key);
	if (value != NULL && !is_used)
		settings_report_add(reading->report, "%s: a target of type %s has no use for it",
			key, alert_type_names[reading->target->type]);
}

static void read_credentials(const struct reading *reading)
{
	struct alert_target *target = reading->target;

	target->secret = read_secret(reading, "_SECRET");
	target->token = read_secret(reading, "_TOKEN");
	refuse_unused(reading, target->secret, uses[target->type].secret, "_SECRET");
	refuse_unused(reading, target->token, uses[target->type].token, "_TOKEN");
	if (target->type == ALERT_TYPE_GENERIC && target->secret != NULL &&
		!signature_is_webhook_secret(target->secret))
		settings_report_add(reading->report,
			"LAPSE_ALERT_TARGETS: the secret of %s is not whsec_<base64>",
			target->name);
	if (target->token != NULL && !is_header_value(target->token))
		settings_report_add(reading->report,
			"LAPSE_ALERT_TARGETS: the token of %s cannot stand in a header",
			target->name);
}

/* Names, numbers and what services call their people; with commas between. */
static bool is_mention(const char *text)
{
	static const char signs[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				    "0123456789_-.+,";

	return strlen(text) <= ALERT_MENTION_MAX && strspn(text, signs) == strlen(text);
}

static void read_people(const struct reading *reading)
{
	struct alert_target *target = reading->target;
	char clean[ALERT_KEYWORD_MAX + 1];
	char key[KEY_SIZE];

	target->keyword = read_words(reading, "_KEYWORD");
	target->mention = read_words(reading, "_MENTION");
	refuse_unused(reading, target->keyword, uses[target->type].keyword, "_KEYWORD");
	refuse_unused(reading, target->mention, uses[target->type].mention, "_MENTION");
	format_key(target->name, "_MENTION", key);
	if (target->mention != NULL && !is_mention(target->mention))
		settings_report_add(reading->report,
			"%s: is neither all nor names of letters, digits, _ - . + with commas",
			key);
	format_key(target->name, "_KEYWORD", key);
	if (target->keyword == NULL)
		return;
	(void)text_clip(clean, sizeof(clean), target->keyword, strlen(target->keyword));
	if (!text_equals(clean, target->keyword))
		settings_report_add(reading->report, "%s: is longer than %d bytes or no UTF-8", key,
			(int)ALERT_KEYWORD_MAX);
}

static void read_min_severity(const struct reading *reading)
{
	char key[KEY_SIZE];

	format_key(reading->target->name, "_MIN_SEVERITY", key);
	const char *word = settings_source_find(reading->source, key);
	int severity = ALERT_SEVERITY_INFO;

	if (word != NULL)
		settings_report_choose(reading->report, key, alert_severity_names, word, &severity);
	reading->target->min_severity = (enum alert_severity)severity;
}

const struct alert_target *alert_target_find(const struct alert_target_list *list, const char *name)
{
	for (size_t i = 0; i < list->count; i++)
		if (text_equals(list->items[i].name, name))
			return &list->items[i];
	return NULL;
}

static void read_target(struct alert_target_list *list, const char *name,
	const struct settings_source *source, struct settings_report *report)
{
	const struct reading reading = {
		.target = &list->items[list->count], .source = source, .report = report
	};

	if (alert_target_find(list, name) != NULL) {
		settings_report_add(report, "LAPSE_ALERT_TARGETS: %s comes twice", name);
		return;
	}
	(void)text_copy(reading.target->name, sizeof(reading.target->name), name);
	list->count++;
	read_type(&reading);
	read_url(&reading);
	read_credentials(&reading);
	read_people(&reading);
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
		clear_text(&list->items[i].keyword);
		clear_text(&list->items[i].mention);
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
		target->keyword = memory_copy_text(target->keyword);
		target->mention = memory_copy_text(target->mention);
	}
}

static void clear_field(void *field)
{
	alert_target_clear(field);
}

const struct setting_custom alert_target_setting = { .read = read_list, .clear = clear_field };
