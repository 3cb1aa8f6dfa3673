/* What the manual says and what the programs say: the same options, the same commands. */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/compiler.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "tests/support/process.h"
#include "tests/support/runner.h"
#include "tests/support/scratch.h"

enum {
	NAME_SIZE = 48,
	NAME_MAX_COUNT = 256,
	WAIT_MS = 20000,
	LINE_SIZE = 1024,
	TEXT_SIZE = 131072,
};

#define MANUAL TEST_SOURCE_DIR "/docs/man"

struct names {
	char items[NAME_MAX_COUNT][NAME_SIZE];
	size_t count;
};

static bool has(const struct names *names, const char *name)
{
	for (size_t i = 0; i < names->count; i++)
		if (text_equals(names->items[i], name))
			return true;
	return false;
}

static void add(struct names *names, const char *name, size_t size)
{
	char copy[NAME_SIZE];

	ck_assert_uint_lt(size, NAME_SIZE);
	memcpy(copy, name, size);
	copy[size] = '\0';
	if (has(names, copy))
		return;
	ck_assert_uint_lt(names->count, NAME_MAX_COUNT);
	(void)text_copy(names->items[names->count++], NAME_SIZE, copy);
}

static void expect_same(
	const struct names *left, const struct names *right, const char *what, const char *where)
{
	for (size_t i = 0; i < left->count; i++)
		ck_assert_msg(has(right, left->items[i]), "%s: \"%s\" is not in %s", what,
			left->items[i], where);
}

/* What a program writes, with up to three words; owned by the caller. */
static char *run(const char *program, const char *first, const char *second, const char *third)
{
	const char *const words[] = { first, second, third, NULL };
	char *const environment[] = { NULL };
	const struct process_plan plan = { .program = program,
		.arguments = words,
		.environment = environment,
		.folder = scratch_folder() };
	struct process *process = NULL;

	process_start(&plan, &process);
	ck_assert_int_eq(process_wait(process, WAIT_MS), 0);
	char *output = process_output(process);
	process_destroy(&process);
	return output;
}

/* Calls take for each line, without its end. */
static void each_line(
	const char *text, void (*take)(void *context, const char *line), void *context)
{
	while (*text != '\0') {
		char line[LINE_SIZE];
		size_t size = strcspn(text, "\n");

		(void)text_format(line, sizeof(line), "%.*s", (int)size, text);
		take(context, line);
		text += size + (text[size] == '\n' ? 1 : 0);
	}
}

#define NAME_LETTERS "abcdefghijklmnopqrstuvwxyz-"

/* Every " --name" of a line that is moved in. */
static void take_option(void *context, const char *line)
{
	static const char start[] = " --";

	if (line[0] != ' ')
		return;
	for (const char *place = strstr(line, start); place != NULL;
		place = strstr(place + 1, start))
		add(context, place + strlen(start), strspn(place + strlen(start), NAME_LETTERS));
}

struct commands {
	struct names *names;
	bool is_inside;
};

/* "  list tasks                   list ..." below "Commands:" */
static void take_command(void *context, const char *line)
{
	struct commands *commands = context;
	const char *end = strstr(line + strspn(line, " "), "  ");

	if (text_equals(line, "Commands:"))
		commands->is_inside = true;
	else if (line[0] == '\0')
		commands->is_inside = false;
	else if (commands->is_inside && end != NULL)
		add(commands->names, line + 2, (size_t)(end - line) - 2);
}

/* "Fl -name" in a line ".It ..." */
static void take_page_option(void *context, const char *line)
{
	if (!text_starts_with(line, ".It Fl"))
		return;
	for (const char *place = strstr(line, "Fl -"); place != NULL;
		place = strstr(place + 1, "Fl -"))
		add(context, place + strlen("Fl -"), strspn(place + strlen("Fl -"), NAME_LETTERS));
}

/* ".It Cm requeue , retry requeue" */
static void take_page_command(void *context, const char *line)
{
	static const char start[] = ".It Cm ";

	if (!text_starts_with(line, start))
		return;
	for (const char *word = line + strlen(start); word != NULL;) {
		const char *end = strstr(word, " , ");

		add(context, word, end == NULL ? strlen(word) : (size_t)(end - word));
		word = end == NULL ? NULL : end + strlen(" , ");
	}
}

static void read_help(const char *program, struct names *options, struct names *commands)
{
	struct commands list = { .names = commands };
	char *help = run(program, "--help", NULL, NULL);

	each_line(help, take_option, options);
	each_line(help, take_command, &list);
	free(help);
	for (size_t i = 0; i < commands->count; i++) {
		char first[NAME_SIZE];
		char *second = NULL;

		(void)text_copy(first, sizeof(first), commands->items[i]);
		second = strchr(first, ' ');
		if (second != NULL)
			*second++ = '\0';
		help = second == NULL ? run(program, first, "--help", NULL)
				      : run(program, first, second, "--help");
		each_line(help, take_option, options);
		free(help);
	}
}

/* Owned by the caller. */
static char *read_file(const char *path)
{
	char *text = memory_allocate(TEXT_SIZE);
	FILE *file = fopen(path, "re");

	ck_assert_msg(file != NULL, "%s cannot be opened", path);
	size_t size = fread(text, 1, TEXT_SIZE - 1, file);
	text[size] = '\0';
	ck_assert_uint_lt(size, TEXT_SIZE - 1);
	(void)fclose(file);
	return text;
}

static void check_page(const char *page)
{
	struct names *names = memory_allocate_array(4, sizeof(*names));
	struct names *options = names;
	struct names *page_options = names + 1;
	struct names *commands = names + 2;
	struct names *page_commands = names + 3;
	char program[NAME_SIZE];
	char path[PATH_MAX];

	(void)text_format(program, sizeof(program), "%.*s", (int)strcspn(page, "."), page);
	(void)text_format(path, sizeof(path), MANUAL "/%s", page);
	char *text = read_file(path);
	each_line(text, take_page_option, page_options);
	each_line(text, take_page_command, page_commands);
	read_help(program, options, commands);
	ck_assert_uint_gt(options->count, 3);
	expect_same(options, page_options, program, page);
	expect_same(page_options, options, page, "--help");
	if (commands->count > 0) {
		expect_same(commands, page_commands, program, page);
		expect_same(page_commands, commands, page, "--help");
	}
	free(text);
	free(names);
}

START_TEST(every_program_has_a_page_with_its_options_and_commands)
{
	static const char *const programs[] = { "lapse-producer.8", "lapse-consumer.8",
		"lapse-sweeper.8", "lapse-retry.8", "lapse-gateway.8", "lapse-events.8",
		"lapse-console.8", "lapsectl.1" };
	struct names *pages = memory_allocate(sizeof(*pages));
	DIR *folder = opendir(MANUAL);

	ck_assert_ptr_nonnull(folder);
	for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
		if (entry->d_name[0] == '.')
			continue;
		check_page(entry->d_name);
		add(pages, entry->d_name, strlen(entry->d_name));
	}
	(void)closedir(folder);
	for (size_t i = 0; i < ARRAY_LENGTH(programs); i++)
		ck_assert_msg(has(pages, programs[i]), "there is no page %s", programs[i]);
	free(pages);
}
END_TEST

START_TEST(a_shell_completes_every_command_and_option)
{
	static const char *const shells[] = { "bash", "zsh" };
	struct names *options = memory_allocate_array(2, sizeof(*options));
	struct names *commands = options + 1;

	read_help("lapsectl", options, commands);
	for (size_t i = 0; i < ARRAY_LENGTH(shells); i++) {
		char *script = run("lapsectl", "completion", shells[i], NULL);

		for (size_t j = 0; j < commands->count; j++) {
			const char *word = strrchr(commands->items[j], ' ');

			word = word == NULL ? commands->items[j] : word + 1;
			ck_assert_msg(strstr(script, word) != NULL, "%s: %s", shells[i], word);
		}
		for (size_t j = 0; j < options->count; j++) {
			char option[NAME_SIZE + 2];

			(void)text_format(option, sizeof(option), "--%s", options->items[j]);
			ck_assert_msg(strstr(script, option) != NULL, "%s: %s", shells[i], option);
		}
		if (i == 1)
			ck_assert_ptr_nonnull(
				strstr(script, "'retry:list, show, requeue, resolve'"));
		free(script);
	}
	free(options);
}
END_TEST

/* Bash itself says what it would offer behind "lapsectl list ". */
START_TEST(bash_offers_what_fits)
{
	static const char script[] =
		"source <(\"$0\" completion bash); COMP_WORDS=(lapsectl list \"\"); COMP_CWORD=2; "
		"_lapsectl; echo \"${COMPREPLY[*]}\"; COMP_WORDS=(lapsectl list orders --cl); "
		"COMP_CWORD=3; _lapsectl; echo \"${COMPREPLY[*]}\"";
	char *output = run("/bin/bash", "-c", script, TEST_BIN_DIR "/lapsectl");

	ck_assert_str_eq(output, "tasks orders outbox payments parked rules alerts audit\n"
				 "--closed-from --closed-to\n");
	free(output);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		every_program_has_a_page_with_its_options_and_commands,
		a_shell_completes_every_command_and_option,
		bash_offers_what_fits,
	};

	return runner_run("manual", tests, ARRAY_LENGTH(tests));
}
