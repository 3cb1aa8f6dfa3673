#include "ctl/alert.h"

#include "common/order/act_alert.h"
#include "ctl/each.h"
#include "ctl/session.h"

enum {
	MS_PER_S = 1000
};

static enum result silence(const struct session *session, uint64_t id,
	const struct audit_actor *actor, struct act_result *result_out, struct error *error)
{
	const struct act_silence request = { .alert_id = id,
		.duration_s = option_number(session->options, OPTION_FOR, 0) / MS_PER_S,
		.reason = option_text(session->options, OPTION_WHY) };

	return act_silence_alert(session->db, &request, actor, result_out, error);
}

int alert_silence_run(const struct session *session)
{
	static const struct each_act act = { "silence", "alert", silence };

	if (!option_is_given(session->options, OPTION_FOR))
		return session_refuse_usage("--for is needed: how long, at most 24h");
	if (!act_is_reason(option_text(session->options, OPTION_WHY)))
		return session_refuse_usage("--reason needs 5 to 500 characters: why?");
	return each_run(session, &act);
}

static enum result resend(const struct session *session, uint64_t id,
	const struct audit_actor *actor, struct act_result *result_out, struct error *error)
{
	return act_resend_alert(session->db, id, actor, result_out, error);
}

int alert_resend_run(const struct session *session)
{
	static const struct each_act act = { "resend", "alert", resend };

	return each_run(session, &act);
}
