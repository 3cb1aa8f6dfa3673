#include "tests/support/query.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>
#include <mysql.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "tests/support/address.h"
#include "tests/support/wait_until.h"

enum {
	CONNECT_LIMIT_S = 10,
	ANSWER_LIMIT_S = 120
};

struct query {
	struct address server;
	MYSQL *mysql; /* NULL: not connected */
};

static bool connect_server(struct query *query)
{
	unsigned int connect_limit = CONNECT_LIMIT_S;
	unsigned int answer_limit = ANSWER_LIMIT_S;
	MYSQL *mysql = mysql_init(NULL);

	(void)mysql_options(mysql, MYSQL_OPT_CONNECT_TIMEOUT, &connect_limit);
	(void)mysql_options(mysql, MYSQL_OPT_READ_TIMEOUT, &answer_limit);
	(void)mysql_options(mysql, MYSQL_OPT_WRITE_TIMEOUT, &answer_limit);
	const struct address *server = &query->server;
	if (mysql_real_connect(mysql, server->host, server->user, server->password, server->path,
		    server->port, NULL, CLIENT_MULTI_STATEMENTS) == NULL) {
		(void)fprintf(stderr, "query: %s\n", mysql_error(mysql));
		mysql_close(mysql);
		return false;
	}
	query->mysql = mysql;
	/* INSERT ... SELECT of a test must not wait for rows of somebody else. */
	return mysql_query(mysql, "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED") == 0;
}

static void disconnect(struct query *query)
{
	if (query->mysql != NULL)
		mysql_close(query->mysql);
	query->mysql = NULL;
}

void query_create(const char *url, struct query **query_out)
{
	struct query *query = memory_allocate(sizeof(*query));

	*query_out = query;
	address_parse(url, "mysql", &query->server);
	ck_assert_msg(connect_server(query), "cannot connect to MySQL");
}

void query_destroy(struct query **query)
{
	if (*query == NULL)
		return;
	disconnect(*query);
	free(*query);
	*query = NULL;
}

/* The first result is kept for the caller, others are thrown away. */
static bool run_text(struct query *query, const char *sql, MYSQL_RES **rows_out)
{
	*rows_out = NULL;
	if (query->mysql == NULL && !connect_server(query))
		return false;
	int status = mysql_query(query->mysql, sql);
	bool is_first = true;
	while (status == 0) {
		MYSQL_RES *rows = mysql_store_result(query->mysql);

		if (is_first)
			*rows_out = rows;
		else if (rows != NULL)
			mysql_free_result(rows);
		is_first = false;
		status = mysql_next_result(query->mysql);
	}
	if (mysql_errno(query->mysql) == 0)
		return true;
	(void)fprintf(stderr, "query: %s: %s\n", sql, mysql_error(query->mysql));
	if (*rows_out != NULL)
		mysql_free_result(*rows_out);
	*rows_out = NULL;
	disconnect(query);
	return false;
}

/* Owned by the caller. */
static char *format_sql(const char *format, va_list arguments) PRINTF_LIKE(1, 0);
static char *format_sql(const char *format, va_list arguments)
{
	va_list again;

	va_copy(again, arguments);
	int length = vsnprintf(NULL, 0, format, again);
	va_end(again);
	ck_assert_int_ge(length, 0);
	char *sql = memory_allocate((size_t)length + 1);
	(void)vsnprintf(sql, (size_t)length + 1, format, arguments);
	return sql;
}

static bool run_format(struct query *query, MYSQL_RES **rows_out, const char *format,
	va_list arguments) PRINTF_LIKE(3, 0);
static bool run_format(
	struct query *query, MYSQL_RES **rows_out, const char *format, va_list arguments)
{
	char *sql = format_sql(format, arguments);
	bool is_well = run_text(query, sql, rows_out);

	free(sql);
	return is_well;
}

bool query_try(struct query *query, const char *format, ...)
{
	MYSQL_RES *rows = NULL;
	va_list arguments;

	va_start(arguments, format);
	bool is_well = run_format(query, &rows, format, arguments);
	va_end(arguments);
	if (rows != NULL)
		mysql_free_result(rows);
	return is_well;
}

static bool is_answering(void *context)
{
	return query_try(context, "SELECT 1");
}

void query_await(struct query *query)
{
	WAIT_UNTIL(is_answering, query);
}

void query_run(struct query *query, const char *format, ...)
{
	MYSQL_RES *rows = NULL;
	va_list arguments;

	va_start(arguments, format);
	bool is_well = run_format(query, &rows, format, arguments);
	va_end(arguments);
	if (rows != NULL)
		mysql_free_result(rows);
	ck_assert_msg(is_well, "a statement of the test failed: %s", format);
}

int64_t query_number(struct query *query, const char *format, ...)
{
	MYSQL_RES *rows = NULL;
	MYSQL_ROW row = NULL;
	va_list arguments;

	va_start(arguments, format);
	bool is_well = run_format(query, &rows, format, arguments);
	va_end(arguments);
	ck_assert_msg(is_well && rows != NULL, "a statement of the test failed: %s", format);
	row = mysql_fetch_row(rows);
	int64_t number = row == NULL || row[0] == NULL ? 0 : strtoll(row[0], NULL, 10);
	mysql_free_result(rows);
	return number;
}

static void write_row(MYSQL_ROW row, unsigned int columns, char text_out[QUERY_TEXT_SIZE])
{
	size_t used = 0;

	text_out[0] = '\0';
	for (unsigned int i = 0; row != NULL && i < columns; i++) {
		(void)text_format(text_out + used, QUERY_TEXT_SIZE - used, "%s%s",
			i == 0 ? "" : " ", row[i] == NULL ? "NULL" : row[i]);
		used = strlen(text_out);
	}
}

void query_text(struct query *query, char text_out[QUERY_TEXT_SIZE], const char *format, ...)
{
	MYSQL_RES *rows = NULL;
	va_list arguments;

	va_start(arguments, format);
	bool is_well = run_format(query, &rows, format, arguments);
	va_end(arguments);
	ck_assert_msg(is_well && rows != NULL, "a statement of the test failed: %s", format);
	write_row(mysql_fetch_row(rows), mysql_num_fields(rows), text_out);
	mysql_free_result(rows);
}

void query_expect(struct query *query, const char *expected, const char *sql)
{
	char text[QUERY_TEXT_SIZE];

	query_text(query, text, "%s", sql);
	ck_assert_msg(text_equals(text, expected), "%s gives %s, not %s", sql, text, expected);
}

unsigned long query_connection_id(struct query *query)
{
	return mysql_thread_id(query->mysql);
}
