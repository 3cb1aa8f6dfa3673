/*
 * db_internal - what the files of db share; the only place that includes the client library.
 */
#ifndef COMMON_IO_DB_INTERNAL_H
#define COMMON_IO_DB_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mysql.h>

#include "common/io/db.h"
#include "common/io/db_list.h"

#if defined(LIBMARIADB) || defined(MARIADB_BASE_VERSION)
typedef my_bool db_bool;
#else
typedef bool db_bool;
#endif

enum {
	DB_STATEMENT_MAX = 192, /* prepared at a time */
	DB_COLUMN_MAX = 40,
};

struct statement {
	char *sql;
	MYSQL_STMT *handle;
};

struct list_text {
	struct db_condition condition;
	size_t size;
	const char *row; /* what is repeated size times; NULL: a list of values */
	char *sql;
};

enum db_group {
	DB_GROUP_NONE,
	DB_GROUP_OPEN,
	DB_GROUP_LOST, /* rolled back; its end has not come yet */
};

struct db {
	const struct db_settings *settings;
	MYSQL *mysql; /* NULL: not connected */
	uint64_t epoch;
	unsigned int time_limit_s;
	unsigned int last_errno;
	uint64_t last_insert_id;
	bool skips_schema_check;
	bool is_in_transaction; /* in a group: of a member */
	enum db_group group;
	bool is_mariadb;
	struct statement statements[DB_STATEMENT_MAX];
	size_t statement_count;
	struct list_text *lists; /* one for each list statement and size: a fixed set */
	size_t list_count;
	void (*serve_companion)(void *context);
	void *companion;
	uint64_t served_ms; /* when it was served last */
	MYSQL_BIND *binds;  /* grows to the longest list that was used */
	size_t bind_count;
};

/* One value of a result: numbers as they came, texts as an offset into the texts of all rows. */
struct db_cell {
	bool is_null;
	bool is_number;
	uint64_t number;
	size_t offset;
	size_t size;
};

struct db_rows {
	struct db_cell *cells; /* row by row */
	char *texts;
	size_t texts_size;
	size_t texts_room;
	size_t column_count;
	size_t row_count;
	size_t next; /* row that db_rows_next moves to */
};

/* The one place that knows what an error number asks for.  Ends the transaction. */
enum result db_fail(struct db *db, unsigned int number, const char *text, struct error *error);
/* Rolls back the group that is open, if one is. */
void db_group_lose(struct db *db);
void db_forget_statements(struct db *db);
/* Calls the companion when it has not been served for a while. */
void db_serve_companion(struct db *db);

#endif
