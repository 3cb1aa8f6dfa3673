#include "common/service/options.h"

#include <stdio.h>
#include <string.h>

#include "common/base/text.h"
#include "version.h"

struct mode_option {
	const char *name;
	enum options_mode mode;
};

static const struct mode_option mode_options[] = {
	{ "--help", OPTIONS_MODE_HELP },
	{ "-h", OPTIONS_MODE_HELP },
	{ "--version", OPTIONS_MODE_VERSION },
	{ "--check-config", OPTIONS_MODE_CHECK_CONFIG },
	{ "--healthcheck", OPTIONS_MODE_HEALTHCHECK },
	{ "--healthcheck=ready", OPTIONS_MODE_HEALTHCHECK },
	{ "--healthcheck=live", OPTIONS_MODE_HEALTHCHECK_LIVE },
};

static const char env_file_option[] = "--env-file";

static bool take_mode(const char *argument, struct options *options)
{
	for (size_t i = 0; i < ARRAY_LENGTH(mode_options); i++) {
		if (text_equals(argument, mode_options[i].name)) {
			options->mode = mode_options[i].mode;
			return true;
		}
	}
	return false;
}

/* --env-file FILE or --env-file=FILE; NONE: another argument. */
static enum result take_env_file(
	char *const *argv, int *place, struct options *options, struct error *error)
{
	const char *argument = argv[*place];
	size_t length = strlen(env_file_option);

	if (!text_starts_with(argument, env_file_option) ||
		(argument[length] != '\0' && argument[length] != '='))
		return RESULT_NONE;
	if (argument[length] == '=')
		options->env_file = argument + length + 1;
	else if (argv[*place + 1] != NULL)
		options->env_file = argv[++*place];
	else
		options->env_file = "";
	if (options->env_file[0] == '\0')
		return error_set(RESULT_PERMANENT, error, "--env-file needs a file");
	return RESULT_OK;
}

static enum result take_argument(char *const *argv, int *place,
	const struct service_program *program, void *settings, struct options *options,
	struct error *error) /* argv and place go together */
{
	enum result result = take_env_file(argv, place, options, error);

	if (result != RESULT_NONE || take_mode(argv[*place], options))
		return result == RESULT_NONE ? RESULT_OK : result;
	if (program->take_argument != NULL && program->take_argument(settings, argv[*place]))
		return RESULT_OK;
	return error_set(RESULT_PERMANENT, error, "unknown %s \"%.80s\", try --help",
		argv[*place][0] == '-' ? "option" : "argument", argv[*place]);
}

enum result options_read(int argc, char *const *argv, const struct service_program *program,
	void *settings, struct options *options_out, struct error *error)
{
	*options_out = (struct options){ .mode = OPTIONS_MODE_RUN };
	for (int i = 1; i < argc; i++) {
		enum result result = take_argument(argv, &i, program, settings, options_out, error);

		if (result != RESULT_OK)
			return result;
		if (options_out->mode == OPTIONS_MODE_HELP ||
			options_out->mode == OPTIONS_MODE_VERSION)
			return RESULT_OK;
	}
	return RESULT_OK;
}

void options_print_help(const struct service_program *program)
{
	(void)printf(
		"Usage: %s [OPTION]...\n%s\n\n"
		"  --env-file FILE      read settings from KEY=VALUE lines as well\n"
		"  --check-config       print every setting and all mistakes; exit 0 or 78\n"
		"  --healthcheck[=live] ask /readyz (/livez) of the running program; exit 0 or 1\n"
		"  --version            print the version\n"
		"  --help               print this\n",
		program->name, program->summary);
	if (program->usage != NULL)
		(void)printf("%s", program->usage);
	(void)printf("\nSettings are environment variables: name, default, meaning.\n");
	settings_print_help(program->settings, stdout);
	(void)printf(
		"\nThe content of a secret can also stand in the file that NAME_FILE names.\n"
		"Signals: TERM and INT stop, HUP reads secrets and log level again, USR1 logs\n"
		"the state.  Exit status: 0 stopped when asked, 1 failed, 64 wrong command\n"
		"line, 70 bug, 75 no memory, 78 wrong configuration.\n");
}

void options_print_version(const struct service_program *program)
{
	(void)printf("%s %s (git %s, schema %d)\n", program->name, LAPSE_VERSION, LAPSE_REVISION,
		LAPSE_SCHEMA_VERSION);
}
