/*
 * sandbox - a database and a virtual host of one test, and everything it starts in them.
 *
 * What a sandbox has given belongs to it and ends with it: processes are killed, stubs and proxies
 * end, database and virtual host are removed.
 */
#ifndef TESTS_SUPPORT_SANDBOX_H
#define TESTS_SUPPORT_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/compiler.h"

struct http_stub;
struct process;
struct proxy;
struct query;
struct rabbit;
struct sandbox;

enum {
	SANDBOX_EVERYTHING = 0,
	SANDBOX_NO_SCHEMA = 1, /* an empty database */
	SANDBOX_NO_BROKER = 2, /* no virtual host, LAPSE_AMQP_URL is not set */
};

/* For the start of main: leaves with RUNNER_SKIPPED and a message when there are no servers. */
void sandbox_need_servers(void);

/* Fails the test when a server does not answer or the schema cannot be made. */
void sandbox_create(unsigned int flags, struct sandbox **sandbox_out);
void sandbox_destroy(struct sandbox **sandbox);

/* lapse_t_<ulid>, the name of the database and of the virtual host. */
const char *sandbox_name(const struct sandbox *sandbox);
const char *sandbox_mysql_url(const struct sandbox *sandbox);
const char *sandbox_amqp_url(const struct sandbox *sandbox);
struct query *sandbox_query(struct sandbox *sandbox);
struct rabbit *sandbox_rabbit(struct sandbox *sandbox);

/* The environment of programs started from now on; value NULL takes the name away. */
void sandbox_set(struct sandbox *sandbox, const char *name, const char *format, ...)
	PRINTF_LIKE(3, 4);
void sandbox_unset(struct sandbox *sandbox, const char *name);

/* words: arguments, ended by NULL; NULL: none. */
struct process *sandbox_start(
	struct sandbox *sandbox, const char *program, const char *const *words);
/* With FAILPOINT=<failpoint> for this one only. */
struct process *sandbox_start_with_failpoint(
	struct sandbox *sandbox, const char *program, const char *failpoint);
/* kill -9, and no more part of the sandbox. */
void sandbox_kill(struct sandbox *sandbox, struct process *process);
/* Starts and waits for the end: the exit status.  output_out (may be NULL) is the caller's. */
int sandbox_run(
	struct sandbox *sandbox, const char *program, const char *const *words, char **output_out);
/* Is there such a program in this build? */
bool sandbox_has_program(const char *program);
/* A port of 127.0.0.1 that was free a moment ago, for LAPSE_OPS_ADDR. */
uint16_t sandbox_free_port(void);

/* A product service; LAPSE_STOCK_URL is set to it. */
struct http_stub *sandbox_stub(struct sandbox *sandbox);
/* A proxy in front of MySQL or RabbitMQ; the environment is set to go through it. */
struct proxy *sandbox_proxy_mysql(struct sandbox *sandbox);
struct proxy *sandbox_proxy_amqp(struct sandbox *sandbox);

/* TERM to everything that runs, and the end of it within the limit; fails the test when a program
 * does not end with 0. */
void sandbox_stop_all(struct sandbox *sandbox, uint64_t limit_ms);
/* Fails the test, with the program's last words, when one has ended by itself. */
void sandbox_expect_all_alive(struct sandbox *sandbox);

#endif
