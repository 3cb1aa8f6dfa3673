/*
 * httpd_client - a client of a server on the same thread: both run in turns.
 */
#ifndef TESTS_SUPPORT_HTTPD_CLIENT_H
#define TESTS_SUPPORT_HTTPD_CLIENT_H

#include <stdbool.h>
#include <stddef.h>

struct httpd;

enum {
	HTTPD_CLIENT_ANSWER_SIZE = 65536,
	HTTPD_CLIENT_LIMIT_MS = 10000, /* no test takes so long unless it fails */
};

struct httpd_client {
	struct httpd *httpd;
	size_t size;
	int socket;
	bool is_closed;                        /* by the server */
	bool is_reset;                         /* closed, and not in good order */
	char answer[HTTPD_CLIENT_ANSWER_SIZE]; /* all that came, NUL-terminated */
};

void httpd_client_open(struct httpd_client *client, struct httpd *httpd);
void httpd_client_close(struct httpd_client *client);
/* Sends as much as fits; what the server does not take is lost. */
void httpd_client_send(struct httpd_client *client, const void *bytes, size_t size);
/* One step of the server, and what it sent is taken. */
void httpd_client_turn(struct httpd_client *client);
/* Turns until the answer holds text, or until the server ends the stream when text is NULL. */
void httpd_client_serve(struct httpd_client *client, const char *text);
/* One request on a connection of its own, until the server ends it. */
void httpd_client_ask(struct httpd_client *client, struct httpd *httpd, const char *request);

#endif
