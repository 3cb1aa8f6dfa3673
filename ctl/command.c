#include "ctl/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/settings.h"
#include "common/base/text.h"
#include "ctl/command_table.h"
#include "ctl/healthcheck.h"
#include "ctl/session.h"
#include "version.h"

enum {
	WORDS_SIZE = 64,
	NEAR_DISTANCE_MAX = 3,
};

/* POSIX names it and leaves the declaration to us. */
extern char **environ; /* NOLINT(readability-redundant-declaration) */

/* What the command line says. */
struct command_line {
	const struct command *command;
	char words[WORDS_SIZE]; /* the first word while it is not a whole command */
	struct option_set options;
	char **operands;
	size_t operand_count;
};

static bool begins_with_word(const char *words, const char *word)
{
	return text_starts_with(words, word) && words[strlen(word)] == ' ';
}

/* All, or those that begin with this word. */
static void print_commands(const char *word)
{
	(void)printf("\nCommands:\n");
	for (size_t i = 0; i < command_count; i++)
		if (word[0] == '\0' || begins_with_word(commands[i].words, word))
			(void)printf("  %-28s %s\n", commands[i].words, commands[i].summary);
}

static void print_help(const struct command_line *line)
{
	const struct command *command = line->command;

	if (command == NULL && line->words[0] != '\0') {
		(void)printf("Usage: lapsectl %s COMMAND [OPTION]...\n", line->words);
		print_commands(line->words);
		(void)printf("\nlapsectl %s COMMAND --help says more about one.\n", line->words);
		return;
	}
	if (command == NULL) {
		(void)printf("Usage: lapsectl COMMAND [OPTION]...\n\n"
			     "The command line of Lapse for operators.\n");
		print_commands("");
		(void)printf("\nOptions of every command:\n");
		option_print_help(option_common, stdout);
		(void)printf("\nSettings, from the environment or --env-file, with defaults:\n");
		settings_print_help(session_settings_table, stdout);
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
	for (size_t i = 0; i < command_count; i++)
		if (text_equals(commands[i].words, words))
			return &commands[i];
	return NULL;
}

/* Is it the first word of commands that have two? */
static bool is_first_word(const char *word)
{
	for (size_t i = 0; i < command_count; i++)
		if (begins_with_word(commands[i].words, word))
			return true;
	return false;
}

static enum result refuse_words(const char *words, struct error *error)
{
	const char *nearest = NULL;
	size_t least = NEAR_DISTANCE_MAX + 1;

	for (size_t i = 0; strlen(words) < WORDS_SIZE && i < command_count; i++) {
		size_t distance = text_distance(words, commands[i].words);

		if (distance < least) {
			least = distance;
			nearest = commands[i].words;
		}
	}
	if (nearest == NULL)
		return error_set(RESULT_PERMANENT, error,
			"unknown command %.60s: lapsectl --help lists them", words);
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

static int complain_about_settings(const struct settings_report *report)
{
	for (size_t i = 0; i < settings_report_count(report); i++)
		output_complain("%s", settings_report_get(report, i));
	return EXIT_STATUS_CONFIGURATION;
}

static int run_command(const struct command_line *line, const struct session_settings *settings)
{
	struct session session;

	session_begin(&session, &line->options, settings);
	session.operands = line->operands;
	session.operand_count = line->operand_count;
	int status = line->command->run(&session);
	session_end(&session);
	if (fflush(stdout) != 0 && status == EXIT_STATUS_OK) {
		output_complain("standard output cannot be written");
		status = EXIT_STATUS_FAILED;
	}
	return status;
}

static int run_with_settings(const struct command_line *line, char *const *environment)
{
	struct session_settings settings = { 0 };
	struct settings_report *report = settings_report_create();
	struct settings_source *source = settings_source_create(
		environment, option_text(&line->options, OPTION_ENV_FILE), report);
	int status = EXIT_STATUS_OK;

	settings_read(session_settings_table, source, &settings, report);
	settings_check_names(source, report);
	session_check_settings(&settings, report);
	if (option_is_given(&line->options, OPTION_CHECK_CONFIG))
		settings_print_values(session_settings_table, source, stdout);
	if (settings_report_count(report) > 0)
		status = complain_about_settings(report);
	else if (!option_is_given(&line->options, OPTION_CHECK_CONFIG) && line->command != NULL)
		status = run_command(line, &settings);
	settings_clear(session_settings_table, &settings);
	settings_source_destroy(&source);
	settings_report_destroy(&report);
	return status;
}

/* word: half a command, or "" */
static int refuse_no_command(const char *word)
{
	char words[2 * WORDS_SIZE];

	(void)text_format(words, sizeof(words), "%s: lapsectl %s%s--help lists them",
		word[0] == '\0' ? "no command" : "this is half a command", word,
		word[0] == '\0' ? "" : " ");
	return session_refuse_usage(words);
}

int command_main(int argc, char **argv)
{
	struct command_line line = { .operands = memory_allocate_array(
					     (size_t)argc + 1, sizeof(char *)) };
	struct error error = { 0 };
	int status = EXIT_STATUS_OK;

	enum result result = parse(&line, argv + 1, argc > 0 ? argc - 1 : 0, &error);
	if (result != RESULT_OK)
		status = session_refuse_usage(error.text);
	else if (option_is_given(&line.options, OPTION_HELP))
		print_help(&line);
	else if (option_is_given(&line.options, OPTION_VERSION))
		(void)printf("lapsectl %s (git %s, schema %d)\n", LAPSE_VERSION, LAPSE_REVISION,
			LAPSE_SCHEMA_VERSION);
	else if (option_is_given(&line.options, OPTION_HEALTHCHECK))
		status = healthcheck_run(&line.options, environ);
	else if (line.command == NULL && !option_is_given(&line.options, OPTION_CHECK_CONFIG))
		status = refuse_no_command(line.words);
	else if (line.command != NULL && command_is_offline(line.command))
		status = run_command(&line, &(const struct session_settings){ .lease_ms = 0 });
	else
		status = run_with_settings(&line, environ);
	free(line.operands);
	return status;
}
