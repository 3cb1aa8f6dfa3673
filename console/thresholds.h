/*
 * thresholds - the alert rules of deploy/prometheus/rules.yml, evaluated over snapshots, for sites
 * without Prometheus.
 *
 * Only the console that leads evaluates.  A rule that holds for its time raises a THRESHOLD alert
 * whose ref is the rule's name; the alert is resolved when the rule holds no more.
 */
#ifndef CONSOLE_THRESHOLDS_H
#define CONSOLE_THRESHOLDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/result.h"
#include "common/order/alert.h"
#include "common/report/snapshot_figures.h"

struct db;
struct thresholds;

enum thresholds_mode {
	THRESHOLDS_MODE_AUTO, /* off while somebody scrapes /metrics of this console */
	THRESHOLDS_MODE_ON,
	THRESHOLDS_MODE_OFF,
};

/* "auto", "on", "off", ended by NULL. */
extern const char *const thresholds_mode_names[];

/* In seconds; the tiles of the overview turn at the same ones. */
enum {
	THRESHOLDS_LAG_S = 1,
	THRESHOLDS_OUTBOX_S = 60,
	THRESHOLDS_TASKS_S = 1800,
	THRESHOLDS_REFUND_S = 900,
	THRESHOLDS_UNDELIVERED_S = 600,
};

/* What is known of the processes. */
struct thresholds_fleet {
	bool is_known;
	uint32_t down;     /* processes that do not answer /livez */
	uint32_t versions; /* different ones among those that answer */
};

/* One rule.  read gives the figure to compare: false when it cannot be told now. */
struct threshold_rule {
	const char *name;
	const char *summary;
	const char *unit; /* "s" or "" */
	bool (*read)(const struct snapshot_figures *figures, const struct thresholds_fleet *fleet,
		double *value_out);
	double limit; /* fires above it; when is_equal: at it */
	uint64_t for_ms;
	enum alert_severity severity;
	bool is_equal;
};

extern const struct threshold_rule threshold_rules[];
extern const size_t threshold_rule_count;

void thresholds_create(enum thresholds_mode mode, struct thresholds **thresholds_out);
void thresholds_destroy(struct thresholds **thresholds);

/* Should rules be evaluated at the moment?  scrape_age_ms: since the last scrape, UINT64_MAX:
 * never. */
bool thresholds_is_active(const struct thresholds *thresholds, uint64_t scrape_age_ms);
/* What is to be judged. */
struct thresholds_view {
	const struct snapshot_figures *figures;
	const struct thresholds_fleet *fleet;
	uint64_t now_ms; /* clock_now_ms */
	bool is_active;  /* false: what fires is resolved */
};

/* One evaluation of all rules.  A rule whose figure is unknown keeps its state.  A failure is tried
 * again with the next call. */
MUST_USE enum result thresholds_evaluate(struct thresholds *thresholds, struct db *db,
	const struct thresholds_view *view, struct error *error);
/* Somebody else leads now: forgets what was written. */
void thresholds_forget(struct thresholds *thresholds);

#endif
