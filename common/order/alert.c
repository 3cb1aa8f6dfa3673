#include "common/order/alert.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/text.h"
#include "common/io/db.h"
#include "common/io/json.h"

const char *const alert_kind_names[] = { "TASK_DEAD", "ORDER_STUCK", "OUTBOX_FAILED", "THRESHOLD",
	NULL };
const char *const alert_rule_names[] = { "LapseTaskDead", "LapseOrderStuck", "LapseOutboxFailed",
	"LapseThreshold", NULL };
const char *const alert_severity_names[] = { "info", "warning", "critical", NULL };

static_assert(ARRAY_LENGTH(alert_kind_names) == ALERT_KIND_THRESHOLD + 2, "kind names");
static_assert(ARRAY_LENGTH(alert_rule_names) == ALERT_KIND_THRESHOLD + 2, "rule names");
static_assert(ARRAY_LENGTH(alert_severity_names) == ALERT_SEVERITY_CRITICAL + 2, "severity names");

/* What an alert says in which annotation: the id of the thing it is about. */
static const char *const ref_annotations[] = { "task_id", "order_no", "outbox_id", "rule" };

/* A rule of THRESHOLD is its own name. */
static const char *find_rule_name(const struct alert_notice *notice)
{
	return notice->kind == ALERT_KIND_THRESHOLD ? notice->ref : alert_rule_names[notice->kind];
}

static char *write_labels(const struct alert_notice *notice)
{
	struct json *labels = json_create_object();

	json_set_text(labels, "alertname", find_rule_name(notice));
	if (notice->task_kind != NULL)
		json_set_text(labels, "kind", notice->task_kind);
	json_set_text(labels, "severity", alert_severity_names[notice->severity]);
	char *text = json_write(labels);
	json_destroy(&labels);
	return text;
}

static void set_clipped(struct json *object, const char *key, const char *value)
{
	char clipped[ALERT_TEXT_SIZE];

	if (value == NULL)
		return;
	(void)text_clip(clipped, sizeof(clipped), value, strlen(value));
	json_set_text(object, key, clipped);
}

static char *write_annotations(const struct alert_notice *notice)
{
	struct json *annotations = json_create_object();

	set_clipped(annotations, "summary", notice->summary);
	set_clipped(annotations, "description", notice->description);
	set_clipped(annotations, ref_annotations[notice->kind], notice->ref);
	set_clipped(annotations, "order_no", notice->order_no);
	if (notice->calls > 0)
		json_set_id(annotations, "calls", notice->calls);
	char *text = json_write(annotations);
	json_destroy(&annotations);
	return text;
}

/* Re-opening ends a lease, so that a delivery under way does not count for the new state.  state
 * comes last, because each assignment sees those before it. */
#define REOPENED(column, value) #column " = IF(state = 'RESOLVED', " value ", " #column "), "

enum result alert_raise(struct db *db, const struct alert_notice *notice, struct error *error)
{
	static const char sql[] =
		"INSERT INTO t_alert (kind, ref, severity, labels, annotations) "
		"VALUES (?, ?, ?, ?, ?) ON DUPLICATE KEY UPDATE " REOPENED(severity, "?") REOPENED(
			labels, "?") REOPENED(annotations, "?") REOPENED(fired_at,
			"UTC_TIMESTAMP(3)") REOPENED(fired_count, "fired_count + 1")
			REOPENED(resolved_at, "NULL") REOPENED(silenced_until, "NULL") REOPENED(
				delivery_state, "'PENDING'") REOPENED(attempts,
				"0") REOPENED(next_attempt_at, "UTC_TIMESTAMP(3)")
				REOPENED(targets, "NULL") REOPENED(last_error, "NULL") REOPENED(
					lease_token, "NULL") REOPENED(lease_until, "NULL")
					REOPENED(updated_at, "UTC_TIMESTAMP(3)") "state = 'FIRING'";
	char *labels = write_labels(notice);
	char *annotations = write_annotations(notice);
	const char *severity = alert_severity_names[notice->severity];
	const struct db_param params[] = { db_text(alert_kind_names[notice->kind]),
		db_text(notice->ref), db_text(severity), db_text(labels), db_text(annotations),
		db_text(severity), db_text(labels), db_text(annotations) };
	enum result result = db_execute(db, sql, params, ARRAY_LENGTH(params), NULL, error);

	free(annotations);
	free(labels);
	return error_context(
		result, error, "raise alert %s of %s", alert_kind_names[notice->kind], notice->ref);
}

#define RESOLVED_COLUMNS                                                                   \
	"state = 'RESOLVED', resolved_at = UTC_TIMESTAMP(3), delivery_state = 'PENDING', " \
	"attempts = 0, next_attempt_at = UTC_TIMESTAMP(3), targets = NULL, "               \
	"lease_token = NULL, lease_until = NULL, updated_at = UTC_TIMESTAMP(3) "

enum result alert_resolve(struct db *db, enum alert_kind kind, const char *ref, struct error *error)
{
	static const char sql[] = "UPDATE t_alert SET " RESOLVED_COLUMNS
				  "WHERE kind = ? AND ref = ? AND state = 'FIRING'";
	const struct db_param params[] = { db_text(alert_kind_names[kind]), db_text(ref) };
	enum result result = db_execute(db, sql, params, ARRAY_LENGTH(params), NULL, error);

	return error_context(result, error, "resolve alert %s of %s", alert_kind_names[kind], ref);
}

/*
 * A row that is gone needs nobody any more either.  Only what has fired for a while: the table of
 * the thing is read as it stood when the statement began, the alert as it is.
 */
#define FIRING_FOR_A_WHILE \
	"state = 'FIRING' AND fired_at < UTC_TIMESTAMP(3) - INTERVAL 1 MINUTE AND "

static const char *const cured_sql[] = {
	"UPDATE t_alert SET " RESOLVED_COLUMNS "WHERE kind = 'TASK_DEAD' AND " FIRING_FOR_A_WHILE
	"NOT EXISTS (SELECT 1 FROM t_compensation c "
	"WHERE c.id = CAST(t_alert.ref AS UNSIGNED) AND c.status = 'DEAD')",
	"UPDATE t_alert SET " RESOLVED_COLUMNS "WHERE kind = 'ORDER_STUCK' AND " FIRING_FOR_A_WHILE
	"NOT EXISTS (SELECT 1 FROM t_order o "
	"WHERE o.order_no = t_alert.ref AND o.status = 'UNPAID')",
	"UPDATE t_alert SET " RESOLVED_COLUMNS
	"WHERE kind = 'OUTBOX_FAILED' AND " FIRING_FOR_A_WHILE "NOT EXISTS (SELECT 1 FROM "
	"t_outbox_event e WHERE e.id = CAST(t_alert.ref AS UNSIGNED) AND e.status = 'FAILED')",
};

enum result alert_resolve_cured(struct db *db, uint64_t *count_out, struct error *error)
{
	enum result result = RESULT_OK;

	*count_out = 0;
	for (size_t i = 0; i < ARRAY_LENGTH(cured_sql) && result == RESULT_OK; i++) {
		uint64_t changed = 0;

		result = db_execute(db, cured_sql[i], NULL, 0, &changed, error);
		*count_out += changed;
	}
	return error_context(result, error, "resolve cured alerts");
}
