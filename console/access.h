/*
 * access - who is asking: HTTP Basic, bearer tokens, or the word of a proxy that is trusted.
 *
 * Closed by default.  Ten failures a minute from one address, and it is not listened to for a
 * while.
 */
#ifndef CONSOLE_ACCESS_H
#define CONSOLE_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/result.h"
#include "common/io/httpd.h"
#include "console/role.h"

struct access;

enum access_verdict {
	ACCESS_VERDICT_WELCOME,
	ACCESS_VERDICT_ASK,      /* 401: nothing was shown */
	ACCESS_VERDICT_WRONG,    /* 401: what was shown is wrong */
	ACCESS_VERDICT_STRANGER, /* 403: a proxy names somebody we do not know */
	ACCESS_VERDICT_WAIT,     /* 429 */
};

struct access_settings {
	const char *users_file;      /* NULL with is_open, or when only tokens are used */
	const char *tokens_file;     /* NULL: no tokens */
	const char *trusted_proxies; /* see network */
	bool is_open;                /* --insecure-no-auth: everybody is an admin */
};

/* PERMANENT: a file cannot be read or is wrong.  Copies settings. */
MUST_USE enum result access_create(
	const struct access_settings *settings, struct access **access_out, struct error *error);
void access_destroy(struct access **access);
/* Reads the files again; mistakes leave everything as it is. */
MUST_USE enum result access_reload(struct access *access, struct error *error);

/* Fills identity with all that is known: its address always, its name also when it is wrong. */
enum access_verdict access_identify(struct access *access, const struct httpd_request *request,
	struct identity *identity_out, uint64_t *wait_ms_out);

#endif
