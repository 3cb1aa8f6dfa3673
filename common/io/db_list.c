#include "common/io/db_list.h"

#include <string.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/db_internal.h"

size_t db_list_size(size_t count)
{
	size_t size = 1;

	REQUIRE(count <= DB_LIST_MAX);
	while (size < count)
		size *= 2;
	return size < DB_LIST_MAX ? size : DB_LIST_MAX;
}

static char *write_condition(const struct db_condition *condition, size_t size)
{
	const char *column = condition->is_ranges ? condition->column : "";
	const char *value = condition->is_ranges ? " BETWEEN ? AND ?" : "?";
	const char *glue = condition->is_ranges ? " OR " : ",";
	size_t value_size = strlen(column) + strlen(value) + strlen(glue);
	size_t sql_size = strlen(condition->head) + strlen(condition->column) + strlen(" IN ()") +
			  size * value_size + strlen(condition->tail) + 1;
	char *sql = memory_allocate(sql_size);

	if (condition->is_ranges || condition->column[0] == '\0')
		(void)text_format(sql, sql_size, "%s(", condition->head);
	else
		(void)text_format(sql, sql_size, "%s%s IN (", condition->head, condition->column);
	size_t used = strlen(sql);
	for (size_t i = 0; i < size; i++) {
		(void)text_format(
			sql + used, sql_size - used, "%s%s%s", i == 0 ? "" : glue, column, value);
		used += strlen(sql + used);
	}
	(void)text_format(sql + used, sql_size - used, ")%s", condition->tail);
	return sql;
}

static bool is_same_condition(const struct db_condition *left, const struct db_condition *right)
{
	return left->is_ranges == right->is_ranges && text_equals(left->head, right->head) &&
	       text_equals(left->column, right->column) && text_equals(left->tail, right->tail);
}

static bool is_same_row(const char *left, const char *right)
{
	return left == NULL || right == NULL ? left == right : text_equals(left, right);
}

static const struct list_text *find_text(
	const struct db *db, const struct db_condition *condition, const char *row, size_t size)
{
	for (size_t i = 0; i < db->list_count; i++) {
		const struct list_text *list = &db->lists[i];

		if (list->size == size && is_same_row(list->row, row) &&
			is_same_condition(&list->condition, condition))
			return list;
	}
	return NULL;
}

static const char *keep_text(struct db *db, const struct list_text *list)
{
	db->lists = memory_resize_array(db->lists, db->list_count + 1, sizeof(*db->lists));
	db->lists[db->list_count++] = *list;
	return list->sql;
}

const char *db_condition_sql(struct db *db, const struct db_condition *condition, size_t size)
{
	const struct list_text *known = find_text(db, condition, NULL, size);
	struct list_text list = { .condition = *condition, .size = size };

	if (known != NULL)
		return known->sql;
	list.sql = write_condition(condition, size);
	return keep_text(db, &list);
}

const char *db_list_sql(struct db *db, const char *head, const char *tail, size_t size)
{
	const struct db_condition condition = { head, "", tail, false };

	return db_condition_sql(db, &condition, size);
}

enum result db_query_list(struct db *db, const struct db_list_query *query,
	struct db_rows **rows_out, struct error *error)
{
	size_t size = db_list_size(query->count);
	struct db_param *list = query->params + query->before;

	REQUIRE(query->count > 0);
	for (size_t i = query->count; i < size; i++)
		list[i] = list[query->count - 1];
	return db_query(db, db_list_sql(db, query->head, query->tail, size), query->params,
		query->before + size, rows_out, error);
}

static char *write_rows(const char *head, const char *row, size_t size)
{
	size_t sql_size = strlen(head) + size * (strlen(row) + 1) + 1;
	char *sql = memory_allocate(sql_size);
	size_t used = strlen(head);

	(void)text_copy(sql, sql_size, head);
	for (size_t i = 0; i < size; i++) {
		(void)text_format(sql + used, sql_size - used, "%s%s", i == 0 ? "" : ",", row);
		used += strlen(sql + used);
	}
	return sql;
}

const char *db_rows_sql(struct db *db, const char *head, const char *row, size_t size)
{
	struct list_text list = { .condition = { head, "", "", false }, .row = row, .size = size };
	const struct list_text *known = find_text(db, &list.condition, row, size);

	if (known != NULL)
		return known->sql;
	list.sql = write_rows(head, row, size);
	return keep_text(db, &list);
}
