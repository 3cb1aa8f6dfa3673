#include "common/order/compensation.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/io/db.h"
#include "common/io/json.h"
#include "common/order/alert.h"
#include "common/order/compensation_internal.h"

const char *const compensation_kind_names[] = { "STOCK_RESTORE", "REFUND", "WEBHOOK", NULL };
const char *const compensation_kind_labels[] = { "stock_restore", "refund", "webhook", NULL };
const char *const compensation_status_names[] = { "PENDING", "RUNNING", "DONE", "DEAD", "RESOLVED",
	NULL };

static_assert(ARRAY_LENGTH(compensation_kind_names) == COMPENSATION_KIND_COUNT + 1, "kind names");
static_assert(ARRAY_LENGTH(compensation_kind_labels) == COMPENSATION_KIND_COUNT + 1, "kind labels");
static_assert(ARRAY_LENGTH(compensation_status_names) == COMPENSATION_STATUS_RESOLVED + 2,
	"status names");

void compensation_set_error(struct compensation_task *task, const char *text)
{
	char clipped[COMPENSATION_ERROR_SIZE];

	(void)text_clip(clipped, sizeof(clipped), text, strlen(text));
	free(task->error);
	task->error = memory_copy_text(clipped);
}

void compensation_clear_task(struct compensation_task *task)
{
	free(task->payload);
	free(task->error);
	task->payload = NULL;
	task->error = NULL;
}

void compensation_list_destroy(struct compensation_list **list)
{
	if (*list == NULL)
		return;
	for (size_t i = 0; i < (*list)->count; i++)
		compensation_clear_task(&(*list)->tasks[i]);
	free((*list)->tasks);
	free(*list);
	*list = NULL;
}

enum result compensation_raise_alert(
	struct db *db, const struct compensation_task *task, struct error *error)
{
	char ref[24];
	char summary[COMPENSATION_TARGET_SIZE + 64];
	/* Of several subscribers one is meant. */
	const char *target = task->kind == COMPENSATION_KIND_WEBHOOK ? task->target : "";
	char description[COMPENSATION_ERROR_SIZE + TEXT_KEY_SIZE + COMPENSATION_TARGET_SIZE + 16];

	(void)text_format(ref, sizeof(ref), "%" PRIu64, task->id);
	(void)text_format(summary, sizeof(summary), "%s%s%s failed %" PRIu32 " time%s",
		compensation_kind_labels[task->kind], target[0] == '\0' ? "" : " to ", target,
		task->calls, task->calls == 1 ? "" : "s");
	(void)text_format(description, sizeof(description), "order %s: %s%s%s", task->order_no,
		target, target[0] == '\0' ? "" : ": ", task->error == NULL ? "" : task->error);
	const struct alert_notice notice = {
		.kind = ALERT_KIND_TASK_DEAD,
		.severity = task->kind == COMPENSATION_KIND_REFUND ? ALERT_SEVERITY_CRITICAL
								   : ALERT_SEVERITY_WARNING,
		.ref = ref,
		.order_no = task->order_no,
		.task_kind = compensation_kind_labels[task->kind],
		.summary = summary,
		.description = description,
		.calls = task->calls,
	};
	return alert_raise(db, &notice, error);
}

static bool is_key(const char *text)
{
	return text != NULL && text_is_key(text, strlen(text), TEXT_KEY_MAX);
}

enum result compensation_set_refund_state(struct db *db, enum compensation_kind kind,
	const char *payload, size_t payload_size, const char *refund_state, struct error *error)
{
	static const char sql[] =
		"UPDATE t_payment SET refund_state = ? WHERE channel = ? AND trade_no = ?";
	struct json *root = NULL;
	enum result result = RESULT_OK;

	if (kind != COMPENSATION_KIND_REFUND || payload == NULL ||
		json_parse(payload, payload_size, COMPENSATION_PAYLOAD_MAX, &root, NULL) !=
			RESULT_OK)
		return RESULT_OK;
	const char *channel = json_get_text(root, "channel");
	const char *trade_no = json_get_text(root, "trade_no");
	if (is_key(channel) && is_key(trade_no)) {
		const struct db_param params[] = { db_text(refund_state), db_text(channel),
			db_text(trade_no) };

		result = db_execute(db, sql, params, ARRAY_LENGTH(params), NULL, error);
	}
	json_destroy(&root);
	return error_context(result, error, "refund state");
}
