/*
 * accounts - the users file and the tokens file: names, roles and what they are recognised by.
 *
 * Lines "name:role:hash of crypt(3)", where "*" stands for a user that only a proxy may name, and
 * "name:role:sha256 of the token in hex".  Blank lines and those that begin with # are skipped.
 */
#ifndef CONSOLE_ACCOUNTS_H
#define CONSOLE_ACCOUNTS_H

#include <stddef.h>

#include "common/base/result.h"
#include "console/role.h"

enum {
	ACCOUNTS_MAX = 256,
	ACCOUNTS_PROOF_SIZE = 256,
};

enum accounts_kind {
	ACCOUNTS_KIND_USERS,
	ACCOUNTS_KIND_TOKENS,
};

struct account {
	char name[ROLE_NAME_SIZE];
	enum role role;
	char proof[ACCOUNTS_PROOF_SIZE]; /* hash or digest; "*": none fits */
};

struct accounts;

/* PERMANENT with the number of the line: it cannot be read, is wrong, or has none or too many. */
MUST_USE enum result accounts_read(enum accounts_kind kind, const char *path,
	struct accounts **accounts_out, struct error *error);
void accounts_destroy(struct accounts **accounts);

size_t accounts_count(const struct accounts *accounts);
const struct account *accounts_at(const struct accounts *accounts, size_t place);
/* NULL: no such name. */
const struct account *accounts_find(const struct accounts *accounts, const char *name);

#endif
