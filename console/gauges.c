#include "console/gauges.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "common/base/text.h"
#include "common/service/metrics.h"

enum {
	LABELS_SIZE = 160,
	KIND_COUNT = SNAPSHOT_KINDS,
	STATUS_COUNT = 3, /* of those that are exported */
	OUTCOME_COUNT = SNAPSHOT_OUTCOMES - 1,
};

enum family {
	FAMILY_WAITING,
	FAMILY_OVERDUE,
	FAMILY_OVERDUE_AGE,
	FAMILY_QUEUE_MESSAGES,
	FAMILY_QUEUE_CONSUMERS,
	FAMILY_OUTBOX,
	FAMILY_OUTBOX_AGE,
	FAMILY_TASKS,
	FAMILY_TASKS_AGE,
	FAMILY_REFUNDS,
	FAMILY_REFUNDS_AGE,
	FAMILY_ALERTS,
	FAMILY_ALERTS_AGE,
	FAMILY_VIOLATIONS,
	FAMILY_TIMESTAMP,
	FAMILY_DURATION,
	FAMILY_FLEET_END, /* what stands above comes from the leader only */
	FAMILY_LEADER = FAMILY_FLEET_END,
	FAMILY_ERRORS,
	FAMILY_COUNT,
};

#define BY_STATUS(kind)                                                                 \
	"kind=\"" kind "\",status=\"pending\"", "kind=\"" kind "\",status=\"running\"", \
		"kind=\"" kind "\",status=\"dead\""

static const char *const outbox_series[] = { "status=\"new\"", "status=\"failed\"", NULL };
static const char *const task_series[] = { BY_STATUS("stock_restore"), BY_STATUS("refund"),
	BY_STATUS("webhook"), NULL };
static const enum compensation_status statuses[STATUS_COUNT] = { COMPENSATION_STATUS_PENDING,
	COMPENSATION_STATUS_RUNNING, COMPENSATION_STATUS_DEAD };
static const char *const refund_series[] = { "outcome=\"late\"", "outcome=\"duplicate\"",
	"outcome=\"mismatch\"", "outcome=\"unknown_order\"", NULL };
static const char *const alert_series[] = { "state=\"firing\"", "state=\"undelivered\"",
	"state=\"silenced\"", NULL };

static_assert(ARRAY_LENGTH(task_series) == KIND_COUNT * STATUS_COUNT + 1, "kinds and statuses");
static_assert(ARRAY_LENGTH(refund_series) == OUTCOME_COUNT + 1, "outcomes");

/* Filled once, by gauges_register. */
static char queue_labels[TOPOLOGY_QUEUE_MAX * 2][LABELS_SIZE];
static char consumer_labels[TOPOLOGY_QUEUE_MAX][LABELS_SIZE];
static char check_labels[INVARIANT_COUNT][LABELS_SIZE];
static char error_labels[SNAPSHOT_PART_COUNT][LABELS_SIZE];
static const char *queue_series[TOPOLOGY_QUEUE_MAX * 2 + 1];
static const char *consumer_series[TOPOLOGY_QUEUE_MAX + 1];
static const char *check_series[INVARIANT_COUNT + 1];
static const char *error_series[SNAPSHOT_PART_COUNT + 1];

#define FLEET_GAUGE(metric, words, labels)                                          \
	{                                                                           \
		.type = METRIC_TYPE_KNOWN_GAUGE, .name = (metric), .help = (words), \
		.series = (labels)                                                  \
	}

static const struct metric_family families[] = {
	[FAMILY_WAITING] =
		FLEET_GAUGE("lapse_orders_waiting", "Unpaid orders whose deadline is ahead.", NULL),
	[FAMILY_OVERDUE] = FLEET_GAUGE("lapse_orders_overdue",
		"Unpaid orders past their deadline by more than the grace.", NULL),
	[FAMILY_OVERDUE_AGE] = FLEET_GAUGE("lapse_orders_overdue_oldest_age_seconds",
		"How long the oldest of them is past its deadline.", NULL),
	[FAMILY_QUEUE_MESSAGES] = FLEET_GAUGE(
		"lapse_queue_messages", "Messages in the queues of the broker.", queue_series),
	[FAMILY_QUEUE_CONSUMERS] =
		FLEET_GAUGE("lapse_queue_consumers", "Consumers of the queues.", consumer_series),
	[FAMILY_OUTBOX] = FLEET_GAUGE("lapse_outbox_backlog",
		"Outbox rows to be published now, or never.", outbox_series),
	[FAMILY_OUTBOX_AGE] = FLEET_GAUGE("lapse_outbox_oldest_age_seconds",
		"How long the oldest of them has been due.", outbox_series),
	[FAMILY_TASKS] = FLEET_GAUGE(
		"lapse_tasks", "Compensation tasks that are not finished.", task_series),
	[FAMILY_TASKS_AGE] = FLEET_GAUGE("lapse_tasks_oldest_age_seconds",
		"Age of the oldest one since it was created; dead: since it died.", task_series),
	[FAMILY_REFUNDS] = FLEET_GAUGE(
		"lapse_refunds_open", "Payments whose money has not gone back.", refund_series),
	[FAMILY_REFUNDS_AGE] = FLEET_GAUGE("lapse_refunds_oldest_age_seconds",
		"Age of the oldest one since its notice.", refund_series),
	[FAMILY_ALERTS] = FLEET_GAUGE("lapse_alerts", "Alerts by state.", alert_series),
	[FAMILY_ALERTS_AGE] = FLEET_GAUGE("lapse_alerts_oldest_undelivered_age_seconds",
		"How long the oldest undelivered alert has waited.", NULL),
	[FAMILY_VIOLATIONS] = FLEET_GAUGE("lapse_invariant_violations",
		"Broken promises found in the tables of the last hour; 0 expected.", check_series),
	[FAMILY_TIMESTAMP] = FLEET_GAUGE("lapse_snapshot_timestamp_seconds",
		"When the figures of the fleet were taken, since 1970.", NULL),
	[FAMILY_DURATION] =
		FLEET_GAUGE("lapse_snapshot_duration_seconds", "How long taking them took.", NULL),
	[FAMILY_LEADER] = { .type = METRIC_TYPE_GAUGE,
		.name = "lapse_snapshot_leader",
		.help = "1 on the console that exports the figures of the fleet." },
	[FAMILY_ERRORS] = { .type = METRIC_TYPE_MEASURED,
		.name = "lapse_snapshot_errors_total",
		.help = "Figures that could not be taken.",
		.series = error_series },
	[FAMILY_COUNT] = METRIC_END,
};

/* The label of a queue does not depend on LAPSE_AMQP_PREFIX, so that rules need not know it. */
static const char *find_ending(const char *name)
{
	static const char *const endings[] = { ".timeout.due", ".parked", ".events.webhooks",
		".delay." };

	for (size_t i = 0; i < ARRAY_LENGTH(endings); i++) {
		const char *found = NULL;

		for (const char *next = strstr(name, endings[i]); next != NULL;
			next = strstr(next + 1, endings[i]))
			found = next;
		if (found != NULL)
			return found;
	}
	return name;
}

static void name_queue(size_t place, const struct topology_queue *queue)
{
	const char *ending = find_ending(queue->name);

	(void)text_format(
		queue_labels[place * 2], LABELS_SIZE, "queue=\"lapse%s\",state=\"ready\"", ending);
	(void)text_format(queue_labels[place * 2 + 1], LABELS_SIZE,
		"queue=\"lapse%s\",state=\"unacked\"", ending);
	(void)text_format(consumer_labels[place], LABELS_SIZE, "queue=\"lapse%s\"", ending);
	queue_series[place * 2] = queue_labels[place * 2];
	queue_series[place * 2 + 1] = queue_labels[place * 2 + 1];
	consumer_series[place] = consumer_labels[place];
}

void gauges_register(const struct topology_queue *queues, size_t queue_count)
{
	for (size_t i = 0; i < queue_count; i++)
		name_queue(i, &queues[i]);
	for (size_t i = 0; i < INVARIANT_COUNT; i++) {
		(void)text_format(
			check_labels[i], LABELS_SIZE, "check=\"%s\"", invariant_infos[i].name);
		check_series[i] = check_labels[i];
	}
	for (size_t i = 0; i < SNAPSHOT_PART_COUNT; i++) {
		(void)text_format(
			error_labels[i], LABELS_SIZE, "query=\"%s\"", snapshot_part_names[i]);
		error_series[i] = error_labels[i];
	}
	metrics_register(families);
}

static void set(enum family family, size_t series, double value)
{
	metrics_set(&families[family], series, value);
}

static void set_pile(
	enum family count, enum family age, size_t series, const struct snapshot_pile *pile)
{
	set(count, series, (double)pile->count);
	set(age, series, (double)pile->oldest_ms / 1000);
}

static void drop(enum family first, enum family last)
{
	for (int family = (int)first; family <= (int)last; family++)
		metrics_drop_all(&families[family]);
}

static bool is_known(const struct snapshot_figures *figures, enum snapshot_part part)
{
	return figures->parts[part].is_known;
}

static void set_orders(const struct snapshot_figures *figures)
{
	if (is_known(figures, SNAPSHOT_PART_WAITING))
		set(FAMILY_WAITING, 0, (double)figures->waiting);
	else
		drop(FAMILY_WAITING, FAMILY_WAITING);
	if (is_known(figures, SNAPSHOT_PART_OVERDUE))
		set_pile(FAMILY_OVERDUE, FAMILY_OVERDUE_AGE, 0, &figures->overdue);
	else
		drop(FAMILY_OVERDUE, FAMILY_OVERDUE_AGE);
}

/* A queue that is not there has no figures, and is not empty. */
static void set_queues(const struct snapshot_figures *figures)
{
	bool has_queues = is_known(figures, SNAPSHOT_PART_QUEUES);
	bool has_unacked = is_known(figures, SNAPSHOT_PART_UNACKED);

	for (size_t i = 0; i < figures->queue_count; i++) {
		const struct snapshot_queue *queue = &figures->queues[i];

		if (has_queues && queue->is_there) {
			set(FAMILY_QUEUE_MESSAGES, i * 2, queue->ready);
			set(FAMILY_QUEUE_CONSUMERS, i, queue->consumers);
		} else {
			metrics_drop(&families[FAMILY_QUEUE_MESSAGES], i * 2);
			metrics_drop(&families[FAMILY_QUEUE_CONSUMERS], i);
		}
		if (has_queues && has_unacked && queue->is_there)
			set(FAMILY_QUEUE_MESSAGES, i * 2 + 1, (double)queue->unacked);
		else
			metrics_drop(&families[FAMILY_QUEUE_MESSAGES], i * 2 + 1);
	}
}

static void set_outbox(const struct snapshot_figures *figures)
{
	if (!is_known(figures, SNAPSHOT_PART_OUTBOX)) {
		drop(FAMILY_OUTBOX, FAMILY_OUTBOX_AGE);
		return;
	}
	set_pile(FAMILY_OUTBOX, FAMILY_OUTBOX_AGE, 0, &figures->outbox_new);
	set_pile(FAMILY_OUTBOX, FAMILY_OUTBOX_AGE, 1, &figures->outbox_failed);
}

static void set_tasks(const struct snapshot_figures *figures)
{
	if (!is_known(figures, SNAPSHOT_PART_TASKS)) {
		drop(FAMILY_TASKS, FAMILY_TASKS_AGE);
		return;
	}
	for (size_t kind = 0; kind < KIND_COUNT; kind++)
		for (size_t i = 0; i < STATUS_COUNT; i++)
			set_pile(FAMILY_TASKS, FAMILY_TASKS_AGE, kind * STATUS_COUNT + i,
				&figures->tasks[kind][statuses[i]]);
}

static void set_refunds(const struct snapshot_figures *figures)
{
	if (!is_known(figures, SNAPSHOT_PART_REFUNDS)) {
		drop(FAMILY_REFUNDS, FAMILY_REFUNDS_AGE);
		return;
	}
	for (size_t i = 0; i < OUTCOME_COUNT; i++)
		set_pile(FAMILY_REFUNDS, FAMILY_REFUNDS_AGE, i,
			&figures->refunds[PAYMENT_OUTCOME_LATE + i]);
}

static void set_alerts(const struct snapshot_figures *figures)
{
	if (!is_known(figures, SNAPSHOT_PART_ALERTS)) {
		drop(FAMILY_ALERTS, FAMILY_ALERTS_AGE);
		return;
	}
	set(FAMILY_ALERTS, 0, (double)figures->alerts_firing);
	set(FAMILY_ALERTS, 1, (double)figures->alerts_undelivered.count);
	set(FAMILY_ALERTS, 2, (double)figures->alerts_silenced);
	set(FAMILY_ALERTS_AGE, 0, (double)figures->alerts_undelivered.oldest_ms / 1000);
}

static void set_violations(const struct snapshot_figures *figures)
{
	if (!is_known(figures, SNAPSHOT_PART_INVARIANTS)) {
		drop(FAMILY_VIOLATIONS, FAMILY_VIOLATIONS);
		return;
	}
	for (size_t i = 0; i < INVARIANT_COUNT; i++)
		set(FAMILY_VIOLATIONS, i, (double)figures->violations[i]);
}

void gauges_update(const struct snapshot_figures *figures, bool is_leader)
{
	set(FAMILY_LEADER, 0, is_leader ? 1 : 0);
	for (size_t i = 0; i < SNAPSHOT_PART_COUNT; i++)
		set(FAMILY_ERRORS, i, (double)figures->parts[i].errors);
	if (!is_leader || figures->number == 0) {
		drop(FAMILY_WAITING, FAMILY_FLEET_END - 1);
		return;
	}
	set_orders(figures);
	set_queues(figures);
	set_outbox(figures);
	set_tasks(figures);
	set_refunds(figures);
	set_alerts(figures);
	set_violations(figures);
	set(FAMILY_TIMESTAMP, 0, (double)figures->taken_epoch_ms / 1000);
	set(FAMILY_DURATION, 0, (double)figures->duration_ms / 1000);
}
