/* The rules of the console are those of Prometheus: the same names, limits, times, severities. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/compiler.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "console/thresholds.h"
#include "tests/support/fake_clock.h"
#include "tests/support/runner.h"

enum {
	FILE_MAX = 65536,
	WORDS_SIZE = 128,
};

static char *rules; /* the whole file */

static void set_up(void)
{
	FILE *file = fopen(TEST_SOURCE_DIR "/deploy/prometheus/rules.yml", "re");

	ck_assert_ptr_nonnull(file);
	rules = memory_allocate(FILE_MAX);
	ck_assert_uint_lt(fread(rules, 1, FILE_MAX - 1, file), FILE_MAX - 1);
	(void)fclose(file);
}

static void tear_down(void)
{
	free(rules);
	rules = NULL;
}

/* The entry of one alert, owned by the caller; NULL: there is none. */
static char *find_entry(const char *name)
{
	char words[WORDS_SIZE];

	(void)text_format(words, sizeof(words), "- alert: %s\n", name);
	const char *begin = strstr(rules, words);
	if (begin == NULL)
		return NULL;
	const char *end = strstr(begin + 1, "- alert: ");
	return memory_copy_bytes(begin, end == NULL ? strlen(begin) : (size_t)(end - begin));
}

static void check_has(const char *entry, const char *words)
{
	ck_assert_msg(strstr(entry, words) != NULL, "no \"%s\" in\n%s", words, entry);
}

START_TEST(every_rule_stands_in_the_file_with_its_limit_time_and_severity)
{
	for (size_t i = 0; i < threshold_rule_count; i++) {
		const struct threshold_rule *rule = &threshold_rules[i];
		char *entry = find_entry(rule->name);
		char words[WORDS_SIZE];

		ck_assert_msg(entry != NULL, "rules.yml knows no %s", rule->name);
		(void)text_format(words, sizeof(words), " %s %.6g\n", rule->is_equal ? "==" : ">",
			rule->limit);
		check_has(entry, words);
		(void)text_format(words, sizeof(words), "{severity: %s}",
			alert_severity_names[rule->severity]);
		check_has(entry, words);
		(void)text_format(words, sizeof(words), "\n        for: %um\n",
			(unsigned)(rule->for_ms / 60000));
		if (rule->for_ms > 0)
			check_has(entry, words);
		else
			ck_assert_ptr_null(strstr(entry, "        for: "));
		free(entry);
	}
}
END_TEST

START_TEST(every_alert_of_the_file_is_a_rule)
{
	size_t count = 0;

	for (const char *entry = strstr(rules, "- alert: "); entry != NULL;
		entry = strstr(entry + 1, "- alert: "))
		count++;
	ck_assert_uint_eq(count, threshold_rule_count);
}
END_TEST

START_TEST(prometheus_goes_first_where_it_is)
{
	struct thresholds *thresholds = NULL;

	thresholds_create(THRESHOLDS_MODE_AUTO, &thresholds);
	ck_assert_msg(!thresholds_is_active(thresholds, UINT64_MAX),
		"a console that has just started waits for its first scrape");
	fake_clock_advance_ms(60000);
	ck_assert(thresholds_is_active(thresholds, UINT64_MAX));
	ck_assert(!thresholds_is_active(thresholds, 15000));
	ck_assert(!thresholds_is_active(thresholds, 300000));
	ck_assert(thresholds_is_active(thresholds, 300001));
	thresholds_destroy(&thresholds);
	thresholds_create(THRESHOLDS_MODE_ON, &thresholds);
	ck_assert(thresholds_is_active(thresholds, 0));
	thresholds_destroy(&thresholds);
	thresholds_create(THRESHOLDS_MODE_OFF, &thresholds);
	ck_assert(!thresholds_is_active(thresholds, UINT64_MAX));
	thresholds_destroy(&thresholds);
	ck_assert_ptr_null(thresholds);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		every_rule_stands_in_the_file_with_its_limit_time_and_severity,
		every_alert_of_the_file_is_a_rule,
		prometheus_goes_first_where_it_is,
	};
	const struct runner_fixture fixture = { set_up, tear_down };

	return runner_run_with("thresholds", &fixture, tests, ARRAY_LENGTH(tests));
}
