#include "common/order/act_rule.h"

#include <inttypes.h>

#include "common/base/text.h"
#include "common/order/act_run.h"
#include "common/order/rule_change.h"
#include "common/order/rule_set.h"

struct rule_act {
	struct act_run run;
	char target_id[ACT_ID_SIZE];
	const struct act_rule_add *add;
	const struct act_rule_end *end;
};

static const char changed[] =
	"the timeout rules have changed since they were shown: look at them again";

/* A reason may be left out here; one that is given has the right length. */
static bool is_reason(const char *reason)
{
	return reason == NULL || act_is_reason(reason);
}

static enum result carry_out_add(void *context, struct error *error)
{
	const struct rule_act *act = context;
	bool is_same = false;
	uint64_t id = 0;
	enum result result = rule_set_hold(act->run.db, act->add->shown, &is_same, error);

	if (result != RESULT_OK)
		return result;
	if (is_same)
		result = rule_add(act->run.db, act->add->definition, act->add->reason,
			act->run.actor, &id, error);
	else
		result = act_refuse(&act->run, ACT_OUTCOME_CONFLICT, changed, error);
	rule_set_release(act->run.db);
	return result;
}

enum result act_add_rule(struct db *db, const struct act_rule_add *request,
	const struct audit_actor *actor, struct act_result *result_out, struct error *error)
{
	struct rule_act act = { .run = { .db = db,
					.actor = actor,
					.action = "rule_add",
					.target_type = "rule",
					.carry_out = carry_out_add,
					.context = &act },
		.add = request };

	if (!is_reason(request->reason))
		return act_answer_invalid(result_out, "the reason needs %d to %d characters",
			ACT_REASON_MIN, ACT_REASON_MAX);
	enum result result = act_run(&act.run, result_out, error);
	/* What rule_add does not take is said before it is written. */
	if (result == RESULT_PERMANENT)
		return act_answer_invalid(result_out, "%s", error->text);
	return result;
}

static enum result carry_out_end(void *context, struct error *error)
{
	const struct rule_act *act = context;
	bool is_same = false;
	enum result result = rule_set_hold(act->run.db, act->end->shown, &is_same, error);

	if (result != RESULT_OK)
		return result;
	if (is_same)
		result = rule_end(act->run.db, act->end->rule_id, act->end->end, act->end->reason,
			act->run.actor, error);
	else
		result = act_refuse(&act->run, ACT_OUTCOME_CONFLICT, changed, error);
	rule_set_release(act->run.db);
	return result;
}

enum result act_end_rule(struct db *db, const struct act_rule_end *request,
	const struct audit_actor *actor, struct act_result *result_out, struct error *error)
{
	struct rule_act act = { .run = { .db = db,
					.actor = actor,
					.action = "rule_end",
					.target_type = "rule",
					.target_id = act.target_id,
					.carry_out = carry_out_end,
					.context = &act },
		.end = request };

	(void)text_format(act.target_id, sizeof(act.target_id), "%" PRIu64, request->rule_id);
	if (!is_reason(request->reason))
		return act_answer_invalid(result_out, "the reason needs %d to %d characters",
			ACT_REASON_MIN, ACT_REASON_MAX);
	return act_run(&act.run, result_out, error);
}
