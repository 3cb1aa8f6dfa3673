/* Lists of what is under way: compensation tasks and outbox rows. */
#include <strings.h>

#include "common/base/compiler.h"
#include "common/report/listing_kind.h"

static const char key_form[] = "letters, digits and . _ : -";
static const char duration_form[] = "a duration such as 90s, 5m, 2h or 7d";
static const char id_form[] = "an id";
static const char time_form[] = "a time in UTC such as 2026-01-31T18:30:00Z";

#define OLDER_THAN "t.created_at < UTC_TIMESTAMP(3) - INTERVAL ? MICROSECOND"

static const struct listing_order by_id = { "", LISTING_KEY_ID, "t.id", "id", false };
static const struct listing_order newest_first = { " FORCE INDEX (PRIMARY)", LISTING_KEY_ID, "t.id",
	"id", true };

/* ---- tasks */

static const struct listing_column task_columns[] = {
	LISTING_ID_COLUMN(id),
	LISTING_WORD_COLUMN(kind),
	LISTING_TEXT_COLUMN(order_no),
	LISTING_WORD_COLUMN(status),
	LISTING_NUMBER_COLUMN(calls),
	LISTING_NUMBER_COLUMN(retry_count),
	LISTING_NUMBER_COLUMN(max_retries),
	LISTING_OTHER_COLUMN("next_retry_at", TIME,
		"IF(x.status = 'PENDING', " LISTING_TIME("x.next_retry_at") ", NULL)"),
	LISTING_TIME_COLUMN(created_at),
	LISTING_AGE_COLUMN,
	LISTING_TEXT_COLUMN(target),
	LISTING_OTHER_COLUMN("alert", TEXT,
		"(SELECT CAST(a.state AS CHAR) FROM t_alert a WHERE a.kind = 'TASK_DEAD' "
		"AND a.ref = CAST(x.id AS CHAR CHARACTER SET ascii) COLLATE ascii_bin)"),
	LISTING_ERROR_COLUMN,
};

static const char *const task_states[] = { "PENDING", "RUNNING", "DONE", "DEAD", "RESOLVED", "all",
	NULL };
static const char *const task_kinds[] = { "STOCK_RESTORE", "REFUND", "WEBHOOK", NULL };

enum task_filter {
	TASK_FILTER_STATE,
	TASK_FILTER_KIND,
	TASK_FILTER_TARGET,
	TASK_FILTER_ORDER,
	TASK_FILTER_ERROR,
	TASK_FILTER_OLDER_THAN,
	TASK_FILTER_UP_TO,
	TASK_FILTER_UNCHANGED_SINCE,
	TASK_FILTER_COUNT,
};
static const struct listing_filter task_filters[] = {
	[TASK_FILTER_STATE] = { "state", "a state", task_states },
	[TASK_FILTER_KIND] = { "kind", "a kind", task_kinds },
	[TASK_FILTER_TARGET] = { "target", key_form, NULL },
	[TASK_FILTER_ORDER] = { "order", key_form, NULL },
	[TASK_FILTER_ERROR] = { "error", "a part of the last error, in any case", NULL },
	[TASK_FILTER_OLDER_THAN] = { "older_than", duration_form, NULL },
	[TASK_FILTER_UP_TO] = { "up_to", id_form, NULL },
	[TASK_FILTER_UNCHANGED_SINCE] = { "unchanged_since", time_form, NULL },
};
static const struct listing_condition task_conditions[] = {
	[TASK_FILTER_STATE] = { LISTING_FORM_WORD, "t.status = ?", NULL, NULL, "status" },
	[TASK_FILTER_KIND] = { LISTING_FORM_WORD, "t.kind = ?", NULL, NULL, "kind" },
	[TASK_FILTER_TARGET] = { LISTING_FORM_KEY, "t.target = ?", NULL, NULL, "target" },
	[TASK_FILTER_ORDER] = { LISTING_FORM_KEY, "t.order_no = ?", NULL, NULL, "order" },
	[TASK_FILTER_ERROR] = { LISTING_FORM_TEXT, "LOCATE(LOWER(?), LOWER(t.last_error)) > 0",
		NULL, NULL, "error contains" },
	[TASK_FILTER_OLDER_THAN] = { LISTING_FORM_DURATION, OLDER_THAN, NULL, NULL, "older than" },
	[TASK_FILTER_UP_TO] = { LISTING_FORM_ID, "t.id <= ?", NULL, NULL, "up to id" },
	[TASK_FILTER_UNCHANGED_SINCE] = { LISTING_FORM_TIME, "t.updated_at <= ?", NULL, NULL,
		"unchanged since" },
};
_Static_assert(ARRAY_LENGTH(task_filters) == TASK_FILTER_COUNT &&
		       ARRAY_LENGTH(task_conditions) == TASK_FILTER_COUNT,
	"each filter has its condition");

/* The few tasks that are not settled are found by their status, the many others by their id. */
static const struct listing_order tasks_by_status = { " FORCE INDEX (idx_status_next)",
	LISTING_KEY_ID, "t.id", "id", false };

static size_t plan_tasks(const struct listing_given *given,
	struct listing_stage stages[LISTING_STAGE_MAX], const char **words_out)
{
	const char *state = given->values[TASK_FILTER_STATE];
	bool has_order = given->values[TASK_FILTER_ORDER] != NULL;
	bool is_settled =
		state != NULL && (strcasecmp(state, "all") == 0 || strcasecmp(state, "DONE") == 0);

	if (state != NULL || has_order) {
		stages[0] = (struct listing_stage){ "",
			has_order || is_settled ? &by_id : &tasks_by_status };
		return 1;
	}
	stages[0] = (struct listing_stage){ " AND t.status = 'DEAD'", &tasks_by_status };
	stages[1] = (struct listing_stage){ " AND t.status = 'PENDING' AND t.retry_count > 0",
		&tasks_by_status };
	*words_out = "status DEAD, then PENDING after a failure";
	return 2;
}

const struct listing_kind listing_tasks = {
	.name = "tasks",
	.table = "t_compensation",
	.columns = task_columns,
	.column_count = ARRAY_LENGTH(task_columns),
	.filters = task_filters,
	.conditions = task_conditions,
	.filter_count = TASK_FILTER_COUNT,
	.plan = plan_tasks,
};

/* ---- outbox rows */

static const struct listing_column outbox_columns[] = {
	LISTING_ID_COLUMN(id),
	LISTING_TEXT_COLUMN(event_type),
	LISTING_TEXT_COLUMN(order_no),
	LISTING_WORD_COLUMN(status),
	LISTING_NUMBER_COLUMN(attempts),
	LISTING_AGE_COLUMN,
	LISTING_TIME_COLUMN(created_at),
	LISTING_TIME_COLUMN(available_at),
	LISTING_TIME_COLUMN(sent_at),
	LISTING_TEXT_COLUMN(event_id),
	LISTING_ERROR_COLUMN,
};

static const char *const outbox_states[] = { "NEW", "SENT", "FAILED", "all", NULL };

enum outbox_filter {
	OUTBOX_FILTER_STATE,
	OUTBOX_FILTER_TYPE,
	OUTBOX_FILTER_ORDER,
	OUTBOX_FILTER_OLDER_THAN,
	OUTBOX_FILTER_COUNT,
};
static const struct listing_filter outbox_filters[] = {
	[OUTBOX_FILTER_STATE] = { "state", "a state", outbox_states },
	[OUTBOX_FILTER_TYPE] = { "type", "an event type such as ORDER_CLOSED", NULL },
	[OUTBOX_FILTER_ORDER] = { "order", key_form, NULL },
	[OUTBOX_FILTER_OLDER_THAN] = { "older_than", duration_form, NULL },
};
static const struct listing_condition outbox_conditions[] = {
	[OUTBOX_FILTER_STATE] = { LISTING_FORM_WORD, "t.status = ?", NULL, NULL, "status" },
	[OUTBOX_FILTER_TYPE] = { LISTING_FORM_KEY, "t.event_type = ?", NULL, NULL, "type" },
	[OUTBOX_FILTER_ORDER] = { LISTING_FORM_KEY, "t.order_no = ?", NULL, NULL, "order" },
	[OUTBOX_FILTER_OLDER_THAN] = { LISTING_FORM_DURATION, OLDER_THAN, NULL, NULL,
		"older than" },
};
_Static_assert(ARRAY_LENGTH(outbox_filters) == OUTBOX_FILTER_COUNT &&
		       ARRAY_LENGTH(outbox_conditions) == OUTBOX_FILTER_COUNT,
	"each filter has its condition");

static const struct listing_order outbox_by_time = { " FORCE INDEX (idx_status_available)",
	LISTING_KEY_TIME, "t.available_at", "available_at", false };

static size_t plan_outbox(const struct listing_given *given,
	struct listing_stage stages[LISTING_STAGE_MAX], const char **words_out)
{
	const char *state = given->values[OUTBOX_FILTER_STATE];

	if (given->values[OUTBOX_FILTER_ORDER] != NULL) {
		stages[0] = (struct listing_stage){ "", &by_id };
		return 1;
	}
	if (state != NULL) {
		bool is_open = strcasecmp(state, "NEW") == 0 || strcasecmp(state, "FAILED") == 0;

		stages[0] = (struct listing_stage){ "", is_open ? &outbox_by_time : &newest_first };
		return 1;
	}
	stages[0] = (struct listing_stage){ " AND t.status = 'FAILED'", &outbox_by_time };
	stages[1] = (struct listing_stage){ " AND t.status = 'NEW'", &outbox_by_time };
	*words_out = "status FAILED, then NEW";
	return 2;
}

const struct listing_kind listing_outbox = {
	.name = "outbox",
	.table = "t_outbox_event",
	.columns = outbox_columns,
	.column_count = ARRAY_LENGTH(outbox_columns),
	.filters = outbox_filters,
	.conditions = outbox_conditions,
	.filter_count = OUTBOX_FILTER_COUNT,
	.plan = plan_outbox,
};
