#include "producer/counts.h"

enum {
	PUBLISHED_COUNT = COUNTS_PUBLISHED_ERROR + 1
};

enum family {
	FAMILY_PUBLISHED,
	FAMILY_LAG,
	FAMILY_SKIPPED,
	FAMILY_MODE,
	FAMILY_INFLIGHT,
	FAMILY_COUNT,
};

#define BY_RESULT(what)                                                                  \
	"what=\"" what "\",result=\"confirmed\"", "what=\"" what "\",result=\"nacked\"", \
		"what=\"" what "\",result=\"timeout\"", "what=\"" what "\",result=\"error\""

static const char *const published_series[] = { BY_RESULT("timeout"), BY_RESULT("event"), NULL };
static const char *const what_series[] = { "what=\"timeout\"", "what=\"event\"", NULL };
static const char *const skipped_series[] = { "why=\"final\"", "why=\"no_deadline\"",
	"why=\"horizon\"", "why=\"no_delay\"", NULL };
static const char *const mode_series[] = { "mode=\"plugin\"", "mode=\"levels\"", "mode=\"none\"",
	NULL };
static const double lag_bounds[] = { 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
	60, 300, 0 };

const struct metric_family counts_metrics[] = {
	[FAMILY_PUBLISHED] = { METRIC_TYPE_COUNTER, "lapse_outbox_published_total",
		"Messages published, by what the broker said.", published_series, NULL },
	[FAMILY_LAG] = { METRIC_TYPE_HISTOGRAM, "lapse_outbox_lag_seconds",
		"Outbox row created until its message was confirmed.", what_series, lag_bounds },
	[FAMILY_SKIPPED] = { METRIC_TYPE_COUNTER, "lapse_outbox_skipped_total",
		"Timeouts that were not published, by the reason.", skipped_series, NULL },
	[FAMILY_MODE] = { METRIC_TYPE_GAUGE, "lapse_delay_mode", "1 for the mode in use.",
		mode_series, NULL },
	[FAMILY_INFLIGHT] = { METRIC_TYPE_GAUGE, "lapse_inflight",
		"Messages published and not yet confirmed.", NULL, NULL },
	[FAMILY_COUNT] = METRIC_END,
};

void counts_add_published(enum counts_what what, enum counts_published how)
{
	metrics_add(&counts_metrics[FAMILY_PUBLISHED], (size_t)what * PUBLISHED_COUNT + how, 1);
}

void counts_add_skipped(enum counts_skipped why)
{
	metrics_add(&counts_metrics[FAMILY_SKIPPED], why, 1);
}

void counts_observe_lag(enum counts_what what, uint64_t lag_ms)
{
	metrics_observe(&counts_metrics[FAMILY_LAG], what, (double)lag_ms / 1000);
}

void counts_set_mode(enum topology_mode mode)
{
	for (int i = TOPOLOGY_MODE_PLUGIN; i <= TOPOLOGY_MODE_NONE; i++)
		metrics_set(&counts_metrics[FAMILY_MODE], (size_t)(i - TOPOLOGY_MODE_PLUGIN),
			i == (int)mode ? 1 : 0);
}

void counts_set_inflight(size_t count)
{
	metrics_set(&counts_metrics[FAMILY_INFLIGHT], 0, (double)count);
}
