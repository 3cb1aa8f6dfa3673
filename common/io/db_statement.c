/* Prepared statements: kept by their text, bound, executed, their rows copied out. */
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/db_internal.h"

struct db_param db_null(void)
{
	return (struct db_param){ .kind = DB_PARAM_NULL };
}

struct db_param db_uint(uint64_t value)
{
	return (struct db_param){ .kind = DB_PARAM_UINT, .uint = value };
}

struct db_param db_int(int64_t value)
{
	return (struct db_param){ .kind = DB_PARAM_INT, .sint = value };
}

struct db_param db_text(const char *text)
{
	return text == NULL ? db_null() : db_bytes(text, strlen(text));
}

struct db_param db_optional_text(const char *text)
{
	return db_text(text == NULL || text[0] == '\0' ? NULL : text);
}

struct db_param db_bytes(const char *bytes, size_t size)
{
	return (struct db_param){ .kind = DB_PARAM_TEXT, .text = bytes, .size = size };
}

void db_forget_statements(struct db *db)
{
	for (size_t i = 0; i < db->statement_count; i++) {
		(void)mysql_stmt_close(db->statements[i].handle);
		free(db->statements[i].sql);
	}
	db->statement_count = 0;
}

static enum result fail_statement(struct db *db, MYSQL_STMT *handle, struct error *error)
{
	char text[sizeof(error->text)];

	/* The text lives in the handle, which db_fail may close. */
	(void)text_copy(text, sizeof(text), mysql_stmt_error(handle));
	return db_fail(db, mysql_stmt_errno(handle), text, error);
}

static MYSQL_STMT *find_statement(const struct db *db, const char *sql)
{
	for (size_t i = 0; i < db->statement_count; i++)
		if (text_equals(db->statements[i].sql, sql))
			return db->statements[i].handle;
	return NULL;
}

static enum result prepare(
	struct db *db, const char *sql, MYSQL_STMT **handle_out, struct error *error)
{
	db_bool wants_max_length = 1;
	MYSQL_STMT *handle = find_statement(db, sql);

	*handle_out = handle;
	if (handle != NULL)
		return RESULT_OK;
	if (db->statement_count == DB_STATEMENT_MAX)
		db_forget_statements(db);
	handle = mysql_stmt_init(db->mysql);
	REQUIRE(handle != NULL);
	(void)mysql_stmt_attr_set(handle, STMT_ATTR_UPDATE_MAX_LENGTH, &wants_max_length);
	if (mysql_stmt_prepare(handle, sql, (unsigned long)strlen(sql)) != 0) {
		unsigned int number = mysql_stmt_errno(handle);
		char text[sizeof(error->text)];

		(void)text_copy(text, sizeof(text), mysql_stmt_error(handle));
		(void)mysql_stmt_close(handle);
		return db_fail(db, number, text, error);
	}
	db->statements[db->statement_count++] =
		(struct statement){ .sql = memory_copy_text(sql), .handle = handle };
	*handle_out = handle;
	return RESULT_OK;
}

/* The library takes parameters it only reads as void *. */
static void *without_const(const void *pointer)
{
	void *result = NULL;

	memcpy(&result, &pointer, sizeof(result));
	return result;
}

static void fill_bind(MYSQL_BIND *bind, const struct db_param *param)
{
	memset(bind, 0, sizeof(*bind));
	switch (param->kind) {
	case DB_PARAM_NULL:
		bind->buffer_type = MYSQL_TYPE_NULL;
		return;
	case DB_PARAM_UINT:
		bind->buffer_type = MYSQL_TYPE_LONGLONG;
		bind->is_unsigned = 1;
		bind->buffer = without_const(&param->uint);
		return;
	case DB_PARAM_INT:
		bind->buffer_type = MYSQL_TYPE_LONGLONG;
		bind->buffer = without_const(&param->sint);
		return;
	case DB_PARAM_TEXT:
		bind->buffer_type = MYSQL_TYPE_STRING;
		bind->buffer = without_const(param->text);
		bind->buffer_length = (unsigned long)param->size;
		return;
	}
}

static enum result execute(struct db *db, const char *sql, const struct db_param *params,
	size_t param_count, MYSQL_STMT **handle_out, struct error *error)
{
	if (db->mysql == NULL)
		return error_set(RESULT_TEMPORARY, error, "mysql: not connected");
	db_serve_companion(db);
	enum result result = prepare(db, sql, handle_out, error);
	if (result != RESULT_OK)
		return result;
	REQUIRE(mysql_stmt_param_count(*handle_out) == param_count);
	if (param_count > db->bind_count) {
		db->binds = memory_resize_array(db->binds, param_count, sizeof(*db->binds));
		db->bind_count = param_count;
	}
	for (size_t i = 0; i < param_count; i++)
		fill_bind(&db->binds[i], &params[i]);
	if (param_count > 0 && mysql_stmt_bind_param(*handle_out, db->binds) != 0)
		return fail_statement(db, *handle_out, error);
	if (mysql_stmt_execute(*handle_out) != 0)
		return fail_statement(db, *handle_out, error);
	return RESULT_OK;
}

enum result db_execute(struct db *db, const char *sql, const struct db_param *params,
	size_t param_count, uint64_t *changed_out, struct error *error)
{
	MYSQL_STMT *handle = NULL;
	enum result result = execute(db, sql, params, param_count, &handle, error);

	if (result != RESULT_OK)
		return result;
	if (changed_out != NULL)
		*changed_out = mysql_stmt_affected_rows(handle);
	if (mysql_stmt_insert_id(handle) != 0)
		db->last_insert_id = mysql_stmt_insert_id(handle);
	return result;
}

/* Buffers one row is fetched into before it is copied. */
struct fetch {
	MYSQL_BIND binds[DB_COLUMN_MAX];
	uint64_t numbers[DB_COLUMN_MAX];
	unsigned long lengths[DB_COLUMN_MAX];
	db_bool nulls[DB_COLUMN_MAX];
	char *buffer;
};

static bool is_number_type(enum enum_field_types type)
{
	return type == MYSQL_TYPE_TINY || type == MYSQL_TYPE_SHORT || type == MYSQL_TYPE_INT24 ||
	       type == MYSQL_TYPE_LONG || type == MYSQL_TYPE_LONGLONG || type == MYSQL_TYPE_YEAR;
}

/* Numbers into numbers, everything else as text into one buffer of the longest values. */
static void plan_fetch(struct fetch *fetch, MYSQL_RES *meta, unsigned int columns)
{
	const MYSQL_FIELD *fields = mysql_fetch_fields(meta);
	size_t used = 0;
	size_t room = 0;

	for (unsigned int i = 0; i < columns; i++)
		room += fields[i].max_length + 1;
	fetch->buffer = memory_allocate(room);
	for (unsigned int i = 0; i < columns; i++) {
		MYSQL_BIND *bind = &fetch->binds[i];

		bind->length = &fetch->lengths[i];
		bind->is_null = &fetch->nulls[i];
		if (is_number_type(fields[i].type)) {
			bind->buffer_type = MYSQL_TYPE_LONGLONG;
			bind->is_unsigned = (fields[i].flags & UNSIGNED_FLAG) != 0 ? 1 : 0;
			bind->buffer = &fetch->numbers[i];
		} else {
			bind->buffer_type = MYSQL_TYPE_STRING;
			bind->buffer = fetch->buffer + used;
			bind->buffer_length = fields[i].max_length + 1;
			used += fields[i].max_length + 1;
		}
	}
}

static size_t keep_text(struct db_rows *rows, const void *bytes, size_t size)
{
	size_t offset = rows->texts_size;

	if (offset + size + 1 > rows->texts_room) {
		rows->texts_room = (offset + size + 1) * 2;
		rows->texts = memory_resize_array(rows->texts, rows->texts_room, 1);
	}
	memcpy(rows->texts + offset, bytes, size);
	rows->texts[offset + size] = '\0';
	rows->texts_size += size + 1;
	return offset;
}

static void keep_row(struct db_rows *rows, const struct fetch *fetch)
{
	struct db_cell *cells = &rows->cells[rows->row_count * rows->column_count];

	for (size_t i = 0; i < rows->column_count; i++) {
		cells[i].is_null = fetch->nulls[i] != 0;
		cells[i].is_number = fetch->binds[i].buffer_type == MYSQL_TYPE_LONGLONG;
		cells[i].number = fetch->numbers[i];
		if (cells[i].is_null || cells[i].is_number)
			continue;
		cells[i].size = fetch->lengths[i];
		cells[i].offset = keep_text(rows, fetch->binds[i].buffer, fetch->lengths[i]);
	}
	rows->row_count++;
}

static enum result fetch_rows(struct db *db, MYSQL_STMT *handle, MYSQL_RES *meta,
	struct db_rows *rows, struct error *error)
{
	struct fetch fetch = { .buffer = NULL };
	size_t expected = mysql_stmt_num_rows(handle);
	enum result result = RESULT_OK;
	int status = 0;

	plan_fetch(&fetch, meta, (unsigned int)rows->column_count);
	rows->cells = memory_allocate_array(expected * rows->column_count, sizeof(*rows->cells));
	if (mysql_stmt_bind_result(handle, fetch.binds) != 0) {
		result = fail_statement(db, handle, error);
		goto done;
	}
	while (rows->row_count < expected && (status = mysql_stmt_fetch(handle)) == 0)
		keep_row(rows, &fetch);
	if (rows->row_count < expected)
		result = status == 1 ? fail_statement(db, handle, error)
				     : error_set(RESULT_PERMANENT, error,
					       "mysql: a value was longer than announced");
done:
	free(fetch.buffer);
	return result;
}

enum result db_query(struct db *db, const char *sql, const struct db_param *params,
	size_t param_count, struct db_rows **rows_out, struct error *error)
{
	MYSQL_STMT *handle = NULL;
	MYSQL_RES *meta = NULL;
	struct db_rows *rows = NULL;
	enum result result = execute(db, sql, params, param_count, &handle, error);

	*rows_out = NULL;
	if (result != RESULT_OK)
		return result;
	if (mysql_stmt_store_result(handle) != 0)
		return fail_statement(db, handle, error);
	meta = mysql_stmt_result_metadata(handle);
	REQUIRE(meta != NULL);
	rows = memory_allocate(sizeof(*rows));
	rows->column_count = mysql_num_fields(meta);
	REQUIRE(rows->column_count <= DB_COLUMN_MAX);
	result = fetch_rows(db, handle, meta, rows, error);
	mysql_free_result(meta);
	/* After a failure the connection, and the handle with it, may be gone. */
	if (result == RESULT_OK)
		(void)mysql_stmt_free_result(handle);
	if (result == RESULT_OK && rows->row_count == 0)
		result = RESULT_NONE;
	if (result == RESULT_OK)
		*rows_out = rows;
	else
		db_rows_destroy(&rows);
	return result;
}
