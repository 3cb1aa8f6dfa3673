#include "console/accounts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/base/text_file.h"
#include "common/io/password.h"
#include "common/io/signature.h"

enum {
	LINE_SIZE = 512 /* longer than any good one */
};

struct accounts {
	struct account list[ACCOUNTS_MAX];
	size_t count;
};

static const char *const kind_keys[] = { "LAPSE_CONSOLE_USERS_FILE", "LAPSE_CONSOLE_TOKENS_FILE" };
static const char *const kind_forms[] = { "name:role:crypt-hash", "name:role:sha256" };

static bool is_proof(enum accounts_kind kind, const char *text)
{
	if (kind == ACCOUNTS_KIND_TOKENS)
		return signature_is_hex(text);
	return text_equals(text, "*") || password_is_hash(text);
}

static bool read_account(enum accounts_kind kind, char *line, struct account *account)
{
	char *role = strchr(line, ':');
	char *proof = role == NULL ? NULL : strchr(role + 1, ':');

	if (proof == NULL)
		return false;
	*role++ = '\0';
	*proof++ = '\0';
	return text_is_key(line, strlen(line), ROLE_NAME_SIZE - 1) && strchr(line, ':') == NULL &&
	       role_parse(role, &account->role) && is_proof(kind, proof) &&
	       text_copy(account->name, sizeof(account->name), line) &&
	       text_copy(account->proof, sizeof(account->proof), proof);
}

/* 0: all is well, else the number of the wrong line. */
static unsigned int read_lines(enum accounts_kind kind, FILE *file, struct accounts *accounts)
{
	char line[LINE_SIZE];

	for (unsigned int number = 1; text_file_line(file, line, sizeof(line)); number++) {
		struct account account = { .name = "" };

		if (line[0] == '\0' || line[0] == '#')
			continue;
		if (accounts->count == ACCOUNTS_MAX || !read_account(kind, line, &account) ||
			accounts_find(accounts, account.name) != NULL)
			return number;
		accounts->list[accounts->count++] = account;
	}
	memory_wipe(line, sizeof(line));
	return 0;
}

enum result accounts_read(enum accounts_kind kind, const char *path, struct accounts **accounts_out,
	struct error *error)
{
	enum result result = RESULT_OK;

	*accounts_out = NULL;
	FILE *file = fopen(path, "re");
	if (file == NULL)
		return error_set(
			RESULT_PERMANENT, error, "%s: %s cannot be read", kind_keys[kind], path);
	struct accounts *accounts = memory_allocate(sizeof(*accounts));
	unsigned int wrong_line = read_lines(kind, file, accounts);
	(void)fclose(file);
	if (wrong_line > 0)
		result = error_set(RESULT_PERMANENT, error,
			"%s: line %u of %s is not %s, says a name twice, or is one too many",
			kind_keys[kind], wrong_line, path, kind_forms[kind]);
	else if (accounts->count == 0)
		result = error_set(
			RESULT_PERMANENT, error, "%s: %s names nobody", kind_keys[kind], path);
	if (result == RESULT_OK)
		*accounts_out = accounts;
	else
		accounts_destroy(&accounts);
	return result;
}

void accounts_destroy(struct accounts **accounts)
{
	if (*accounts == NULL)
		return;
	memory_wipe(*accounts, sizeof(**accounts));
	free(*accounts);
	*accounts = NULL;
}

size_t accounts_count(const struct accounts *accounts)
{
	return accounts == NULL ? 0 : accounts->count;
}

const struct account *accounts_at(const struct accounts *accounts, size_t place)
{
	return &accounts->list[place];
}

const struct account *accounts_find(const struct accounts *accounts, const char *name)
{
	for (size_t i = 0; i < accounts_count(accounts); i++)
		if (text_equals(accounts->list[i].name, name))
			return &accounts->list[i];
	return NULL;
}
