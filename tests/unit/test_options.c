/* options: what each argument means, and which command lines are wrong. */
#include <string.h>

#include <check.h>

#include "common/base/compiler.h"
#include "common/base/text.h"
#include "common/service/options.h"
#include "tests/support/runner.h"

enum {
	ARGUMENT_MAX = 8
};

static const struct setting no_settings[] = { SETTING_END };

struct taken {
	const char *arguments[ARGUMENT_MAX];
	size_t count;
};

static bool take(void *settings, const char *argument)
{
	struct taken *taken = settings;

	if (text_starts_with(argument, "--strange"))
		return false;
	taken->arguments[taken->count++] = argument;
	return true;
}

static const struct service_program program = { .name = "lapse-test",
	.settings = no_settings,
	.take_argument = take };
static const struct service_program plain_program = { .name = "lapse-test",
	.settings = no_settings };

struct line {
	const char *arguments[ARGUMENT_MAX];
	enum result result;
	enum options_mode mode;
	const char *env_file;
};

static const struct line lines[] = {
	{ { NULL }, RESULT_OK, OPTIONS_MODE_RUN, NULL },
	{ { "--help" }, RESULT_OK, OPTIONS_MODE_HELP, NULL },
	{ { "--help", "--bogus" }, RESULT_OK, OPTIONS_MODE_HELP, NULL },
	{ { "--version" }, RESULT_OK, OPTIONS_MODE_VERSION, NULL },
	{ { "--check-config" }, RESULT_OK, OPTIONS_MODE_CHECK_CONFIG, NULL },
	{ { "--healthcheck" }, RESULT_OK, OPTIONS_MODE_HEALTHCHECK, NULL },
	{ { "--healthcheck=live" }, RESULT_OK, OPTIONS_MODE_HEALTHCHECK_LIVE, NULL },
	{ { "--env-file", "a" }, RESULT_OK, OPTIONS_MODE_RUN, "a" },
	{ { "--env-file=b" }, RESULT_OK, OPTIONS_MODE_RUN, "b" },
	{ { "--env-file=b", "--check-config" }, RESULT_OK, OPTIONS_MODE_CHECK_CONFIG, "b" },
	{ { "--env-file", "--help" }, RESULT_OK, OPTIONS_MODE_RUN, "--help" },
	{ { "--env-file" }, RESULT_PERMANENT, OPTIONS_MODE_RUN, NULL },
	{ { "--env-file=" }, RESULT_PERMANENT, OPTIONS_MODE_RUN, NULL },
	{ { "--env-filex" }, RESULT_PERMANENT, OPTIONS_MODE_RUN, NULL },
	{ { "--healthcheck=dead" }, RESULT_PERMANENT, OPTIONS_MODE_RUN, NULL },
	{ { "--bogus", "--help" }, RESULT_PERMANENT, OPTIONS_MODE_RUN, NULL },
	{ { "word" }, RESULT_PERMANENT, OPTIONS_MODE_RUN, NULL },
	{ { "" }, RESULT_PERMANENT, OPTIONS_MODE_RUN, NULL },
};

static enum result read_line(const struct service_program *reader, void *settings,
	const char *const *arguments, struct options *options, struct error *error)
{
	static char name[] = "anything";
	static char copies[ARGUMENT_MAX][32];
	char *argv[ARGUMENT_MAX + 2] = { name };
	int argc = 1;

	for (; arguments[argc - 1] != NULL; argc++) {
		(void)text_copy(copies[argc], sizeof(copies[argc]), arguments[argc - 1]);
		argv[argc] = copies[argc];
	}
	return options_read(argc, argv, reader, settings, options, error);
}

static bool is_read_as(const struct line *line)
{
	struct options options;
	struct error error = { 0 };

	if (read_line(&plain_program, NULL, line->arguments, &options, &error) != line->result)
		return false;
	if (line->result != RESULT_OK)
		return true;
	return options.mode == line->mode &&
	       text_equals(options.env_file == NULL ? "" : options.env_file,
		       line->env_file == NULL ? "" : line->env_file);
}

START_TEST(every_common_option_is_understood)
{
	for (size_t i = 0; i < ARRAY_LENGTH(lines); i++)
		ck_assert_msg(is_read_as(&lines[i]), "line %zu", i);
}
END_TEST

START_TEST(the_rest_is_given_to_the_program_in_order)
{
	static const char *const arguments[] = { "publish", "--stdin", "--env-file", "x", "A1",
		NULL };
	struct taken taken = { 0 };
	struct options options;
	struct error error = { 0 };

	ck_assert_int_eq(read_line(&program, &taken, arguments, &options, &error), RESULT_OK);
	ck_assert_uint_eq(taken.count, 3);
	ck_assert_str_eq(taken.arguments[0], "publish");
	ck_assert_str_eq(taken.arguments[1], "--stdin");
	ck_assert_str_eq(taken.arguments[2], "A1");
}
END_TEST

START_TEST(what_the_program_does_not_know_is_named)
{
	static const char *const arguments[] = { "good", "--strange=1", NULL };
	struct taken taken = { 0 };
	struct options options;
	struct error error = { 0 };

	ck_assert_int_eq(
		read_line(&program, &taken, arguments, &options, &error), RESULT_PERMANENT);
	ck_assert_ptr_nonnull(strstr(error.text, "unknown option \"--strange=1\""));
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		every_common_option_is_understood,
		the_rest_is_given_to_the_program_in_order,
		what_the_program_does_not_know_is_named,
	};

	return runner_run("options", tests, ARRAY_LENGTH(tests));
}
