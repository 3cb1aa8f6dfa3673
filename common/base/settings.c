#include "common/base/settings.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/text.h"

enum {
	ENTRY_MAX = 512,       /* LAPSE_ keys in one source */
	FILE_SIZE_MAX = 65536, /* an env file or a secret file */
	NAME_SIZE = 64,
	NEAR_DISTANCE_MAX = 4,
	PROBLEM_SIZE = 320,
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

struct entry {
	char *name;
	char *value;
	const char *origin; /* "environment", "env file" or "secret file" */
};

struct settings_source {
	struct entry entries[ENTRY_MAX];
	size_t count;
};

struct settings_report {
	char **problems;
	size_t count;
};

struct settings_report *settings_report_create(void)
{
	return memory_allocate(sizeof(struct settings_report));
}

void settings_report_destroy(struct settings_report **report)
{
	if (*report == NULL)
		return;
	for (size_t i = 0; i < (*report)->count; i++)
		free((*report)->problems[i]);
	free((*report)->problems);
	free(*report);
	*report = NULL;
}

void settings_report_add(struct settings_report *report, const char *format, ...)
{
	char problem[PROBLEM_SIZE];
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(problem, sizeof(problem), format, arguments);
	va_end(arguments);
	report->problems = memory_resize_array(report->problems, report->count + 1, sizeof(char *));
	report->problems[report->count++] = memory_copy_text(problem);
}

size_t settings_report_count(const struct settings_report *report)
{
	return report->count;
}

const char *settings_report_get(const struct settings_report *report, size_t index)
{
	return report->problems[index];
}

static const struct entry *find_entry(const struct settings_source *source, const char *name)
{
	for (size_t i = 0; i < source->count; i++)
		if (text_equals(source->entries[i].name, name))
			return &source->entries[i];
	return NULL;
}

const char *settings_source_find(const struct settings_source *source, const char *name)
{
	const struct entry *entry = find_entry(source, name);

	return entry == NULL || entry->value[0] == '\0' ? NULL : entry->value;
}

/* The first value of a name wins: the environment is added before the file. */
static void add_entry(struct settings_source *source, char *name, char *value, const char *origin)
{
	if (source->count == ENTRY_MAX || find_entry(source, name) != NULL) {
		free(name);
		free(value);
		return;
	}
	source->entries[source->count++] =
		(struct entry){ .name = name, .value = value, .origin = origin };
}

static void add_assignment(struct settings_source *source, const char *text, const char *origin)
{
	const char *equals = strchr(text, '=');

	if (equals == NULL || !text_starts_with(text, "LAPSE_"))
		return;
	add_entry(source, memory_copy_bytes(text, (size_t)(equals - text)),
		memory_copy_text(equals + 1), origin);
}

/* NULL, and a line in the report, when the file cannot be read. */
static char *read_file(const char *path, struct settings_report *report)
{
	FILE *file = fopen(path, "re");
	char *content = NULL;

	if (file == NULL) {
		settings_report_add(report, "%s: cannot be read", path);
		return NULL;
	}
	content = memory_allocate(FILE_SIZE_MAX + 1);
	size_t size = fread(content, 1, FILE_SIZE_MAX + 1, file);
	if (ferror(file) != 0 || size > FILE_SIZE_MAX || memchr(content, '\0', size) != NULL) {
		settings_report_add(report, "%s: is no text of at most 64 KiB", path);
		free(content);
		content = NULL;
	} else {
		content[size] = '\0';
	}
	(void)fclose(file);
	return content;
}

static char *skip_blanks(char *text)
{
	return text + strspn(text, " \t");
}

static void cut_blanks(char *text)
{
	size_t length = strlen(text);

	while (length > 0 && strchr(" \t\r\n", text[length - 1]) != NULL)
		text[--length] = '\0';
}

/* KEY=VALUE, optionally behind "export", optionally in quotes; blank lines and # are skipped. */
static void read_env_line(struct settings_source *source, char *line, const char *path,
	struct settings_report *report)
{
	char *text = skip_blanks(line);

	cut_blanks(text);
	if (text[0] == '\0' || text[0] == '#')
		return;
	if (text_starts_with(text, "export "))
		text = skip_blanks(text + strlen("export "));
	char *equals = strchr(text, '=');
	if (equals == NULL) {
		settings_report_add(report, "%s: a line is not KEY=VALUE", path);
		return;
	}
	size_t length = strlen(equals + 1);
	char quote = equals[1];
	if (length >= 2 && (quote == '"' || quote == '\'') && equals[length] == quote) {
		equals[length] = '\0';
		memmove(equals + 1, equals + 2, length - 1);
	}
	add_assignment(source, text, "env file");
}

static void read_env_file(
	struct settings_source *source, const char *path, struct settings_report *report)
{
	char *content = read_file(path, report);
	char *rest = content;

	while (rest != NULL && *rest != '\0') {
		char *end = strchr(rest, '\n');

		if (end != NULL)
			*end = '\0';
		read_env_line(source, rest, path, report);
		rest = end == NULL ? NULL : end + 1;
	}
	free(content);
}

struct settings_source *settings_source_create(
	char *const *environment, const char *env_file, struct settings_report *report)
{
	struct settings_source *source = memory_allocate(sizeof(*source));

	for (size_t i = 0; environment != NULL && environment[i] != NULL; i++)
		add_assignment(source, environment[i], "environment");
	if (env_file != NULL)
		read_env_file(source, env_file, report);
	return source;
}

void settings_source_destroy(struct settings_source **source)
{
	if (*source == NULL)
		return;
	for (size_t i = 0; i < (*source)->count; i++) {
		memory_wipe((*source)->entries[i].value, strlen((*source)->entries[i].value));
		free((*source)->entries[i].value);
		free((*source)->entries[i].name);
	}
	free(*source);
	*source = NULL;
}

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

static const char *find_nearest_name(const char *name)
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

void settings_check_names(const struct settings_source *source, struct settings_report *report)
{
	for (size_t i = 0; i < source->count; i++) {
		const char *name = source->entries[i].name;

		if (is_known_name(name) || is_known_file_name(name))
			continue;
		const char *nearest = find_nearest_name(name);
		if (nearest == NULL)
			settings_report_add(report, "%.80s: unknown key", name);
		else
			settings_report_add(
				report, "%.80s: unknown key, did you mean %s?", name, nearest);
	}
}

static bool is_given(const char *name, const struct settings_source *source)
{
	char file_name[NAME_SIZE];

	(void)text_format(file_name, sizeof(file_name), "%s_FILE", name);
	return settings_source_find(source, name) != NULL ||
	       settings_source_find(source, file_name) != NULL;
}

/* An owned copy of the value of a secret, or NULL when it is not set. */
static char *read_secret(
	const char *name, const struct settings_source *source, struct settings_report *report)
{
	char file_name[NAME_SIZE];
	const char *value = settings_source_find(source, name);

	(void)text_format(file_name, sizeof(file_name), "%s_FILE", name);
	const char *path = settings_source_find(source, file_name);
	if (value != NULL && path != NULL) {
		settings_report_add(report, "%s and %s are both set", name, file_name);
		return NULL;
	}
	if (path == NULL)
		return memory_copy_text(value);
	char *content = read_file(path, report);
	if (content != NULL)
		cut_blanks(content);
	return content;
}

static void read_number(const struct setting *setting, const char *value, void *field,
	struct settings_report *report)
{
	uint64_t number = 0;
	bool is_number = setting->kind == SETTING_KIND_DURATION
				 ? text_parse_duration(value, &number)
				 : text_parse_uint(value, 0, UINT64_MAX, &number);
	char low[24];
	char high[24];

	if (is_number && number >= setting->minimum && number <= setting->maximum) {
		memcpy(field, &number, sizeof(number));
		return;
	}
	if (setting->kind == SETTING_KIND_DURATION) {
		text_format_duration(low, sizeof(low), setting->minimum);
		text_format_duration(high, sizeof(high), setting->maximum);
	} else {
		(void)text_format(low, sizeof(low), "%" PRIu64, setting->minimum);
		(void)text_format(high, sizeof(high), "%" PRIu64, setting->maximum);
	}
	settings_report_add(report, "%s: \"%.40s\" is not %s from %s to %s", setting->name, value,
		setting->kind == SETTING_KIND_DURATION ? "a duration" : "a whole number", low,
		high);
}

static void read_choice(const struct setting *setting, const char *value, void *field,
	struct settings_report *report)
{
	char allowed[128] = "";

	for (int i = 0; setting->choices[i] != NULL; i++) {
		if (text_equals(value, setting->choices[i])) {
			memcpy(field, &i, sizeof(i));
			return;
		}
		size_t used = strlen(allowed);
		(void)text_format(allowed + used, sizeof(allowed) - used, "%s%s",
			i == 0 ? "" : ", ", setting->choices[i]);
	}
	settings_report_add(
		report, "%s: \"%.40s\" is not one of %s", setting->name, value, allowed);
}

static void read_one(const struct setting *setting, const struct settings_source *source,
	void *field, struct settings_report *report)
{
	char *text = NULL;
	const char *value =
		setting->name == NULL ? NULL : settings_source_find(source, setting->name);

	switch (setting->kind) {
	case SETTING_KIND_SHARED:
		settings_read(setting->shared, source, field, report);
		return;
	case SETTING_KIND_CUSTOM:
		setting->custom->read(field, setting->name, setting->fallback, source, report);
		return;
	case SETTING_KIND_SECRET:
		text = read_secret(setting->name, source, report);
		break;
	case SETTING_KIND_TEXT:
		text = memory_copy_text(value != NULL ? value : setting->fallback);
		break;
	case SETTING_KIND_UINT:
	case SETTING_KIND_DURATION:
		read_number(setting, value != NULL ? value : setting->fallback, field, report);
		return;
	case SETTING_KIND_CHOICE:
		read_choice(setting, value != NULL ? value : setting->fallback, field, report);
		return;
	case SETTING_KIND_END:
		return;
	}
	if (text == NULL && setting->is_required && !is_given(setting->name, source))
		settings_report_add(report, "%s: is not set", setting->name);
	memcpy(field, &text, sizeof(text));
}

void settings_read(const struct setting *table, const struct settings_source *source,
	void *settings, struct settings_report *report)
{
	for (const struct setting *setting = table; setting->kind != SETTING_KIND_END; setting++)
		read_one(setting, source, (char *)settings + setting->offset, report);
}

static void clear_text(void *field)
{
	char *text = NULL;

	memcpy(&text, field, sizeof(text));
	if (text != NULL)
		memory_wipe(text, strlen(text));
	free(text);
	memset(field, 0, sizeof(text));
}

void settings_clear(const struct setting *table, void *settings)
{
	for (const struct setting *setting = table; setting->kind != SETTING_KIND_END; setting++) {
		void *field = (char *)settings + setting->offset;

		if (setting->kind == SETTING_KIND_SHARED)
			settings_clear(setting->shared, field);
		else if (setting->kind == SETTING_KIND_CUSTOM)
			setting->custom->clear(field);
		else if (setting->kind == SETTING_KIND_TEXT || setting->kind == SETTING_KIND_SECRET)
			clear_text(field);
	}
}

/* Custom fields hold secrets too (alert addresses), so they are read again as well. */
static void replace_secrets(const struct setting *table, const struct settings_source *source,
	void *settings, struct settings_report *report)
{
	for (const struct setting *setting = table; setting->kind != SETTING_KIND_END; setting++) {
		void *field = (char *)settings + setting->offset;

		if (setting->kind == SETTING_KIND_SHARED)
			replace_secrets(setting->shared, source, field, report);
		if (setting->kind == SETTING_KIND_SECRET)
			clear_text(field);
		if (setting->kind == SETTING_KIND_CUSTOM)
			setting->custom->clear(field);
		if (setting->kind == SETTING_KIND_SECRET || setting->kind == SETTING_KIND_CUSTOM)
			read_one(setting, source, field, report);
	}
}

/* Reads the secrets of the table only to see whether anything is wrong. */
static void check_secrets(const struct setting *table, const struct settings_source *source,
	struct settings_report *report)
{
	for (const struct setting *setting = table; setting->kind != SETTING_KIND_END; setting++) {
		if (setting->kind == SETTING_KIND_SHARED) {
			check_secrets(setting->shared, source, report);
		} else if (setting->kind == SETTING_KIND_SECRET) {
			char *text = read_secret(setting->name, source, report);

			if (text == NULL && setting->is_required &&
				!is_given(setting->name, source))
				settings_report_add(report, "%s: is not set", setting->name);
			clear_text(&text);
		}
	}
}

void settings_reload(const struct setting *table, const struct settings_source *source,
	void *settings, struct settings_report *report)
{
	check_secrets(table, source, report);
	if (settings_report_count(report) == 0)
		replace_secrets(table, source, settings, report);
}

void settings_print_help(const struct setting *table, FILE *file)
{
	for (const struct setting *setting = table; setting->kind != SETTING_KIND_END; setting++) {
		if (setting->kind == SETTING_KIND_SHARED) {
			settings_print_help(setting->shared, file);
			continue;
		}
		(void)fprintf(file, "  %-26s %-14s %s\n", setting->name,
			setting->fallback == NULL ? "-" : setting->fallback, setting->help);
	}
}

static const char *describe_value(const struct setting *setting,
	const struct settings_source *source, const char **origin_out)
{
	const struct entry *entry = find_entry(source, setting->name);
	char file_name[NAME_SIZE];

	(void)text_format(file_name, sizeof(file_name), "%s_FILE", setting->name);
	if (entry != NULL && entry->value[0] != '\0') {
		*origin_out = entry->origin;
		return setting->kind == SETTING_KIND_SECRET ? "set" : entry->value;
	}
	if (setting->kind == SETTING_KIND_SECRET && find_entry(source, file_name) != NULL) {
		*origin_out = "secret file";
		return "set";
	}
	*origin_out = "default";
	return setting->fallback == NULL ? "unset" : setting->fallback;
}

void settings_print_values(
	const struct setting *table, const struct settings_source *source, FILE *file)
{
	for (const struct setting *setting = table; setting->kind != SETTING_KIND_END; setting++) {
		const char *origin = NULL;

		if (setting->kind == SETTING_KIND_SHARED) {
			settings_print_values(setting->shared, source, file);
			continue;
		}
		const char *value = describe_value(setting, source, &origin);
		(void)fprintf(file, "%s=%s (%s)\n", setting->name, value, origin);
	}
}
