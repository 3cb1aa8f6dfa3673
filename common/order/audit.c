#include "common/order/audit.h"

#include <stddef.h>
#include <string.h>

#include "common/base/text.h"
#include "common/io/db.h"

enum {
	DUPLICATE_KEY = 1062,
	ACTOR_SIZE = 128 + 1,
	ERROR_SIZE = 512 + 1,
	REASON_SIZE = 500 * 4 + 1, /* 500 characters of UTF-8 */
};

/* The user of the console may only insert here, so a duplicate is told by its error number. */
enum result audit_record(struct db *db, const struct audit_actor *actor,
	const struct audit_act *act, struct error *error)
{
	static const char sql[] =
		"INSERT INTO t_operator_audit (actor, role, auth, ip, request_id, bulk_id, action, "
		"target_type, target_id, reason_code, reason_text, before_json, after_json, "
		"result, error) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
	char person[ACTOR_SIZE];
	char reason[REASON_SIZE];
	char problem[ERROR_SIZE];
	const char *reason_text = act->reason_text == NULL ? "" : act->reason_text;
	const char *problem_text = act->error == NULL ? "" : act->error;

	(void)text_clip(person, sizeof(person), actor->actor, strlen(actor->actor));
	(void)text_clip(reason, sizeof(reason), reason_text, strlen(reason_text));
	(void)text_clip(problem, sizeof(problem), problem_text, strlen(problem_text));
	const struct db_param params[] = { db_text(person), db_text(actor->role),
		db_text(actor->auth), db_text(actor->ip), db_text(actor->request_id),
		db_text(actor->bulk_id), db_text(act->action), db_text(act->target_type),
		db_text(act->target_id), db_text(act->reason_code),
		db_text(act->reason_text == NULL ? NULL : reason), db_text(act->before_json),
		db_text(act->after_json), db_text(act->result),
		db_text(act->error == NULL ? NULL : problem) };
	enum result result = db_execute(db, sql, params, ARRAY_LENGTH(params), NULL, error);

	if (result == RESULT_PERMANENT && db_last_errno(db) == DUPLICATE_KEY)
		result = error_set(RESULT_CONFLICT, error, "request %s was carried out before",
			actor->request_id);
	return error_context(result, error, "audit");
}
