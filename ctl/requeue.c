#include "ctl/requeue.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/base/shutdown.h"
#include "common/base/text.h"
#include "common/base/ulid.h"
#include "common/order/act_task.h"
#include "common/order/compensation.h"
#include "ctl/answer.h"
#include "ctl/consent.h"
#include "ctl/question.h"
#include "ctl/selection.h"
#include "ctl/session.h"
#include "ctl/table.h"

enum {
	SAMPLE_MAX = 10,
	CODE_SIZE = 32,
	NUMBER_SIZE = 24,
	REASON_TEXT_SIZE = 2048,
};

/* One run of one of the two acts. */
struct act {
	const struct session *session;
	const char *verb;
	struct selection selection;
	char request_id[ULID_SIZE];
	char bulk_id[ULID_SIZE]; /* "": not by filter */
	char reason_code[CODE_SIZE];
	char reason_text[REASON_TEXT_SIZE];
	bool is_resolve;
	int status; /* the worst so far */
};

static void begin(struct act *act, const struct session *session, const char *verb)
{
	*act = (struct act){ .session = session, .verb = verb, .status = EXIT_STATUS_OK };
	ulid_generate(act->request_id);
}

static enum result carry_out(const struct act *act, const struct selected_task *task,
	struct act_result *result_out, struct error *error)
{
	struct audit_actor actor = consent_actor(act->session, act->request_id);
	const struct act_task shown = { .id = task->id,
		.shown_retries = task->is_there ? task->retry_count : UINT32_MAX };
	const struct act_resolve resolve = { .task_id = task->id,
		.code = act->reason_code,
		.text = act->reason_text,
		.typed_order_no = option_text(act->session->options, OPTION_CONFIRM) };

	actor.bulk_id = act->bulk_id[0] == '\0' ? NULL : act->bulk_id;
	if (act->is_resolve)
		return act_resolve(act->session->db, &resolve, &actor, result_out, error);
	return act_requeue(act->session->db, &shown, 0, &actor, result_out, error);
}

static void add_outcome(
	struct table *table, const struct selected_task *task, const char *outcome, const char *why)
{
	char id[NUMBER_SIZE];
	const char *const values[] = { id, task->is_there ? task->kind : NULL,
		task->is_there ? task->order_no : NULL, outcome, why };

	(void)text_format(id, sizeof(id), "%" PRIu64, task->id);
	table_add(table, values);
}

/* The row of one task, and its exit status. */
static int note_outcome(struct table *table, const struct selected_task *task, enum result result,
	const struct act_result *answer, const struct error *error)
{
	if (result != RESULT_OK) {
		add_outcome(table, task, result == RESULT_TEMPORARY ? "unknown" : "failed",
			error->text);
		return result == RESULT_TEMPORARY ? EXIT_STATUS_TRY_AGAIN : EXIT_STATUS_FAILED;
	}
	add_outcome(table, task, act_outcome_names[answer->outcome],
		answer->words[0] == '\0' ? NULL : answer->words);
	return answer_status(answer->outcome);
}

/* One transaction for each; a server that went away or a person who stops it ends it, and the rest
 * is left as it is. */
static int act_on_all(struct act *act)
{
	static const struct table_column columns[] = { { "id", TABLE_KIND_TEXT },
		{ "kind", TABLE_KIND_TEXT }, { "order_no", TABLE_KIND_TEXT },
		{ "result", TABLE_KIND_TEXT }, { "error", TABLE_KIND_TEXT } };
	const struct output *output = &act->session->output;
	struct table *table = table_create(columns, ARRAY_LENGTH(columns));
	enum result result = RESULT_OK;
	size_t done = 0;
	size_t i = 0;

	shutdown_install();
	for (; result != RESULT_TEMPORARY && i < act->selection.count; i++) {
		const struct selected_task *task = &act->selection.tasks[i];
		struct act_result answer = { .words = "" };
		struct error error = { 0 };

		if (shutdown_is_requested())
			break;
		output_progress(output, "%s: %zu of %zu", act->verb, i, act->selection.count);
		result = carry_out(act, task, &answer, &error);
		done += result == RESULT_OK && answer.outcome == ACT_OUTCOME_DONE;
		act->status = answer_find_worse(
			act->status, note_outcome(table, task, result, &answer, &error));
	}
	output_end_progress(output);
	table_print(table, output, stdout);
	output_say(output, "%s: %zu of %zu done (audit request %s)", act->verb, done,
		act->selection.count, act->request_id);
	if (i < act->selection.count) {
		output_complain("stopped: %zu were left as they were", act->selection.count - i);
		act->status = answer_find_worse(act->status, EXIT_STATUS_FAILED);
	}
	table_destroy(&table);
	return act->status;
}

static int show_plan(const struct act *act)
{
	static const struct table_column columns[] = { { "id", TABLE_KIND_TEXT },
		{ "kind", TABLE_KIND_TEXT }, { "order_no", TABLE_KIND_TEXT },
		{ "status", TABLE_KIND_TEXT }, { "retry_count", TABLE_KIND_NUMBER } };
	struct table *table = table_create(columns, ARRAY_LENGTH(columns));

	for (size_t i = 0; i < act->selection.count; i++) {
		const struct selected_task *task = &act->selection.tasks[i];
		char id[NUMBER_SIZE];
		char retries[NUMBER_SIZE];
		const char *const values[] = { id, task->is_there ? task->kind : NULL,
			task->is_there ? task->order_no : NULL,
			task->is_there ? task->status : "not there",
			task->is_there ? retries : NULL };

		(void)text_format(id, sizeof(id), "%" PRIu64, task->id);
		(void)text_format(retries, sizeof(retries), "%" PRIu32, task->retry_count);
		table_add(table, values);
	}
	table_print(table, &act->session->output, stdout);
	table_destroy(&table);
	return EXIT_STATUS_OK;
}

static void show_sample(const struct act *act, const struct selection_filter *filter)
{
	const struct output *output = &act->session->output;

	output_say(output, "%zu DEAD tasks match: %s", act->selection.count, filter->words);
	for (size_t i = 0; i < act->selection.count && i < SAMPLE_MAX; i++) {
		const struct selected_task *task = &act->selection.tasks[i];

		output_say(output, "  %" PRIu64 " %s of order %s, %" PRIu32 " retries", task->id,
			task->kind, task->order_no, task->retry_count);
	}
	if (act->selection.count > SAMPLE_MAX)
		output_say(output, "  and %zu more", act->selection.count - SAMPLE_MAX);
}

/* By filter: the number of rows, on the command line or typed. */
static int confirm_count(const struct act *act)
{
	const struct option_set *options = act->session->options;
	char count[NUMBER_SIZE];

	(void)text_format(count, sizeof(count), "%zu", act->selection.count);
	if (option_is_given(options, OPTION_CONFIRM_COUNT)) {
		if (option_number(options, OPTION_CONFIRM_COUNT, 0) == act->selection.count)
			return EXIT_STATUS_OK;
		output_complain(
			"%s tasks match, not the number confirmed: nothing was changed", count);
		return EXIT_STATUS_REFUSED;
	}
	if (!question_can_ask(options))
		return session_refuse_usage(
			"a filter wants --confirm-count with the number of tasks");
	if (question_ask(count, "%s them all?", act->verb))
		return EXIT_STATUS_OK;
	output_complain("nothing was changed");
	return EXIT_STATUS_REFUSED;
}

static int requeue_by_filter(struct act *act, struct selection_filter *filter)
{
	const struct session *session = act->session;
	struct error error = { 0 };
	bool has_limit = option_is_given(session->options, OPTION_LIMIT);
	enum result result = selection_find(session, filter,
		option_number(session->options, OPTION_LIMIT, SELECTION_MAX), &act->selection,
		&error);

	if (result != RESULT_OK)
		return session_fail(session, result, &error);
	if (act->selection.count == 0) {
		output_say(&session->output, "no DEAD task matches: %s", filter->words);
		return EXIT_STATUS_NOT_FOUND;
	}
	if (act->selection.is_cut && !has_limit) {
		output_complain("more than %d tasks match: narrow the filter, or take a part with "
				"--limit",
			SELECTION_MAX);
		return EXIT_STATUS_REFUSED;
	}
	if (option_is_given(session->options, OPTION_DRY_RUN)) {
		int status = show_plan(act);

		output_say(&session->output,
			"%zu DEAD tasks match: %s; to act: --confirm-count %zu",
			act->selection.count, filter->words, act->selection.count);
		return status;
	}
	show_sample(act, filter);
	int status = confirm_count(act);
	if (status != EXIT_STATUS_OK)
		return status;
	ulid_generate(act->bulk_id);
	return act_on_all(act);
}

/* What a person should see before a task is resolved; the act itself asks for --confirm then. */
static void warn_of_red_checks(const struct act *act)
{
	const struct output *output = &act->session->output;

	for (size_t i = 0; act->is_resolve && i < act->selection.count; i++) {
		const struct act_resolve request = { .task_id = act->selection.tasks[i].id,
			.code = act->reason_code,
			.text = act->reason_text };
		struct act_checks checks;

		if (act_check_resolve(act->session->db, &request, &checks, NULL) != RESULT_OK)
			continue;
		if (!checks.is_order_final)
			output_say(output, "task %" PRIu64 ": order %s is still UNPAID",
				request.task_id, checks.order_no);
		if (!checks.has_no_open_sibling)
			output_say(output,
				"task %" PRIu64 ": order %s has other tasks that are not settled",
				request.task_id, checks.order_no);
		if (!checks.has_refund_reference)
			output_say(output,
				"task %" PRIu64 ": a refund without a reference in the reason",
				request.task_id);
	}
}

static int act_by_id(struct act *act)
{
	const struct session *session = act->session;
	struct error error = { 0 };
	enum result result = selection_look_up(session, &act->selection, &error);

	if (result != RESULT_OK)
		return session_fail(session, result, &error);
	if (option_is_given(session->options, OPTION_DRY_RUN))
		return show_plan(act);
	warn_of_red_checks(act);
	int status = consent_ask(session, "%s %zu task%s?", act->verb, act->selection.count,
		act->selection.count == 1 ? "" : "s");
	return status == EXIT_STATUS_OK ? act_on_all(act) : status;
}

static int connect_and_act(struct act *act, struct selection_filter *filter)
{
	int status;

	if (filter == NULL && !consent_is_possible(act->session))
		return EXIT_STATUS_USAGE;
	status = session_connect_to_schema(act->session);
	if (status == EXIT_STATUS_OK)
		status = filter == NULL ? act_by_id(act) : requeue_by_filter(act, filter);
	return status;
}

int requeue_run(const struct session *session)
{
	struct act act;
	struct selection_filter filter;
	struct error error = { 0 };
	bool has_ids = session->operand_count > 0;
	int status;

	begin(&act, session, "requeue");
	enum result result = selection_read_filter(session, &filter, &error);
	if (has_ids == (result != RESULT_NONE))
		return session_refuse_usage("requeue takes either ids or a filter");
	if (has_ids)
		result = selection_read_ids(session, &act.selection, &error);
	if (result == RESULT_OK)
		status = connect_and_act(&act, has_ids ? NULL : &filter);
	else
		status = session_refuse_usage(error.text);
	selection_clear(&act.selection);
	return status;
}

/* CODE[:TEXT]; a code that speaks for itself needs no text. */
static enum result read_reason(struct act *act, struct error *error)
{
	const char *reason = option_text(act->session->options, OPTION_REASON);
	size_t size = reason == NULL ? 0 : strcspn(reason, ":");

	if (reason == NULL)
		return error_set(RESULT_PERMANENT, error, "resolve needs --reason CODE[:TEXT]");
	if (size < sizeof(act->reason_code))
		memcpy(act->reason_code, reason, size);
	if (!text_is_one_of(compensation_resolve_codes, act->reason_code))
		return error_set(RESULT_PERMANENT, error,
			"--reason: \"%.40s\" is not fixed_elsewhere, not_needed, duplicate, "
			"refunded_by_hand, stock_corrected_by_hand or other",
			reason);
	const char *text = reason[size] == ':' ? reason + size + 1 : "";
	if (text[0] == '\0' && text_equals(act->reason_code, "other"))
		return error_set(RESULT_PERMANENT, error,
			"--reason: other needs a text, as in other:lost in transit");
	if (!text_copy(act->reason_text, sizeof(act->reason_text),
		    text[0] == '\0' ? act->reason_code : text))
		return error_set(RESULT_PERMANENT, error, "--reason: the text is too long");
	return RESULT_OK;
}

int requeue_resolve_run(const struct session *session)
{
	struct act act;
	struct error error = { 0 };
	int status;

	begin(&act, session, "resolve");
	act.is_resolve = true;
	enum result result = read_reason(&act, &error);
	if (result == RESULT_OK && session->operand_count == 0)
		result = error_set(RESULT_PERMANENT, &error, "resolve takes the ids of tasks");
	if (result == RESULT_OK)
		result = selection_read_ids(session, &act.selection, &error);
	if (result == RESULT_OK)
		status = connect_and_act(&act, NULL);
	else
		status = session_refuse_usage(error.text);
	selection_clear(&act.selection);
	return status;
}
