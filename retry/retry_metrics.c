#include "retry/retry_metrics.h"

#include "common/base/text.h"
#include "common/io/http.h"
#include "retry/retry.h"

enum {
	/* Places are given once and never again, so that the reader of the page needs no lock; a
	 * subscriber file that names more hosts than this in one life has some without a gauge. */
	CIRCUIT_MAX = 128,
	LABELS_SIZE = 320,
	ALERT_RESULT_COUNT = ALERT_RESULT_RATE_LIMITED + 1,
	ALERT_NAME_MAX = 4 * ALERT_TARGET_MAX, /* of all settings that were read in one life */
	ALERT_SERIES_MAX = ALERT_NAME_MAX * ALERT_RESULT_COUNT,
};

enum family {
	FAMILY_CALLS,
	FAMILY_CALL_DURATION,
	FAMILY_CIRCUIT_OPEN,
	FAMILY_INFLIGHT,
	FAMILY_ALERTS,
	FAMILY_SUPPRESSED,
};

/* By kind, then by enum retry_call_result. */
static const char *const call_series[] = {
	"kind=\"stock_restore\",result=\"ok\"",
	"kind=\"stock_restore\",result=\"retry\"",
	"kind=\"stock_restore\",result=\"dead\"",
	"kind=\"stock_restore\",result=\"lease_lost\"",
	"kind=\"refund\",result=\"ok\"",
	"kind=\"refund\",result=\"retry\"",
	"kind=\"refund\",result=\"dead\"",
	"kind=\"refund\",result=\"lease_lost\"",
	"kind=\"webhook\",result=\"ok\"",
	"kind=\"webhook\",result=\"retry\"",
	"kind=\"webhook\",result=\"dead\"",
	"kind=\"webhook\",result=\"lease_lost\"",
	NULL,
};

static const char *const kind_series[] = { "kind=\"stock_restore\"", "kind=\"refund\"",
	"kind=\"webhook\"", NULL };

/* By enum retry_suppressed. */
static const char *const suppressed_series[] = { "reason=\"silence\"", "reason=\"group\"",
	"reason=\"repeat\"", NULL };

struct circuit {
	char host[HTTP_TARGET_SIZE];
	bool is_named; /* in the round that is going on */
	bool is_open;
};

static struct circuit circuits[CIRCUIT_MAX];
static size_t circuit_count;
static char circuit_labels[CIRCUIT_MAX][LABELS_SIZE];
static const char *circuit_series[CIRCUIT_MAX + 1];
static char alert_names[ALERT_NAME_MAX][ALERT_TARGET_NAME_SIZE];
static size_t alert_name_count;
static char alert_labels[ALERT_SERIES_MAX][LABELS_SIZE];
static const char *alert_series[ALERT_SERIES_MAX + 1];

const struct metric_family retry_metric_families[] = {
	[FAMILY_CALLS] = { .type = METRIC_TYPE_COUNTER,
		.name = "lapse_task_calls_total",
		.help = "Tasks called, by what came of it.",
		.series = call_series },
	[FAMILY_CALL_DURATION] = { .type = METRIC_TYPE_HISTOGRAM,
		.name = "lapse_task_call_duration_seconds",
		.help = "Time of one call.",
		.series = kind_series,
		.bounds = metrics_duration_bounds },
	[FAMILY_CIRCUIT_OPEN] = { .type = METRIC_TYPE_KNOWN_GAUGE,
		.name = "lapse_circuit_open",
		.help = "1 while calls of this host are held back.",
		.series = circuit_series },
	[FAMILY_INFLIGHT] = { .type = METRIC_TYPE_GAUGE,
		.name = "lapse_inflight",
		.help = "Tasks called and not settled yet." },
	[FAMILY_ALERTS] = { .type = METRIC_TYPE_KNOWN_COUNTER,
		.name = "lapse_alert_deliveries_total",
		.help = "Alert messages sent, by what came of it.",
		.series = alert_series },
	[FAMILY_SUPPRESSED] = { .type = METRIC_TYPE_COUNTER,
		.name = "lapse_alerts_suppressed_total",
		.help = "Alerts that got no message of their own, by the reason.",
		.series = suppressed_series },
	METRIC_END,
};

/* ALERT_NAME_MAX: it is none. */
static size_t find_alert_name(const char *name)
{
	for (size_t i = 0; i < alert_name_count; i++)
		if (text_equals(alert_names[i], name))
			return i;
	return ALERT_NAME_MAX;
}

static void add_alert_target(const char *name)
{
	if (find_alert_name(name) < ALERT_NAME_MAX || alert_name_count == ALERT_NAME_MAX)
		return;
	(void)text_copy(alert_names[alert_name_count], sizeof(alert_names[0]), name);
	for (size_t i = 0; i < ALERT_RESULT_COUNT; i++)
		/* Names are of [a-z0-9_], so nothing needs an escape. */
		(void)text_format(alert_labels[alert_name_count * ALERT_RESULT_COUNT + i],
			sizeof(alert_labels[0]), "target=\"%s\",result=\"%s\"", name,
			alert_result_names[i]);
	alert_name_count++;
}

void retry_metrics_name_series(const struct retry_settings *settings)
{
	/* Once: later on the ops thread reads them. */
	for (size_t i = 0; i < CIRCUIT_MAX && circuit_series[i] == NULL; i++)
		circuit_series[i] = circuit_labels[i];
	for (size_t i = 0; i < ALERT_SERIES_MAX && alert_series[i] == NULL; i++)
		alert_series[i] = alert_labels[i];
	for (size_t i = 0; i < settings->alert_targets.count; i++)
		add_alert_target(settings->alert_targets.items[i].name);
	retry_metrics_show_alerts();
}

void retry_metrics_show_alerts(void)
{
	for (size_t i = 0; i < alert_name_count * ALERT_RESULT_COUNT; i++)
		metrics_show(&retry_metric_families[FAMILY_ALERTS], i);
}

void retry_metrics_count_task(enum compensation_kind kind, enum retry_call_result result)
{
	metrics_add(&retry_metric_families[FAMILY_CALLS],
		(size_t)kind * RETRY_CALL_RESULT_COUNT + (size_t)result, 1);
}

void retry_metrics_note_call(enum compensation_kind kind, uint64_t duration_ms)
{
	metrics_observe(&retry_metric_families[FAMILY_CALL_DURATION], (size_t)kind,
		(double)duration_ms / 1000);
}

static struct circuit *find_circuit(const char *host)
{
	for (size_t i = 0; i < circuit_count; i++)
		if (text_equals(circuits[i].host, host))
			return &circuits[i];
	if (circuit_count == CIRCUIT_MAX)
		return NULL;
	struct circuit *circuit = &circuits[circuit_count];
	(void)text_copy(circuit->host, sizeof(circuit->host), host);
	(void)metrics_write_label(
		circuit_labels[circuit_count], sizeof(circuit_labels[0]), "target", host);
	circuit_count++;
	return circuit;
}

void retry_metrics_note_circuit(const char *host, bool is_open)
{
	struct circuit *circuit = find_circuit(host);

	if (circuit == NULL)
		return;
	circuit->is_open = is_open || (circuit->is_named && circuit->is_open);
	circuit->is_named = true;
}

void retry_metrics_show_circuits(void)
{
	const struct metric_family *family = &retry_metric_families[FAMILY_CIRCUIT_OPEN];

	for (size_t i = 0; i < circuit_count; i++) {
		if (circuits[i].is_named)
			metrics_set(family, i, circuits[i].is_open ? 1 : 0);
		else
			metrics_drop(family, i);
		circuits[i].is_named = false;
	}
}

void retry_metrics_count_alert(const char *target, enum alert_result result)
{
	size_t place = find_alert_name(target);

	if (place < ALERT_NAME_MAX)
		metrics_add(&retry_metric_families[FAMILY_ALERTS],
			place * ALERT_RESULT_COUNT + (size_t)result, 1);
}

void retry_metrics_set_inflight(uint64_t count)
{
	metrics_set(&retry_metric_families[FAMILY_INFLIGHT], 0, (double)count);
}

void retry_metrics_count_suppressed(enum retry_suppressed reason, uint64_t count)
{
	metrics_add(&retry_metric_families[FAMILY_SUPPRESSED], (size_t)reason, count);
}
