/* alert_target: targets are read from the environment, with all mistakes at once. */
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "retry/alert_target.h"
#include "tests/support/runner.h"

static struct alert_target_list list;
static struct settings_report *report;

static size_t read(const char *const *environment)
{
	char *copy[16] = { NULL };
	size_t count = 0;

	for (; environment[count] != NULL; count++)
		copy[count] = memory_copy_text(environment[count]);
	report = settings_report_create();
	struct settings_source *source = settings_source_create(copy, NULL, report);
	alert_target_setting.read(&list, "LAPSE_ALERT_TARGETS", NULL, source, report);
	settings_source_destroy(&source);
	while (count > 0)
		free(copy[--count]);
	return settings_report_count(report);
}

static void clear(void)
{
	settings_report_destroy(&report);
	alert_target_setting.clear(&list);
}

START_TEST(targets_are_read_by_their_names)
{
	static const char *const environment[] = { "LAPSE_ALERT_TARGETS=ops,pager_2",
		"LAPSE_ALERT_OPS_TYPE=generic", "LAPSE_ALERT_OPS_URL=https://ops/hook?token=x",
		"LAPSE_ALERT_OPS_SECRET=whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=",
		"LAPSE_ALERT_PAGER_2_URL=http://pager", "LAPSE_ALERT_PAGER_2_TOKEN=t",
		"LAPSE_ALERT_PAGER_2_MIN_SEVERITY=critical", NULL };

	ck_assert_uint_eq(read(environment), 0);
	ck_assert_uint_eq(list.count, 2);
	ck_assert_str_eq(list.items[0].name, "ops");
	ck_assert_str_eq(list.items[0].url, "https://ops/hook?token=x");
	ck_assert_ptr_nonnull(list.items[0].secret);
	ck_assert_ptr_null(list.items[0].token);
	ck_assert_int_eq(list.items[0].min_severity, ALERT_SEVERITY_INFO);
	ck_assert_str_eq(list.items[1].token, "t");
	ck_assert_int_eq(list.items[1].min_severity, ALERT_SEVERITY_CRITICAL);
	struct alert_target_list copy = { .count = 0 };
	alert_target_copy(&list, &copy);
	clear();
	ck_assert_uint_eq(list.count, 0);
	ck_assert_str_eq(copy.items[1].url, "http://pager");
	ck_assert_ptr_null(copy.items[1].secret);
	alert_target_clear(&copy);
}
END_TEST

START_TEST(without_names_there_are_no_targets)
{
	static const char *const environment[] = { "LAPSE_ALERT_OPS_URL=http://x", NULL };

	ck_assert_uint_eq(read(environment), 0);
	ck_assert_uint_eq(list.count, 0);
	clear();
}
END_TEST

static const char *const mistakes[][6] = {
	{ "LAPSE_ALERT_TARGETS=Ops", "LAPSE_ALERT_OPS_URL=http://x" },
	{ "LAPSE_ALERT_TARGETS=ops,"
	  ",x",
		"LAPSE_ALERT_OPS_URL=http://x" },
	{ "LAPSE_ALERT_TARGETS=ops,ops", "LAPSE_ALERT_OPS_URL=http://x" },
	{ "LAPSE_ALERT_TARGETS=ops" },
	{ "LAPSE_ALERT_TARGETS=ops", "LAPSE_ALERT_OPS_URL=ftp://x" },
	{ "LAPSE_ALERT_TARGETS=ops", "LAPSE_ALERT_OPS_URL=http://x/ y" },
	{ "LAPSE_ALERT_TARGETS=ops", "LAPSE_ALERT_OPS_URL=http://x",
		"LAPSE_ALERT_OPS_TYPE=carrier-pigeon" },
	{ "LAPSE_ALERT_TARGETS=ops", "LAPSE_ALERT_OPS_URL=http://x",
		"LAPSE_ALERT_OPS_SECRET=short" },
	{ "LAPSE_ALERT_TARGETS=ops", "LAPSE_ALERT_OPS_URL=http://x",
		"LAPSE_ALERT_OPS_TOKEN=a\r\nX: y" },
	{ "LAPSE_ALERT_TARGETS=ops", "LAPSE_ALERT_OPS_URL=http://x",
		"LAPSE_ALERT_OPS_MIN_SEVERITY=loud" },
	{ "LAPSE_ALERT_TARGETS=ops", "LAPSE_ALERT_OPS_URL=http://x",
		"LAPSE_ALERT_OPS_URL_FILE=/nonexistent" },
	{ "LAPSE_ALERT_TARGETS=a,b,c,d,e,f,g,h,i" },
};

START_TEST(a_mistake_is_reported)
{
	for (size_t i = 0; i < ARRAY_LENGTH(mistakes); i++) {
		ck_assert_msg(read(mistakes[i]) > 0, "%s", mistakes[i][0]);
		clear();
	}
}
END_TEST

START_TEST(a_secret_is_never_in_a_report)
{
	static const char *const environment[] = { "LAPSE_ALERT_TARGETS=ops",
		"LAPSE_ALERT_OPS_URL=nonsense4711", "LAPSE_ALERT_OPS_SECRET=secret4711", NULL };

	ck_assert_uint_eq(read(environment), 2);
	for (size_t i = 0; i < 2; i++)
		ck_assert_ptr_null(strstr(settings_report_get(report, i), "4711"));
	clear();
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		targets_are_read_by_their_names,
		without_names_there_are_no_targets,
		a_mistake_is_reported,
		a_secret_is_never_in_a_report,
	};

	return runner_run("alert_target", tests, ARRAY_LENGTH(tests));
}
