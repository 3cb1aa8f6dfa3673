#include "common/order/rule.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/db.h"

const char *const rule_attribute_names[] = { "tenant", "channel", "activity", "category", NULL };

static_assert(ARRAY_LENGTH(rule_attribute_names) == RULE_ATTRIBUTE_COUNT + 1, "one per attribute");

struct rule {
	uint64_t id;
	char *values[RULE_ATTRIBUTE_COUNT]; /* NULL: any */
	uint64_t timeout_ms;                /* 0: never */
	int64_t valid_from_ms;              /* MySQL's time */
	int64_t valid_to_ms;                /* INT64_MAX: for ever */
};

/* Best first, so that the first rule that matches is the one that wins. */
struct rules {
	struct rule *rules;
	size_t count;
	uint64_t max_age_ms;
	uint64_t read_at_ms;     /* by clock_now_ms */
	int64_t clock_offset_ms; /* MySQL's milliseconds since 1970 minus clock_now_ms */
	bool was_read;
};

void rules_create(uint64_t max_age_ms, struct rules **rules_out)
{
	struct rules *rules = memory_allocate(sizeof(*rules));

	rules->max_age_ms = max_age_ms;
	*rules_out = rules;
}

static void forget(struct rules *rules)
{
	for (size_t i = 0; i < rules->count; i++)
		for (size_t j = 0; j < RULE_ATTRIBUTE_COUNT; j++)
			free(rules->rules[i].values[j]);
	free(rules->rules);
	rules->rules = NULL;
	rules->count = 0;
}

void rules_destroy(struct rules **rules)
{
	if (*rules == NULL)
		return;
	forget(*rules);
	free(*rules);
	*rules = NULL;
}

static void take_rule(const struct db_rows *rows, struct rule *rule)
{
	rule->id = db_rows_uint(rows, 0);
	rule->timeout_ms = db_rows_uint(rows, 1) * 1000;
	rule->valid_from_ms = db_rows_int(rows, 2);
	rule->valid_to_ms = db_rows_is_null(rows, 3) ? INT64_MAX : db_rows_int(rows, 3);
	for (size_t i = 0; i < RULE_ATTRIBUTE_COUNT; i++)
		rule->values[i] = db_rows_is_null(rows, 5 + i)
					  ? NULL
					  : memory_copy_text(db_rows_text(rows, 5 + i, NULL));
}

/* Rules that may become valid before the next reading are read, too. */
static enum result read_rules(struct rules *rules, struct db *db, struct error *error)
{
	static const char sql[] =
		"SELECT id, timeout_seconds, "
		"TIMESTAMPDIFF(MICROSECOND, '1970-01-01', valid_from) DIV 1000, "
		"TIMESTAMPDIFF(MICROSECOND, '1970-01-01', valid_to) DIV 1000, "
		"TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000, "
		"tenant, channel, activity, category FROM t_timeout_rule "
		"WHERE valid_from <= UTC_TIMESTAMP(3) + INTERVAL 1 MINUTE "
		"AND (valid_to IS NULL OR valid_to > UTC_TIMESTAMP(3)) "
		"ORDER BY (tenant IS NOT NULL) + (channel IS NOT NULL) + (activity IS NOT NULL) + "
		"(category IS NOT NULL) DESC, priority DESC, id DESC LIMIT ?";
	const struct db_param params[] = { db_uint(RULE_MAX) };
	struct db_rows *rows = NULL;
	uint64_t now_ms = clock_now_ms();
	enum result result = db_query(db, sql, params, ARRAY_LENGTH(params), &rows, error);

	if (result != RESULT_OK && result != RESULT_NONE)
		return error_context(result, error, "read timeout rules");
	forget(rules);
	rules->rules = memory_allocate_array(db_rows_count(rows), sizeof(*rules->rules));
	while (db_rows_next(rows)) {
		rules->clock_offset_ms = db_rows_int(rows, 4) - (int64_t)now_ms;
		take_rule(rows, &rules->rules[rules->count++]);
	}
	db_rows_destroy(&rows);
	rules->read_at_ms = now_ms;
	rules->was_read = true;
	return RESULT_OK;
}

static bool does_match(
	const struct rule *rule, const struct rule_attributes *attributes, int64_t now_ms)
{
	if (now_ms < rule->valid_from_ms || now_ms >= rule->valid_to_ms)
		return false;
	for (size_t i = 0; i < RULE_ATTRIBUTE_COUNT; i++)
		if (rule->values[i] != NULL && !text_equals(rule->values[i], attributes->values[i]))
			return false;
	return true;
}

enum result rules_find(struct rules *rules, struct db *db, const struct rule_attributes *attributes,
	struct rule_match *match_out, struct error *error)
{
	uint64_t now_ms = clock_now_ms();

	if (!rules->was_read || now_ms - rules->read_at_ms >= rules->max_age_ms) {
		enum result result = read_rules(rules, db, error);

		if (result != RESULT_OK)
			return result;
	}
	*match_out = (struct rule_match){ .rule_id = 0 };
	for (size_t i = 0; i < rules->count; i++) {
		const struct rule *rule = &rules->rules[i];

		if (!does_match(rule, attributes, (int64_t)now_ms + rules->clock_offset_ms))
			continue;
		*match_out = (struct rule_match){ .rule_id = rule->id,
			.has_timeout = rule->timeout_ms > 0,
			.timeout_ms = rule->timeout_ms };
		break;
	}
	return RESULT_OK;
}
