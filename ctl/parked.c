#include "ctl/parked.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/text.h"
#include "common/base/ulid.h"
#include "common/io/json.h"
#include "common/order/audit.h"
#include "common/order/timeout_message.h"
#include "ctl/parked_queue.h"
#include "ctl/question.h"
#include "ctl/session.h"
#include "ctl/table.h"

enum {
	SHORT_TEXT_SIZE = 120 + 1,
	REASON_MIN = 5,
	REASON_MAX = 500,
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

int parked_list_run(const struct session *session)
{
	struct parked_queue *queue = NULL;
	struct error error = { .text = "" };
	uint64_t limit = option_number(session->options, OPTION_LIMIT, PARKED_MAX);
	enum result result = parked_queue_open(
		session->settings, limit < PARKED_MAX ? limit : PARKED_MAX, &queue, &error);

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

/* Why a message cannot be replayed; NULL: it can. */
static const char *find_objection(
	const struct parked_act *act, const struct parked_message *message, struct error *error)
{
	char order_no[TEXT_KEY_SIZE];

	if (!act->is_replay)
		return NULL;
	if (message->body == NULL)
		return "it is longer than 64 KiB";
	if (parked_queue_target(act->queue, message) == NULL)
		return "it does not say which queue of ours it came from";
	if (text_equals(message->type, TIMEOUT_MESSAGE_TYPE) || message->type[0] == '\0') {
		if (timeout_message_parse((const uint8_t *)message->body, message->body_size,
			    message->type, order_no, error) != RESULT_OK)
			return error->text;
	}
	return NULL;
}

static enum result record(struct parked_act *act, const struct parked_message *message,
	const char *result_word, const char *why, struct error *error)
{
	const struct audit_actor actor = {
		.actor = act->session->actor,
		.role = "admin",
		.auth = "cli",
		.request_id = act->request_id,
	};
	struct json *before = json_create_object();

	json_set_text(before, "reason", message->reason);
	json_set_text(before, "origin", message->origin);
	json_set_text(before, "type", message->type);
	json_set_text(before, "text", message->text);
	char *before_json = json_write(before);
	const struct audit_act audit = {
		.action = act->verb,
		.target_type = "parked",
		.target_id = message->sha256,
		.reason_text = act->reason,
		.before_json = before_json,
		.result = result_word,
		.error = why,
	};
	enum result result = audit_record(act->session->db, &actor, &audit, error);
	json_destroy(&before);
	free(before_json);
	return result;
}

/* The audit row is committed between the publish and the removal: dying there leaves a message that
 * is replayed twice, which is harmless, and never an act that nobody wrote down. */
static enum result carry_out(
	struct parked_act *act, struct parked_message *message, struct error *error)
{
	struct db *db = act->session->db;
	enum result result = db_begin(db, error);

	if (result == RESULT_OK)
		result = record(act, message, "ok", NULL, error);
	if (result == RESULT_OK && act->is_replay)
		result = parked_queue_publish(act->queue, message, error);
	if (result == RESULT_OK)
		result = db_commit(db, error);
	db_rollback(db); /* does nothing after a commit */
	return result == RESULT_OK ? parked_queue_remove(act->queue, message, error) : result;
}

static void note_outcome(struct parked_act *act, const char *sha256, int status, const char *why)
{
	const char *const words[] = { status == EXIT_STATUS_OK          ? "done"
				      : status == EXIT_STATUS_NOT_FOUND ? "not found"
				      : status == EXIT_STATUS_REFUSED   ? "refused"
									: "failed" };
	const char *const values[] = { sha256, words[0], why };

	table_add(act->outcomes, values);
	if (status > act->status)
		act->status = status;
}

static void act_on(struct parked_act *act, const char *sha256)
{
	struct parked_message *message = parked_queue_find(act->queue, sha256);
	struct error error = { .text = "" };

	if (message == NULL) {
		note_outcome(act, sha256, EXIT_STATUS_NOT_FOUND,
			"it is not among the first messages of the queue");
		return;
	}
	const char *objection = find_objection(act, message, &error);
	if (objection != NULL) {
		/* A refusal is written down, too. */
		struct error ignored = { .text = "" };

		(void)!record(act, message, "refused", objection, &ignored);
		note_outcome(act, sha256, EXIT_STATUS_REFUSED, objection);
		return;
	}
	if (option_is_given(act->session->options, OPTION_DRY_RUN)) {
		note_outcome(act, sha256, EXIT_STATUS_OK, "dry run: nothing was changed");
		return;
	}
	enum result result = carry_out(act, message, &error);
	note_outcome(act, sha256, result == RESULT_OK ? EXIT_STATUS_OK : EXIT_STATUS_TRY_AGAIN,
		result == RESULT_OK ? NULL : error.text);
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
	enum result result = parked_queue_open(session->settings, PARKED_MAX, &act->queue, &error);
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

	act.reason = option_text(session->options, OPTION_REASON);
	if (act.reason == NULL || strlen(act.reason) < REASON_MIN ||
		strlen(act.reason) > REASON_MAX)
		return session_refuse_usage(
			"--reason needs 5 to 500 characters: why is it not needed?");
	return begin_act(&act);
}
