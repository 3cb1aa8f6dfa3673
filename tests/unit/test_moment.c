/* Times as an operator writes them. */
#include "common/base/compiler.h"
#include "common/base/moment.h"
#include "tests/support/runner.h"

START_TEST(a_time_in_utc_becomes_what_the_database_reads)
{
	static const struct {
		const char *text;
		const char *moment;
	} cases[] = {
		{ "2026-01-31T18:30Z", "2026-01-31 18:30:00" },
		{ "2026-01-31T18:30:59Z", "2026-01-31 18:30:59" },
		{ "2026-01-31T18:30:59.123Z", "2026-01-31 18:30:59.123" },
		{ "1970-01-01T00:00:00Z", "1970-01-01 00:00:00" },
		{ "2028-02-29T23:59:59.999Z", "2028-02-29 23:59:59.999" },
		{ "2000-02-29T00:00Z", "2000-02-29 00:00:00" },
		{ "9998-12-31T23:59Z", "9998-12-31 23:59:00" },
	};
	char moment[MOMENT_SIZE];

	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		ck_assert_msg(moment_parse(cases[i].text, moment), "%s", cases[i].text);
		ck_assert_str_eq(moment, cases[i].moment);
	}
}
END_TEST

START_TEST(anything_else_is_refused)
{
	static const char *const texts[] = { "", "Z", "now", "2026-01-31", "2026-01-31T18:30",
		"2026-01-31 18:30Z", "2026-01-31T18:30+08:00", "2026-01-31T18:30:00.1Z",
		"2026-01-31T18:30:00.1234Z", "2026-01-31T18:30:60Z", "2026-01-31T18:60:00Z",
		"2026-01-31T24:00:00Z", "2026-02-29T00:00Z", "2100-02-29T00:00Z",
		"2026-04-31T00:00Z", "2026-13-01T00:00Z", "2026-00-01T00:00Z", "2026-01-00T00:00Z",
		"1969-12-31T23:59Z", "9999-01-01T00:00Z", "26-01-31T18:30Z", "2026-1-31T18:30Z",
		"2026-01-31t18:30Z", "2026-01-31T18:30z", " 2026-01-31T18:30Z",
		"2026-01-31T18:30Z ", "2026-01-31T-1:30Z", "2026-01-31T18:30:00;Z" };
	char moment[MOMENT_SIZE];

	for (size_t i = 0; i < ARRAY_LENGTH(texts); i++)
		ck_assert_msg(!moment_parse(texts[i], moment), "%s", texts[i]);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		a_time_in_utc_becomes_what_the_database_reads,
		anything_else_is_refused,
	};

	return runner_run("moment", tests, ARRAY_LENGTH(tests));
}
