/*
 * query - SQL of a test on a connection of its own, apart from the code under test.
 *
 * Every mistake fails the test, except in query_try.  Formats are those of printf; what tests put
 * into them are names and numbers of their own, never text from outside.
 */
#ifndef TESTS_SUPPORT_QUERY_H
#define TESTS_SUPPORT_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/compiler.h"

struct query;

enum {
	QUERY_TEXT_SIZE = 1024
};

/* Connects at once.  url: mysql://user:password@host:port/database, words behind ? are skipped. */
void query_create(const char *url, struct query **query_out);
void query_destroy(struct query **query);

/* Runs one or more statements divided by ";" and forgets what they give. */
void query_run(struct query *query, const char *format, ...) PRINTF_LIKE(2, 3);
/* false when the server refused or is away; a lost connection is opened again by the next call. */
bool query_try(struct query *query, const char *format, ...) PRINTF_LIKE(2, 3);
/* For servers that were away: waits until this one answers again. */
void query_await(struct query *query);
/* The first column of the first row; no row or NULL reads as 0. */
int64_t query_number(struct query *query, const char *format, ...) PRINTF_LIKE(2, 3);
/* The first row, columns divided by one blank; no row reads as "", NULL as "NULL". */
void query_text(struct query *query, char text_out[QUERY_TEXT_SIZE], const char *format, ...)
	PRINTF_LIKE(3, 4);
/* Fails the test unless query_text gives expected. */
void query_expect(struct query *query, const char *expected, const char *sql);
/* The server's number of this connection, for KILL. */
unsigned long query_connection_id(struct query *query);

#endif
