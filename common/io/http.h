/*
 * http - many requests at once through one curl multi handle, each with limits.
 *
 * Only http and https, no redirects, connections are kept, no proxy from the environment, the
 * library's signals off.  Nothing here tries again: a call writes its request once at most, also
 * where the library would send it anew on another connection.
 */
#ifndef COMMON_IO_HTTP_H
#define COMMON_IO_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/result.h"

struct http;

enum {
	HTTP_ANSWER_MAX = 65536, /* bytes of a body; a longer one ends the call as broken */
	HTTP_URL_MAX = 2048,
	HTTP_TARGET_SIZE = 280, /* "host:port" */
};

struct http_request {
	const char *url;
	const char *const *headers; /* "Name: value", ended by NULL; may be NULL */
	const char *body;           /* NULL: GET, else POST */
	size_t body_size;
	size_t answer_max;      /* 0: HTTP_ANSWER_MAX */
	uint64_t time_limit_ms; /* of the whole call */
	void *context;          /* comes back with the answer */
};

enum http_failure {
	HTTP_FAILURE_NONE,    /* an answer came whole: see status */
	HTTP_FAILURE_CONNECT, /* no connection: name, route, refused, TLS, or not in time */
	HTTP_FAILURE_TIME,    /* connected, but not whole inside its time limit */
	HTTP_FAILURE_BROKEN,  /* cut, too long or no HTTP */
};

struct http_answer {
	void *context;
	enum http_failure failure;
	long status;             /* 0 after a failure */
	long head_status;        /* the same, also when what stood behind the head was broken */
	uint64_t retry_after_ms; /* from Retry-After in seconds or as a date; 0: none */
	const char *body;        /* NUL-terminated, never NULL; borrowed until the next call */
	size_t body_size;
	uint64_t duration_ms;
	char error[160]; /* what the library says about a failure */
};

/* At most concurrency calls at a time, connect_limit_ms for each connect. */
void http_create(uint32_t concurrency, uint64_t connect_limit_ms, struct http **http_out);
/* Calls under way are given up. */
void http_destroy(struct http **http);

/* false when the URL is not http:// or https:// with a host, or carries a fragment. */
bool http_is_url(const char *url);
/* "host:port" of a URL; "" when it is none. */
void http_format_target(const char *url, char *target, size_t target_size);

size_t http_count_free(const struct http *http);
size_t http_count_running(const struct http *http);
/* Starts a call.  Copies everything of request.  REQUIREs a free place. */
void http_start(struct http *http, const struct http_request *request);
/* Works on all calls and waits up to wait_ms for news when there is none. */
void http_work(struct http *http, uint64_t wait_ms);
/* The next finished call; false when there is none. */
bool http_take_answer(struct http *http, struct http_answer *answer_out);

#endif
