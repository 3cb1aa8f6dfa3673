#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/settings.h"
#include "common/base/text.h"
#include "tests/support/runner.h"

struct inner {
	char *url;
	uint64_t wait_ms;
};

struct custom {
	uint64_t twice;
	char *copy;
};

/* A custom field of two parts: a number doubled, and a text of its own to be freed. */
static void read_custom(void *field, const char *name, const char *fallback,
	const struct settings_source *source, struct settings_report *report)
{
	struct custom *custom = field;
	const char *value = settings_source_find(source, name);
	uint64_t number = 0;

	if (!text_parse_uint(value == NULL ? fallback : value, 0, 1000, &number)) {
		settings_report_add(report, "%s: is no number", name);
		return;
	}
	custom->twice = 2 * number;
	custom->copy = memory_copy_text("copy");
}

static void clear_custom(void *field)
{
	struct custom *custom = field;

	free(custom->copy);
	*custom = (struct custom){ 0 };
}

struct all {
	char *name;
	char *optional;
	uint64_t batch;
	uint64_t interval_ms;
	int level;
	char *secret;
	struct custom custom;
	struct inner inner;
};

static const struct setting_custom custom_functions = { .read = read_custom,
	.clear = clear_custom };

static const struct setting inner_table[] = {
	SETTING_SECRET(struct inner, url, "LAPSE_MYSQL_URL", true, "the database"),
	SETTING_DURATION(struct inner, wait_ms, "LAPSE_LOCK_WAIT", "2s", MILLISECONDS(100),
		SECONDS(30), "lock wait limit"),
	SETTING_END,
};

static const struct setting table[] = {
	SETTING_TEXT(struct all, name, "LAPSE_AMQP_PREFIX", "lapse", "prefix"),
	SETTING_TEXT(struct all, optional, "LAPSE_STOCK_URL", NULL, "optional"),
	SETTING_UINT(struct all, batch, "LAPSE_SWEEP_BATCH", "500", 1, 5000, "batch"),
	SETTING_DURATION(struct all, interval_ms, "LAPSE_SWEEP_INTERVAL", "60s", SECONDS(1),
		HOURS(1), "interval"),
	SETTING_CHOICE(struct all, level, "LAPSE_LOG_LEVEL", "info", log_level_names, "level"),
	SETTING_SECRET(struct all, secret, "LAPSE_NOTIFY_SECRET", false, "secret"),
	SETTING_CUSTOM(struct all, custom, "LAPSE_PREFETCH", "21", &custom_functions, "custom"),
	SETTINGS_SHARED(struct all, inner, inner_table),
	SETTING_END,
};

static struct settings_report *report;
static struct settings_source *source;
static struct all settings;

static void set_up(void)
{
	report = settings_report_create();
	settings = (struct all){ 0 };
}

static void tear_down(void)
{
	settings_clear(table, &settings);
	settings_source_destroy(&source);
	settings_report_destroy(&report);
}

/* words: an environment, ended by NULL. */
static void take_words(const char *const *words)
{
	char *environment[32] = { NULL };
	size_t count = 0;

	for (; words[count] != NULL; count++)
		environment[count] = memory_copy_text(words[count]);
	settings_source_destroy(&source);
	source = settings_source_create(environment, NULL, report);
	for (size_t i = 0; i < count; i++)
		free(environment[i]);
}

static void read_words(const char *const *words)
{
	take_words(words);
	settings_read(table, source, &settings, report);
}

static bool is_reported(const char *text)
{
	for (size_t i = 0; i < settings_report_count(report); i++)
		if (strstr(settings_report_get(report, i), text) != NULL)
			return true;
	return false;
}

#define MYSQL "LAPSE_MYSQL_URL=mysql://u:p@h/d"

START_TEST(defaults_hold_where_nothing_is_set)
{
	static const char *const words[] = { MYSQL, "HOME=/root", "LAPSED=no", NULL };

	read_words(words);
	ck_assert_uint_eq(settings_report_count(report), 0);
	ck_assert_str_eq(settings.name, "lapse");
	ck_assert_ptr_null(settings.optional);
	ck_assert_uint_eq(settings.batch, 500);
	ck_assert_uint_eq(settings.interval_ms, 60000);
	ck_assert_int_eq(settings.level, LOG_LEVEL_INFO);
	ck_assert_ptr_null(settings.secret);
	ck_assert_uint_eq(settings.custom.twice, 42);
	ck_assert_str_eq(settings.inner.url, "mysql://u:p@h/d");
	ck_assert_uint_eq(settings.inner.wait_ms, 2000);
}
END_TEST

START_TEST(values_come_from_the_environment)
{
	static const char *const words[] = { MYSQL, "LAPSE_AMQP_PREFIX=shop",
		"LAPSE_STOCK_URL=http://s", "LAPSE_SWEEP_BATCH=7", "LAPSE_SWEEP_INTERVAL=5m",
		"LAPSE_LOG_LEVEL=debug", "LAPSE_NOTIFY_SECRET=s=1", "LAPSE_PREFETCH=5",
		"LAPSE_LOCK_WAIT=100ms", NULL };

	read_words(words);
	ck_assert_uint_eq(settings_report_count(report), 0);
	ck_assert_str_eq(settings.name, "shop");
	ck_assert_str_eq(settings.optional, "http://s");
	ck_assert_uint_eq(settings.batch, 7);
	ck_assert_uint_eq(settings.interval_ms, 300000);
	ck_assert_int_eq(settings.level, LOG_LEVEL_DEBUG);
	ck_assert_str_eq(settings.secret, "s=1");
	ck_assert_uint_eq(settings.custom.twice, 10);
	ck_assert_uint_eq(settings.inner.wait_ms, 100);
}
END_TEST

START_TEST(an_empty_value_counts_as_not_set)
{
	static const char *const words[] = { MYSQL,
		"LAPSE_SWEEP_BATCH=", "LAPSE_AMQP_PREFIX=", "LAPSE_NOTIFY_SECRET=", NULL };

	read_words(words);
	ck_assert_uint_eq(settings_report_count(report), 0);
	ck_assert_uint_eq(settings.batch, 500);
	ck_assert_str_eq(settings.name, "lapse");
	ck_assert_ptr_null(settings.secret);
}
END_TEST

START_TEST(all_mistakes_are_reported)
{
	static const char *const words[] = { "LAPSE_SWEEP_BATCH=0", "LAPSE_SWEEP_INTERVAL=5",
		"LAPSE_LOG_LEVEL=loud", "LAPSE_PREFETCH=x", "LAPSE_LOCK_WAIT=31s", NULL };

	read_words(words);
	ck_assert_uint_eq(settings_report_count(report), 6);
	ck_assert(is_reported("LAPSE_SWEEP_BATCH: \"0\" is not a whole number from 1 to 5000"));
	ck_assert(is_reported("LAPSE_SWEEP_INTERVAL: \"5\" is not a duration from 1s to 1h"));
	ck_assert(is_reported("LAPSE_LOG_LEVEL: \"loud\" is not one of error, warn, info, debug"));
	ck_assert(is_reported("LAPSE_PREFETCH: is no number"));
	ck_assert(is_reported("LAPSE_LOCK_WAIT: \"31s\" is not a duration from 100ms to 30s"));
	ck_assert(is_reported("LAPSE_MYSQL_URL: is not set"));
}
END_TEST

START_TEST(a_file_for_a_setting_that_is_no_secret_is_a_mistake)
{
	static const char *const words[] = { MYSQL, "LAPSE_SWEEP_BATCH_FILE=/run/batch",
		"LAPSE_LOCK_WAIT_FILE=/run/wait", NULL };

	read_words(words);
	ck_assert_uint_eq(settings_report_count(report), 2);
	ck_assert(is_reported("LAPSE_SWEEP_BATCH_FILE: only secrets are read from files"));
	ck_assert(is_reported("LAPSE_LOCK_WAIT_FILE: only secrets are read from files"));
}
END_TEST

struct bound_case {
	const char *word;
	bool is_good;
};

START_TEST(both_bounds_are_allowed_and_nothing_beyond)
{
	static const struct bound_case cases[] = { { "LAPSE_SWEEP_BATCH=1", true },
		{ "LAPSE_SWEEP_BATCH=5000", true }, { "LAPSE_SWEEP_BATCH=5001", false },
		{ "LAPSE_SWEEP_BATCH=-1", false }, { "LAPSE_SWEEP_BATCH=1 ", false },
		{ "LAPSE_SWEEP_BATCH=18446744073709551617", false },
		{ "LAPSE_SWEEP_INTERVAL=1s", true }, { "LAPSE_SWEEP_INTERVAL=1h", true },
		{ "LAPSE_SWEEP_INTERVAL=60m", true }, { "LAPSE_SWEEP_INTERVAL=999ms", false },
		{ "LAPSE_SWEEP_INTERVAL=3601s", false }, { "LAPSE_SWEEP_INTERVAL=0s", false } };

	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		const char *const words[] = { MYSQL, cases[i].word, NULL };
		size_t before = settings_report_count(report);

		settings_clear(table, &settings);
		read_words(words);
		ck_assert_msg((settings_report_count(report) == before) == cases[i].is_good, "%s",
			cases[i].word);
	}
}
END_TEST

START_TEST(an_unknown_key_names_the_nearest_one)
{
	static const char *const words[] = { MYSQL, "LAPSE_SWEEP_BACH=5", "LAPSE_NOTHING_LIKE_IT=1",
		"LAPSE_RETRY_MAX=3", "LAPSE_MYSQL_URL_FILE=", "LAPSE_ALERT_OPS_URL=http://x",
		"LAPSE_ALERT_OPS_SECRET_FILE=/x", "LAPSE_ALERT_OPS_COLOUR=red",
		"LAPSE_EMPTY=", NULL };

	read_words(words);
	settings_check_names(source, report);
	ck_assert_uint_eq(settings_report_count(report), 4);
	ck_assert(is_reported("LAPSE_SWEEP_BACH: unknown key, did you mean LAPSE_SWEEP_BATCH?"));
	ck_assert(is_reported("LAPSE_NOTHING_LIKE_IT: unknown key"));
	ck_assert(!is_reported("LAPSE_NOTHING_LIKE_IT: unknown key, did"));
	ck_assert(is_reported("LAPSE_ALERT_OPS_COLOUR: unknown key"));
	ck_assert(is_reported("LAPSE_EMPTY: unknown key"));
}
END_TEST

START_TEST(a_reload_takes_new_secrets_and_nothing_else)
{
	static const char *const before[] = { MYSQL, "LAPSE_NOTIFY_SECRET=old", "LAPSE_PREFETCH=1",
		"LAPSE_SWEEP_BATCH=1", NULL };
	static const char *const after[] = { "LAPSE_MYSQL_URL=mysql://u:q@h/d",
		"LAPSE_NOTIFY_SECRET=new", "LAPSE_PREFETCH=2", "LAPSE_SWEEP_BATCH=2", NULL };

	read_words(before);
	take_words(after);
	settings_reload(table, source, &settings, report);
	ck_assert_uint_eq(settings_report_count(report), 0);
	ck_assert_str_eq(settings.secret, "new");
	ck_assert_str_eq(settings.inner.url, "mysql://u:q@h/d");
	ck_assert_uint_eq(settings.custom.twice, 4);
	ck_assert_uint_eq(settings.batch, 1);
}
END_TEST

START_TEST(a_reload_with_a_mistake_changes_nothing)
{
	static const char *const before[] = { MYSQL, "LAPSE_NOTIFY_SECRET=old", "LAPSE_PREFETCH=1",
		NULL };
	static const char *const broken[] = { "LAPSE_NOTIFY_SECRET=new", "LAPSE_PREFETCH=2", NULL };
	static const char *const worse[] = { MYSQL, "LAPSE_NOTIFY_SECRET=new", "LAPSE_PREFETCH=x",
		NULL };

	read_words(before);
	take_words(broken);
	settings_reload(table, source, &settings, report);
	ck_assert(is_reported("LAPSE_MYSQL_URL: is not set"));
	take_words(worse);
	settings_reload(table, source, &settings, report);
	ck_assert(is_reported("LAPSE_PREFETCH: is no number"));
	ck_assert_str_eq(settings.secret, "old");
	ck_assert_str_eq(settings.inner.url, "mysql://u:p@h/d");
	ck_assert_uint_eq(settings.custom.twice, 2);
}
END_TEST

START_TEST(a_cleared_struct_holds_nothing)
{
	static const char *const words[] = { MYSQL, "LAPSE_NOTIFY_SECRET=s", NULL };

	read_words(words);
	settings_clear(table, &settings);
	ck_assert_ptr_null(settings.name);
	ck_assert_ptr_null(settings.secret);
	ck_assert_ptr_null(settings.inner.url);
	ck_assert_ptr_null(settings.custom.copy);
	settings_clear(table, &settings);
}
END_TEST

/* What print writes, in a buffer of its caller. */
static void print_into(char *text, size_t text_size, bool is_help)
{
	FILE *file = fmemopen(text, text_size, "w");

	ck_assert_ptr_nonnull(file);
	if (is_help)
		settings_print_help(table, file);
	else
		settings_print_values(table, source, file);
	ck_assert_int_eq(fclose(file), 0);
}

START_TEST(help_shows_every_setting_with_its_default)
{
	char text[4096] = "";

	print_into(text, sizeof(text), true);
	ck_assert(strstr(text, "LAPSE_SWEEP_BATCH          500            batch\n") != NULL);
	ck_assert(strstr(text, "LAPSE_MYSQL_URL            -              the database\n") != NULL);
	ck_assert(strstr(text, "LAPSE_LOCK_WAIT") != NULL);
}
END_TEST

static void add_line(void *context, const char *name, const char *value)
{
	char *text = context;
	size_t size = strlen(text);

	(void)text_format(text + size, 4096 - size, "%s=%s\n", name, value);
}

START_TEST(settings_in_effect_are_told_and_secrets_are_not)
{
	static const char *const words[] = { "LAPSE_MYSQL_URL=mysql://u:hush@h/d",
		"LAPSE_SWEEP_BATCH=7", NULL };
	char text[4096] = "";

	read_words(words);
	settings_each(table, &settings, add_line, text);
	ck_assert_msg(strstr(text, "LAPSE_SWEEP_BATCH=7\n") != NULL, "%s", text);
	ck_assert_ptr_nonnull(strstr(text, "LAPSE_LOCK_WAIT=2s\n"));
	ck_assert_ptr_nonnull(strstr(text, "LAPSE_MYSQL_URL=set\n"));
	ck_assert_ptr_nonnull(strstr(text, "LAPSE_NOTIFY_SECRET=unset\n"));
	ck_assert_ptr_null(strstr(text, "hush"));
}
END_TEST

START_TEST(values_are_shown_with_their_origin_and_secrets_are_not)
{
	static const char *const words[] = { "LAPSE_MYSQL_URL=mysql://u:hush@h/d",
		"LAPSE_NOTIFY_SECRET_FILE=/nowhere", "LAPSE_SWEEP_BATCH=7", NULL };
	char text[4096] = "";

	read_words(words);
	print_into(text, sizeof(text), false);
	ck_assert(strstr(text, "hush") == NULL);
	ck_assert(strstr(text, "LAPSE_MYSQL_URL=set (environment)\n") != NULL);
	ck_assert(strstr(text, "LAPSE_NOTIFY_SECRET=set (secret file)\n") != NULL);
	ck_assert(strstr(text, "LAPSE_SWEEP_BATCH=7 (environment)\n") != NULL);
	ck_assert(strstr(text, "LAPSE_SWEEP_INTERVAL=60s (default)\n") != NULL);
	ck_assert(strstr(text, "LAPSE_STOCK_URL=unset (default)\n") != NULL);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		defaults_hold_where_nothing_is_set,
		values_come_from_the_environment,
		an_empty_value_counts_as_not_set,
		all_mistakes_are_reported,
		a_file_for_a_setting_that_is_no_secret_is_a_mistake,
		both_bounds_are_allowed_and_nothing_beyond,
		an_unknown_key_names_the_nearest_one,
		a_reload_takes_new_secrets_and_nothing_else,
		a_reload_with_a_mistake_changes_nothing,
		a_cleared_struct_holds_nothing,
		help_shows_every_setting_with_its_default,
		settings_in_effect_are_told_and_secrets_are_not,
		values_are_shown_with_their_origin_and_secrets_are_not,
	};
	const struct runner_fixture fixture = { set_up, tear_down };

	return runner_run_with("settings", &fixture, tests, ARRAY_LENGTH(tests));
}
