#include "retry/retry_metrics.h"

#include "common/base/text.h"
#include "common/io/http.h"
#include "common/order/subscriber.h"
#include "retry/retry.h"

enum {
	HOST_MAX = 2 + SUBSCRIBER_MAX,
	LABELS_SIZE = 320,
	ALERT_RESULT_COUNT = ALERT_RESULT_RATE_LIMITED + 1,
	ALERT_SERIES_MAX = ALERT_TARGET_MAX * ALERT_RESULT_COUNT,
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

/* Filled once, when the settings are known. */
static char hosts[HOST_MAX][HTTP_TARGET_SIZE];
static size_t host_count;
static char circuit_labels[HOST_MAX][LABELS_SIZE];
static const char *circuit_series[HOST_MAX + 1];
static char alert_names[ALERT_TARGET_MAX][ALERT_TARGET_NAME_SIZE];
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
	[FAMILY_CIRCUIT_OPEN] = { .type = METRIC_TYPE_GAUGE,
		.name = "lapse_circuit_open",
		.help = "1 while calls of this host are held back.",
		.series = circuit_series },
	[FAMILY_INFLIGHT] = { .type = METRIC_TYPE_GAUGE,
		.name = "lapse_inflight",
		.help = "Tasks called and not settled yet." },
	[FAMILY_ALERTS] = { .type = METRIC_TYPE_COUNTER,
		.name = "lapse_alert_deliveries_total",
		.help = "Alert messages sent, by what came of it.",
		.series = alert_series },
	[FAMILY_SUPPRESSED] = { .type = METRIC_TYPE_COUNTER,
		.name = "lapse_alerts_suppressed_total",
		.help = "Alerts that got no message of their own, by the reason.",
		.series = suppressed_series },
	METRIC_END,
};

static void add_host(const char *url)
{
	char host[HTTP_TARGET_SIZE];

	if (url == NULL)
		return;
	http_format_target(url, host, sizeof(host));
	for (size_t i = 0; i < host_count; i++)
		if (text_equals(hosts[i], host))
			return;
	(void)text_copy(hosts[host_count], sizeof(hosts[0]), host);
	(void)metrics_write_label(
		circuit_labels[host_count], sizeof(circuit_labels[0]), "target", host);
	circuit_series[host_count] = circuit_labels[host_count];
	circuit_series[++host_count] = NULL;
}

static void add_alert_target(const char *name)
{
	(void)text_copy(alert_names[alert_name_count], sizeof(alert_names[0]), name);
	for (size_t i = 0; i < ALERT_RESULT_COUNT; i++) {
		size_t place = alert_name_count * ALERT_RESULT_COUNT + i;

		/* Names are of [a-z0-9_], so nothing needs an escape. */
		(void)text_format(alert_labels[place], sizeof(alert_labels[0]),
			"target=\"%s\",result=\"%s\"", name, alert_result_names[i]);
		alert_series[place] = alert_labels[place];
		alert_series[place + 1] = NULL;
	}
	alert_name_count++;
}

/* Those of the file as it is at the start. */
static void add_subscribers(const struct retry_settings *settings)
{
	struct subscriber_list list = { .count = 0 };

	if (settings->webhooks_file == NULL ||
		subscriber_list_read(settings->webhooks_file, &list, NULL) != RESULT_OK)
		return;
	for (size_t i = 0; i < list.count; i++)
		add_host(list.items[i].url);
	subscriber_list_clear(&list);
}

void retry_metrics_name_series(const struct retry_settings *settings)
{
	alert_name_count = 0;
	alert_series[0] = NULL;
	/* Once: their number is fixed from then on. */
	if (host_count == 0) {
		add_host(settings->stock_url);
		add_host(settings->refund_url);
		add_subscribers(settings);
	}
	for (size_t i = 0; i < settings->alert_targets.count; i++)
		add_alert_target(settings->alert_targets.items[i].name);
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

void retry_metrics_set_circuit(const char *host, double open)
{
	for (size_t i = 0; i < host_count; i++)
		if (text_equals(hosts[i], host))
			metrics_set(&retry_metric_families[FAMILY_CIRCUIT_OPEN], i, open);
}

void retry_metrics_count_alert(const char *target, enum alert_result result)
{
	for (size_t i = 0; i < alert_name_count; i++)
		if (text_equals(alert_names[i], target))
			metrics_add(&retry_metric_families[FAMILY_ALERTS],
				i * ALERT_RESULT_COUNT + (size_t)result, 1);
}

void retry_metrics_set_inflight(uint64_t count)
{
	metrics_set(&retry_metric_families[FAMILY_INFLIGHT], 0, (double)count);
}

void retry_metrics_count_suppressed(enum retry_suppressed reason, uint64_t count)
{
	metrics_add(&retry_metric_families[FAMILY_SUPPRESSED], (size_t)reason, count);
}
