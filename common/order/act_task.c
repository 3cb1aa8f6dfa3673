#include "common/order/act_task.h"

#include <inttypes.h>
#include <string.h>

#include "common/io/db.h"
#include "common/order/act_run.h"
#include "common/order/compensation.h"

/* One act on one task, as carry_out gets it. */
struct task_act {
	struct act_run run;
	char target_id[ACT_ID_SIZE];
	struct compensation_chance chance;
	const struct act_resolve *resolve;
};

static void begin(struct task_act *act, struct db *db, const struct audit_actor *actor,
	const char *action, uint64_t id)
{
	(void)text_format(act->target_id, sizeof(act->target_id), "%" PRIu64, id);
	act->run = (struct act_run){ .db = db,
		.actor = actor,
		.action = action,
		.target_type = "task",
		.target_id = act->target_id,
		.context = act };
}

/* ---- requeue */

static enum result carry_out_requeue(void *context, struct error *error)
{
	const struct task_act *act = context;

	return compensation_give_chance(act->run.db, &act->chance, act->run.actor, error);
}

enum result act_requeue(struct db *db, const struct act_task *task, uint64_t delay_ms,
	const struct audit_actor *actor, struct act_result *result_out, struct error *error)
{
	struct task_act act = { .chance = { .id = task->id,
					.expected_retries = task->shown_retries,
					.delay_ms = delay_ms } };

	begin(&act, db, actor, "requeue", task->id);
	act.run.carry_out = carry_out_requeue;
	return act_run(&act.run, result_out, error);
}

enum result act_requeue_selected(struct db *db, const struct act_selection *selection,
	const struct audit_actor *actor, struct act_result *results_out, size_t *done_out,
	struct error *error)
{
	enum result result = RESULT_OK;
	size_t done = 0;

	REQUIRE(selection->count <= ACT_SELECTION_MAX);
	while (result == RESULT_OK && done < selection->count) {
		result = act_requeue(
			db, &selection->tasks[done], 0, actor, &results_out[done], error);
		done += result == RESULT_OK;
	}
	*done_out = done;
	return result;
}

/* ---- resolve */

enum result act_check_resolve(struct db *db, const struct act_resolve *request,
	struct act_checks *checks_out, struct error *error)
{
	static const char sql[] =
		"SELECT c.order_no, COALESCE(o.status = 'UNPAID', FALSE), "
		"(SELECT COUNT(*) FROM t_compensation s WHERE s.order_no = c.order_no "
		"AND s.id <> c.id AND s.status IN ('PENDING', 'RUNNING', 'DEAD')), "
		"c.kind = 'REFUND' FROM t_compensation c "
		"LEFT JOIN t_order o ON o.order_no = c.order_no WHERE c.id = ?";
	const struct db_param id = db_uint(request->task_id);
	struct db_rows *rows = NULL;
	enum result result = db_query(db, sql, &id, 1, &rows, error);

	*checks_out = (struct act_checks){ .order_no = "" };
	if (db_rows_next(rows)) {
		bool has_text = request->text != NULL && request->code != NULL &&
				!text_equals(request->text, request->code);

		(void)text_copy(checks_out->order_no, sizeof(checks_out->order_no),
			db_rows_text(rows, 0, NULL));
		checks_out->is_order_final = db_rows_uint(rows, 1) == 0;
		checks_out->has_no_open_sibling = db_rows_uint(rows, 2) == 0;
		checks_out->has_refund_reference = db_rows_uint(rows, 3) == 0 || has_text;
	}
	db_rows_destroy(&rows);
	if (result == RESULT_NONE)
		return error_set(RESULT_NONE, error, "there is no task %" PRIu64, request->task_id);
	return error_context(result, error, "check task %" PRIu64, request->task_id);
}

/* NULL: all is green. */
static const char *find_red(const struct act_checks *checks)
{
	if (!checks->is_order_final)
		return "its order is still UNPAID";
	if (!checks->has_no_open_sibling)
		return "its order has other tasks that are not settled";
	return checks->has_refund_reference ? NULL : "it is a refund, and no reference is named";
}

static enum result carry_out_resolve(void *context, struct error *error)
{
	struct task_act *act = context;
	const struct act_resolve *request = act->resolve;
	struct act_checks checks;
	char words[ACT_WORDS_SIZE];
	enum result result = act_check_resolve(act->run.db, request, &checks, error);

	if (result != RESULT_OK)
		return result;
	const char *red = find_red(&checks);
	bool has_typed = request->typed_order_no != NULL &&
			 text_equals(request->typed_order_no, checks.order_no);
	if (red != NULL && !act_has_role(act->run.actor, ACT_ROLE_ADMIN)) {
		(void)text_format(words, sizeof(words), "%s: only an admin may resolve it", red);
		return act_refuse(&act->run, ACT_OUTCOME_FORBIDDEN, words, error);
	}
	if (red != NULL && !has_typed) {
		(void)text_format(
			words, sizeof(words), "%s: the number of its order has to be typed", red);
		return act_refuse(&act->run, ACT_OUTCOME_REFUSED, words, error);
	}
	return compensation_resolve(
		act->run.db, request->task_id, request->code, request->text, act->run.actor, error);
}

enum result act_resolve(struct db *db, const struct act_resolve *request,
	const struct audit_actor *actor, struct act_result *result_out, struct error *error)
{
	struct task_act act = { .resolve = request };

	if (!text_is_one_of(compensation_resolve_codes, request->code))
		return act_answer_invalid(result_out,
			"the code of the reason is not fixed_elsewhere, not_needed, duplicate, "
			"refunded_by_hand, stock_corrected_by_hand or other");
	if (!act_is_reason(request->text))
		return act_answer_reason(result_out);
	begin(&act, db, actor, "resolve", request->task_id);
	act.run.carry_out = carry_out_resolve;
	return act_run(&act.run, result_out, error);
}
