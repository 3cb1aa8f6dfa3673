#include "ctl/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/settings.h"
#include "common/base/shutdown.h"
#include "common/base/text.h"
#include "ctl/migrate.h"
#include "ctl/status.h"
#include "ctl/verify.h"
#include "version.h"

enum {
	WORDS_SIZE = 64,
	NEAR_DISTANCE_MAX = 3,
	ERROR_NO_TABLE = 1146,
};

/* POSIX names it and leaves the declaration to us. */
extern char **environ; /* NOLINT(readability-redundant-declaration) */

struct command {
	const char *words;    /* one or two, as typed */
	const char *operands; /* for --help; NULL: it takes none */
	const char *summary;
	uint64_t options; /* beside the common ones */
	int (*run)(const struct command_context *context);
};

static const struct command commands[] = {
	{ "migrate", NULL, "apply the numbered migrations of the schema, each once",
		OPTION_BIT(OPTION_SHOW_STATUS), migrate_run },
	{ "status", NULL, "show the overview on one screen", OPTION_BIT(OPTION_CHECK), status_run },
	{ "verify", NULL, "check the promises by SQL, one line per check",
		OPTION_BIT(OPTION_SINCE) | OPTION_BIT(OPTION_OVERDUE_GRACE), verify_run },
};

static const struct setting command_settings_table[] = {
	SETTINGS_SHARED(struct command_settings, db, db_settings_table),
	SETTING_DURATION(struct command_settings, sweep_interval_ms, "LAPSE_SWEEP_INTERVAL", "60s",
		SECONDS(1), HOURS(1), "time between two sweeps: two of them are the promise"),
	SETTING_DURATION(struct command_settings, lease_ms, "LAPSE_LEASE", "30s", SECONDS(1),
		HOURS(1), "how long rows are leased"),
	SETTING_DURATION(struct command_settings, retention_ms, "LAPSE_RETENTION", "7d", HOURS(1),
		DAYS(3650), "how long settled rows are kept"),
	SETTING_END,
};

/* What the command line says. */
struct command_line {
	const struct command *command;
	char words[WORDS_SIZE]; /* the first word while it is not a whole command */
	struct option_set options;
	char **operands;
	size_t operand_count;
};

static void print_help(const struct command *command)
{
	if (command == NULL) {
		(void)printf("Usage: lapsectl COMMAND [OPTION]...\n\n"
			     "The command line of Lapse for operators.\n\nCommands:\n");
		for (size_t i = 0; i < ARRAY_LENGTH(commands); i++)
			(void)printf("  %-28s %s\n", commands[i].words, commands[i].summary);
		(void)printf("\nOptions of every command:\n");
		option_print_help(option_common, stdout);
		(void)printf("\nSettings, from the environment or --env-file, with defaults:\n");
		settings_print_help(command_settings_table, stdout);
		(void)printf("\nlapsectl COMMAND --help says more about one command.\n");
		return;
	}
	(void)printf("Usage: lapsectl %s [OPTION]...%s%s\n\n%s\n\nOptions:\n", command->words,
		command->operands == NULL ? "" : " ",
		command->operands == NULL ? "" : command->operands, command->summary);
	option_print_help(command->options | option_common, stdout);
}

static const struct command *find_command(const char *words)
{
	for (size_t i = 0; i < ARRAY_LENGTH(commands); i++)
		if (text_equals(commands[i].words, words))
			return &commands[i];
	return NULL;
}

/* Is it the first word of commands that have two? */
static bool is_first_word(const char *word)
{
	size_t length = strlen(word);

	for (size_t i = 0; i < ARRAY_LENGTH(commands); i++)
		if (text_starts_with(commands[i].words, word) && commands[i].words[length] == ' ')
			return true;
	return false;
}

static enum result refuse_words(const char *words, struct error *error)
{
	const char *nearest = NULL;
	size_t least = NEAR_DISTANCE_MAX + 1;

	for (size_t i = 0; strlen(words) < WORDS_SIZE && i < ARRAY_LENGTH(commands); i++) {
		size_t distance = text_distance(words, commands[i].words);

		if (distance < least) {
			least = distance;
			nearest = commands[i].words;
		}
	}
	if (nearest == NULL)
		return error_set(RESULT_PERMANENT, error, "unknown command %.60s", words);
	return error_set(
		RESULT_PERMANENT, error, "unknown command %.60s, did you mean %s?", words, nearest);
}

static enum result take_word(struct command_line *line, char *word, struct error *error)
{
	char words[WORDS_SIZE];

	if (line->command != NULL) {
		line->operands[line->operand_count++] = word;
		return RESULT_OK;
	}
	bool fits = text_format(words, sizeof(words), "%s%s%s", line->words,
		line->words[0] == '\0' ? "" : " ", word);
	line->command = fits ? find_command(words) : NULL;
	if (line->command == NULL && (line->words[0] != '\0' || !is_first_word(word)))
		return refuse_words(words, error);
	(void)text_copy(line->words, sizeof(line->words), words);
	return RESULT_OK;
}

static enum result parse(
	struct command_line *line, char **arguments, int count, struct error *error)
{
	bool has_ended = false;
	int place = 0;

	while (place < count) {
		enum result result = RESULT_OK;
		char *argument = arguments[place];
		uint64_t allowed =
			option_common | (line->command == NULL ? 0 : line->command->options);

		if (!has_ended && text_equals(argument, "--")) {
			has_ended = true;
			place++;
		} else if (!has_ended && argument[0] == '-' && argument[1] != '\0') {
			result = option_take(
				&line->options, allowed, arguments, count, &place, error);
		} else {
			result = take_word(line, argument, error);
			place++;
		}
		if (result != RESULT_OK)
			return result;
	}
	if (line->command != NULL && line->operand_count > 0 && line->command->operands == NULL)
		return error_set(RESULT_PERMANENT, error, "%s takes no \"%.60s\"",
			line->command->words, line->operands[0]);
	return RESULT_OK;
}

static void set_output(struct output *output, const struct option_set *options)
{
	const char *no_color = getenv("NO_COLOR");

	if (option_is_given(options, OPTION_JSON))
		output->form = OUTPUT_FORM_JSON;
	else if (option_is_given(options, OPTION_PLAIN))
		output->form = OUTPUT_FORM_PLAIN;
	output->is_quiet = option_is_given(options, OPTION_QUIET);
	output->is_verbose = option_is_given(options, OPTION_VERBOSE);
	output->has_color = !option_is_given(options, OPTION_NO_COLOR) &&
			    (no_color == NULL || no_color[0] == '\0') &&
			    output->form == OUTPUT_FORM_TEXT && isatty(STDOUT_FILENO) == 1;
	output->has_terminal = isatty(STDERR_FILENO) == 1;
}

static int complain_about_settings(const struct settings_report *report)
{
	for (size_t i = 0; i < settings_report_count(report); i++)
		output_complain("%s", settings_report_get(report, i));
	return EXIT_STATUS_CONFIGURATION;
}

static int run_command(const struct command_line *line, const struct command_settings *settings)
{
	struct command_context context = {
		.options = &line->options,
		.operands = line->operands,
		.operand_count = line->operand_count,
		.settings = settings,
	};

	set_output(&context.output, &line->options);
	log_open("lapsectl", LAPSE_VERSION, "", LOG_FORMAT_AUTO);
	log_set_level(context.output.is_verbose ? LOG_LEVEL_DEBUG : LOG_LEVEL_WARN);
	shutdown_install();
	db_create(&settings->db, &context.db);
	db_skip_schema_check(context.db);
	int status = line->command->run(&context);
	db_destroy(&context.db);
	if (fflush(stdout) != 0 && status == EXIT_STATUS_OK) {
		output_complain("standard output cannot be written");
		status = EXIT_STATUS_FAILED;
	}
	return status;
}

static int run_with_settings(const struct command_line *line, char *const *environment)
{
	struct command_settings settings = { 0 };
	struct settings_report *report = settings_report_create();
	struct settings_source *source = settings_source_create(
		environment, option_text(&line->options, OPTION_ENV_FILE), report);
	int status;

	settings_read(command_settings_table, source, &settings, report);
	settings_check_names(source, report);
	db_check_settings(&settings.db, report);
	if (option_is_given(&line->options, OPTION_CHECK_CONFIG))
		settings_print_values(command_settings_table, source, stdout);
	if (settings_report_count(report) > 0)
		status = complain_about_settings(report);
	else if (option_is_given(&line->options, OPTION_CHECK_CONFIG))
		status = EXIT_STATUS_OK;
	else
		status = run_command(line, &settings);
	settings_clear(command_settings_table, &settings);
	settings_source_destroy(&source);
	settings_report_destroy(&report);
	return status;
}

static int refuse_usage(const char *words)
{
	output_complain("%s (lapsectl --help lists the commands)", words);
	return EXIT_STATUS_USAGE;
}

int command_main(int argc, char **argv)
{
	struct command_line line = { .operands = memory_allocate_array(
					     (size_t)argc + 1, sizeof(char *)) };
	struct error error = { 0 };
	int status = EXIT_STATUS_OK;

	enum result result = parse(&line, argv + 1, argc > 0 ? argc - 1 : 0, &error);
	if (result != RESULT_OK)
		status = refuse_usage(error.text);
	else if (option_is_given(&line.options, OPTION_HELP))
		print_help(line.command);
	else if (option_is_given(&line.options, OPTION_VERSION))
		(void)printf("lapsectl %s (git %s, schema %d)\n", LAPSE_VERSION, LAPSE_REVISION,
			LAPSE_SCHEMA_VERSION);
	else if (line.command == NULL && !option_is_given(&line.options, OPTION_CHECK_CONFIG))
		status = refuse_usage("no command");
	else
		status = run_with_settings(&line, environ);
	free(line.operands);
	return status;
}

int command_connect(const struct command_context *context)
{
	struct error error = { 0 };
	enum result result = db_ensure_connected(context->db, &error);

	if (result == RESULT_OK)
		return EXIT_STATUS_OK;
	int status = command_fail(context, result, &error);
	return status == EXIT_STATUS_NO_PERMISSION ? status : EXIT_STATUS_UNAVAILABLE;
}

int command_connect_to_schema(const struct command_context *context)
{
	static const char sql[] = "SELECT COALESCE(MAX(version), 0) FROM t_schema_version";
	struct error error = { 0 };
	struct db_rows *rows = NULL;
	int status = command_connect(context);

	if (status != EXIT_STATUS_OK)
		return status;
	enum result result = db_query(context->db, sql, NULL, 0, &rows, &error);
	bool is_current = result == RESULT_OK && db_rows_next(rows) &&
			  db_rows_uint(rows, 0) >= LAPSE_SCHEMA_VERSION;
	db_rows_destroy(&rows);
	if (is_current)
		return EXIT_STATUS_OK;
	if (result != RESULT_OK && db_last_errno(context->db) != ERROR_NO_TABLE)
		return command_fail(context, result, &error);
	output_complain("the schema is not there or too old: run lapsectl migrate");
	return EXIT_STATUS_UNAVAILABLE;
}

/* Access denied, in its several numbers. */
static bool is_denied(unsigned int number)
{
	static const unsigned int numbers[] = { 1044, 1045, 1142, 1143, 1227, 1370, 1419, 1698,
		3118 };

	for (size_t i = 0; i < ARRAY_LENGTH(numbers); i++)
		if (numbers[i] == number)
			return true;
	return false;
}

int command_fail(
	const struct command_context *context, enum result result, const struct error *error)
{
	output_complain("%s", error->text);
	if (is_denied(db_last_errno(context->db)))
		return EXIT_STATUS_NO_PERMISSION;
	switch (result) {
	case RESULT_OK:
		return EXIT_STATUS_OK;
	case RESULT_NONE:
		return EXIT_STATUS_NOT_FOUND;
	case RESULT_CONFLICT:
		return EXIT_STATUS_CONFLICT;
	case RESULT_TEMPORARY:
		return EXIT_STATUS_TRY_AGAIN;
	case RESULT_PERMANENT:
		return EXIT_STATUS_FAILED;
	}
	return EXIT_STATUS_FAILED;
}
