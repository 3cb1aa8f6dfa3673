/*
 * csrf - is a request that changes something meant by the person who seems to send it?
 *
 * Three looks, without cookie or session, the same on every replica: Sec-Fetch-Site where the
 * browser sends it, else Origin; neither is for bearer tokens only.  Forms also carry a token: an
 * HMAC-SHA256 over user, path and hour, good for twelve hours.
 */
#ifndef CONSOLE_CSRF_H
#define CONSOLE_CSRF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	CSRF_TOKEN_SIZE = 96,
	CSRF_HOURS = 12,
	CSRF_SECRET_MIN = 32, /* bytes */
	CSRF_WORDS_SIZE = 512,
};

/* The headers of a request; NULL: absent. */
struct csrf_headers {
	const char *fetch_site;
	const char *origin;
	const char *host;
	const char *origins; /* more origins that are ours, with blanks or commas between */
	bool is_bearer;
};

/* false: words say which look failed and what a proxy would have to send. */
bool csrf_check_headers(const struct csrf_headers *headers, char words[CSRF_WORDS_SIZE]);

/* hour: since 1970.  path: what the form is sent to. */
void csrf_make_token(char token_out[CSRF_TOKEN_SIZE], const char *secret, const char *user,
	const char *path, uint64_t hour);
/* false: words say why.  hour is now. */
bool csrf_check_token(const char *token, const char *secret, const char *user, const char *path,
	uint64_t hour, char words[CSRF_WORDS_SIZE]);
uint64_t csrf_hour_now(void);

#endif
