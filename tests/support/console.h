/*
 * console - a running lapse-console of a sandbox, and the people in front of it.
 *
 * vera is a viewer, olga and otto are operators, anna is an admin; all say "secret".  robot is an
 * operator with the token CONSOLE_TOKEN.
 */
#ifndef TESTS_SUPPORT_CONSOLE_H
#define TESTS_SUPPORT_CONSOLE_H

#include <stdint.h>

#include "tests/support/api_client.h"

struct process;
struct query;
struct sandbox;

#define CONSOLE_SECRET "0123456789abcdef0123456789abcdef"
#define CONSOLE_TOKEN  "token-of-robot"
#define CONSOLE_SAME   "Sec-Fetch-Site: same-origin\r\n"

enum {
	CONSOLE_SEE_OTHER = 303, /* the answer to a form that was carried out */
	CONSOLE_LOCATION_SIZE = 512,
	CONSOLE_TEXT_SIZE = 4096
};

struct console_run {
	struct sandbox *sandbox;
	struct process *process;
	struct api_client *client;
	uint16_t port;
};

/* Writes the files and starts one on a free port; returns when it answers. */
void console_start(struct console_run *console, struct sandbox *sandbox);
/* Only the client: the process belongs to the sandbox. */
void console_leave(struct console_run *console);

/* As one of the people, "robot", or NULL: nobody. */
const struct api_answer *console_get(
	struct console_run *console, const char *person, const char *path);
/* The same with more header lines that end with \r\n. */
const struct api_answer *console_get_with(
	struct console_run *console, const char *person, const char *path, const char *headers);

/* One form as it is sent; headers: lines in place of CONSOLE_SAME. */
struct console_form {
	const char *path;
	const char *fields; /* "a=b&c=d" */
	const char *headers;
};
const struct api_answer *console_post(
	struct console_run *console, const char *person, const struct console_form *form);
/* Loads the page, and sends its form to path with its token and request id and these fields. */
const struct api_answer *console_submit(struct console_run *console, const char *person,
	const char *page, const char *path, const char *fields);
/* The token and the request id of the first form to path on the page, as fields. */
void console_take_form(struct console_run *console, const char *person, const char *page,
	const char *path, char fields_out[CONSOLE_TEXT_SIZE]);
/* JSON to the API. */
const struct api_answer *console_call(struct console_run *console, const char *person,
	const char *path, const char *json, const char *headers);

/* What must never become markup, for texts of rows. */
#define CONSOLE_HOSTILE "<script>alert(1)</script>\"'&<img src=x onerror=alert(2)>"

/* Orders OPEN-1 and OPEN-2 (unpaid), PAID-1, and CLOSED-1 with an alert, a late payment and a task
 * that is DEAD with a hostile error; an outbox row for each; a rule with hostile names. */
void console_fill(struct query *query);
/* One more closed order <prefix><n> with a DEAD task, for n from 1 to count. */
void console_fill_dead(struct query *query, const char *prefix, unsigned int count);

/* Fails the test unless the answer has the status and its body the words. */
void console_expect(const struct api_answer *answer, unsigned int status, const char *words);
/* Fails the test unless the answer is 303 and the page that it leads person to has the words. */
void console_expect_done(struct console_run *console, const struct api_answer *answer,
	const char *person, const char *words);

#endif
