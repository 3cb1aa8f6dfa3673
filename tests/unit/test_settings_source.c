#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/settings_source.h"
#include "common/base/text.h"
#include "tests/support/runner.h"

#define SECRET "LAPSE_NOTIFY_SECRET"

static struct settings_report *report;
static struct settings_source *source;

static void set_up(void)
{
	report = settings_report_create();
}

static void tear_down(void)
{
	settings_source_destroy(&source);
	settings_report_destroy(&report);
}

static bool is_reported(const char *text)
{
	for (size_t i = 0; i < settings_report_count(report); i++)
		if (strstr(settings_report_get(report, i), text) != NULL)
			return true;
	return false;
}

/* Unit tests write no files but these: what is tested is reading them. */
static void write_file(char path[PATH_MAX], const char *content, size_t size)
{
	(void)text_copy(path, PATH_MAX, "/tmp/lapse-settings.XXXXXX");
	int handle = mkstemp(path);
	FILE *file = fdopen(handle, "w");

	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(content, 1, size, file), size);
	ck_assert_int_eq(fclose(file), 0);
}

/* A source of one word, LAPSE_NOTIFY_SECRET_FILE naming a file of this content. */
static char *read_secret_file(const char *content, size_t size)
{
	char path[PATH_MAX];
	char word[PATH_MAX + 64];
	char *const environment[] = { word, NULL };

	write_file(path, content, size);
	(void)text_format(word, sizeof(word), SECRET "_FILE=%s", path);
	settings_source_destroy(&source);
	source = settings_source_create(environment, NULL, report);
	char *secret = settings_source_read_secret(source, SECRET, report);
	(void)remove(path);
	return secret;
}

START_TEST(a_secret_is_the_content_of_its_file_without_the_last_newline)
{
	static const char *const contents[] = { "hush ", "hush \n", "hush \r\n" };

	for (size_t i = 0; i < ARRAY_LENGTH(contents); i++) {
		char *secret = read_secret_file(contents[i], strlen(contents[i]));

		ck_assert_str_eq(secret, "hush ");
		free(secret);
	}
	char *secret = read_secret_file("a\n\n", 3);
	ck_assert_str_eq(secret, "a\n");
	free(secret);
	ck_assert_uint_eq(settings_report_count(report), 0);
	ck_assert(settings_source_has(source, SECRET));
	ck_assert_str_eq(settings_source_origin(source, SECRET), "secret file");
}
END_TEST

START_TEST(an_empty_secret_file_counts_as_not_set)
{
	ck_assert_ptr_null(read_secret_file("\n", 1));
	ck_assert_ptr_null(read_secret_file("", 0));
	ck_assert_uint_eq(settings_report_count(report), 0);
}
END_TEST

START_TEST(a_secret_file_that_is_no_text_is_a_mistake)
{
	static char large[70000];

	ck_assert_ptr_null(read_secret_file("a\0b", 3));
	ck_assert(is_reported("is no text of at most 64 KiB"));
	memset(large, 'x', sizeof(large));
	ck_assert_ptr_null(read_secret_file(large, sizeof(large)));
	ck_assert_uint_eq(settings_report_count(report), 2);
}
END_TEST

static char *read_secret_of(char *const *environment)
{
	settings_source_destroy(&source);
	source = settings_source_create(environment, NULL, report);
	return settings_source_read_secret(source, SECRET, report);
}

START_TEST(a_secret_file_that_cannot_be_read_is_a_mistake)
{
	char word[] = SECRET "_FILE=/nowhere/at/all";
	char *const environment[] = { word, NULL };

	ck_assert_ptr_null(read_secret_of(environment));
	ck_assert(is_reported(SECRET "_FILE: /nowhere/at/all: cannot be read: No such file"));
}
END_TEST

START_TEST(a_secret_and_its_file_together_are_a_mistake)
{
	char word[] = SECRET "=a";
	char file[] = SECRET "_FILE=/nowhere";
	char *const environment[] = { word, file, NULL };

	ck_assert_ptr_null(read_secret_of(environment));
	ck_assert_uint_eq(settings_report_count(report), 1);
	ck_assert(is_reported(SECRET " and " SECRET "_FILE are both set"));
}
END_TEST

START_TEST(a_secret_that_is_not_set_is_no_mistake)
{
	char word[] = SECRET "=";
	char *const environment[] = { word, NULL };

	ck_assert_ptr_null(read_secret_of(environment));
	ck_assert(!settings_source_has(source, SECRET));
	ck_assert_uint_eq(settings_report_count(report), 0);
	ck_assert_str_eq(settings_source_origin(source, SECRET), "default");
}
END_TEST

static void read_env_file(const char *content, char *const *environment)
{
	char path[PATH_MAX];

	write_file(path, content, strlen(content));
	source = settings_source_create(environment, path, report);
	(void)remove(path);
}

static void expect(const char *name, const char *value)
{
	const char *found = settings_source_find(source, name);

	ck_assert_msg(found != NULL && text_equals(found, value), "%s: %s", name,
		found == NULL ? "not set" : found);
}

START_TEST(an_env_file_is_lines_of_key_and_value)
{
	read_env_file("# a comment\n"
		      "\n"
		      "   LAPSE_AMQP_PREFIX=\"two words\"\r\n"
		      "export LAPSE_SWEEP_BATCH='7'\n"
		      "LAPSE_STOCK_URL=http://h/?a=b#c  \n"
		      "OTHER=ignored\n"
		      "LAPSE_EMPTY=\n"
		      "LAPSE_NOTIFY_SECRET=\"unbalanced\n"
		      "LAPSE_LAST='",
		NULL);
	ck_assert_uint_eq(settings_report_count(report), 0);
	expect("LAPSE_AMQP_PREFIX", "two words");
	expect("LAPSE_SWEEP_BATCH", "7");
	expect("LAPSE_STOCK_URL", "http://h/?a=b#c");
	expect("LAPSE_NOTIFY_SECRET", "\"unbalanced");
	expect("LAPSE_LAST", "'");
	ck_assert_ptr_null(settings_source_find(source, "LAPSE_EMPTY"));
	ck_assert_ptr_null(settings_source_find(source, "OTHER"));
	ck_assert_uint_eq(settings_source_count(source), 6);
	ck_assert_str_eq(settings_source_name(source, 0), "LAPSE_AMQP_PREFIX");
	ck_assert_str_eq(settings_source_origin(source, "LAPSE_LAST"), "env file");
}
END_TEST

START_TEST(a_line_that_is_no_assignment_is_a_mistake)
{
	read_env_file("LAPSE_SWEEP_BATCH 7\nLAPSE_HOLD=1s\n", NULL);
	ck_assert_uint_eq(settings_report_count(report), 1);
	ck_assert(is_reported(", line 1: is not KEY=VALUE"));
	expect("LAPSE_HOLD", "1s");
}
END_TEST

START_TEST(the_environment_wins_over_the_file_unless_it_is_empty)
{
	char word[] = "LAPSE_SWEEP_BATCH=9";
	char empty[] = "LAPSE_SWEEP_INTERVAL=";
	char *const environment[] = { word, empty, NULL };

	read_env_file("LAPSE_SWEEP_BATCH=7\nLAPSE_SWEEP_INTERVAL=7s\nLAPSE_SWEEP_INTERVAL=8s\n",
		environment);
	expect("LAPSE_SWEEP_BATCH", "9");
	expect("LAPSE_SWEEP_INTERVAL", "7s");
	ck_assert_str_eq(settings_source_origin(source, "LAPSE_SWEEP_BATCH"), "environment");
	ck_assert_uint_eq(settings_source_count(source), 2);
}
END_TEST

START_TEST(an_env_file_that_is_not_there_is_a_mistake)
{
	source = settings_source_create(NULL, "/nowhere/at/all", report);
	ck_assert(is_reported("/nowhere/at/all: cannot be read"));
}
END_TEST

START_TEST(more_keys_than_a_source_holds_are_a_mistake)
{
	static char words[600][32];
	static char *environment[601];

	for (size_t i = 0; i < ARRAY_LENGTH(words); i++) {
		(void)text_format(words[i], sizeof(words[i]), "LAPSE_KEY_%zu=1", i);
		environment[i] = words[i];
	}
	source = settings_source_create(environment, NULL, report);
	ck_assert(is_reported("environment: more than 512 keys"));
	expect("LAPSE_KEY_511", "1");
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		a_secret_is_the_content_of_its_file_without_the_last_newline,
		an_empty_secret_file_counts_as_not_set,
		a_secret_file_that_is_no_text_is_a_mistake,
		a_secret_file_that_cannot_be_read_is_a_mistake,
		a_secret_and_its_file_together_are_a_mistake,
		a_secret_that_is_not_set_is_no_mistake,
		an_env_file_is_lines_of_key_and_value,
		a_line_that_is_no_assignment_is_a_mistake,
		the_environment_wins_over_the_file_unless_it_is_empty,
		an_env_file_that_is_not_there_is_a_mistake,
		more_keys_than_a_source_holds_are_a_mistake,
	};
	const struct runner_fixture fixture = { set_up, tear_down };

	return runner_run_with("settings_source", &fixture, tests, ARRAY_LENGTH(tests));
}
