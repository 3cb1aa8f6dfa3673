#include "common/report/rule_effect.h"

#include <inttypes.h>
#include <string.h>

#include "common/base/moment.h"
#include "common/base/text.h"
#include "common/io/db.h"
#include "common/io/json.h"
#include "common/order/rule_change.h"
#include "common/order/rule_overlap.h"
#include "common/order/rule_set.h"
#include "common/report/listing_kind.h"
#include "common/report/listing_time.h"
#include "common/report/rule_tally.h"

enum {
	EFFECT_SQL_SIZE = 2048,
};

/* Columns of a statement over rules, t, and the span of time that is asked about, s. */
enum column {
	COLUMN_ID,
	COLUMN_VALUES,
	COLUMN_PRIORITY = COLUMN_VALUES + RULE_ATTRIBUTE_COUNT,
	COLUMN_TIMEOUT,
	COLUMN_VALID_FROM,
	COLUMN_VALID_TO,
	COLUMN_FROM_MS,
	COLUMN_TO_MS,
	COLUMN_BEGINS_MS,
	COLUMN_ENDS_MS,
};

#define SINCE_1970(column) "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', " column ") DIV 1000"
#define FROM_ISO           LISTING_TIME("t.valid_from")
#define TO_ISO             LISTING_TIME("t.valid_to")
#define FROM_MS            SINCE_1970("t.valid_from")
#define TO_MS              SINCE_1970("t.valid_to")
#define BEGINS_MS          SINCE_1970("s.begins")
#define ENDS_MS            SINCE_1970("s.ends")
#define TIME_PARAM         "COALESCE(CAST(? AS DATETIME(3)), UTC_TIMESTAMP(3))"
static const char columns_sql[] =
	"t.id, t.tenant, t.channel, t.activity, t.category, t.priority, "
	"COALESCE(t.timeout_seconds, 0), " FROM_ISO ", " TO_ISO ", " FROM_MS ", " TO_MS;

/* There is one row at least, for the span; nothing is asked about the past. */
static const char others_sql[] =
	", " BEGINS_MS ", " ENDS_MS " FROM (SELECT GREATEST(" TIME_PARAM ", " TIME_PARAM
	", UTC_TIMESTAMP(3)) AS begins, CAST(? AS DATETIME(3)) AS ends) s LEFT JOIN t_timeout_rule "
	"t ON (t.valid_to IS NULL OR t.valid_to > s.begins) AND (s.ends IS NULL OR t.valid_from < "
	"s.ends) ORDER BY (t.tenant IS NOT NULL) + (t.channel IS NOT NULL) + (t.activity IS NOT "
	"NULL) + (t.category IS NOT NULL) DESC, t.priority DESC, t.id DESC LIMIT ?";

/* One question. */
struct question {
	struct db *db;
	struct rule_overlap subject;
	const char *begins;     /* NULL: now */
	const char *not_before; /* NULL: now */
	const char *ends;       /* NULL: never */
	struct rule_tally *tally;
	struct json *better; /* rules that the subject loses to */
	struct json *worse;  /* rules that lose to it */
	bool is_cut;
	bool is_empty;   /* the subject is valid at no time that is asked about */
	bool is_idle;    /* a better one gets every order of the subject */
	bool is_covered; /* one of them gets every order that is left */
};

static const char *text_or_null(const struct db_rows *rows, size_t column)
{
	return db_rows_is_null(rows, column) ? NULL : db_rows_text(rows, column, NULL);
}

static struct json *describe(const struct db_rows *rows, const struct rule_tally *tally)
{
	struct json *rule = json_create_object();
	uint64_t id = db_rows_uint(rows, COLUMN_ID);
	uint64_t count = 0;

	json_set_id(rule, "id", id);
	for (size_t i = 0; i < RULE_ATTRIBUTE_COUNT; i++)
		json_set_text(rule, rule_attribute_names[i], text_or_null(rows, COLUMN_VALUES + i));
	json_set_int(rule, "priority", db_rows_int(rows, COLUMN_PRIORITY));
	json_set_int(rule, "timeout_seconds", db_rows_int(rows, COLUMN_TIMEOUT));
	json_set_text(rule, "valid_from", db_rows_text(rows, COLUMN_VALID_FROM, NULL));
	json_set_text(rule, "valid_to", text_or_null(rows, COLUMN_VALID_TO));
	if (rule_tally_find(tally, id, &count))
		json_set_int(rule, "orders_24h", (int64_t)count);
	else
		json_set_text(rule, "orders_24h", NULL);
	return rule;
}

/* The texts are those of rows. */
static void read_overlap(const struct db_rows *rows, struct rule_overlap *rule_out)
{
	*rule_out = (struct rule_overlap){ .id = db_rows_uint(rows, COLUMN_ID),
		.priority = db_rows_int(rows, COLUMN_PRIORITY),
		.from_ms = db_rows_int(rows, COLUMN_FROM_MS),
		.to_ms = db_rows_is_null(rows, COLUMN_TO_MS) ? INT64_MAX
							     : db_rows_int(rows, COLUMN_TO_MS) };
	for (size_t i = 0; i < RULE_ATTRIBUTE_COUNT; i++)
		rule_out->values[i] = text_or_null(rows, COLUMN_VALUES + i);
}

static void add_rule(struct question *question, struct json *list, const struct db_rows *rows)
{
	if (json_count(list) == RULE_EFFECT_MAX) {
		question->is_cut = true;
		return;
	}
	struct json *rule = describe(rows, question->tally);
	json_append_adopt(list, &rule);
}

static void read_span(struct question *question, const struct db_rows *rows)
{
	struct rule_overlap *subject = &question->subject;

	subject->from_ms = db_rows_int(rows, COLUMN_BEGINS_MS);
	subject->to_ms = db_rows_is_null(rows, COLUMN_ENDS_MS) ? INT64_MAX
							       : db_rows_int(rows, COLUMN_ENDS_MS);
	question->is_empty = subject->from_ms >= subject->to_ms;
}

/* Best first, as they are tried: behind a rule that covers the subject, others get no order. */
static void sort_out(struct question *question, struct db_rows *rows)
{
	const struct rule_overlap *subject = &question->subject;
	struct rule_overlap rule;

	while (!question->is_covered && db_rows_next(rows)) {
		read_span(question, rows);
		read_overlap(rows, &rule);
		if (db_rows_is_null(rows, COLUMN_ID) || rule.id == subject->id ||
			!rule_overlap_meets(&rule, subject))
			continue;
		bool is_better = rule_overlap_is_better(&rule, subject);
		add_rule(question, is_better ? question->better : question->worse, rows);
		question->is_covered = rule_overlap_covers(&rule, subject);
		question->is_idle = is_better && question->is_covered;
	}
}

static enum result ask(struct question *question, struct error *error)
{
	const struct db_param params[] = { db_text(question->begins), db_text(question->not_before),
		db_text(question->ends), db_uint(RULE_MAX) };
	struct db_rows *rows = NULL;
	char sql[EFFECT_SQL_SIZE];

	REQUIRE(text_format(sql, sizeof(sql), "%s" LISTING_TIME_SELECT "%s%s",
		listing_time_start(question->db), columns_sql, others_sql));
	question->better = json_create_array();
	question->worse = json_create_array();
	enum result result =
		db_query(question->db, sql, params, ARRAY_LENGTH(params), &rows, error);
	if (result == RESULT_OK)
		sort_out(question, rows);
	db_rows_destroy(&rows);
	return listing_time_explain(question->db, result, "rules", error);
}

/* The mark first: what changes behind it is noticed. */
static enum result begin(struct question *question, char set[RULE_SET_SIZE], struct error *error)
{
	enum result result = rule_set_read(question->db, set, error);

	return result == RESULT_OK ? rule_tally_read(question->db, &question->tally, error)
				   : result;
}

static void finish(struct question *question)
{
	rule_tally_destroy(&question->tally);
	json_destroy(&question->better);
	json_destroy(&question->worse);
}

/* What both answers end with. */
static void add_rest(struct json *root, const struct question *question, const char *set)
{
	json_set_bool(root, "decides_nothing", question->is_idle || question->is_empty);
	json_set_bool(root, "is_cut", question->is_cut);
	json_set_text(root, "rule_set", set);
}

/* "2026-01-31 10:00:00.000" as times are told; NULL stays NULL. */
static void set_time(struct json *object, const char *key, const char *time)
{
	char text[MOMENT_SIZE + 1];

	if (time == NULL || !text_format(text, sizeof(text), "%sZ", time)) {
		json_set_text(object, key, NULL);
		return;
	}
	char *blank = strchr(text, ' ');
	if (blank != NULL)
		*blank = 'T';
	json_set_text(object, key, text);
}

static struct json *describe_new(const struct rule_definition *definition)
{
	struct json *rule = json_create_object();

	for (size_t i = 0; i < RULE_ATTRIBUTE_COUNT; i++)
		json_set_text(rule, rule_attribute_names[i], definition->values[i]);
	json_set_int(rule, "priority", definition->priority);
	json_set_int(rule, "timeout_seconds", (int64_t)definition->timeout_s);
	set_time(rule, "valid_from", definition->valid_from);
	set_time(rule, "valid_to", definition->valid_to);
	return rule;
}

enum result rule_effect_of_adding(struct db *db, const struct rule_definition *definition,
	struct json **json_out, struct error *error)
{
	struct question question = { .db = db,
		.subject = { .id = RULE_OVERLAP_YOUNGEST, .priority = definition->priority },
		.begins = definition->valid_from,
		.ends = definition->valid_to };
	char set[RULE_SET_SIZE];
	enum result result = rule_check(definition, error);

	*json_out = NULL;
	memcpy(question.subject.values, definition->values, sizeof(definition->values));
	if (result == RESULT_OK)
		result = begin(&question, set, error);
	if (result == RESULT_OK)
		result = ask(&question, error);
	if (result == RESULT_OK && question.is_empty)
		result = error_set(
			RESULT_PERMANENT, error, "it would end before it begins, or in the past");
	if (result == RESULT_OK) {
		struct json *root = json_create_object();
		struct json *rule = describe_new(definition);

		json_adopt(root, "rule", &rule);
		json_adopt(root, "loses_to", &question.better);
		json_adopt(root, "takes_from", &question.worse);
		json_set_bool(root, "takes_unmatched", !question.is_covered);
		add_rest(root, &question, set);
		*json_out = root;
	}
	finish(&question);
	return result;
}

/* The rule itself; its row stays the caller's. */
static enum result read_subject(
	struct question *question, struct db_rows **rows_out, struct error *error)
{
	const struct db_param param = db_uint(question->subject.id);
	char sql[EFFECT_SQL_SIZE];

	REQUIRE(text_format(sql, sizeof(sql),
		"SELECT %s, CAST(t.valid_from AS CHAR), CAST(t.valid_to AS CHAR) FROM "
		"t_timeout_rule t WHERE t.id = ?",
		columns_sql));
	enum result result = db_query(question->db, sql, &param, 1, rows_out, error);

	if (db_rows_next(*rows_out)) {
		read_overlap(*rows_out, &question->subject);
		question->not_before = db_rows_text(*rows_out, COLUMN_BEGINS_MS, NULL);
		question->ends = text_or_null(*rows_out, COLUMN_ENDS_MS);
	}
	if (result == RESULT_NONE)
		return error_set(
			RESULT_NONE, error, "there is no rule %" PRIu64, question->subject.id);
	return result;
}

enum result rule_effect_of_ending(
	struct db *db, uint64_t id, const char *end, struct json **json_out, struct error *error)
{
	struct question question = { .db = db, .subject = { .id = id }, .begins = end };
	struct db_rows *rows = NULL;
	char set[RULE_SET_SIZE];
	enum result result = begin(&question, set, error);

	*json_out = NULL;
	if (result == RESULT_OK)
		result = read_subject(&question, &rows, error);
	if (result == RESULT_OK)
		result = ask(&question, error);
	if (result == RESULT_OK) {
		struct json *root = json_create_object();
		struct json *rule = describe(rows, question.tally);

		json_adopt(root, "rule", &rule);
		json_adopt(root, "taken_over_by", &question.worse);
		json_set_bool(root, "leaves_unmatched", !question.is_covered && !question.is_empty);
		add_rest(root, &question, set);
		*json_out = root;
	}
	db_rows_destroy(&rows);
	finish(&question);
	return result;
}
