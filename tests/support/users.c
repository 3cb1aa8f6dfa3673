#include "tests/support/users.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <check.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "tests/support/address.h"
#include "tests/support/process.h"
#include "tests/support/query.h"
#include "tests/support/sandbox.h"
#include "tests/support/scratch.h"
#include "tests/support/wait_until.h"

enum {
	URL_SIZE = 512
};

/* $0 is the folder of the secrets. */
static const char make_script[] =
	"set -eu\n"
	"root=$STACK_FOLDER/../..\n"
	"export SECRETS_DIR=$0\n"
	"stack() { \"$root/scripts/stack\" --name \"$STACK_NAME\" \"$@\"; }\n"
	"docker_process_sql() { stack mysql \"$@\"; }\n"
	"rm -rf \"$0\"\n"
	"\"$root/scripts/secrets\"\n"
	". \"$root/deploy/mysql/init/10-users.sh\"\n"
	"stack rabbitmqctl -q import_definitions \"$0/rabbitmq_definitions\"\n";

static const char drop_script[] =
	"set -eu\n"
	"stack() { \"$STACK_FOLDER/../../scripts/stack\" --name \"$STACK_NAME\" \"$@\"; }\n"
	"stack mysql -N -e \"SELECT CONCAT('DROP USER ''', user, '''@''', host, ''';') FROM "
	"mysql.user WHERE user LIKE 'lapse\\\\_%'\" | stack mysql\n";

extern char **environ;

static void run_script(const char *script, const char *folder)
{
	const char *const arguments[] = { "-c", script, folder, NULL };
	const struct process_plan plan = { .program = "/bin/bash",
		.arguments = arguments,
		.environment = environ,
		.folder = scratch_folder() };
	struct process *process = NULL;

	process_start(&plan, &process);
	int status = process_wait(process, WAIT_LIMIT_MS);
	char *words = process_everything(process);
	process_destroy(&process);
	ck_assert_msg(status == 0, "users: status %d: %s", status, words);
	free(words);
}

static void find_file(const char *kind, const char *name, char path[PATH_MAX])
{
	(void)text_format(path, PATH_MAX, "%s/secrets/%s_url_%s", scratch_folder(), kind, name);
}

static bool read_url(const char *kind, const char *name, char url[URL_SIZE])
{
	char path[PATH_MAX];

	find_file(kind, name, path);
	FILE *file = fopen(path, "re");
	if (file == NULL)
		return false;
	bool is_read = fgets(url, URL_SIZE, file) != NULL;
	(void)fclose(file);
	url[strcspn(url, "\n")] = '\0';
	return is_read;
}

static void set_server(const char *url, const char *scheme, const char *server, const char *schema)
{
	struct address address;
	char text[URL_SIZE];

	address_parse(url, scheme, &address);
	(void)text_format(text, sizeof(text), "%s:%u", address.host, (unsigned int)address.port);
	(void)setenv(server, text, 1);
	(void)setenv(schema, address.path, 1);
}

void users_create(struct sandbox *sandbox)
{
	char folder[PATH_MAX];

	(void)text_format(folder, sizeof(folder), "%s/secrets", scratch_folder());
	set_server(sandbox_mysql_url(sandbox), "mysql", "MYSQL_SERVER", "MYSQL_SCHEMA");
	set_server(sandbox_amqp_url(sandbox), "amqp", "AMQP_SERVER", "AMQP_VHOST");
	users_destroy();
	run_script(make_script, folder);
}

void users_destroy(void)
{
	run_script(drop_script, "users");
}

void users_become(struct sandbox *sandbox, const char *name)
{
	char path[PATH_MAX];

	sandbox_unset(sandbox, "LAPSE_MYSQL_URL");
	sandbox_unset(sandbox, "LAPSE_AMQP_URL");
	sandbox_unset(sandbox, "LAPSE_AMQP_URL_FILE");
	find_file("mysql", name, path);
	sandbox_set(sandbox, "LAPSE_MYSQL_URL_FILE", "%s", path);
	find_file("amqp", name, path);
	if (access(path, R_OK) == 0)
		sandbox_set(sandbox, "LAPSE_AMQP_URL_FILE", "%s", path);
}

void users_connect(const char *name, struct query **query_out)
{
	char url[URL_SIZE];

	ck_assert_msg(read_url("mysql", name, url), "no address of %s", name);
	query_create(url, query_out);
}

void users_read_amqp(const char *name, char **url_out)
{
	char url[URL_SIZE];

	ck_assert_msg(read_url("amqp", name, url), "no address of %s", name);
	*url_out = memory_copy_text(url);
}
