#include "common/order/act_alert.h"

#include <inttypes.h>

#include "common/base/text.h"
#include "common/io/db.h"
#include "common/order/act_run.h"
#include "common/order/alert.h"

enum {
	STATE_SIZE = 160,
	WORD_SIZE = 16,
	MS_PER_S = 1000
};

struct alert_act {
	struct act_run run;
	uint64_t id;
	uint64_t duration_s;
	bool is_for_firing; /* else for any state */
	char target_id[ACT_ID_SIZE];
	const char *reason;
	enum result (*change)(const struct alert_act *act, struct error *error);
	char state[WORD_SIZE]; /* as it is locked */
	char before[STATE_SIZE];
	char after[STATE_SIZE];
};

/* before or after, as it stands now. */
static enum result read_row(
	struct alert_act *act, bool is_locked, char json[STATE_SIZE], struct error *error)
{
#define STATE_SQL                                                                       \
	"SELECT CAST(state AS CHAR), CAST(delivery_state AS CHAR), "                    \
	"COALESCE(DATE_FORMAT(silenced_until, '%Y-%m-%dT%H:%i:%sZ'), '') FROM t_alert " \
	"WHERE id = ?"
	static const char lock_sql[] = STATE_SQL " FOR UPDATE";
	static const char read_sql[] = STATE_SQL;
	const struct db_param id = db_uint(act->id);
	struct db_rows *rows = NULL;
	enum result result =
		db_query(act->run.db, is_locked ? lock_sql : read_sql, &id, 1, &rows, error);

	if (db_rows_next(rows)) {
		(void)text_copy(act->state, sizeof(act->state), db_rows_text(rows, 0, NULL));
		(void)text_format(json, STATE_SIZE,
			"{\"state\":\"%s\",\"delivery_state\":\"%s\",\"silenced_until\":\"%s\"}",
			db_rows_text(rows, 0, NULL), db_rows_text(rows, 1, NULL),
			db_rows_text(rows, 2, NULL));
	}
	db_rows_destroy(&rows);
	return result;
}

static struct act_trace make_trace(const struct alert_act *act)
{
	return (struct act_trace){ act->reason, act->before, act->after };
}

static enum result refuse(const struct alert_act *act, struct error *error)
{
	const struct act_trace trace = make_trace(act);
	char words[STATE_SIZE];

	(void)text_format(
		words, sizeof(words), "alert %" PRIu64 " is %s, not FIRING", act->id, act->state);
	return act_record_conflict(&act->run, &trace, words, error);
}

static enum result carry_out(void *context, struct error *error)
{
	struct alert_act *act = context;
	enum result result = db_begin(act->run.db, error);

	if (result == RESULT_OK)
		result = read_row(act, true, act->before, error);
	if (result == RESULT_OK && act->is_for_firing && !text_equals(act->state, "FIRING")) {
		result = refuse(act, error);
	} else if (result == RESULT_OK) {
		result = act->change(act, error);
		if (result == RESULT_OK)
			result = read_row(act, false, act->after, error);
		const struct act_trace trace = make_trace(act);
		if (result == RESULT_OK)
			result = act_record(&act->run, &trace, error);
		if (result == RESULT_OK)
			result = db_commit(act->run.db, error);
	}
	db_rollback(act->run.db); /* does nothing after a commit */
	return result;
}

static enum result run(struct alert_act *act, const char *action, struct db *db,
	const struct audit_actor *actor, struct act_result *result_out, struct error *error)
{
	(void)text_format(act->target_id, sizeof(act->target_id), "%" PRIu64, act->id);
	act->run = (struct act_run){ .db = db,
		.actor = actor,
		.action = action,
		.target_type = "alert",
		.target_id = act->target_id,
		.carry_out = carry_out,
		.context = act };
	return act_run(&act->run, result_out, error);
}

static enum result silence(const struct alert_act *act, struct error *error)
{
	return alert_silence(act->run.db, act->id, act->duration_s * MS_PER_S, error);
}

enum result act_silence_alert(struct db *db, const struct act_silence *request,
	const struct audit_actor *actor, struct act_result *result_out, struct error *error)
{
	struct alert_act act = { .id = request->alert_id,
		.duration_s = request->duration_s,
		.is_for_firing = true,
		.reason = request->reason,
		.change = silence };

	if (request->duration_s > ACT_SILENCE_MAX_S)
		return act_answer_invalid(result_out, "an alert is silenced for at most %d h",
			ACT_SILENCE_MAX_S / 3600);
	if (!act_is_reason(request->reason))
		return act_answer_reason(result_out);
	return run(&act, "silence", db, actor, result_out, error);
}

static enum result resend(const struct alert_act *act, struct error *error)
{
	return alert_send_again(act->run.db, act->id, error);
}

enum result act_resend_alert(struct db *db, uint64_t alert_id, const struct audit_actor *actor,
	struct act_result *result_out, struct error *error)
{
	struct alert_act act = { .id = alert_id, .change = resend };

	return run(&act, "resend", db, actor, result_out, error);
}

static enum result find_test(struct db *db, bool *is_firing_out, struct error *error)
{
	static const char sql[] = "SELECT state = 'FIRING' FROM t_alert WHERE kind = 'THRESHOLD' "
				  "AND ref = '" ALERT_TEST_REF "' FOR UPDATE";
	struct db_rows *rows = NULL;
	enum result result = db_query(db, sql, NULL, 0, &rows, error);

	*is_firing_out = db_rows_next(rows) && db_rows_uint(rows, 0) != 0;
	db_rows_destroy(&rows);
	return result == RESULT_NONE ? RESULT_OK : result;
}

static enum result raise_test(const struct act_run *run, struct error *error)
{
	char description[ALERT_TEXT_SIZE];
	const struct alert_notice notice = {
		.kind = ALERT_KIND_THRESHOLD,
		.severity = ALERT_SEVERITY_INFO,
		.ref = ALERT_TEST_REF,
		.summary = "a test of the alert targets, nothing is wrong",
		.description = description,
	};
	const struct act_trace trace = { .after_json = "{\"state\":\"FIRING\"}" };

	(void)text_format(description, sizeof(description),
		"asked for by %s, over by itself in a minute", run->actor->actor);
	enum result result = alert_raise(run->db, &notice, error);
	return result == RESULT_OK ? act_record(run, &trace, error) : result;
}

static enum result carry_out_test(void *context, struct error *error)
{
	static const struct act_trace trace = { .before_json = "{\"state\":\"FIRING\"}" };
	const struct act_run *run = context;
	bool is_firing = false;
	enum result result = db_begin(run->db, error);

	if (result == RESULT_OK)
		result = find_test(run->db, &is_firing, error);
	if (result == RESULT_OK && is_firing) {
		result = act_record_conflict(run, &trace,
			"the last test is firing still; it is over a minute after it began", error);
	} else if (result == RESULT_OK) {
		result = raise_test(run, error);
		if (result == RESULT_OK)
			result = db_commit(run->db, error);
	}
	db_rollback(run->db); /* does nothing after a commit */
	return result;
}

enum result act_test_alerts(struct db *db, const struct audit_actor *actor,
	struct act_result *result_out, struct error *error)
{
	struct act_run run = { .db = db,
		.actor = actor,
		.action = "test",
		.target_type = "alert",
		.target_id = ALERT_TEST_REF,
		.carry_out = carry_out_test };

	run.context = &run;
	return act_run(&run, result_out, error);
}
