#include "tests/support/sandbox.h"

#include <ctype.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <check.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/base/ulid.h"
#include "tests/support/address.h"
#include "tests/support/http_stub.h"
#include "tests/support/listener.h"
#include "tests/support/process.h"
#include "tests/support/proxy.h"
#include "tests/support/query.h"
#include "tests/support/rabbit.h"
#include "tests/support/runner.h"
#include "tests/support/scratch.h"
#include "tests/support/stack.h"
#include "tests/support/wait_until.h"

enum {
	NAME_SIZE = 64,
	URL_SIZE = 512,
	VARIABLES_MAX = 64,
	PROCESSES_MAX = 256,
	STUBS_MAX = 8,
	LAST_WORDS = 2000
};

struct sandbox {
	char name[NAME_SIZE];
	bool has_database;
	bool has_vhost;
	char mysql_url[URL_SIZE]; /* straight to the servers */
	char amqp_url[URL_SIZE];
	struct address mysql;
	struct address amqp;
	struct query *query;
	struct rabbit *rabbit;
	char *environment[VARIABLES_MAX + 1]; /* "NAME=value", ended by NULL */
	struct process *processes[PROCESSES_MAX];
	size_t process_count;
	struct http_stub *stubs[STUBS_MAX];
	size_t stub_count;
	struct proxy *proxies[STUBS_MAX];
	size_t proxy_count;
};

void sandbox_need_servers(void)
{
	if (stack_is_there())
		return;
	(void)printf("skipped: no servers; run scripts/test, or scripts/stack up and "
		     "eval \"$(scripts/stack env)\" before\n");
	exit(RUNNER_SKIPPED);
}

/* The place of NAME in the environment, or the first free one. */
static size_t find_variable(const struct sandbox *sandbox, const char *name)
{
	size_t length = strlen(name);
	size_t place = 0;

	while (sandbox->environment[place] != NULL &&
		(strncmp(sandbox->environment[place], name, length) != 0 ||
			sandbox->environment[place][length] != '='))
		place++;
	return place;
}

void sandbox_unset(struct sandbox *sandbox, const char *name)
{
	size_t place = find_variable(sandbox, name);
	size_t last = place;

	if (sandbox->environment[place] == NULL)
		return;
	free(sandbox->environment[place]);
	while (sandbox->environment[last + 1] != NULL)
		last++;
	sandbox->environment[place] = sandbox->environment[last];
	sandbox->environment[last] = NULL;
}

void sandbox_set(struct sandbox *sandbox, const char *name, const char *format, ...)
{
	char value[URL_SIZE];
	char variable[URL_SIZE + NAME_SIZE];
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(value, sizeof(value), format, arguments);
	va_end(arguments);
	ck_assert(text_format(variable, sizeof(variable), "%s=%s", name, value));
	size_t place = find_variable(sandbox, name);
	ck_assert_uint_lt(place, VARIABLES_MAX);
	free(sandbox->environment[place]);
	sandbox->environment[place] = memory_copy_text(variable);
}

static void copy_variable(struct sandbox *sandbox, const char *name)
{
	const char *value = getenv(name);

	if (value != NULL)
		sandbox_set(sandbox, name, "%s", value);
}

/* Upper-case letters are fine in a database's name, but some servers fold them. */
static void choose_name(struct sandbox *sandbox)
{
	char id[ULID_SIZE];

	ulid_generate(id);
	for (char *c = id; *c != '\0'; c++)
		*c = (char)tolower((unsigned char)*c);
	(void)text_format(sandbox->name, sizeof(sandbox->name), "lapse_t_%s", id);
}

static void make_schema(struct sandbox *sandbox)
{
	const char *const words[] = { "migrate", NULL };
	char *output = NULL;
	int status = sandbox_run(sandbox, "lapsectl", words, &output);

	ck_assert_msg(status == 0, "lapsectl migrate: status %d\n%s", status, output);
	free(output);
}

static void format_mysql_url(const struct sandbox *sandbox, uint16_t port, char url[URL_SIZE])
{
	(void)text_format(url, URL_SIZE, "mysql://%s:%s@%s:%u/%s?tls=off", sandbox->mysql.user,
		sandbox->mysql.password, sandbox->mysql.host, port, sandbox->name);
}

static void format_amqp_url(const struct sandbox *sandbox, uint16_t port, char url[URL_SIZE])
{
	(void)text_format(url, URL_SIZE, "amqp://%s:%s@%s:%u/%s", sandbox->amqp.user,
		sandbox->amqp.password, sandbox->amqp.host, port, sandbox->name);
}

static void make_database(struct sandbox *sandbox)
{
	struct query *first = NULL;

	query_create(getenv("LAPSE_MYSQL_URL"), &first);
	query_run(first, "CREATE DATABASE %s CHARACTER SET utf8mb4", sandbox->name);
	query_destroy(&first);
	sandbox->has_database = true;
	format_mysql_url(sandbox, sandbox->mysql.port, sandbox->mysql_url);
	sandbox_set(sandbox, "LAPSE_MYSQL_URL", "%s", sandbox->mysql_url);
	query_create(sandbox->mysql_url, &sandbox->query);
}

static void make_vhost(struct sandbox *sandbox)
{
	const char *const words[] = { "add-vhost", sandbox->name, NULL };

	stack_command(words);
	sandbox->has_vhost = true;
	format_amqp_url(sandbox, sandbox->amqp.port, sandbox->amqp_url);
	sandbox_set(sandbox, "LAPSE_AMQP_URL", "%s", sandbox->amqp_url);
}

void sandbox_create(unsigned int flags, struct sandbox **sandbox_out)
{
	static const char *const inherited[] = { "PATH", "HOME", "TMPDIR", "ASAN_OPTIONS",
		"UBSAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS" };
	struct sandbox *sandbox = memory_allocate(sizeof(*sandbox));

	*sandbox_out = sandbox;
	choose_name(sandbox);
	address_parse(getenv("LAPSE_MYSQL_URL"), "mysql", &sandbox->mysql);
	address_parse(getenv("LAPSE_AMQP_URL"), "amqp", &sandbox->amqp);
	for (size_t i = 0; i < ARRAY_LENGTH(inherited); i++)
		copy_variable(sandbox, inherited[i]);
	make_database(sandbox);
	if ((flags & SANDBOX_NO_BROKER) == 0)
		make_vhost(sandbox);
	if ((flags & SANDBOX_NO_SCHEMA) == 0)
		make_schema(sandbox);
}

static void remove_servers_part(struct sandbox *sandbox)
{
	const char *const words[] = { "delete-vhost", sandbox->name, NULL };

	/* Lapse's sessions are gone by now, so no lock holds the removal up. */
	if (sandbox->has_database && sandbox->query != NULL)
		(void)query_try(sandbox->query, "DROP DATABASE %s", sandbox->name);
	query_destroy(&sandbox->query);
	rabbit_destroy(&sandbox->rabbit);
	if (sandbox->has_vhost)
		stack_command(words);
}

void sandbox_destroy(struct sandbox **sandbox)
{
	struct sandbox *gone = *sandbox;

	if (gone == NULL)
		return;
	*sandbox = NULL;
	for (size_t i = 0; i < gone->process_count; i++)
		process_destroy(&gone->processes[i]);
	for (size_t i = 0; i < gone->stub_count; i++)
		http_stub_destroy(&gone->stubs[i]);
	for (size_t i = 0; i < gone->proxy_count; i++)
		proxy_destroy(&gone->proxies[i]);
	remove_servers_part(gone);
	for (size_t i = 0; gone->environment[i] != NULL; i++)
		free(gone->environment[i]);
	free(gone);
}

const char *sandbox_name(const struct sandbox *sandbox)
{
	return sandbox->name;
}

const char *sandbox_mysql_url(const struct sandbox *sandbox)
{
	return sandbox->mysql_url;
}

const char *sandbox_amqp_url(const struct sandbox *sandbox)
{
	return sandbox->amqp_url;
}

struct query *sandbox_query(struct sandbox *sandbox)
{
	return sandbox->query;
}

struct rabbit *sandbox_rabbit(struct sandbox *sandbox)
{
	if (sandbox->rabbit == NULL)
		rabbit_create(sandbox->amqp_url, &sandbox->rabbit);
	return sandbox->rabbit;
}

struct process *sandbox_start(
	struct sandbox *sandbox, const char *program, const char *const *words)
{
	const struct process_plan plan = { .program = program,
		.arguments = words,
		.environment = sandbox->environment,
		.folder = scratch_folder() };

	ck_assert_uint_lt(sandbox->process_count, PROCESSES_MAX);
	struct process **place = &sandbox->processes[sandbox->process_count++];
	process_start(&plan, place);
	return *place;
}

struct process *sandbox_start_with_failpoint(
	struct sandbox *sandbox, const char *program, const char *failpoint)
{
	sandbox_set(sandbox, "FAILPOINT", "%s", failpoint);
	struct process *process = sandbox_start(sandbox, program, NULL);
	sandbox_unset(sandbox, "FAILPOINT");
	return process;
}

void sandbox_kill(struct sandbox *sandbox, struct process *process)
{
	for (size_t i = 0; i < sandbox->process_count; i++) {
		if (sandbox->processes[i] != process)
			continue;
		process_destroy(&sandbox->processes[i]);
		sandbox->process_count--;
		sandbox->processes[i] = sandbox->processes[sandbox->process_count];
		return;
	}
}

int sandbox_run(
	struct sandbox *sandbox, const char *program, const char *const *words, char **output_out)
{
	const struct process_plan plan = { .program = program,
		.arguments = words,
		.environment = sandbox->environment,
		.folder = scratch_folder() };
	struct process *process = NULL;

	process_start(&plan, &process);
	int status = process_wait(process, WAIT_LIMIT_MS);
	if (output_out != NULL) {
		*output_out = process_everything(process);
	}
	process_destroy(&process);
	return status;
}

bool sandbox_has_program(const char *program)
{
	char path[PATH_MAX];

	(void)text_format(path, sizeof(path), "%s/%s", TEST_BIN_DIR, program);
	return access(path, X_OK) == 0;
}

uint16_t sandbox_free_port(void)
{
	uint16_t port = 0;
	int handle = listener_open(&port);

	ck_assert_int_ge(handle, 0);
	(void)close(handle);
	return port;
}

struct http_stub *sandbox_stub(struct sandbox *sandbox)
{
	char url[HTTP_STUB_URL_SIZE];

	ck_assert_uint_lt(sandbox->stub_count, STUBS_MAX);
	struct http_stub **place = &sandbox->stubs[sandbox->stub_count++];
	http_stub_create(place);
	http_stub_format_url(*place, url);
	sandbox_set(sandbox, "LAPSE_STOCK_URL", "%s", url);
	return *place;
}

static struct proxy *add_proxy(struct sandbox *sandbox, uint16_t port)
{
	ck_assert_uint_lt(sandbox->proxy_count, STUBS_MAX);
	struct proxy **place = &sandbox->proxies[sandbox->proxy_count++];

	proxy_create(port, place);
	return *place;
}

struct proxy *sandbox_proxy_mysql(struct sandbox *sandbox)
{
	struct proxy *proxy = add_proxy(sandbox, sandbox->mysql.port);
	char url[URL_SIZE];

	format_mysql_url(sandbox, proxy_port(proxy), url);
	sandbox_set(sandbox, "LAPSE_MYSQL_URL", "%s", url);
	return proxy;
}

struct proxy *sandbox_proxy_amqp(struct sandbox *sandbox)
{
	struct proxy *proxy = add_proxy(sandbox, sandbox->amqp.port);
	char url[URL_SIZE];

	format_amqp_url(sandbox, proxy_port(proxy), url);
	sandbox_set(sandbox, "LAPSE_AMQP_URL", "%s", url);
	return proxy;
}

static void fail_with_last_words(const struct process *process, const char *what, int status)
{
	char *errors = process_errors(process);
	size_t size = strlen(errors);

	ck_abort_msg("process %d %s, status %d; its last words:\n%s", process_id(process), what,
		status, errors + (size > LAST_WORDS ? size - LAST_WORDS : 0));
}

void sandbox_stop_all(struct sandbox *sandbox, uint64_t limit_ms)
{
	for (size_t i = 0; i < sandbox->process_count; i++)
		process_signal(sandbox->processes[i], SIGTERM);
	for (size_t i = 0; i < sandbox->process_count; i++) {
		int status = process_wait(sandbox->processes[i], limit_ms);

		if (status != 0)
			fail_with_last_words(sandbox->processes[i], "did not end well", status);
	}
}

void sandbox_expect_all_alive(struct sandbox *sandbox)
{
	for (size_t i = 0; i < sandbox->process_count; i++)
		if (!process_is_alive(sandbox->processes[i]))
			fail_with_last_words(sandbox->processes[i], "has ended by itself",
				process_wait(sandbox->processes[i], 0));
}
