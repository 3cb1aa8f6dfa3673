#include "common/report/close_report.h"

#include "common/base/log.h"
#include "common/order/alert.h"
#include "common/report/contract.h"
#include "common/service/metrics.h"

enum {
	SOURCE_COUNT = CLOSE_SOURCE_CONSOLE + 1
};

enum family {
	FAMILY_CLOSED,
	FAMILY_LAG,
	FAMILY_OUTCOMES,
	FAMILY_DURATION,
	FAMILY_BATCH,
	FAMILY_REPEATS,
	FAMILY_COUNT,
};

#define BY_SOURCE(reason)                                                                     \
	"reason=\"" reason "\",source=\"message\"", "reason=\"" reason "\",source=\"sweep\"", \
		"reason=\"" reason "\",source=\"api\"", "reason=\"" reason "\",source=\"console\""

#define BY_OUTCOME(source)                                          \
	"source=\"" source "\",outcome=\"closed\"",                 \
		"source=\"" source "\",outcome=\"already_paid\"",   \
		"source=\"" source "\",outcome=\"already_closed\"", \
		"source=\"" source "\",outcome=\"not_due\"",        \
		"source=\"" source "\",outcome=\"not_found\"",      \
		"source=\"" source "\",outcome=\"locked\"",         \
		"source=\"" source "\",outcome=\"parked\""

static const char *const closed_series[] = { BY_SOURCE("timeout"), BY_SOURCE("user_cancel"),
	BY_SOURCE("operator"), NULL };
static const char *const outcome_series[] = { BY_OUTCOME("message"), BY_OUTCOME("sweep"),
	BY_OUTCOME("api"), BY_OUTCOME("console"), NULL };
static const char *const source_series[] = { "source=\"message\"", "source=\"sweep\"",
	"source=\"api\"", "source=\"console\"", NULL };
static const char *const lag_series[] = { "source=\"message\"", "source=\"sweep\"", NULL };
static const char *const repeat_series[] = { "cause=\"deadlock\"", "cause=\"lock_wait\"",
	"cause=\"changed\"", "cause=\"connection\"", "cause=\"split\"", NULL };

static const double lag_bounds[] = { 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60,
	120, 300, 1800, 14400, 0 };
static const double batch_bounds[] = { 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 0 };

static const struct metric_family families[] = {
	[FAMILY_CLOSED] = { METRIC_TYPE_COUNTER, "lapse_orders_closed_total",
		"Orders closed by this process, counted after the commit.", closed_series, NULL },
	[FAMILY_LAG] = { METRIC_TYPE_HISTOGRAM, "lapse_close_lag_seconds",
		"Close time minus deadline of timeout closes, as MySQL stored both.", lag_series,
		lag_bounds },
	[FAMILY_OUTCOMES] = { METRIC_TYPE_COUNTER, "lapse_close_outcomes_total",
		"Orders looked at, by what came of it.", outcome_series, NULL },
	[FAMILY_DURATION] = { METRIC_TYPE_HISTOGRAM, "lapse_close_duration_seconds",
		"Time in the transactions of one batch.", source_series, metrics_duration_bounds },
	[FAMILY_BATCH] = { METRIC_TYPE_HISTOGRAM, "lapse_close_batch_orders", "Orders per batch.",
		source_series, batch_bounds },
	[FAMILY_REPEATS] = { METRIC_TYPE_COUNTER, "lapse_close_repeats_total",
		"Batches done again, by cause.", repeat_series, NULL },
	[FAMILY_COUNT] = METRIC_END,
};

void close_report_register(void)
{
	metrics_register(families);
	contract_register();
}

void close_report_count(
	const struct close_request *request, const struct close_order *orders, size_t count)
{
	const struct close_report *report = request->report;
	uint64_t outcomes[CLOSE_OUTCOME_COUNT] = { 0 };

	for (size_t i = 0; i < count; i++) {
		outcomes[orders[i].outcome]++;
		if (orders[i].outcome == CLOSE_OUTCOME_CLOSED &&
			request->reason == CLOSE_REASON_TIMEOUT)
			metrics_observe(&families[FAMILY_LAG], request->source,
				(double)orders[i].lag_ms / 1000);
	}
	for (size_t i = 0; i < CLOSE_OUTCOME_COUNT; i++)
		metrics_add(&families[FAMILY_OUTCOMES],
			(size_t)request->source * CLOSE_OUTCOME_COUNT + i, outcomes[i]);
	metrics_add(&families[FAMILY_CLOSED],
		(size_t)request->reason * SOURCE_COUNT + request->source,
		outcomes[CLOSE_OUTCOME_CLOSED]);
	for (size_t i = 0; i < CLOSE_REPEAT_COUNT; i++)
		metrics_add(&families[FAMILY_REPEATS], i, report->repeats[i]);
	contract_count(CONTRACT_CHECK_CLOSE_COUNT, report->count_violations);
	contract_count(CONTRACT_CHECK_CLOSE_EARLY, report->early_violations);
	if (count == 0)
		return;
	metrics_observe(
		&families[FAMILY_DURATION], request->source, (double)report->transaction_us / 1e6);
	metrics_observe(&families[FAMILY_BATCH], request->source, (double)count);
}

enum result close_report_alert(
	struct db *db, const struct close_order *orders, size_t count, struct error *error)
{
	for (size_t i = 0; i < count; i++) {
		const struct alert_notice notice = {
			.kind = ALERT_KIND_ORDER_STUCK,
			.severity = ALERT_SEVERITY_CRITICAL,
			.ref = orders[i].order_no,
			.order_no = orders[i].order_no,
			.summary = "an order cannot be closed",
			.description = orders[i].error,
		};

		if (orders[i].outcome != CLOSE_OUTCOME_FAILED)
			continue;
		log_error(log_event("order_stuck"), log_text("order_no", orders[i].order_no),
			log_text("error", orders[i].error));
		enum result result = alert_raise(db, &notice, error);
		if (result != RESULT_OK)
			return result;
	}
	return RESULT_OK;
}
