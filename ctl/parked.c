#include "ctl/parked.h"

#include <stdio.h>
#include <string.h>

#include "common/base/text.h"
#include "common/base/ulid.h"
#include "common/order/act_parked.h"
#include "ctl/answer.h"
#include "ctl/consent.h"
#include "ctl/question.h"
#include "ctl/session.h"
#include "ctl/table.h"

enum {
	SHORT_TEXT_SIZE = 120 + 1
};

static const struct table_column list_columns[] = {
	{ "sha256", TABLE_KIND_TEXT },
	{ "reason", TABLE_KIND_TEXT },
	{ "origin", TABLE_KIND_TEXT },
	{ "type", TABLE_KIND_TEXT },
	{ "size", TABLE_KIND_NUMBER },
	{ "text", TABLE_KIND_TEXT },
};

static const struct table_column outcome_columns[] = {
	{ "sha256", TABLE_KIND_TEXT },
	{ "outcome", TABLE_KIND_TEXT },
	{ "why", TABLE_KIND_TEXT },
};

/* One run of one of the two acts. */
struct parked_act {
	const struct session *session;
	struct parked_queue *queue;
	struct table *outcomes;
	const char *verb; /* "replay" or "discard" */
	const char *reason;
	bool is_replay;
	char request_id[ULID_SIZE];
	int status; /* the worst so far */
};

static void list_message(
	const struct session *session, struct table *table, const struct parked_message *message)
{
	char size[24];
	char text[SHORT_TEXT_SIZE];
	bool is_whole = session->output.form == OUTPUT_FORM_JSON;
	const char *const values[] = { message->sha256, message->reason, message->origin,
		message->type, size, is_whole ? message->text : text };

	(void)text_format(size, sizeof(size), "%zu", message->body_size);
	(void)text_clip(text, sizeof(text), message->text, strlen(message->text));
	table_add(table, values);
}

static enum result open_queue(const struct session *session, uint64_t limit,
	struct parked_queue **queue_out, struct error *error)
{
	const struct parked_settings settings = { .broker = &session->settings->broker,
		.topology = &session->settings->topology,
		.program = "lapsectl" };

	return parked_queue_open(
		&settings, limit < PARKED_LOOK_MAX ? limit : PARKED_LOOK_MAX, queue_out, error);
}

int parked_list_run(const struct session *session)
{
	struct parked_queue *queue = NULL;
	struct error error = { .text = "" };
	uint64_t limit = option_number(session->options, OPTION_LIMIT, PARKED_LOOK_MAX);
	enum result result = open_queue(session, limit, &queue, &error);

	if (result != RESULT_OK && result != RESULT_NONE)
		return session_fail(session, result, &error);
	struct table *table = table_create(list_columns, ARRAY_LENGTH(list_columns));
	for (size_t i = 0; i < parked_queue_count(queue); i++)
		list_message(session, table, parked_queue_at(queue, i));
	table_print(table, &session->output, stdout);
	if (table_count(table) == 0)
		output_say(&session->output, "no message is parked");
	table_destroy(&table);
	parked_queue_close(&queue);
	return EXIT_STATUS_OK;
}

static void note_outcome(
	struct parked_act *act, const char *sha256, const struct act_result *answer)
{
	static const char *const words[ACT_OUTCOME_COUNT] = { [ACT_OUTCOME_DONE] = "done",
		[ACT_OUTCOME_NOT_FOUND] = "not found",
		[ACT_OUTCOME_REFUSED] = "refused" };
	const char *word = words[answer->outcome];
	const char *const values[] = { sha256, word == NULL ? "failed" : word,
		answer->words[0] == '\0' ? NULL : answer->words };

	table_add(act->outcomes, values);
	act->status = answer_find_worse(act->status, answer_status(answer->outcome));
}

/* What would happen. */
static void foretell(struct parked_act *act, const char *sha256)
{
	struct act_result answer = { .words = "dry run: nothing was changed" };
	struct error error = { .text = "" };
	const struct parked_message *message = parked_queue_find(act->queue, sha256);
	const char *objection = message == NULL || !act->is_replay
					? NULL
					: act_parked_objection(act->queue, message, &error);

	if (message == NULL)
		answer.outcome = ACT_OUTCOME_NOT_FOUND;
	else if (objection != NULL)
		answer.outcome = ACT_OUTCOME_REFUSED;
	if (objection != NULL)
		(void)text_copy(answer.words, sizeof(answer.words), objection);
	note_outcome(act, sha256, &answer);
}

static void act_on(struct parked_act *act, const char *sha256)
{
	const struct act_parked request = { .queue = act->queue,
		.sha256 = sha256,
		.is_replay = act->is_replay,
		.reason = act->reason };
	const struct audit_actor actor = consent_actor(act->session, act->request_id);
	struct act_result answer;
	struct error error = { .text = "" };

	if (option_is_given(act->session->options, OPTION_DRY_RUN)) {
		foretell(act, sha256);
		return;
	}
	enum result result = act_on_parked(act->session->db, &request, &actor, &answer, &error);
	if (result == RESULT_OK) {
		note_outcome(act, sha256, &answer);
		return;
	}
	const char *const values[] = { sha256, "failed", error.text };
	table_add(act->outcomes, values);
	act->status = answer_find_worse(act->status, EXIT_STATUS_TRY_AGAIN);
}

static bool is_allowed(const struct session *session, const char *verb)
{
	const struct option_set *options = session->options;

	if (option_is_given(options, OPTION_YES) || option_is_given(options, OPTION_DRY_RUN))
		return true;
	return question_can_ask(options) &&
	       question_ask(
		       "yes", "%s %zu messages of the parked queue?", verb, session->operand_count);
}

static int run_act(struct parked_act *act)
{
	const struct session *session = act->session;
	struct error error = { .text = "" };
	int status = session_connect_to_schema(session);

	if (status != EXIT_STATUS_OK)
		return status;
	enum result result = open_queue(session, PARKED_LOOK_MAX, &act->queue, &error);
	if (result != RESULT_OK && result != RESULT_NONE)
		return session_fail(session, result, &error);
	ulid_generate(act->request_id);
	act->outcomes = table_create(outcome_columns, ARRAY_LENGTH(outcome_columns));
	for (size_t i = 0; i < session->operand_count; i++)
		act_on(act, session->operands[i]);
	table_print(act->outcomes, &session->output, stdout);
	table_destroy(&act->outcomes);
	parked_queue_close(&act->queue);
	return act->status;
}

static int begin_act(struct parked_act *act)
{
	if (act->session->operand_count == 0)
		return session_refuse_usage("which one? give the sha256 that list parked shows");
	if (!is_allowed(act->session, act->verb))
		return session_refuse_usage("not without --yes, or a person who says yes");
	return run_act(act);
}

int parked_replay_run(const struct session *session)
{
	struct parked_act act = { .session = session, .verb = "replay", .is_replay = true };

	return begin_act(&act);
}

int parked_discard_run(const struct session *session)
{
	struct parked_act act = { .session = session, .verb = "discard" };

	act.reason = option_text(session->options, OPTION_WHY);
	if (!act_is_reason(act.reason))
		return session_refuse_usage(
			"--reason needs 5 to 500 characters: why is it not needed?");
	return begin_act(&act);
}
