#include "tests/support/stack.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "common/base/text.h"
#include "tests/support/process.h"
#include "tests/support/scratch.h"

extern char **environ;

enum {
	COMMAND_LIMIT_MS = 120000,
	WORDS_MAX = 16
};

bool stack_is_there(void)
{
	return getenv("STACK_NAME") != NULL && getenv("STACK_FOLDER") != NULL &&
	       getenv("LAPSE_MYSQL_URL") != NULL && getenv("LAPSE_AMQP_URL") != NULL;
}

void stack_command(const char *const *words)
{
	const char *arguments[WORDS_MAX + 3] = { "--name", getenv("STACK_NAME") };
	char program[PATH_MAX];
	struct process *process = NULL;

	ck_assert(stack_is_there());
	/* The folder is <checkout>/.stack/<name>. */
	(void)text_format(
		program, sizeof(program), "%s/../../scripts/stack", getenv("STACK_FOLDER"));
	for (size_t i = 0; words[i] != NULL; i++) {
		ck_assert_uint_lt(i, WORDS_MAX);
		arguments[2 + i] = words[i];
	}
	const struct process_plan plan = { .program = program,
		.arguments = arguments,
		.environment = environ,
		.folder = scratch_folder() };
	process_start(&plan, &process);
	int status = process_wait(process, COMMAND_LIMIT_MS);
	char *errors = process_errors(process);
	process_destroy(&process);
	ck_assert_msg(status == 0, "scripts/stack %s: status %d: %s", words[0], status, errors);
	free(errors);
}

void stack_do(const char *word)
{
	const char *const words[] = { word, NULL };

	stack_command(words);
}

const char *stack_ca_file(void)
{
	return getenv("STACK_CA_FILE");
}

void stack_format_amqps_url(char *url_out, const char *vhost, const char *ca_file)
{
	ck_assert(text_format(url_out, STACK_URL_SIZE, "amqps://lapse:%s@localhost:%s/%s?ca=%s",
		getenv("STACK_PASSWORD"), getenv("STACK_AMQPS_PORT"), vhost, ca_file));
}

bool stack_has_delay_exchange(void)
{
	const char *provider = getenv("STACK_DELAY_EXCHANGE");

	return provider != NULL && !text_equals(provider, "none");
}

static FILE *open_broker_log(void)
{
	char path[PATH_MAX];

	(void)text_format(path, sizeof(path), "%s/broker/log/broker.log", getenv("STACK_FOLDER"));
	FILE *file = fopen(path, "re");
	ck_assert_msg(file != NULL, "no log of the broker in %s", path);
	return file;
}

size_t stack_mark_broker_log(void)
{
	FILE *file = open_broker_log();

	(void)fseek(file, 0, SEEK_END);
	long mark = ftell(file);
	(void)fclose(file);
	return mark < 0 ? 0 : (size_t)mark;
}

size_t stack_count_in_broker_log(size_t mark, const char *text)
{
	FILE *file = open_broker_log();
	char line[4096];
	size_t count = 0;

	(void)fseek(file, (long)mark, SEEK_SET);
	while (fgets(line, sizeof(line), file) != NULL)
		if (strstr(line, text) != NULL)
			count++;
	(void)fclose(file);
	return count;
}
