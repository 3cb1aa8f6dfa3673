/*
 * api_client - a caller of the gateway: any request, over a connection that is kept.
 */
#ifndef TESTS_SUPPORT_API_CLIENT_H
#define TESTS_SUPPORT_API_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct api_client;

enum {
	API_CLIENT_NO_ANSWER = 0, /* instead of a status: refused, cut off, or the time is up */
	API_CLIENT_BODY_SIZE = 2097152,
	API_CLIENT_HEAD_SIZE = 4096,
	API_CLIENT_SIGNATURE_SIZE = 160,
};

struct api_request {
	const char *method;
	const char *path;
	const char *headers; /* lines that end with \r\n; NULL: none */
	const char *body;    /* NULL: none */
	size_t body_size;    /* 0: up to its NUL byte */
};

struct api_answer {
	unsigned int status;
	char head[API_CLIENT_HEAD_SIZE]; /* status line and headers */
	char body[API_CLIENT_BODY_SIZE]; /* what fits */
};

/* Allocates only. */
void api_client_create(uint16_t port, struct api_client **client_out);
void api_client_destroy(struct api_client **client);
/* From the next call on; 0: as at the start. */
void api_client_set_limit(struct api_client *client, uint64_t limit_ms);

/* Connects when necessary.  The answer is borrowed until the next call. */
const struct api_answer *api_client_call(
	struct api_client *client, const struct api_request *request);
const struct api_answer *api_client_get(struct api_client *client, const char *path);
const struct api_answer *api_client_post(
	struct api_client *client, const char *path, const char *body);
/* Why the last call had no answer: nobody listened, rather than a connection that was cut. */
bool api_client_was_refused(const struct api_client *client);
/* Value of a header of an answer; false when it is not there. */
bool api_client_header(
	const struct api_answer *answer, const char *name, char *value_out, size_t value_size);

/* "X-Lapse-Signature: t=...,v1=...\r\n" by our clock plus skew_s. */
void api_client_sign(char header_out[API_CLIENT_SIGNATURE_SIZE], const char *secret,
	const char *body, int64_t skew_s);

#endif
