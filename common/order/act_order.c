#include "common/order/act_order.h"

#include <string.h>

#include "common/base/text.h"
#include "common/io/db.h"
#include "common/order/act_run.h"
#include "common/order/extension.h"
#include "common/order/order.h"

enum {
	STATE_SIZE = 128
};

/* ---- close */

struct close_act {
	struct act_run run;
	const struct act_close *request;
	struct act_close_effect *effect;
	struct order_detail detail; /* as it was before */
};

static void describe(const struct order_detail *detail, const char *status, char json[STATE_SIZE])
{
	bool has_deadline = detail->expire_time[0] != '\0';

	(void)text_format(json, STATE_SIZE, "{\"status\":\"%s\",\"expire_time\":%s%s%s}", status,
		has_deadline ? "\"" : "", has_deadline ? detail->expire_time : "null",
		has_deadline ? "\"" : "");
}

/* result_word "ok": it is closed; else words say why not. */
static enum result record(const struct close_act *act, const char *status, const char *result_word,
	const char *words, struct error *error)
{
	bool is_done = words == NULL;
	char before[STATE_SIZE];
	char after[STATE_SIZE];
	const struct audit_act audit = { .action = act->run.action,
		.target_type = act->run.target_type,
		.target_id = act->run.target_id,
		.reason_text = act->request->reason,
		.before_json = before,
		.after_json = is_done ? after : NULL,
		.result = result_word,
		.error = words };

	describe(&act->detail, status, before);
	describe(&act->detail, "CLOSED", after);
	return audit_record(act->run.db, act->run.actor, &audit, error);
}

/* In the transaction of the close. */
static enum result record_close(void *context, struct db *db, struct close_order *const *orders,
	size_t count, struct error *error)
{
	(void)orders;
	(void)db;
	REQUIRE(count == 1);
	return record(context, "UNPAID", "ok", NULL, error);
}

static enum result keep_refusal(const struct close_act *act, const char *status,
	const char *result_word, const char *words, struct error *error)
{
	enum result result = record(act, status, result_word, words, error);

	return result == RESULT_OK ? error_set(RESULT_CONFLICT, error, "%s", words) : result;
}

static enum result judge(const struct close_act *act, struct error *error)
{
	const struct close_order *order = &act->effect->order;

	switch (order->outcome) {
	case CLOSE_OUTCOME_CLOSED:
		return RESULT_OK;
	case CLOSE_OUTCOME_ALREADY_PAID:
		return keep_refusal(act, "PAID", "refused", "it is PAID", error);
	case CLOSE_OUTCOME_ALREADY_CLOSED:
		return keep_refusal(act, "CLOSED", "refused", "it is CLOSED already", error);
	case CLOSE_OUTCOME_NOT_FOUND:
		return error_set(
			RESULT_NONE, error, "there is no order %s", act->request->order_no);
	case CLOSE_OUTCOME_LOCKED:
	case CLOSE_OUTCOME_NOT_DUE:
		return error_set(RESULT_TEMPORARY, error, "order %s: somebody holds it, try again",
			act->request->order_no);
	case CLOSE_OUTCOME_FAILED:
		return keep_refusal(act, act->detail.status, "error", order->error, error);
	}
	return RESULT_PERMANENT;
}

static enum result carry_out_close(void *context, struct error *error)
{
	struct close_act *act = context;
	struct act_close_effect *effect = act->effect;
	enum result result = order_read_details(act->run.db, &act->detail, 1, error);

	if (result != RESULT_OK)
		return result;
	if (!act->detail.is_present)
		return error_set(
			RESULT_NONE, error, "there is no order %s", act->request->order_no);
	effect->was_tried = true;
	effect->request = (struct close_request){ .reason = CLOSE_REASON_OPERATOR,
		.source = CLOSE_SOURCE_CONSOLE,
		.report = &effect->report,
		.record = record_close,
		.record_context = act };
	(void)text_copy(
		effect->order.order_no, sizeof(effect->order.order_no), act->request->order_no);
	result = close_orders(act->run.db, &effect->request, &effect->order, 1, error);
	return result == RESULT_OK ? judge(act, error) : result;
}

/* The whole number, or its last characters: nobody types them by habit. */
static bool is_confirmed(const struct act_close *request)
{
	size_t length = strlen(request->order_no);
	size_t kept = length > ACT_CONFIRM_CHARACTERS ? length - ACT_CONFIRM_CHARACTERS : 0;

	return request->typed != NULL &&
	       (text_equals(request->typed, request->order_no) ||
		       text_equals(request->typed, request->order_no + kept));
}

enum result act_close_order(struct db *db, const struct act_close *request,
	const struct audit_actor *actor, struct act_close_effect *effect_out,
	struct act_result *result_out, struct error *error)
{
	struct close_act act = { .run = { .db = db,
					 .actor = actor,
					 .action = "cancel",
					 .target_type = "order",
					 .target_id = request->order_no,
					 .carry_out = carry_out_close,
					 .context = &act },
		.request = request,
		.effect = effect_out };

	memset(effect_out, 0, sizeof(*effect_out));
	if (!text_is_key(request->order_no, strlen(request->order_no), TEXT_KEY_MAX))
		return act_answer_invalid(result_out, "this can be no order number");
	if (!is_confirmed(request))
		return act_answer_invalid(result_out,
			"the last %d characters of the order number have to be typed",
			ACT_CONFIRM_CHARACTERS);
	if (!act_is_reason(request->reason))
		return act_answer_reason(result_out);
	(void)text_copy(act.detail.order_no, sizeof(act.detail.order_no), request->order_no);
	enum result result = act_run(&act.run, result_out, error);
	effect_out->request.record = NULL; /* what it points to ends here */
	effect_out->request.record_context = NULL;
	return result;
}

/* ---- extend */

struct extend_act {
	struct act_run run;
	const struct extension *extension;
	struct extension_result *extended;
};

static enum result carry_out_extend(void *context, struct error *error)
{
	struct extend_act *act = context;

	return extension_run(act->run.db, act->extension, act->run.actor, act->extended, error);
}

enum result act_extend(struct db *db, const struct extension *extension,
	const struct audit_actor *actor, struct extension_result *extended_out,
	struct act_result *result_out, struct error *error)
{
	struct extend_act act = { .run = { .db = db,
					  .actor = actor,
					  .action = "extend",
					  .target_type = "order",
					  .target_id = extension->order_no,
					  .carry_out = carry_out_extend,
					  .context = &act },
		.extension = extension,
		.extended = extended_out };

	memset(extended_out, 0, sizeof(*extended_out));
	if (!text_is_key(extension->order_no, strlen(extension->order_no), TEXT_KEY_MAX))
		return act_answer_invalid(result_out, "this can be no order number");
	if (extension->reason != NULL && !act_is_reason(extension->reason))
		return act_answer_reason(result_out);
	return act_run(&act.run, result_out, error);
}
