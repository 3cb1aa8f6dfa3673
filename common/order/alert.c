#include "common/order/alert.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/settings.h"
#include "common/base/text.h"
#include "common/io/db.h"
#include "common/io/json.h"
#include "common/order/alert_row.h"

const char *const alert_kind_names[] = { "TASK_DEAD", "ORDER_STUCK", "OUTBOX_FAILED", "THRESHOLD",
	NULL };
const char *const alert_rule_names[] = { "LapseTaskDead", "LapseOrderStuck", "LapseOutboxFailed",
	"LapseThreshold", NULL };
const char *const alert_severity_names[] = { "info", "warning", "critical", NULL };
const char *const alert_delivery_state_names[] = { "PENDING", "SENT", "FAILED", NULL };

static_assert(ARRAY_LENGTH(alert_kind_names) == ALERT_KIND_THRESHOLD + 2, "kind names");
static_assert(ARRAY_LENGTH(alert_rule_names) == ALERT_KIND_THRESHOLD + 2, "rule names");
static_assert(ARRAY_LENGTH(alert_severity_names) == ALERT_SEVERITY_CRITICAL + 2, "severity names");
static_assert(ARRAY_LENGTH(alert_delivery_state_names) == ALERT_DELIVERY_FAILED + 2, "state names");

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

/*
 * What a session without checks left in a row that no statement could change is written anew.
 * Re-opening ends a lease, so that a delivery under way does not count for the new state.  attempts
 * stays above 0 where people were told that it fires and not yet that it was over.  state comes
 * last, because each assignment sees those before it.
 */
static const char raise_sql[] =
	"INSERT INTO t_alert (kind, ref, severity, labels, annotations) "
	"VALUES (?, ?, ?, ?, ?) ON DUPLICATE KEY UPDATE "
	"repeat_count = IF(state = 'RESOLVED', 0, LEAST(repeat_count + 1, 4294967295)), "
	"severity = IF(state = 'RESOLVED' OR severity = '', ?, severity), "
	"labels = IF(state = 'RESOLVED' OR NOT JSON_VALID(labels), ?, labels), "
	"annotations = IF(state = 'RESOLVED' OR NOT JSON_VALID(annotations), ?, annotations), "
	"fired_at = IF(state = 'RESOLVED', UTC_TIMESTAMP(3), fired_at), "
	"fired_count = IF(state = 'RESOLVED', LEAST(fired_count + 1, 4294967295), "
	"fired_count), "
	"resolved_at = IF(state = 'RESOLVED', NULL, resolved_at), "
	"silenced_until = IF(state = 'RESOLVED', NULL, silenced_until), "
	"attempts = IF(state = 'RESOLVED', delivery_state = 'PENDING' AND "
	"targets IS NOT NULL, attempts), "
	"delivery_state = IF(state = 'RESOLVED', 'PENDING', delivery_state), "
	"next_attempt_at = IF(state = 'RESOLVED', UTC_TIMESTAMP(3), next_attempt_at), "
	"targets = IF(state = 'RESOLVED' OR NOT JSON_VALID(targets), NULL, targets), "
	"last_error = IF(state = 'RESOLVED', NULL, last_error), "
	"lease_token = IF(state = 'RESOLVED', NULL, lease_token), "
	"lease_until = IF(state = 'RESOLVED', NULL, lease_until), "
	"updated_at = IF(state = 'RESOLVED', UTC_TIMESTAMP(3), updated_at), "
	"state = 'FIRING'";

enum result alert_raise(struct db *db, const struct alert_notice *notice, struct error *error)
{
	char *labels = write_labels(notice);
	char *annotations = write_annotations(notice);
	const char *severity = alert_severity_names[notice->severity];
	const struct db_param params[] = { db_text(alert_kind_names[notice->kind]),
		db_text(notice->ref), db_text(severity), db_text(labels), db_text(annotations),
		db_text(severity), db_text(labels), db_text(annotations) };
	enum result result = db_execute(db, raise_sql, params, ARRAY_LENGTH(params), NULL, error);

	free(annotations);
	free(labels);
	return error_context(
		result, error, "raise alert %s of %s", alert_kind_names[notice->kind], notice->ref);
}

/* Nobody is told that something is over of which nobody was told.  targets stays: it says who was
 * told. */
#define NOBODY_KNOWS "attempts = 0 AND delivery_state = 'PENDING'"
#define RESOLVED_COLUMNS                                                                    \
	"state = 'RESOLVED', resolved_at = UTC_TIMESTAMP(3), "                              \
	"next_attempt_at = IF(" NOBODY_KNOWS ", '9999-12-31 00:00:00', UTC_TIMESTAMP(3)), " \
	"delivery_state = IF(" NOBODY_KNOWS ", 'SENT', 'PENDING'), attempts = 0, "          \
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
#define FIRING_FOR_A_WHILE                          \
	ALERT_IS_SOUND " AND state = 'FIRING' AND " \
		       "fired_at < UTC_TIMESTAMP(3) - INTERVAL 1 MINUTE AND "
/* NULL, and no error of the whole statement, where somebody wrote no number. */
#define ID_OF_REF "IF(ref REGEXP '^[0-9]{1,19}$', CAST(ref AS UNSIGNED), NULL)"

static const char *const cured_sql[] = {
	"UPDATE t_alert SET " RESOLVED_COLUMNS "WHERE kind = 'TASK_DEAD' AND " FIRING_FOR_A_WHILE
	"NOT EXISTS (SELECT 1 FROM t_compensation c "
	"WHERE c.id = " ID_OF_REF " AND c.status = 'DEAD')",
	"UPDATE t_alert SET " RESOLVED_COLUMNS "WHERE kind = 'ORDER_STUCK' AND " FIRING_FOR_A_WHILE
	"NOT EXISTS (SELECT 1 FROM t_order o "
	"WHERE o.order_no = t_alert.ref AND o.status = 'UNPAID')",
	"UPDATE t_alert SET " RESOLVED_COLUMNS
	"WHERE kind = 'OUTBOX_FAILED' AND " FIRING_FOR_A_WHILE "NOT EXISTS (SELECT 1 FROM "
	"t_outbox_event e WHERE e.id = " ID_OF_REF " AND e.status = 'FAILED')",
	"UPDATE t_alert SET " RESOLVED_COLUMNS "WHERE kind = 'THRESHOLD' AND " FIRING_FOR_A_WHILE
	"ref = '" ALERT_TEST_REF "'",
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

enum result alert_silence(struct db *db, uint64_t id, uint64_t for_ms, struct error *error)
{
	/* What waited for the end of the former silence waits for the new one. */
	static const char sql[] =
		"UPDATE t_alert SET next_attempt_at = IF(next_attempt_at = silenced_until, "
		"UTC_TIMESTAMP(3) + INTERVAL ? MICROSECOND, next_attempt_at), "
		"silenced_until = IF(? = 0, NULL, UTC_TIMESTAMP(3) + INTERVAL ? MICROSECOND), "
		"updated_at = UTC_TIMESTAMP(3) WHERE id = ? AND state = 'FIRING'";
	const struct db_param params[] = { db_uint(for_ms * 1000), db_uint(for_ms),
		db_uint(for_ms * 1000), db_uint(id) };
	uint64_t changed = 0;

	if (for_ms > HOURS(ALERT_SILENCE_MAX_H))
		return error_set(RESULT_PERMANENT, error, "a silence lasts at most %d hours",
			ALERT_SILENCE_MAX_H);
	enum result result = db_execute(db, sql, params, ARRAY_LENGTH(params), &changed, error);
	if (result == RESULT_OK && changed == 0)
		return error_set(RESULT_CONFLICT, error, "alert %" PRIu64 " is not firing", id);
	return error_context(result, error, "silence alert %" PRIu64, id);
}

enum result alert_send_again(struct db *db, uint64_t id, struct error *error)
{
	static const char sql[] =
		"UPDATE t_alert SET delivery_state = 'PENDING', attempts = GREATEST(attempts, 1), "
		"targets = NULL, last_error = NULL, next_attempt_at = UTC_TIMESTAMP(3), "
		"silenced_until = NULL, lease_token = NULL, lease_until = NULL, "
		"updated_at = UTC_TIMESTAMP(3) WHERE id = ?";
	const struct db_param params[] = { db_uint(id) };
	uint64_t changed = 0;
	enum result result = db_execute(db, sql, params, ARRAY_LENGTH(params), &changed, error);

	if (result == RESULT_OK && changed == 0)
		return error_set(RESULT_CONFLICT, error, "alert %" PRIu64 " is not there", id);
	return error_context(result, error, "send alert %" PRIu64 " again", id);
}
