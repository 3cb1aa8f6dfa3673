#include "common/report/listing_query.h"

#include <string.h>
#include <strings.h>

#include "common/base/moment.h"
#include "common/base/text.h"
#include "common/report/listing_place.h"

enum {
	ALLOWED_SIZE = 256,
};

/* So long that its microseconds still fit. */
#define DURATION_MAX_MS (UINT64_C(1) << 53)

/* ---- putting together */

static void add_condition(struct listing_query *query, const char *sql)
{
	size_t used = strlen(query->condition);

	REQUIRE(text_format(
		query->condition + used, sizeof(query->condition) - used, " AND %s", sql));
}

static char *next_value(struct listing_query *query)
{
	REQUIRE(query->param_count < LISTING_PARAM_MAX);
	return query->values[query->param_count];
}

/* The text stands in next_value already. */
static void add_text(struct listing_query *query, const char *sql)
{
	query->params[query->param_count] = db_text(query->values[query->param_count]);
	query->param_count++;
	add_condition(query, sql);
}

static void add_number(struct listing_query *query, const char *sql, uint64_t number)
{
	REQUIRE(query->param_count < LISTING_PARAM_MAX);
	query->params[query->param_count++] = db_uint(number);
	add_condition(query, sql);
}

static void add_words(struct listing_query *query, const char *words, const char *value)
{
	size_t used = strlen(query->words);

	(void)text_format(query->words + used, sizeof(query->words) - used, "%s%s%s%.64s",
		used == 0 ? "" : ", ", words, words[0] == '\0' ? "" : " ", value);
}

/* ---- one value */

static enum result refuse(
	const struct listing_filter *filter, const char *value, struct error *error)
{
	char allowed[ALLOWED_SIZE] = "";

	for (size_t i = 0; filter->words != NULL && filter->words[i] != NULL; i++) {
		size_t used = strlen(allowed);

		(void)text_format(allowed + used, sizeof(allowed) - used, "%s%s",
			i == 0 ? "" : ", ", filter->words[i]);
	}
	return error_set(RESULT_PERMANENT, error, "%s: \"%.40s\" is not %s%s", filter->name, value,
		filter->words == NULL ? "" : "one of ",
		filter->words == NULL ? filter->form : allowed);
}

static enum result take_word(
	struct listing_query *query, size_t place, const char *value, struct error *error)
{
	const struct listing_filter *filter = &query->kind->filters[place];
	const struct listing_condition *condition = &query->kind->conditions[place];
	char *target = next_value(query);
	size_t i = 0;

	while (filter->words[i] != NULL && strcasecmp(filter->words[i], value) != 0)
		i++;
	if (filter->words[i] == NULL)
		return refuse(filter, value, error);
	if (text_equals(filter->words[i], "all"))
		return RESULT_OK;
	add_words(query, condition->words, filter->words[i]);
	if (condition->words_sql != NULL) {
		add_condition(query, condition->words_sql[i]);
		return RESULT_OK;
	}
	/* The words of a column are its own, in any case: the collation of the table is binary. */
	(void)text_copy(target, sizeof(query->values[0]), filter->words[i]);
	add_text(query, condition->sql);
	return RESULT_OK;
}

/* A "_" in a pattern stands for any character unless "|" is before it, which no key has. */
static void write_pattern(char *target, const char *beginning, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (beginning[i] == '_')
			*target++ = '|';
		*target++ = beginning[i];
	}
	*target++ = '%';
	*target = '\0';
}

static bool take_prefix(struct listing_query *query, const struct listing_condition *condition,
	const char *value, size_t size)
{
	if (!text_is_key(value, size, TEXT_KEY_MAX))
		return false;
	write_pattern(next_value(query), value, size);
	add_text(query, condition->other_sql);
	return true;
}

static bool take_target(
	struct listing_query *query, const struct listing_condition *condition, const char *value)
{
	size_t size = strcspn(value, ":");
	bool has_id = value[size] == ':';

	if (size == 0 || size >= TEXT_KEY_MAX || (has_id && value[size + 1] == '\0'))
		return false;
	memcpy(next_value(query), value, size);
	next_value(query)[size] = '\0';
	add_text(query, condition->sql);
	if (has_id) {
		(void)text_copy(next_value(query), sizeof(query->values[0]), value + size + 1);
		add_text(query, condition->other_sql);
	}
	return true;
}

static bool take_text(
	struct listing_query *query, const struct listing_condition *condition, const char *value)
{
	(void)text_copy(next_value(query), sizeof(query->values[0]), value);
	add_text(query, condition->sql);
	return true;
}

/* false: the value cannot be. */
static bool take_formed(
	struct listing_query *query, const struct listing_condition *condition, const char *value)
{
	size_t size = strlen(value);
	char moment[MOMENT_SIZE];
	uint64_t number = 0;

	switch (condition->form) {
	case LISTING_FORM_WORD:
		return false;
	case LISTING_FORM_PREFIX:
		if (value[size - 1] == '*')
			return take_prefix(query, condition, value, size - 1);
		return text_is_key(value, size, TEXT_KEY_MAX) && take_text(query, condition, value);
	case LISTING_FORM_KEY:
		return text_is_key(value, size, TEXT_KEY_MAX) && take_text(query, condition, value);
	case LISTING_FORM_TEXT:
		return take_text(query, condition, value);
	case LISTING_FORM_DURATION:
		if (!text_parse_duration(value, &number) || number > DURATION_MAX_MS)
			return false;
		add_number(query, condition->sql, number * 1000);
		return true;
	case LISTING_FORM_TIME:
		return moment_parse(value, moment) && take_text(query, condition, moment);
	case LISTING_FORM_ID:
		if (!text_parse_uint(value, 0, UINT64_MAX, &number))
			return false;
		add_number(query, condition->sql, number);
		return true;
	case LISTING_FORM_TARGET:
		return take_target(query, condition, value);
	}
	return false;
}

/* Bytes that are no UTF-8 would make the server complain, and a control character is a mistake. */
static bool is_clean(const char *value)
{
	char clean[LISTING_TEXT_MAX + 1];
	size_t size = strlen(value);

	return size <= LISTING_TEXT_MAX && text_clip(clean, sizeof(clean), value, size) == size &&
	       text_equals(clean, value);
}

static enum result take_value(
	struct listing_query *query, size_t place, const char *value, struct error *error)
{
	const struct listing_condition *condition = &query->kind->conditions[place];

	if (!is_clean(value))
		return error_set(RESULT_PERMANENT, error, "%s: the value is too long or no text",
			query->kind->filters[place].name);
	if (condition->form == LISTING_FORM_WORD)
		return take_word(query, place, value, error);
	if (!take_formed(query, condition, value))
		return refuse(&query->kind->filters[place], value, error);
	add_words(query, condition->words, value);
	return RESULT_OK;
}

/* ---- the whole request */

static enum result refuse_name(
	const struct listing_kind *kind, const char *name, struct error *error)
{
	char allowed[ALLOWED_SIZE] = "";

	for (size_t i = 0; i < kind->filter_count; i++) {
		size_t used = strlen(allowed);

		(void)text_format(allowed + used, sizeof(allowed) - used, "%s%s",
			i == 0 ? "" : ", ", kind->filters[i].name);
	}
	return error_set(RESULT_PERMANENT, error, "\"%.40s\" is no filter of %s: there are %s",
		name, kind->name, allowed);
}

static enum result find_given(const struct listing_kind *kind,
	const struct listing_request *request, struct listing_given *given, struct error *error)
{
	for (size_t i = 0; i < request->value_count; i++) {
		const struct listing_value *value = &request->values[i];
		size_t place = 0;

		if (value->value == NULL || value->value[0] == '\0')
			continue;
		while (place < kind->filter_count &&
			!text_equals(kind->filters[place].name, value->name))
			place++;
		if (place == kind->filter_count)
			return refuse_name(kind, value->name, error);
		if (given->values[place] != NULL)
			return error_set(RESULT_PERMANENT, error, "%s is given twice", value->name);
		given->values[place] = value->value;
	}
	return RESULT_OK;
}

enum result listing_query_read(const struct listing_kind *kind,
	const struct listing_request *request, struct listing_query *query, struct error *error)
{
	struct listing_given given = { .values = { NULL } };
	const char *default_words = NULL;
	enum result result = find_given(kind, request, &given, error);

	*query = (struct listing_query){ .kind = kind, .limit = request->limit };
	if (query->limit == 0)
		query->limit = LISTING_PAGE_DEFAULT;
	if (result == RESULT_OK && query->limit > LISTING_PAGE_MAX)
		result = error_set(RESULT_PERMANENT, error, "limit: at most %d rows in one page",
			LISTING_PAGE_MAX);
	if (result != RESULT_OK)
		return result;
	query->stage_count = kind->plan(&given, query->stages, &default_words);
	if (default_words != NULL)
		add_words(query, "", default_words);
	for (size_t i = 0; result == RESULT_OK && i < kind->filter_count; i++)
		if (given.values[i] != NULL)
			result = take_value(query, i, given.values[i], error);
	if (query->words[0] == '\0')
		(void)text_copy(query->words, sizeof(query->words), "all");
	return result == RESULT_OK ? listing_place_read(query, request->after, error) : result;
}
