#include <string.h>

#include "common/base/compiler.h"
#include "common/base/text.h"
#include "ctl/script.h"
#include "tests/support/runner.h"

enum {
	STATEMENT_MAX = 8
};

struct script_case {
	const char *text;
	const char *statements[STATEMENT_MAX]; /* ended by NULL */
};

static void check_case(const struct script_case *one)
{
	struct script script;
	const char *statement = NULL;
	size_t size = 0;

	script_begin(&script, one->text, strlen(one->text));
	for (size_t i = 0; one->statements[i] != NULL; i++) {
		ck_assert_msg(script_next(&script, &statement, &size), "%s", one->text);
		ck_assert_msg(size == strlen(one->statements[i]) &&
				      memcmp(statement, one->statements[i], size) == 0,
			"%.*s is not %s", (int)size, statement, one->statements[i]);
	}
	ck_assert_msg(!script_next(&script, &statement, &size), "more in %s", one->text);
}

static void check_cases(const struct script_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++)
		check_case(&cases[i]);
}

START_TEST(a_statement_ends_at_its_delimiter_or_at_the_end)
{
	static const struct script_case cases[] = {
		{ "", { NULL } },
		{ " \n\t\r\n", { NULL } },
		{ ";;; ;", { NULL } },
		{ "SELECT 1", { "SELECT 1", NULL } },
		{ "SELECT 1;", { "SELECT 1", NULL } },
		{ "\n SELECT 1 ;\nSELECT\n 2 \n;\n", { "SELECT 1", "SELECT\n 2", NULL } },
	};

	check_cases(cases, ARRAY_LENGTH(cases));
}
END_TEST

START_TEST(a_delimiter_inside_quotes_ends_nothing)
{
	static const struct script_case cases[] = {
		{ "SELECT 'a;b';", { "SELECT 'a;b'", NULL } },
		{ "SELECT \"a;b\";", { "SELECT \"a;b\"", NULL } },
		{ "SELECT `a;b`;", { "SELECT `a;b`", NULL } },
		{ "SELECT 'it''s;';SELECT 2", { "SELECT 'it''s;'", "SELECT 2", NULL } },
		{ "SELECT 'a\\';b';SELECT 2", { "SELECT 'a\\';b'", "SELECT 2", NULL } },
		{ "SELECT `a\\`;SELECT 2", { "SELECT `a\\`", "SELECT 2", NULL } },
		{ "SELECT '--;';", { "SELECT '--;'", NULL } },
		{ "SELECT 'never ended;", { "SELECT 'never ended;", NULL } },
		{ "SELECT 'ends in \\", { "SELECT 'ends in \\", NULL } },
	};

	check_cases(cases, ARRAY_LENGTH(cases));
}
END_TEST

START_TEST(a_comment_is_no_statement_and_hides_delimiters)
{
	static const struct script_case cases[] = {
		{ "-- only words; and more\n", { NULL } },
		{ "# only words; and more", { NULL } },
		{ "/* only; words */", { NULL } },
		{ "/* never ended;", { NULL } },
		{ "/*/ still inside; */SELECT 1;", { "SELECT 1", NULL } },
		{ "-- first;\nSELECT 1;", { "SELECT 1", NULL } },
		{ "SELECT 1 -- one;\n+ 1;", { "SELECT 1 -- one;\n+ 1", NULL } },
		{ "SELECT 1 /* ; */ + 1;", { "SELECT 1 /* ; */ + 1", NULL } },
		{ "SELECT 3--1;SELECT 2;", { "SELECT 3--1", "SELECT 2", NULL } },
		{ "--", { NULL } },
		{ "/*!40101 SET NAMES utf8mb4 */;", { "/*!40101 SET NAMES utf8mb4 */", NULL } },
	};

	check_cases(cases, ARRAY_LENGTH(cases));
}
END_TEST

START_TEST(a_delimiter_line_changes_what_ends_a_statement)
{
	static const struct script_case cases[] = {
		{ "DELIMITER $$\nCREATE TRIGGER t BEGIN a; b; END$$\nDELIMITER ;\nSELECT 1;",
			{ "CREATE TRIGGER t BEGIN a; b; END", "SELECT 1", NULL } },
		{ "delimiter  //\r\nSELECT 1;//\r\ndelimiter ;\r\nSELECT 2;",
			{ "SELECT 1;", "SELECT 2", NULL } },
		{ "DELIMITER $$\nSELECT '$$' $$", { "SELECT '$$'", NULL } },
		{ "DELIMITERS;", { "DELIMITERS", NULL } },
		{ "DELIMITER $$", { NULL } },
		{ "DELIMITER", { "DELIMITER", NULL } },
		{ "SELECT delimiter $$ FROM t;", { "SELECT delimiter $$ FROM t", NULL } },
	};

	check_cases(cases, ARRAY_LENGTH(cases));
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		a_statement_ends_at_its_delimiter_or_at_the_end,
		a_delimiter_inside_quotes_ends_nothing,
		a_comment_is_no_statement_and_hides_delimiters,
		a_delimiter_line_changes_what_ends_a_statement,
	};

	return runner_run("script", tests, ARRAY_LENGTH(tests));
}
