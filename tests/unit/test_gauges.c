/* gauges: the leader exports what is known, and nobody exports what is not. */
#include <stdlib.h>
#include <string.h>

#include "common/base/compiler.h"
#include "common/base/text.h"
#include "common/service/metrics.h"
#include "console/gauges.h"
#include "tests/support/runner.h"

static const struct topology_queue queues[] = {
	{ TOPOLOGY_ROLE_DUE, "shop.one.timeout.due" },
	{ TOPOLOGY_ROLE_PARKED, "shop.one.parked" },
	{ TOPOLOGY_ROLE_WEBHOOKS, "shop.one.events.webhooks" },
	{ TOPOLOGY_ROLE_LEVEL, "shop.one.delay.00" },
	{ TOPOLOGY_ROLE_FIXED, "shop.one.delay.fixed.1799800" },
};

static struct snapshot_figures figures;

/* Everything is known. */
static void set_up(void)
{
	metrics_open();
	gauges_register(queues, ARRAY_LENGTH(queues));
	figures = (struct snapshot_figures){ .number = 1,
		.taken_epoch_ms = 1796048873250,
		.duration_ms = 40,
		.waiting = 7,
		.overdue = { 2, 1500 },
		.queue_count = ARRAY_LENGTH(queues) };
	for (size_t i = 0; i < SNAPSHOT_PART_COUNT; i++)
		figures.parts[i].is_known = true;
	figures.queues[TOPOLOGY_ROLE_DUE] = (struct snapshot_queue){ true, 5, 3, 4 };
	figures.queues[TOPOLOGY_ROLE_PARKED] = (struct snapshot_queue){ true, 1, 0, 0 };
	figures.queues[TOPOLOGY_ROLE_FIXED] = (struct snapshot_queue){ true, 9, 0, 0 };
	figures.tasks[COMPENSATION_KIND_REFUND][COMPENSATION_STATUS_DEAD] =
		(struct snapshot_pile){ 3, 60000 };
	figures.refunds[PAYMENT_OUTCOME_MISMATCH] = (struct snapshot_pile){ 1, 2000 };
	figures.alerts_firing = 6;
	figures.alerts_silenced = 2;
	figures.alerts_undelivered = (struct snapshot_pile){ 1, 700000 };
	figures.violations[INVARIANT_PAID_LATE] = 8;
	figures.parts[SNAPSHOT_PART_TASKS].errors = 11;
}

static void tear_down(void)
{
	metrics_close();
}

static void check(const char *line, bool is_there)
{
	size_t size = 0;
	char *text = metrics_write(&size);

	ck_assert_msg((strstr(text, line) != NULL) == is_there, "%s \"%s\" in\n%s",
		is_there ? "no" : "there is", line, text);
	free(text);
}

START_TEST(the_leader_exports_every_figure)
{
	static const char *const lines[] = {
		"\nlapse_orders_waiting 7\n",
		"\nlapse_orders_overdue 2\n",
		"\nlapse_orders_overdue_oldest_age_seconds 1.5\n",
		"\nlapse_queue_messages{queue=\"lapse.timeout.due\",state=\"ready\"} 5\n",
		"\nlapse_queue_messages{queue=\"lapse.timeout.due\",state=\"unacked\"} 4\n",
		"\nlapse_queue_messages{queue=\"lapse.delay.fixed.1799800\",state=\"ready\"} 9\n",
		"\nlapse_queue_consumers{queue=\"lapse.timeout.due\"} 3\n",
		"\nlapse_queue_consumers{queue=\"lapse.parked\"} 0\n",
		"\nlapse_outbox_backlog{status=\"new\"} 0\n",
		"\nlapse_outbox_oldest_age_seconds{status=\"failed\"} 0\n",
		"\nlapse_tasks{kind=\"refund\",status=\"dead\"} 3\n",
		"\nlapse_tasks_oldest_age_seconds{kind=\"refund\",status=\"dead\"} 60\n",
		"\nlapse_tasks{kind=\"webhook\",status=\"running\"} 0\n",
		"\nlapse_refunds_open{outcome=\"mismatch\"} 1\n",
		"\nlapse_refunds_open{outcome=\"unknown_order\"} 0\n",
		"\nlapse_alerts{state=\"firing\"} 6\n",
		"\nlapse_alerts{state=\"undelivered\"} 1\n",
		"\nlapse_alerts{state=\"silenced\"} 2\n",
		"\nlapse_alerts_oldest_undelivered_age_seconds 700\n",
		"\nlapse_invariant_violations{check=\"paid_late\"} 8\n",
		"\nlapse_snapshot_timestamp_seconds 1796048873.25\n",
		"\nlapse_snapshot_duration_seconds 0.04\n",
		"\nlapse_snapshot_leader 1\n",
		"\nlapse_snapshot_errors_total{query=\"tasks\"} 11\n",
	};

	gauges_update(&figures, true);
	for (size_t i = 0; i < ARRAY_LENGTH(lines); i++)
		check(lines[i], true);
}
END_TEST

START_TEST(a_queue_that_is_not_there_is_not_empty)
{
	gauges_update(&figures, true);
	check("queue=\"lapse.delay.00\"", false);
	check("queue=\"lapse.events.webhooks\"", false);
	figures.queues[TOPOLOGY_ROLE_PARKED].is_there = false;
	gauges_update(&figures, true);
	check("queue=\"lapse.parked\"", false);
}
END_TEST

START_TEST(what_is_not_known_is_taken_away_by_itself)
{
	static const struct {
		enum snapshot_part part;
		const char *family;
	} cases[] = {
		{ SNAPSHOT_PART_WAITING, "lapse_orders_waiting" },
		{ SNAPSHOT_PART_OVERDUE, "lapse_orders_overdue" },
		{ SNAPSHOT_PART_OUTBOX, "lapse_outbox_" },
		{ SNAPSHOT_PART_TASKS, "lapse_tasks" },
		{ SNAPSHOT_PART_REFUNDS, "lapse_refunds_" },
		{ SNAPSHOT_PART_ALERTS, "lapse_alerts" },
		{ SNAPSHOT_PART_INVARIANTS, "lapse_invariant_violations" },
		{ SNAPSHOT_PART_QUEUES, "lapse_queue_" },
		{ SNAPSHOT_PART_UNACKED, "state=\"unacked\"" },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		gauges_update(&figures, true);
		check(cases[i].family, true);
		figures.parts[cases[i].part].is_known = false;
		gauges_update(&figures, true);
		check(cases[i].family, false);
		check("lapse_snapshot_timestamp_seconds", true);
		figures.parts[cases[i].part].is_known = true;
	}
}
END_TEST

START_TEST(who_does_not_lead_says_only_that)
{
	gauges_update(&figures, true);
	gauges_update(&figures, false);
	check("\nlapse_snapshot_leader 0\n", true);
	check("\nlapse_snapshot_errors_total{query=\"tasks\"} 11\n", true);
	check("lapse_orders", false);
	check("lapse_queue", false);
	check("lapse_tasks", false);
	check("lapse_snapshot_timestamp_seconds", false);
	check("lapse_snapshot_duration_seconds", false);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		the_leader_exports_every_figure,
		a_queue_that_is_not_there_is_not_empty,
		what_is_not_known_is_taken_away_by_itself,
		who_does_not_lead_says_only_that,
	};
	const struct runner_fixture fixture = { set_up, tear_down };

	return runner_run_with("gauges", &fixture, tests, ARRAY_LENGTH(tests));
}
