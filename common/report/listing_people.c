/* Lists of what people decide and are told: timeout rules, alerts, acts by hand. */
#include "common/base/compiler.h"
#include "common/report/listing_kind.h"
#include "common/report/rule_tally.h"

static const char key_form[] = "letters, digits and . _ : -";
static const char text_form[] = "a text of at most 128 bytes";
static const char time_form[] = "a time in UTC such as 2026-01-31T18:30:00Z";

static const struct listing_order newest_first = { " FORCE INDEX (PRIMARY)", LISTING_KEY_ID, "t.id",
	"id", true };

/* ---- rules */

#define IS_ENDED(alias) alias ".valid_to <= UTC_TIMESTAMP(3)"
#define IS_LATER(alias) alias ".valid_from > UTC_TIMESTAMP(3)"
static const struct listing_column rule_columns[] = {
	LISTING_ID_COLUMN(id),
	LISTING_TEXT_COLUMN(tenant),
	LISTING_TEXT_COLUMN(channel),
	LISTING_TEXT_COLUMN(activity),
	LISTING_TEXT_COLUMN(category),
	LISTING_NUMBER_COLUMN(priority),
	LISTING_OTHER_COLUMN(
		"timeout_seconds", NUMBER, LISTING_TEXT("COALESCE(x.timeout_seconds, 0)")),
	LISTING_OTHER_COLUMN("valid", TEXT,
		"IF(COALESCE(" IS_ENDED("x") ", FALSE), 'ended', IF(" IS_LATER(
			"x") ", 'later', 'now'))"),
	LISTING_TIME_COLUMN(valid_from),
	LISTING_TIME_COLUMN(valid_to),
	LISTING_OTHER_COLUMN("orders_24h", COUNT, "NULL"),
	LISTING_TIME_COLUMN(created_at),
};

static enum result read_tally(struct db *db, void **counts_out, struct error *error)
{
	struct rule_tally *tally = NULL;
	enum result result = rule_tally_read(db, &tally, error);

	*counts_out = tally;
	return result;
}

static bool find_tally(const void *counts, uint64_t id, uint64_t *count_out)
{
	return rule_tally_find(counts, id, count_out);
}

static void destroy_tally(void **counts)
{
	struct rule_tally *tally = *counts;

	rule_tally_destroy(&tally);
	*counts = NULL;
}

static const struct listing_tally rule_tally = { "orders_24h", read_tally, find_tally,
	destroy_tally };

static const char *const validities[] = { "now", "later", "ended", "all", NULL };
static const char *const validity_conditions[] = { "NOT COALESCE(" IS_ENDED(
							   "t") ", FALSE) AND NOT " IS_LATER("t"),
	"NOT COALESCE(" IS_ENDED("t") ", FALSE) AND " IS_LATER("t"), IS_ENDED("t"), "TRUE" };

enum rule_filter {
	RULE_FILTER_VALID,
	RULE_FILTER_TENANT,
	RULE_FILTER_CHANNEL,
	RULE_FILTER_ACTIVITY,
	RULE_FILTER_CATEGORY,
	RULE_FILTER_COUNT,
};
static const struct listing_filter rule_filters[] = {
	[RULE_FILTER_VALID] = { "valid", "when a rule is valid", validities },
	[RULE_FILTER_TENANT] = { "tenant", text_form, NULL },
	[RULE_FILTER_CHANNEL] = { "channel", text_form, NULL },
	[RULE_FILTER_ACTIVITY] = { "activity", text_form, NULL },
	[RULE_FILTER_CATEGORY] = { "category", text_form, NULL },
};
static const struct listing_condition rule_conditions[] = {
	[RULE_FILTER_VALID] = { LISTING_FORM_WORD, NULL, NULL, validity_conditions, "valid" },
	[RULE_FILTER_TENANT] = { LISTING_FORM_TEXT, "t.tenant = ?", NULL, NULL, "tenant" },
	[RULE_FILTER_CHANNEL] = { LISTING_FORM_TEXT, "t.channel = ?", NULL, NULL, "channel" },
	[RULE_FILTER_ACTIVITY] = { LISTING_FORM_TEXT, "t.activity = ?", NULL, NULL, "activity" },
	[RULE_FILTER_CATEGORY] = { LISTING_FORM_TEXT, "t.category = ?", NULL, NULL, "category" },
};
_Static_assert(ARRAY_LENGTH(rule_filters) == RULE_FILTER_COUNT &&
		       ARRAY_LENGTH(rule_conditions) == RULE_FILTER_COUNT,
	"each filter has its condition");

static size_t plan_rules(const struct listing_given *given,
	struct listing_stage stages[LISTING_STAGE_MAX], const char **words_out)
{
	stages[0] = (struct listing_stage){ "", &newest_first };
	if (given->values[RULE_FILTER_VALID] == NULL) {
		stages[0].sql = " AND NOT COALESCE(" IS_ENDED("t") ", FALSE)";
		*words_out = "valid now or later";
	}
	return 1;
}

const struct listing_kind listing_rules = {
	.name = "rules",
	.table = "t_timeout_rule",
	.columns = rule_columns,
	.column_count = ARRAY_LENGTH(rule_columns),
	.filters = rule_filters,
	.conditions = rule_conditions,
	.filter_count = RULE_FILTER_COUNT,
	.plan = plan_rules,
	.tally = &rule_tally,
};

/* ---- alerts */

#define ANNOTATION(name) "LEFT(JSON_UNQUOTE(JSON_EXTRACT(x.annotations, '$." name "')), 200)"
/* What is never tried again has a time far away. */
static const struct listing_column alert_columns[] = {
	LISTING_ID_COLUMN(id),
	LISTING_WORD_COLUMN(kind),
	LISTING_TEXT_COLUMN(ref),
	LISTING_WORD_COLUMN(severity),
	LISTING_WORD_COLUMN(state),
	LISTING_TIME_COLUMN(fired_at),
	LISTING_NUMBER_COLUMN(fired_count),
	LISTING_TIME_COLUMN(resolved_at),
	LISTING_OTHER_COLUMN("silenced_until", TIME,
		"IF(x.silenced_until > UTC_TIMESTAMP(3), " LISTING_TIME(
			"x.silenced_until") ", NULL)"),
	LISTING_WORD_COLUMN(delivery_state),
	LISTING_NUMBER_COLUMN(attempts),
	LISTING_OTHER_COLUMN("next_attempt_at", TIME,
		"IF(x.next_attempt_at < '9000-01-01', " LISTING_TIME(
			"x.next_attempt_at") ", NULL)"),
	LISTING_OTHER_COLUMN("order_no", TEXT, ANNOTATION("order_no")),
	LISTING_OTHER_COLUMN("summary", TEXT, ANNOTATION("summary")),
	LISTING_ERROR_COLUMN,
};

static const char *const alert_states[] = { "FIRING", "RESOLVED", "all", NULL };
static const char *const alert_kinds[] = { "TASK_DEAD", "ORDER_STUCK", "OUTBOX_FAILED", "THRESHOLD",
	NULL };
static const char *const severities[] = { "info", "warning", "critical", NULL };
static const char *const deliveries[] = { "PENDING", "SENT", "FAILED", NULL };

enum alert_filter {
	ALERT_FILTER_STATE,
	ALERT_FILTER_KIND,
	ALERT_FILTER_SEVERITY,
	ALERT_FILTER_DELIVERY,
	ALERT_FILTER_TARGET,
	ALERT_FILTER_REF,
	ALERT_FILTER_COUNT,
};
static const struct listing_filter alert_filters[] = {
	[ALERT_FILTER_STATE] = { "state", "a state", alert_states },
	[ALERT_FILTER_KIND] = { "kind", "a kind", alert_kinds },
	[ALERT_FILTER_SEVERITY] = { "severity", "a severity", severities },
	[ALERT_FILTER_DELIVERY] = { "delivery", "a state of the delivery", deliveries },
	[ALERT_FILTER_TARGET] = { "target", "the name of an alert target", NULL },
	[ALERT_FILTER_REF] = { "ref", "a task id, an order number or a rule", NULL },
};
static const struct listing_condition alert_conditions[] = {
	[ALERT_FILTER_STATE] = { LISTING_FORM_WORD, "t.state = ?", NULL, NULL, "state" },
	[ALERT_FILTER_KIND] = { LISTING_FORM_WORD, "t.kind = ?", NULL, NULL, "kind" },
	[ALERT_FILTER_SEVERITY] = { LISTING_FORM_WORD, "t.severity = ?", NULL, NULL, "severity" },
	[ALERT_FILTER_DELIVERY] = { LISTING_FORM_WORD, "t.delivery_state = ?", NULL, NULL,
		"delivery" },
	[ALERT_FILTER_TARGET] = { LISTING_FORM_KEY,
		"JSON_CONTAINS_PATH(t.targets, 'one', CONCAT('$.\"', ?, '\"'))", NULL, NULL,
		"target" },
	[ALERT_FILTER_REF] = { LISTING_FORM_KEY, "t.ref = ?", NULL, NULL, "ref" },
};
_Static_assert(ARRAY_LENGTH(alert_filters) == ALERT_FILTER_COUNT &&
		       ARRAY_LENGTH(alert_conditions) == ALERT_FILTER_COUNT,
	"each filter has its condition");

static size_t plan_alerts(const struct listing_given *given,
	struct listing_stage stages[LISTING_STAGE_MAX], const char **words_out)
{
	stages[0] = (struct listing_stage){ "", &newest_first };
	if (given->values[ALERT_FILTER_STATE] == NULL) {
		stages[0].sql = " AND t.state = 'FIRING'";
		*words_out = "state FIRING";
	}
	return 1;
}

const struct listing_kind listing_alerts = {
	.name = "alerts",
	.table = "t_alert",
	.columns = alert_columns,
	.column_count = ARRAY_LENGTH(alert_columns),
	.filters = alert_filters,
	.conditions = alert_conditions,
	.filter_count = ALERT_FILTER_COUNT,
	.plan = plan_alerts,
};

/* ---- audit */

static const struct listing_column audit_columns[] = {
	LISTING_ID_COLUMN(id),
	LISTING_TIME_COLUMN(at),
	LISTING_TEXT_COLUMN(actor),
	LISTING_WORD_COLUMN(role),
	LISTING_WORD_COLUMN(auth),
	LISTING_TEXT_COLUMN(action),
	LISTING_TEXT_COLUMN(target_type),
	LISTING_TEXT_COLUMN(target_id),
	LISTING_WORD_COLUMN(result),
	LISTING_TEXT_COLUMN(reason_code),
	LISTING_TEXT_COLUMN(reason_text),
	LISTING_TEXT_COLUMN(error),
	LISTING_TEXT_COLUMN(ip),
	LISTING_TEXT_COLUMN(request_id),
	LISTING_TEXT_COLUMN(bulk_id),
};

static const char *const results[] = { "ok", "refused", "conflict", "error", NULL };

enum audit_filter {
	AUDIT_FILTER_ACTOR,
	AUDIT_FILTER_ACT,
	AUDIT_FILTER_TARGET,
	AUDIT_FILTER_RESULT,
	AUDIT_FILTER_FROM,
	AUDIT_FILTER_TO,
	AUDIT_FILTER_REQUEST,
	AUDIT_FILTER_BULK,
	AUDIT_FILTER_COUNT,
};
static const struct listing_filter audit_filters[] = {
	[AUDIT_FILTER_ACTOR] = { "actor", text_form, NULL },
	[AUDIT_FILTER_ACT] = { "act", "an act such as requeue", NULL },
	[AUDIT_FILTER_TARGET] = { "target", "a type such as task, or task:12", NULL },
	[AUDIT_FILTER_RESULT] = { "result", "a result", results },
	[AUDIT_FILTER_FROM] = { "from", time_form, NULL },
	[AUDIT_FILTER_TO] = { "to", time_form, NULL },
	[AUDIT_FILTER_REQUEST] = { "request", key_form, NULL },
	[AUDIT_FILTER_BULK] = { "bulk", key_form, NULL },
};
static const struct listing_condition audit_conditions[] = {
	[AUDIT_FILTER_ACTOR] = { LISTING_FORM_TEXT, "t.actor = ?", NULL, NULL, "actor" },
	[AUDIT_FILTER_ACT] = { LISTING_FORM_KEY, "t.action = ?", NULL, NULL, "act" },
	[AUDIT_FILTER_TARGET] = { LISTING_FORM_TARGET, "t.target_type = ?", "t.target_id = ?", NULL,
		"target" },
	[AUDIT_FILTER_RESULT] = { LISTING_FORM_WORD, "t.result = ?", NULL, NULL, "result" },
	[AUDIT_FILTER_FROM] = { LISTING_FORM_TIME, "t.at >= CAST(? AS DATETIME(3))", NULL, NULL,
		"from" },
	[AUDIT_FILTER_TO] = { LISTING_FORM_TIME, "t.at < CAST(? AS DATETIME(3))", NULL, NULL,
		"before" },
	[AUDIT_FILTER_REQUEST] = { LISTING_FORM_KEY, "t.request_id = ?", NULL, NULL, "request" },
	[AUDIT_FILTER_BULK] = { LISTING_FORM_KEY, "t.bulk_id = ?", NULL, NULL, "bulk" },
};
_Static_assert(ARRAY_LENGTH(audit_filters) == AUDIT_FILTER_COUNT &&
		       ARRAY_LENGTH(audit_conditions) == AUDIT_FILTER_COUNT,
	"each filter has its condition");

static const struct listing_order any_index = { "", LISTING_KEY_ID, "t.id", "id", true };

static size_t plan_audit(const struct listing_given *given,
	struct listing_stage stages[LISTING_STAGE_MAX], const char **words_out)
{
	bool has_index = given->values[AUDIT_FILTER_TARGET] != NULL ||
			 given->values[AUDIT_FILTER_REQUEST] != NULL ||
			 given->values[AUDIT_FILTER_FROM] != NULL ||
			 given->values[AUDIT_FILTER_TO] != NULL;

	(void)words_out;
	stages[0] = (struct listing_stage){ "", has_index ? &any_index : &newest_first };
	return 1;
}

const struct listing_kind listing_audit = {
	.name = "audit",
	.table = "t_operator_audit",
	.columns = audit_columns,
	.column_count = ARRAY_LENGTH(audit_columns),
	.filters = audit_filters,
	.conditions = audit_conditions,
	.filter_count = AUDIT_FILTER_COUNT,
	.plan = plan_audit,
};
