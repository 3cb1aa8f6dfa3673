#include "common/order/act_parked.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/text.h"
#include "common/io/db.h"
#include "common/io/json.h"
#include "common/order/act_run.h"
#include "common/order/timeout_message.h"

struct parked_act {
	struct act_run run;
	const struct act_parked *request;
};

const char *act_parked_objection(
	const struct parked_queue *queue, const struct parked_message *message, struct error *error)
{
	bool is_timeout =
		text_equals(message->type, TIMEOUT_MESSAGE_TYPE) || message->type[0] == '\0';
	char order_no[TEXT_KEY_SIZE];

	if (message->body == NULL)
		return "it is longer than 64 KiB";
	if (parked_queue_target(queue, message) == NULL)
		return "it does not say which queue of ours it came from";
	if (is_timeout && timeout_message_parse((const uint8_t *)message->body, message->body_size,
				  message->type, order_no, error) != RESULT_OK)
		return error->text;
	return NULL;
}

static enum result record(const struct parked_act *act, const struct parked_message *message,
	const char *objection, struct error *error)
{
	struct json *before = json_create_object();

	json_set_text(before, "reason", message->reason);
	json_set_text(before, "origin", message->origin);
	json_set_text(before, "type", message->type);
	json_set_text(before, "text", message->text);
	char *before_json = json_write(before);
	const struct audit_act audit = {
		.action = act->run.action,
		.target_type = act->run.target_type,
		.target_id = act->run.target_id,
		.reason_text = act->request->reason,
		.before_json = before_json,
		.result = objection == NULL ? "ok" : "refused",
		.error = objection,
	};
	enum result result = audit_record(act->run.db, act->run.actor, &audit, error);
	json_destroy(&before);
	free(before_json);
	return result;
}

static enum result move(
	const struct parked_act *act, struct parked_message *message, struct error *error)
{
	struct db *db = act->run.db;
	enum result result = db_begin(db, error);

	if (result == RESULT_OK)
		result = record(act, message, NULL, error);
	if (result == RESULT_OK && act->request->is_replay)
		result = parked_queue_publish(act->request->queue, message, error);
	if (result == RESULT_OK)
		result = db_commit(db, error);
	db_rollback(db); /* does nothing after a commit */
	return result == RESULT_OK ? parked_queue_remove(act->request->queue, message, error)
				   : result;
}

static enum result carry_out(void *context, struct error *error)
{
	const struct parked_act *act = context;
	const struct act_parked *request = act->request;
	struct parked_message *message = parked_queue_find(request->queue, request->sha256);
	struct error why = { .text = "" };

	if (message == NULL)
		return RESULT_NONE;
	const char *objection =
		request->is_replay ? act_parked_objection(request->queue, message, &why) : NULL;
	if (objection == NULL)
		return move(act, message, error);
	enum result result = record(act, message, objection, error);
	return result == RESULT_OK ? error_set(RESULT_CONFLICT, error, "%s", objection) : result;
}

enum result act_on_parked(struct db *db, const struct act_parked *request,
	const struct audit_actor *actor, struct act_result *result_out, struct error *error)
{
	struct parked_act act = { .run = { .db = db,
					  .actor = actor,
					  .action = request->is_replay ? "replay" : "discard",
					  .target_type = "parked",
					  .target_id = request->sha256,
					  .carry_out = carry_out,
					  .context = &act },
		.request = request };

	if (!text_is_key(request->sha256, strlen(request->sha256), TEXT_KEY_MAX))
		return act_answer_invalid(result_out, "this can be no SHA-256");
	if (!request->is_replay && !act_is_reason(request->reason))
		return act_answer_reason(result_out);
	enum result result = act_run(&act.run, result_out, error);
	if (result == RESULT_OK && result_out->outcome == ACT_OUTCOME_NOT_FOUND)
		(void)text_copy(result_out->words, sizeof(result_out->words),
			"it is not among the first messages of the queue");
	return result;
}
