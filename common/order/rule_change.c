#include "common/order/rule_change.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/text.h"
#include "common/io/db.h"
#include "common/io/json.h"
#include "common/order/audit.h"

enum {
	ID_SIZE = 24,
	TIME_SIZE = 32
};

#define ISO(column) "CONCAT(REPLACE(CAST(" column " AS CHAR), ' ', 'T'), 'Z')"
#define VALID_FROM  ISO("valid_from")
#define VALID_TO    ISO("valid_to")

static size_t count_characters(const char *text)
{
	size_t count = 0;

	for (; *text != '\0'; text++)
		if (((unsigned char)*text & 0xC0) != 0x80)
			count++;
	return count;
}

/* The column takes any character, but control characters and broken ones are surely a mistake. */
static bool is_attribute(const char *text)
{
	char clean[RULE_ATTRIBUTE_SIZE];
	size_t size = strlen(text);

	return size > 0 && size < sizeof(clean) &&
	       count_characters(text) <= RULE_CHANGE_CHARACTERS_MAX &&
	       text_clip(clean, sizeof(clean), text, size) == size && text_equals(clean, text);
}

enum result rule_check(const struct rule_definition *definition, struct error *error)
{
	for (size_t i = 0; i < RULE_ATTRIBUTE_COUNT; i++)
		if (definition->values[i] != NULL && !is_attribute(definition->values[i]))
			return error_set(RESULT_PERMANENT, error,
				"%s must be a text of 1 to %d characters", rule_attribute_names[i],
				RULE_CHANGE_CHARACTERS_MAX);
	if (definition->timeout_s > UINT32_MAX)
		return error_set(RESULT_PERMANENT, error, "the timeout is too long");
	if (definition->priority > RULE_CHANGE_PRIORITY_MAX ||
		definition->priority < -RULE_CHANGE_PRIORITY_MAX)
		return error_set(RESULT_PERMANENT, error, "the priority must be at most a million");
	return RESULT_OK;
}

static enum result insert(
	struct db *db, const struct rule_definition *definition, struct error *error)
{
	static const char sql[] =
		"INSERT INTO t_timeout_rule (tenant, channel, activity, category, priority, "
		"timeout_seconds, valid_from, valid_to) SELECT ?, ?, ?, ?, ?, ?, "
		"COALESCE(CAST(? AS DATETIME(3)), UTC_TIMESTAMP(3)), CAST(? AS DATETIME(3))";
	const struct db_param params[] = { db_text(definition->values[0]),
		db_text(definition->values[1]), db_text(definition->values[2]),
		db_text(definition->values[3]), db_int(definition->priority),
		db_uint(definition->timeout_s), db_text(definition->valid_from),
		db_text(definition->valid_to) };

	return db_execute(db, sql, params, ARRAY_LENGTH(params), NULL, error);
}

/* One row of a rule, as the audit keeps it. */
static struct json *describe(const struct db_rows *rows)
{
	struct json *root = json_create_object();

	for (size_t i = 0; i < RULE_ATTRIBUTE_COUNT; i++)
		json_set_text(root, rule_attribute_names[i],
			db_rows_is_null(rows, i) ? NULL : db_rows_text(rows, i, NULL));
	json_set_int(root, "priority", db_rows_int(rows, 4));
	json_set_int(root, "timeout_seconds", db_rows_int(rows, 5));
	json_set_text(root, "valid_from", db_rows_text(rows, 6, NULL));
	json_set_text(
		root, "valid_to", db_rows_is_null(rows, 7) ? NULL : db_rows_text(rows, 7, NULL));
	return root;
}

/* json_out is the caller's. */
static enum result read_rule(struct db *db, uint64_t id, char **json_out, struct error *error)
{
	static const char sql[] =
		"SELECT tenant, channel, activity, category, priority, timeout_seconds, " VALID_FROM
		", " VALID_TO " FROM t_timeout_rule WHERE id = ? FOR UPDATE";
	const struct db_param param = db_uint(id);
	struct db_rows *rows = NULL;
	enum result result = db_query(db, sql, &param, 1, &rows, error);

	*json_out = NULL;
	if (db_rows_next(rows)) {
		struct json *root = describe(rows);

		*json_out = json_write(root);
		json_destroy(&root);
	}
	db_rows_destroy(&rows);
	if (result == RESULT_NONE)
		return error_set(RESULT_NONE, error, "there is no rule %" PRIu64, id);
	return result;
}

/* What happened to a rule, for its audit row. */
struct story {
	const char *action;
	uint64_t id;
	const char *reason;
	char *before;
	char *after;
	const char *objection; /* NULL: done */
};

static enum result record(struct db *db, const struct story *story, const struct audit_actor *actor,
	struct error *error)
{
	char id[ID_SIZE];
	const struct audit_act act = { .action = story->action,
		.target_type = "rule",
		.target_id = id,
		.reason_text = story->reason,
		.before_json = story->before,
		.after_json = story->after,
		.result = story->objection == NULL ? "ok" : "refused",
		.error = story->objection };

	(void)text_format(id, sizeof(id), "%" PRIu64, story->id);
	return audit_record(db, actor, &act, error);
}

static enum result check_times(struct db *db, uint64_t id, struct error *error)
{
	static const char sql[] = "SELECT 1 FROM t_timeout_rule WHERE id = ? AND "
				  "(valid_to IS NULL OR valid_to > GREATEST(valid_from, "
				  "UTC_TIMESTAMP(3)))";
	const struct db_param param = db_uint(id);
	struct db_rows *rows = NULL;
	enum result result = db_query(db, sql, &param, 1, &rows, error);

	db_rows_destroy(&rows);
	if (result == RESULT_NONE)
		return error_set(
			RESULT_PERMANENT, error, "it would end before it begins, or in the past");
	return result;
}

enum result rule_add(struct db *db, const struct rule_definition *definition, const char *reason,
	const struct audit_actor *actor, uint64_t *id_out, struct error *error)
{
	struct story story = { .action = "rule_add", .reason = reason };
	enum result result = rule_check(definition, error);

	if (result != RESULT_OK)
		return error_context(result, error, "add rule");
	result = db_begin(db, error);
	if (result == RESULT_OK)
		result = insert(db, definition, error);
	story.id = db_last_insert_id(db);
	if (result == RESULT_OK)
		result = check_times(db, story.id, error);
	if (result == RESULT_OK)
		result = read_rule(db, story.id, &story.after, error);
	if (result == RESULT_OK)
		result = record(db, &story, actor, error);
	if (result == RESULT_OK)
		result = db_commit(db, error);
	db_rollback(db); /* does nothing after a commit */
	free(story.after);
	*id_out = story.id;
	return error_context(result, error, "add rule");
}

/* changed_out: it is valid until then now. */
static enum result shorten(
	struct db *db, uint64_t id, const char *end, bool *is_changed_out, struct error *error)
{
	static const char sql[] =
		"UPDATE t_timeout_rule SET valid_to = COALESCE(CAST(? AS DATETIME(3)), "
		"UTC_TIMESTAMP(3)) WHERE id = ? AND (CAST(? AS DATETIME(3)) IS NULL OR "
		"CAST(? AS DATETIME(3)) >= UTC_TIMESTAMP(3)) AND (valid_to IS NULL OR "
		"valid_to > COALESCE(CAST(? AS DATETIME(3)), UTC_TIMESTAMP(3)))";
	const struct db_param at = db_text(end);
	const struct db_param params[] = { at, db_uint(id), at, at, at };
	uint64_t changed = 0;
	enum result result = db_execute(db, sql, params, ARRAY_LENGTH(params), &changed, error);

	*is_changed_out = changed == 1;
	return result;
}

static enum result end_locked(struct db *db, struct story *story, const char *end,
	const struct audit_actor *actor, struct error *error)
{
	bool is_changed = false;
	enum result result = shorten(db, story->id, end, &is_changed, error);

	if (result == RESULT_OK && is_changed)
		result = read_rule(db, story->id, &story->after, error);
	if (result == RESULT_OK && !is_changed)
		story->objection = "it has ended by then, or that time has passed";
	if (result == RESULT_OK)
		result = record(db, story, actor, error);
	if (result == RESULT_OK)
		result = db_commit(db, error);
	if (result == RESULT_OK && story->objection != NULL)
		result = error_set(RESULT_CONFLICT, error, "%s", story->objection);
	return result;
}

enum result rule_end(struct db *db, uint64_t id, const char *end, const char *reason,
	const struct audit_actor *actor, struct error *error)
{
	struct story story = { .action = "rule_end", .id = id, .reason = reason };
	enum result result = db_begin(db, error);

	if (result == RESULT_OK)
		result = read_rule(db, id, &story.before, error);
	if (result == RESULT_OK)
		result = end_locked(db, &story, end, actor, error);
	db_rollback(db); /* does nothing after a commit */
	free(story.before);
	free(story.after);
	return error_context(result, error, "end rule %" PRIu64, id);
}
