#include "console/thresholds.h"

#include <assert.h>
#include <stdlib.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/settings.h"
#include "common/base/text.h"

enum {
	SCRAPED_WITHIN_MS = 300000, /* then somebody else evaluates the rules */
	START_GRACE_MS = 60000,     /* for the first scrape of a console that has just started */
	CLOSES_MIN = 20,            /* a share of fewer says nothing */
	RULE_MAX = 16,
	DESCRIPTION_SIZE = 160,
};

enum written {
	WRITTEN_UNKNOWN, /* by whoever led before */
	WRITTEN_FIRING,
	WRITTEN_CLEAR,
};

struct rule_state {
	uint64_t since_ms; /* it holds; 0: it does not */
	enum written written;
};

struct thresholds {
	enum thresholds_mode mode;
	uint64_t start_ms;
	struct rule_state rules[RULE_MAX];
};

const char *const thresholds_mode_names[] = { "auto", "on", "off", NULL };

static_assert(ARRAY_LENGTH(thresholds_mode_names) == THRESHOLDS_MODE_OFF + 2, "mode names");

static bool is_known(const struct snapshot_figures *figures, enum snapshot_part part)
{
	return figures->parts[part].is_known;
}

static double to_seconds(uint64_t ms)
{
	return (double)ms / 1000;
}

static bool read_overdue(const struct snapshot_figures *figures,
	const struct thresholds_fleet *fleet, double *value_out)
{
	(void)fleet;
	*value_out = to_seconds(figures->overdue.oldest_ms);
	return is_known(figures, SNAPSHOT_PART_OVERDUE);
}

static bool read_lag(const struct snapshot_figures *figures, const struct thresholds_fleet *fleet,
	double *value_out)
{
	const struct snapshot_lateness *lateness = &figures->lateness[SNAPSHOT_WINDOW_MESSAGE];

	(void)fleet;
	*value_out = lateness->count > CLOSES_MIN ? (double)lateness->p99_ms / 1000 : 0;
	return is_known(figures, SNAPSHOT_PART_LATENESS);
}

/* Mode none has no messages that could be missed, and no queue that could miss a consumer. */
static bool is_sweep_only(const struct snapshot_figures *figures)
{
	return figures->mode == TOPOLOGY_MODE_NONE;
}

static bool read_missed(const struct snapshot_figures *figures,
	const struct thresholds_fleet *fleet, double *value_out)
{
	(void)fleet;
	*value_out = 0;
	if (!is_sweep_only(figures) && figures->sweep_closes > CLOSES_MIN)
		*value_out = (double)figures->sweep_closes / (double)figures->timeout_closes;
	return is_known(figures, SNAPSHOT_PART_SOURCES);
}

static bool read_consumers(const struct snapshot_figures *figures,
	const struct thresholds_fleet *fleet, double *value_out)
{
	(void)fleet;
	*value_out = 1;
	if (is_sweep_only(figures))
		return true;
	/* A queue that is gone has no consumer either, but who says that anybody ever was there? */
	*value_out = figures->queues[TOPOLOGY_ROLE_DUE].consumers;
	return is_known(figures, SNAPSHOT_PART_QUEUES) &&
	       figures->queues[TOPOLOGY_ROLE_DUE].is_there;
}

static bool read_outbox(const struct snapshot_figures *figures,
	const struct thresholds_fleet *fleet, double *value_out)
{
	(void)fleet;
	*value_out = to_seconds(figures->outbox_new.oldest_ms);
	return is_known(figures, SNAPSHOT_PART_OUTBOX);
}

static bool read_tasks(const struct snapshot_figures *figures, const struct thresholds_fleet *fleet,
	double *value_out)
{
	uint64_t oldest_ms = 0;

	(void)fleet;
	for (size_t kind = 0; kind < SNAPSHOT_KINDS; kind++) {
		const struct snapshot_pile *tasks = figures->tasks[kind];

		if (tasks[COMPENSATION_STATUS_PENDING].oldest_ms > oldest_ms)
			oldest_ms = tasks[COMPENSATION_STATUS_PENDING].oldest_ms;
		if (tasks[COMPENSATION_STATUS_DEAD].oldest_ms > oldest_ms)
			oldest_ms = tasks[COMPENSATION_STATUS_DEAD].oldest_ms;
	}
	*value_out = to_seconds(oldest_ms);
	return is_known(figures, SNAPSHOT_PART_TASKS);
}

static bool read_refunds(const struct snapshot_figures *figures,
	const struct thresholds_fleet *fleet, double *value_out)
{
	uint64_t oldest_ms = 0;

	(void)fleet;
	for (size_t i = 0; i < SNAPSHOT_OUTCOMES; i++)
		if (figures->refunds[i].oldest_ms > oldest_ms)
			oldest_ms = figures->refunds[i].oldest_ms;
	*value_out = to_seconds(oldest_ms);
	return is_known(figures, SNAPSHOT_PART_REFUNDS);
}

static bool read_parked(const struct snapshot_figures *figures,
	const struct thresholds_fleet *fleet, double *value_out)
{
	(void)fleet;
	*value_out = figures->queues[TOPOLOGY_ROLE_PARKED].ready;
	return is_known(figures, SNAPSHOT_PART_QUEUES);
}

static bool read_violations(const struct snapshot_figures *figures,
	const struct thresholds_fleet *fleet, double *value_out)
{
	(void)fleet;
	*value_out = 0;
	for (size_t i = 0; i < INVARIANT_COUNT; i++)
		if ((double)figures->violations[i] > *value_out)
			*value_out = (double)figures->violations[i];
	return is_known(figures, SNAPSHOT_PART_INVARIANTS);
}

static bool read_undelivered(const struct snapshot_figures *figures,
	const struct thresholds_fleet *fleet, double *value_out)
{
	(void)fleet;
	*value_out = to_seconds(figures->alerts_undelivered.oldest_ms);
	return is_known(figures, SNAPSHOT_PART_ALERTS);
}

/* The leader's figures are fresh as a whole; what it cannot see is a part of them. */
static bool read_blindness(const struct snapshot_figures *figures,
	const struct thresholds_fleet *fleet, double *value_out)
{
	uint64_t now_ms = clock_now_ms();

	(void)fleet;
	*value_out = 0;
	for (size_t i = 0; i < SNAPSHOT_PART_UNACKED; i++) {
		const struct snapshot_state *state = &figures->parts[i];
		uint64_t age_ms = now_ms - state->unknown_since_ms;

		if (!state->is_known && state->errors > 0 && to_seconds(age_ms) > *value_out)
			*value_out = to_seconds(age_ms);
	}
	return true;
}

/* As "up" of Prometheus: 0 when one is down. */
static bool read_down(const struct snapshot_figures *figures, const struct thresholds_fleet *fleet,
	double *value_out)
{
	(void)figures;
	*value_out = fleet->down > 0 ? 0 : 1;
	return fleet->is_known;
}

static bool read_versions(const struct snapshot_figures *figures,
	const struct thresholds_fleet *fleet, double *value_out)
{
	(void)figures;
	*value_out = fleet->versions;
	return fleet->is_known;
}

const struct threshold_rule threshold_rules[] = {
	{ "LapseOverdue", "orders are past their deadline and open", "s", read_overdue, 120,
		MINUTES(1), ALERT_SEVERITY_CRITICAL, false },
	{ "LapseLagHigh", "orders are closed late by message", "s", read_lag, THRESHOLDS_LAG_S,
		MINUTES(10), ALERT_SEVERITY_WARNING, false },
	{ "LapseMessagesMissed", "sweeps close what messages should have closed", "", read_missed,
		0.01, MINUTES(15), ALERT_SEVERITY_WARNING, false },
	{ "LapseNoConsumer", "nobody takes due timeouts", "", read_consumers, 0, MINUTES(1),
		ALERT_SEVERITY_CRITICAL, true },
	{ "LapseOutboxStuck", "outbox rows are not published", "s", read_outbox,
		THRESHOLDS_OUTBOX_S, MINUTES(2), ALERT_SEVERITY_CRITICAL, false },
	{ "LapseTasksOld", "compensation tasks wait for long", "s", read_tasks, THRESHOLDS_TASKS_S,
		MINUTES(5), ALERT_SEVERITY_WARNING, false },
	{ "LapseRefundOpen", "money has not gone back", "s", read_refunds, THRESHOLDS_REFUND_S, 0,
		ALERT_SEVERITY_CRITICAL, false },
	{ "LapseParked", "messages that cannot be used are parked", "", read_parked, 0, MINUTES(5),
		ALERT_SEVERITY_WARNING, false },
	{ "LapsePromiseBroken", "a promise is broken", "", read_violations, 0, 0,
		ALERT_SEVERITY_CRITICAL, false },
	{ "LapseAlertsUndelivered", "alerts do not reach anybody", "s", read_undelivered,
		THRESHOLDS_UNDELIVERED_S, 0, ALERT_SEVERITY_CRITICAL, false },
	{ "LapseBlind", "figures of the fleet cannot be taken", "s", read_blindness, 60, 0,
		ALERT_SEVERITY_CRITICAL, false },
	{ "LapseDown", "a process does not answer", "", read_down, 0, MINUTES(1),
		ALERT_SEVERITY_CRITICAL, true },
	{ "LapseVersionsMixed", "different versions are running", "", read_versions, 1, MINUTES(30),
		ALERT_SEVERITY_INFO, false },
};
const size_t threshold_rule_count = ARRAY_LENGTH(threshold_rules);

static_assert(ARRAY_LENGTH(threshold_rules) <= RULE_MAX, "room for every rule");

void thresholds_create(enum thresholds_mode mode, struct thresholds **thresholds_out)
{
	struct thresholds *thresholds = memory_allocate(sizeof(*thresholds));

	thresholds->mode = mode;
	thresholds->start_ms = clock_now_ms();
	*thresholds_out = thresholds;
}

void thresholds_destroy(struct thresholds **thresholds)
{
	free(*thresholds);
	*thresholds = NULL;
}

bool thresholds_is_active(const struct thresholds *thresholds, uint64_t scrape_age_ms)
{
	switch (thresholds->mode) {
	case THRESHOLDS_MODE_AUTO:
		return scrape_age_ms > SCRAPED_WITHIN_MS &&
		       clock_now_ms() - thresholds->start_ms >= START_GRACE_MS;
	case THRESHOLDS_MODE_ON:
		return true;
	case THRESHOLDS_MODE_OFF:
		return false;
	}
	return false;
}

void thresholds_forget(struct thresholds *thresholds)
{
	for (size_t i = 0; i < RULE_MAX; i++)
		thresholds->rules[i] = (struct rule_state){ .written = WRITTEN_UNKNOWN };
}

static enum result raise_alert(
	struct db *db, const struct threshold_rule *rule, double value, struct error *error)
{
	char description[DESCRIPTION_SIZE];
	const struct alert_notice notice = {
		.kind = ALERT_KIND_THRESHOLD,
		.severity = rule->severity,
		.ref = rule->name,
		.summary = rule->summary,
		.description = description,
	};

	(void)text_format(description, sizeof(description), "%.6g%s; the limit is %.6g%s", value,
		rule->unit, rule->limit, rule->unit);
	return alert_raise(db, &notice, error);
}

static enum result write_state(struct rule_state *state, enum written wanted, struct db *db,
	const struct threshold_rule *rule, double value, struct error *error)
{
	if (state->written == wanted)
		return RESULT_OK;
	enum result result = wanted == WRITTEN_FIRING
				     ? raise_alert(db, rule, value, error)
				     : alert_resolve(db, ALERT_KIND_THRESHOLD, rule->name, error);
	if (result != RESULT_OK)
		return result;
	if (wanted == WRITTEN_FIRING || state->written == WRITTEN_FIRING)
		log_info(log_event(wanted == WRITTEN_FIRING ? "threshold_fires"
							    : "threshold_resolved"),
			log_text("rule", rule->name));
	state->written = wanted;
	return RESULT_OK;
}

static bool holds(const struct threshold_rule *rule, double value)
{
	return rule->is_equal ? value == rule->limit : value > rule->limit;
}

enum result thresholds_evaluate(struct thresholds *thresholds, struct db *db,
	const struct thresholds_view *view, struct error *error)
{
	enum result result = RESULT_OK;

	for (size_t i = 0; i < threshold_rule_count && result == RESULT_OK; i++) {
		const struct threshold_rule *rule = &threshold_rules[i];
		struct rule_state *state = &thresholds->rules[i];
		double value = 0;

		if (view->is_active && !rule->read(view->figures, view->fleet, &value))
			continue; /* it cannot be told: it stays as it is */
		if (!view->is_active || !holds(rule, value)) {
			state->since_ms = 0;
			result = write_state(state, WRITTEN_CLEAR, db, rule, value, error);
			continue;
		}
		if (state->since_ms == 0)
			state->since_ms = view->now_ms;
		if (view->now_ms - state->since_ms >= rule->for_ms)
			result = write_state(state, WRITTEN_FIRING, db, rule, value, error);
	}
	return result;
}
