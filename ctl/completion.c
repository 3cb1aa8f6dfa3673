#include "ctl/completion.h"

#include <string.h>

#include "common/base/text.h"
#include "ctl/command_table.h"
#include "ctl/session.h"

enum {
	WORD_SIZE = 32,
	SECONDS_SIZE = 128,
};

/* The first word of a command; true when it has a second one. */
static bool split(const char *words, char first[WORD_SIZE])
{
	size_t size = strcspn(words, " ");

	REQUIRE(size < WORD_SIZE);
	memcpy(first, words, size);
	first[size] = '\0';
	return words[size] == ' ';
}

/* Commands with the same first word need not stand together. */
static bool is_first_of_its_word(size_t place)
{
	char word[WORD_SIZE];
	char other[WORD_SIZE];

	(void)split(commands[place].words, word);
	for (size_t i = 0; i < place; i++) {
		(void)split(commands[i].words, other);
		if (text_equals(word, other))
			return false;
	}
	return true;
}

/* A text between single quotes, in which a shell takes everything as it is but the quote, and
 * _describe of zsh takes a colon for an end. */
static void print_quoted(FILE *file, const char *name, const char *help)
{
	(void)fprintf(file, " '%s:", name);
	for (; *help != '\0'; help++)
		if (*help == '\'')
			(void)fputs("'\\''", file);
		else if (*help == ':')
			(void)fputs("\\:", file);
		else
			(void)fputc(*help, file);
	(void)fputc('\'', file);
}

/* ---- bash: words only */

static void print_bash_options(FILE *file, uint64_t set)
{
	for (size_t i = 0; i < OPTION_COUNT; i++)
		if ((set & OPTION_BIT(i)) != 0)
			(void)fprintf(file, " --%s", option_name((enum option)i));
}

static void print_bash_seconds(FILE *file, const char *first)
{
	char word[WORD_SIZE];

	for (size_t i = 0; i < command_count; i++)
		if (split(commands[i].words, word) && text_equals(word, first))
			(void)fprintf(file, " %s", commands[i].words + strlen(word) + 1);
}

static void print_bash_words(FILE *file)
{
	char first[WORD_SIZE];

	(void)fprintf(file, "\tcase \"${plain[*]}\" in\n\t\"\") candidates=\"");
	for (size_t i = 0; i < command_count; i++)
		if (is_first_of_its_word(i)) {
			(void)split(commands[i].words, first);
			(void)fprintf(file, " %s", first);
		}
	(void)fprintf(file, "\" ;;\n");
	for (size_t i = 0; i < command_count; i++) {
		if (!split(commands[i].words, first) || !is_first_of_its_word(i))
			continue;
		(void)fprintf(file, "\t\"%s\") candidates=\"", first);
		print_bash_seconds(file, first);
		(void)fprintf(file, "\" ;;\n");
	}
	(void)fprintf(file, "\tesac\n");
}

void completion_print_bash(FILE *file)
{
	(void)fprintf(file, "# Completion of lapsectl for bash, made by: lapsectl completion bash\n"
			    "_lapsectl() {\n"
			    "\tlocal current=${COMP_WORDS[COMP_CWORD]} candidates=\"\" word\n"
			    "\tlocal -a plain=()\n"
			    "\tfor word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
			    "\t\t[[ $word == -* ]] || plain+=(\"$word\")\n"
			    "\tdone\n");
	print_bash_words(file);
	(void)fprintf(file, "\tif [[ $current == -* ]]; then\n"
			    "\t\tcandidates=\"");
	print_bash_options(file, option_common);
	(void)fprintf(file, "\"\n\t\tcase \"${plain[*]} \" in\n");
	for (size_t i = 0; i < command_count; i++) {
		if (commands[i].options == 0)
			continue;
		(void)fprintf(file, "\t\t\"%s \"*) candidates+=\"", commands[i].words);
		print_bash_options(file, commands[i].options);
		(void)fprintf(file, "\" ;;\n");
	}
	(void)fprintf(file,
		"\t\tesac\n\tfi\n"
		"\tmapfile -t COMPREPLY < <(compgen -W \"$candidates\" -- \"$current\")\n"
		"}\n"
		"complete -o default -F _lapsectl lapsectl\n");
}

/* ---- zsh: words with their help */

static void print_zsh_options(FILE *file, uint64_t set)
{
	for (size_t i = 0; i < OPTION_COUNT; i++) {
		char name[WORD_SIZE];

		if ((set & OPTION_BIT(i)) == 0)
			continue;
		REQUIRE(text_format(name, sizeof(name), "--%s", option_name((enum option)i)));
		print_quoted(file, name, option_help((enum option)i));
	}
}

/* What begins with this word: "tasks, orders, ..." */
static void format_seconds(const char *first, char text[SECONDS_SIZE])
{
	char word[WORD_SIZE];
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < command_count; i++) {
		if (!split(commands[i].words, word) || !text_equals(word, first))
			continue;
		(void)text_format(text + used, SECONDS_SIZE - used, "%s%s", used == 0 ? "" : ", ",
			commands[i].words + strlen(word) + 1);
		used += strlen(text + used);
	}
}

static void print_zsh_words(FILE *file)
{
	char first[WORD_SIZE];
	char other[WORD_SIZE];

	(void)fprintf(file, "\tcase \"${plain[*]}\" in\n\t\"\") candidates=(");
	for (size_t i = 0; i < command_count; i++)
		if (is_first_of_its_word(i)) {
			char seconds[SECONDS_SIZE];
			bool is_whole = !split(commands[i].words, first);

			format_seconds(first, seconds);
			print_quoted(file, first, is_whole ? commands[i].summary : seconds);
		}
	(void)fprintf(file, " ) ;;\n");
	for (size_t i = 0; i < command_count; i++) {
		if (!split(commands[i].words, first) || !is_first_of_its_word(i))
			continue;
		(void)fprintf(file, "\t\"%s\") candidates=(", first);
		for (size_t j = i; j < command_count; j++)
			if (split(commands[j].words, other) && text_equals(other, first))
				print_quoted(file, commands[j].words + strlen(other) + 1,
					commands[j].summary);
		(void)fprintf(file, " ) ;;\n");
	}
	(void)fprintf(file, "\tesac\n");
}

void completion_print_zsh(FILE *file)
{
	(void)fprintf(file, "#compdef lapsectl\n"
			    "# Completion of lapsectl for zsh, made by: lapsectl completion zsh\n"
			    "_lapsectl() {\n"
			    "\tlocal -a plain candidates\n"
			    "\tplain=(${${words[2,CURRENT-1]}:#-*})\n");
	print_zsh_words(file);
	(void)fprintf(file, "\tif [[ $words[CURRENT] == -* ]]; then\n"
			    "\t\tcandidates=(");
	print_zsh_options(file, option_common);
	(void)fprintf(file, " )\n\t\tcase \"${plain[*]} \" in\n");
	for (size_t i = 0; i < command_count; i++) {
		if (commands[i].options == 0)
			continue;
		(void)fprintf(file, "\t\t\"%s \"*) candidates+=(", commands[i].words);
		print_zsh_options(file, commands[i].options);
		(void)fprintf(file, " ) ;;\n");
	}
	(void)fprintf(file, "\t\tesac\n\tfi\n"
			    "\t_describe -t words lapsectl candidates\n"
			    "}\n"
			    "_lapsectl \"$@\"\n");
}

int completion_run(const struct session *session)
{
	const char *shell = session->operand_count == 1 ? session->operands[0] : "";

	if (text_equals(shell, "bash"))
		completion_print_bash(stdout);
	else if (text_equals(shell, "zsh"))
		completion_print_zsh(stdout);
	else
		return session_refuse_usage("completion takes bash or zsh");
	return EXIT_STATUS_OK;
}
