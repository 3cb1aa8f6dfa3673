/*
 * password - passwords of people: hashes of crypt(3), yescrypt or SHA-512.
 *
 * Checking one takes a noticeable part of a second on purpose: limit who may try, and remember who
 * was right.
 */
#ifndef COMMON_IO_PASSWORD_H
#define COMMON_IO_PASSWORD_H

#include <stdbool.h>

#include "common/base/result.h"

enum {
	PASSWORD_MAX = 256, /* bytes */
	PASSWORD_HASH_SIZE = 256,
};

/* "$y$..." or "$6$...", of a form that crypt(3) takes. */
bool password_is_hash(const char *text);
/* In constant time where it matters. */
bool password_fits(const char *hash, const char *password);
/* A new yescrypt hash with a fresh salt.  PERMANENT: too long, or the library has no yescrypt. */
MUST_USE enum result password_hash(
	const char *password, char hash_out[PASSWORD_HASH_SIZE], struct error *error);

#endif
