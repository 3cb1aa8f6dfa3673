#include "common/report/listing_place.h"

#include <string.h>

#include "common/base/moment.h"
#include "common/base/text.h"

enum {
	PLACE_SQL_SIZE = 256
};

/* What stands before the place in the second part of a list. */
static const char second_part[] = "2:";

/* ---- from outside */

/* "2026-01-31T10:00:00.000Z_12" */
static bool read_time(const char *text, struct listing_query *query)
{
	const char *end = strrchr(text, '_');
	char time[LISTING_CURSOR_SIZE];
	size_t size = end == NULL ? 0 : (size_t)(end - text);

	if (size == 0 || size >= sizeof(time) ||
		!text_parse_uint(end + 1, 0, UINT64_MAX, &query->place_id))
		return false;
	memcpy(time, text, size);
	time[size] = '\0';
	return moment_parse(time, query->place);
}

static bool read_key(const char *text, enum listing_key key, struct listing_query *query)
{
	switch (key) {
	case LISTING_KEY_ID:
		return text_parse_uint(text, 0, UINT64_MAX, &query->place_id);
	case LISTING_KEY_TEXT:
		return text_is_key(text, strlen(text), TEXT_KEY_MAX) &&
		       text_copy(query->place, sizeof(query->place), text);
	case LISTING_KEY_TIME:
		return read_time(text, query);
	}
	return false;
}

enum result listing_place_read(struct listing_query *query, const char *after, struct error *error)
{
	const char *key = after;

	query->has_place = after != NULL && after[0] != '\0';
	if (!query->has_place)
		return RESULT_OK;
	if (query->stage_count > 1 && text_starts_with(after, second_part)) {
		query->first_stage = 1;
		key = after + strlen(second_part);
	}
	if (strlen(key) < LISTING_CURSOR_SIZE &&
		read_key(key, query->stages[query->first_stage].order->key, query))
		return RESULT_OK;
	return error_set(
		RESULT_PERMANENT, error, "after: \"%.60s\" is no place in this list", after);
}

void listing_place_write(const struct listing_query *query, size_t stage, const char *key,
	const char *id, char place[LISTING_CURSOR_SIZE])
{
	bool is_time = query->stages[stage].order->key == LISTING_KEY_TIME;

	(void)text_format(place, LISTING_CURSOR_SIZE, "%s%s%s%s", stage == 0 ? "" : second_part,
		key, is_time ? "_" : "", is_time ? id : "");
}

/* ---- SQL */

/* The condition for what lies behind the place. */
static void write_condition(const struct listing_order *order, char sql[PLACE_SQL_SIZE])
{
	const char *than = order->is_descending ? "<" : ">";

	switch (order->key) {
	case LISTING_KEY_ID:
	case LISTING_KEY_TEXT:
		(void)text_format(sql, PLACE_SQL_SIZE, " AND %s %s ?", order->column, than);
		return;
	case LISTING_KEY_TIME:
		(void)text_format(sql, PLACE_SQL_SIZE,
			" AND %s %s= CAST(? AS DATETIME(3)) AND (%s %s CAST(? AS DATETIME(3)) OR "
			"t.id %s ?)",
			order->column, than, order->column, than, than);
		return;
	}
}

static size_t add_params(const struct listing_query *query, enum listing_key key,
	struct db_param *params, size_t count)
{
	switch (key) {
	case LISTING_KEY_ID:
		params[count++] = db_uint(query->place_id);
		return count;
	case LISTING_KEY_TEXT:
		params[count++] = db_text(query->place);
		return count;
	case LISTING_KEY_TIME:
		params[count++] = db_text(query->place);
		params[count++] = db_text(query->place);
		params[count++] = db_uint(query->place_id);
		return count;
	}
	return count;
}

void listing_place_sort(
	const struct listing_order *order, const char *alias, char sql[LISTING_SORT_SIZE])
{
	const char *direction = order->is_descending ? " DESC" : "";
	const char *column = strchr(order->column, '.');

	REQUIRE(column != NULL);
	REQUIRE(text_format(sql, LISTING_SORT_SIZE, " ORDER BY %s%s%s", alias, column, direction));
	if (order->key == LISTING_KEY_TIME) {
		size_t used = strlen(sql);

		REQUIRE(text_format(
			sql + used, LISTING_SORT_SIZE - used, ", %s.id%s", alias, direction));
	}
}

size_t listing_place_choose(const struct listing_query *query, size_t stage,
	char sql[LISTING_CHOICE_SIZE], struct db_param *params)
{
	const struct listing_order *order = query->stages[stage].order;
	bool has_place = query->has_place && stage == query->first_stage;
	char place[PLACE_SQL_SIZE] = "";
	char sort[LISTING_SORT_SIZE];
	size_t count = 0;

	for (; count < query->param_count; count++)
		params[count] = query->params[count];
	if (has_place) {
		write_condition(order, place);
		count = add_params(query, order->key, params, count);
	}
	listing_place_sort(order, "t", sort);
	REQUIRE(text_format(sql, LISTING_CHOICE_SIZE,
		"SELECT t.id FROM %s t%s WHERE TRUE%s%s%s%s LIMIT ?", query->kind->table,
		order->hint, query->stages[stage].sql, query->condition, place, sort));
	return count;
}
