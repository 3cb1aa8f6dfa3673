#include "common/order/act_run.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/base/text.h"
#include "common/io/db.h"

enum {
	TRY_MAX = 4 /* when a lock is lost */
};

/* How the words of a refusal begin that is about the role; the column knows only "refused". */
static const char forbidden[] = "forbidden: ";

static enum act_outcome find_outcome(const char *word, const char *words)
{
	if (text_equals(word, "ok"))
		return ACT_OUTCOME_DONE;
	if (text_equals(word, "conflict"))
		return ACT_OUTCOME_CONFLICT;
	if (text_equals(word, "error"))
		return ACT_OUTCOME_FAILED;
	return text_starts_with(words, forbidden) ? ACT_OUTCOME_FORBIDDEN : ACT_OUTCOME_REFUSED;
}

/* NONE: this request has no answer yet. */
static enum result find_answer(
	const struct act_run *run, struct act_result *result_out, struct error *error)
{
	static const char sql[] =
		"SELECT id, CAST(result AS CHAR), error, target_id FROM t_operator_audit "
		"WHERE request_id = ? AND action = ? AND target_type = ? AND "
		"(? IS NULL OR target_id = ?) ORDER BY id LIMIT 1";
	const struct db_param target = db_text(run->target_id);
	const struct db_param params[] = { db_text(run->actor->request_id), db_text(run->action),
		db_text(run->target_type), target, target };
	struct db_rows *rows = NULL;
	enum result result = db_query(run->db, sql, params, ARRAY_LENGTH(params), &rows, error);

	if (db_rows_next(rows)) {
		const char *words = db_rows_text(rows, 2, NULL);

		result_out->outcome = find_outcome(db_rows_text(rows, 1, NULL), words);
		result_out->audit_id = db_rows_uint(rows, 0);
		(void)text_copy(result_out->words, sizeof(result_out->words), words);
		if (run->target_id == NULL)
			(void)!text_parse_uint(
				db_rows_text(rows, 3, NULL), 1, UINT64_MAX, &result_out->made_id);
	}
	db_rows_destroy(&rows);
	return error_context(result, error, "look for request %s", run->actor->request_id);
}

enum result act_refuse(
	const struct act_run *run, enum act_outcome outcome, const char *words, struct error *error)
{
	char text[ACT_WORDS_SIZE];
	const struct act_note note = { .action = run->action,
		.target_type = run->target_type,
		.target_id = run->target_id == NULL ? "-" : run->target_id,
		.outcome = outcome,
		.words = text };

	(void)text_format(text, sizeof(text), "%s%s",
		outcome == ACT_OUTCOME_FORBIDDEN ? forbidden : "", words);
	enum result result = act_write_note(run->db, &note, run->actor, error);
	return result == RESULT_OK ? error_set(RESULT_CONFLICT, error, "%s", text) : result;
}

static enum result refuse_role(const struct act_run *run, struct error *error)
{
	char words[ACT_WORDS_SIZE];

	(void)text_format(words, sizeof(words), "%s needs the role %s, not %s", run->action,
		act_role_names[act_role_needed(run->action)], run->actor->role);
	return act_refuse(run, ACT_OUTCOME_FORBIDDEN, words, error);
}

static enum result try_once(const struct act_run *run, struct error *error)
{
	if (!act_has_role(run->actor, act_role_needed(run->action)))
		return refuse_role(run, error);
	return run->carry_out(run->context, error);
}

/* OK: answered.  CONFLICT: a lock was lost, and nothing is written. */
static enum result answer(
	const struct act_run *run, struct act_result *result_out, struct error *error)
{
	struct error ignored = { .text = "" };
	enum result result = try_once(run, error);

	if (result == RESULT_NONE) {
		result_out->outcome = ACT_OUTCOME_NOT_FOUND;
		(void)text_format(result_out->words, sizeof(result_out->words), "there is no %s %s",
			run->target_type, run->target_id == NULL ? "" : run->target_id);
		return RESULT_OK;
	}
	if (result != RESULT_OK && result != RESULT_CONFLICT)
		return result;
	enum result found = find_answer(run, result_out, &ignored);
	if (found == RESULT_NONE && result == RESULT_OK)
		return error_set(RESULT_PERMANENT, error, "bug: %s left no audit row", run->action);
	if (found != RESULT_OK && found != RESULT_NONE)
		return error_set(found, error, "%s", ignored.text);
	return found == RESULT_OK ? RESULT_OK : RESULT_CONFLICT;
}

/* Who was faster, when it was a person: what stands there now is known already. */
static void add_who(const struct act_run *run, struct act_result *result_out)
{
	static const char sql[] =
		"SELECT action, actor, DATE_FORMAT(at, '%Y-%m-%dT%H:%i:%sZ') FROM t_operator_audit "
		"WHERE target_type = ? AND target_id = ? AND result = 'ok' "
		"ORDER BY id DESC LIMIT 1";
	const struct db_param params[] = { db_text(run->target_type), db_text(run->target_id) };
	struct db_rows *rows = NULL;
	size_t used = strlen(result_out->words);

	if (db_query(run->db, sql, params, ARRAY_LENGTH(params), &rows, NULL) == RESULT_OK &&
		db_rows_next(rows))
		(void)text_format(result_out->words + used, sizeof(result_out->words) - used,
			"; the last to act on it was %.100s (%s, %s)", db_rows_text(rows, 1, NULL),
			db_rows_text(rows, 0, NULL), db_rows_text(rows, 2, NULL));
	db_rows_destroy(&rows);
}

enum result act_run(const struct act_run *run, struct act_result *result_out, struct error *error)
{
	const char *request_id = run->actor->request_id;

	memset(result_out, 0, sizeof(*result_out));
	if (request_id == NULL || !text_is_key(request_id, strlen(request_id), TEXT_KEY_MAX))
		return act_answer_invalid(result_out, "the request id can be no key");
	enum result result = find_answer(run, result_out, error);
	if (result == RESULT_OK)
		result_out->is_repeat = true;
	if (result == RESULT_OK && result_out->outcome == ACT_OUTCOME_CONFLICT)
		add_who(run, result_out);
	if (result != RESULT_NONE)
		return result;
	for (int i = 0; i < TRY_MAX; i++) {
		result = answer(run, result_out, error);
		if (result == RESULT_OK && result_out->outcome == ACT_OUTCOME_CONFLICT)
			add_who(run, result_out);
		if (result != RESULT_CONFLICT)
			return result;
	}
	return error_set(RESULT_TEMPORARY, error, "%s: somebody holds it, try again", run->action);
}

enum result act_answer_invalid(struct act_result *result_out, const char *format, ...)
{
	va_list arguments;

	memset(result_out, 0, sizeof(*result_out));
	result_out->outcome = ACT_OUTCOME_INVALID;
	va_start(arguments, format);
	/* The list is started one line above; the analyzer loses sight of that. */
	/* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized) */
	(void)vsnprintf(result_out->words, sizeof(result_out->words), format, arguments);
	va_end(arguments);
	return RESULT_OK;
}

enum result act_answer_reason(struct act_result *result_out)
{
	return act_answer_invalid(
		result_out, "the reason needs %d to %d characters", ACT_REASON_MIN, ACT_REASON_MAX);
}

static enum result record(const struct act_run *run, const struct act_trace *trace,
	const char *conflict, struct error *error)
{
	const struct audit_act audit = { .action = run->action,
		.target_type = run->target_type,
		.target_id = run->target_id,
		.reason_text = trace->reason,
		.before_json = trace->before_json,
		.after_json = conflict == NULL ? trace->after_json : NULL,
		.result = conflict == NULL ? "ok" : "conflict",
		.error = conflict };

	return audit_record(run->db, run->actor, &audit, error);
}

enum result act_record(
	const struct act_run *run, const struct act_trace *trace, struct error *error)
{
	return record(run, trace, NULL, error);
}

enum result act_record_conflict(const struct act_run *run, const struct act_trace *trace,
	const char *words, struct error *error)
{
	enum result result = record(run, trace, words, error);

	if (result == RESULT_OK)
		result = db_commit(run->db, error);
	return result == RESULT_OK ? error_set(RESULT_CONFLICT, error, "%s", words) : result;
}
