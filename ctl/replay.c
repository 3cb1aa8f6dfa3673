#include "ctl/replay.h"

#include "common/order/act_outbox.h"
#include "ctl/each.h"
#include "ctl/session.h"

static enum result replay(const struct session *session, uint64_t id,
	const struct audit_actor *actor, struct act_result *result_out, struct error *error)
{
	return act_replay_outbox(session->db, id, option_text(session->options, OPTION_WHY), actor,
		result_out, error);
}

int replay_outbox_run(const struct session *session)
{
	static const struct each_act act = { "replay", "outbox row", replay };
	const char *reason = option_text(session->options, OPTION_WHY);

	if (reason != NULL && !act_is_reason(reason))
		return session_refuse_usage("--reason needs 5 to 500 characters: why?");
	return each_run(session, &act);
}
