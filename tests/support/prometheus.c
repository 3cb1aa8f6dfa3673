#include "tests/support/prometheus.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "tests/support/process.h"
#include "tests/support/sandbox.h"
#include "tests/support/scratch.h"
#include "tests/support/wait_until.h"

enum {
	ANSWER_LIMIT_MS = 5000,
	CONFIG_SIZE = 4096,
	PATH_SIZE = 900, /* what the client sends at a time */
	WORD_SIZE = PATH_MAX + 64,
};

struct prometheus {
	uint16_t port;
	struct process *process;
};

extern char **environ;

static void write_config(const uint16_t *ports, size_t port_count, char path[PATH_MAX])
{
	char config[CONFIG_SIZE];

	(void)text_format(config, sizeof(config),
		"global: {scrape_interval: 1s, evaluation_interval: 1s}\n"
		"rule_files: ['" TEST_SOURCE_DIR "/deploy/prometheus/rules.yml']\n"
		"scrape_configs:\n- job_name: lapse\n  static_configs:\n  - targets: [");
	for (size_t i = 0; i < port_count; i++) {
		size_t length = strlen(config);

		(void)text_format(config + length, sizeof(config) - length, "%s'127.0.0.1:%u'",
			i > 0 ? ", " : "", ports[i]);
	}
	size_t length = strlen(config);
	(void)text_format(config + length, sizeof(config) - length, "]\n");
	scratch_write("prometheus.yml", config, path);
}

void prometheus_create(const uint16_t *ports, size_t port_count, struct prometheus **prometheus_out)
{
	struct prometheus *prometheus = memory_allocate(sizeof(*prometheus));
	char path[PATH_MAX];
	char words[3][WORD_SIZE];
	const char *const arguments[] = { words[0], words[1], words[2], "--log.level=warn", NULL };

	prometheus->port = sandbox_free_port();
	write_config(ports, port_count, path);
	(void)text_format(words[0], WORD_SIZE, "--config.file=%s", path);
	(void)text_format(words[1], WORD_SIZE, "--storage.tsdb.path=%s/tsdb-%u", scratch_folder(),
		prometheus->port);
	(void)text_format(
		words[2], WORD_SIZE, "--web.listen-address=127.0.0.1:%u", prometheus->port);
	process_start(&(struct process_plan){ .program = "/usr/bin/prometheus",
			      .arguments = arguments,
			      .environment = environ,
			      .folder = scratch_folder() },
		&prometheus->process);
	*prometheus_out = prometheus;
}

void prometheus_destroy(struct prometheus **prometheus)
{
	if (*prometheus == NULL)
		return;
	process_destroy(&(*prometheus)->process);
	free(*prometheus);
	*prometheus = NULL;
}

unsigned int prometheus_get(
	const struct prometheus *prometheus, const char *path, char answer_out[HTTP_CLIENT_SIZE])
{
	return http_client_get(prometheus->port, path, ANSWER_LIMIT_MS, answer_out);
}

/* Percent-encodes what is not plainly safe. */
static void append_encoded(char *target, size_t size, const char *text)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
	size_t length = strlen(target);

	for (const char *c = text; *c != '\0'; c++) {
		ck_assert_uint_lt(length + 4, size);
		if (strchr(plain, *c) != NULL)
			(void)text_format(target + length, size - length, "%c", *c);
		else
			(void)text_format(target + length, size - length, "%%%02X",
				(unsigned int)(unsigned char)*c);
		length += strlen(target + length);
	}
}

static void write_query(char path[PATH_SIZE], const char *expression)
{
	(void)text_copy(path, PATH_SIZE, "/api/v1/query?query=");
	append_encoded(path, PATH_SIZE, expression);
}

unsigned int prometheus_query(const struct prometheus *prometheus, const char *expression,
	char answer_out[HTTP_CLIENT_SIZE])
{
	char path[PATH_SIZE];

	write_query(path, expression);
	return prometheus_get(prometheus, path, answer_out);
}

struct question {
	const struct prometheus *prometheus;
	const char *path;
	const char *words;
	char *answer;
};

static bool is_answered(void *context)
{
	const struct question *question = context;

	return prometheus_get(question->prometheus, question->path, question->answer) == 200 &&
	       strstr(question->answer, question->words) != NULL;
}

void prometheus_await(
	const struct prometheus *prometheus, const char *path, const char *words, uint64_t limit_ms)
{
	struct question question = { prometheus, path, words, memory_allocate(HTTP_CLIENT_SIZE) };
	bool is_there = wait_until(is_answered, &question, limit_ms);

	ck_assert_msg(is_there, "no %s in the answer to %s: %s", words, path, question.answer);
	free(question.answer);
}

void prometheus_await_query(
	const struct prometheus *prometheus, const char *expression, const char *words)
{
	char path[PATH_SIZE];

	write_query(path, expression);
	prometheus_await(prometheus, path, words, WAIT_LIMIT_MS);
}
