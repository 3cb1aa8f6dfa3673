#include "common/order/act_outbox.h"

#include <inttypes.h>

#include "common/base/text.h"
#include "common/io/db.h"
#include "common/order/act_run.h"
#include "common/order/alert.h"
#include "common/order/outbox.h"

enum {
	STATE_SIZE = 128,
	WORD_SIZE = 16
};

struct outbox_act {
	struct act_run run;
	uint64_t id;
	char target_id[ACT_ID_SIZE];
	const char *reason;
	char status[WORD_SIZE]; /* as it is locked */
	char before[STATE_SIZE];
};

static enum result lock_row(struct outbox_act *act, struct error *error)
{
	static const char sql[] = "SELECT CAST(status AS CHAR), attempts FROM t_outbox_event "
				  "WHERE id = ? FOR UPDATE";
	const struct db_param id = db_uint(act->id);
	struct db_rows *rows = NULL;
	enum result result = db_query(act->run.db, sql, &id, 1, &rows, error);

	if (db_rows_next(rows)) {
		(void)text_copy(act->status, sizeof(act->status), db_rows_text(rows, 0, NULL));
		(void)text_format(act->before, sizeof(act->before),
			"{\"status\":\"%s\",\"attempts\":%" PRIu64 "}", act->status,
			db_rows_uint(rows, 1));
	}
	db_rows_destroy(&rows);
	if (result == RESULT_NONE)
		return error_set(RESULT_NONE, error, "there is no outbox row %" PRIu64, act->id);
	return result;
}

static struct act_trace make_trace(const struct outbox_act *act)
{
	return (struct act_trace){ act->reason, act->before, "{\"status\":\"NEW\"}" };
}

static enum result refuse(const struct outbox_act *act, struct error *error)
{
	const struct act_trace trace = make_trace(act);
	char words[STATE_SIZE];

	(void)text_format(words, sizeof(words),
		"outbox row %" PRIu64 " is %s: it will be published anyway", act->id, act->status);
	return act_record_conflict(&act->run, &trace, words, error);
}

static enum result make_new(const struct outbox_act *act, struct error *error)
{
	enum result result = outbox_make_new(act->run.db, act->id, error);

	if (result == RESULT_OK)
		result =
			alert_resolve(act->run.db, ALERT_KIND_OUTBOX_FAILED, act->target_id, error);
	const struct act_trace trace = make_trace(act);
	if (result == RESULT_OK)
		result = act_record(&act->run, &trace, error);
	return result == RESULT_OK ? db_commit(act->run.db, error) : result;
}

static enum result carry_out(void *context, struct error *error)
{
	struct outbox_act *act = context;
	enum result result = db_begin(act->run.db, error);

	if (result == RESULT_OK)
		result = lock_row(act, error);
	if (result == RESULT_OK)
		result =
			text_equals(act->status, "NEW") ? refuse(act, error) : make_new(act, error);
	db_rollback(act->run.db); /* does nothing after a commit */
	return result;
}

enum result act_replay_outbox(struct db *db, uint64_t outbox_id, const char *reason,
	const struct audit_actor *actor, struct act_result *result_out, struct error *error)
{
	struct outbox_act act = { .run = { .db = db,
					  .actor = actor,
					  .action = "replay",
					  .target_type = "outbox",
					  .target_id = act.target_id,
					  .carry_out = carry_out,
					  .context = &act },
		.id = outbox_id,
		.reason = reason };

	(void)text_format(act.target_id, sizeof(act.target_id), "%" PRIu64, outbox_id);
	if (reason != NULL && !act_is_reason(reason))
		return act_answer_reason(result_out);
	return act_run(&act.run, result_out, error);
}
