/* thresholds: a rule that holds for its time raises one alert, and resolves it when it is over. */
#include <stdlib.h>
#include <string.h>

#include "common/base/settings.h"
#include "common/base/text.h"
#include "console/thresholds.h"
#include "tests/support/direct_db.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"

static struct sandbox *sandbox;
static struct query *query;
static struct direct_db direct;
static struct thresholds *thresholds;
static struct snapshot_figures figures;
static struct thresholds_fleet fleet;

/* Everything is known and well. */
static void make_well(void)
{
	figures = (struct snapshot_figures){ .number = 1, .mode = TOPOLOGY_MODE_PLUGIN };
	for (size_t i = 0; i < SNAPSHOT_PART_COUNT; i++)
		figures.parts[i].is_known = true;
	for (size_t i = 0; i < 3; i++)
		figures.queues[i].is_there = true;
	figures.queue_count = 3;
	figures.queues[TOPOLOGY_ROLE_DUE].consumers = 1;
	fleet = (struct thresholds_fleet){ .is_known = true, .versions = 1 };
}

static void set_up(void)
{
	sandbox_create(SANDBOX_NO_BROKER, &sandbox);
	query = sandbox_query(sandbox);
	direct_db_open(&direct, sandbox, NULL, NULL);
	thresholds_create(THRESHOLDS_MODE_ON, &thresholds);
	make_well();
}

static void tear_down(void)
{
	thresholds_destroy(&thresholds);
	direct_db_close(&direct);
	sandbox_destroy(&sandbox);
}

static enum result evaluate(uint64_t now_ms, bool is_active, struct error *error)
{
	const struct thresholds_view view = {
		.figures = &figures, .fleet = &fleet, .now_ms = now_ms, .is_active = is_active
	};

	return thresholds_evaluate(thresholds, direct.db, &view, error);
}

static void evaluate_at(uint64_t now_ms, bool is_active)
{
	struct error error = { .text = "" };

	ck_assert_msg(evaluate(now_ms, is_active, &error) == RESULT_OK, "%s", error.text);
}

/* The names of the rules that fire, in their order. */
static void expect_firing(const char *expected)
{
	char text[QUERY_TEXT_SIZE];

	query_text(query, text,
		"SELECT COALESCE(GROUP_CONCAT(ref ORDER BY ref), '') FROM t_alert "
		"WHERE kind = 'THRESHOLD' AND state = 'FIRING'");
	ck_assert_str_eq(text, expected);
}

START_TEST(when_all_is_well_nothing_fires)
{
	evaluate_at(1000, true);
	evaluate_at(1000 + HOURS(1), true);
	expect_firing("");
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_alert"), 0);
}
END_TEST

START_TEST(a_rule_fires_only_when_it_has_held_for_its_time)
{
	char text[QUERY_TEXT_SIZE];

	figures.overdue.oldest_ms = 300000;
	evaluate_at(1000, true);
	evaluate_at(60999, true);
	expect_firing("");
	evaluate_at(61000, true);
	expect_firing("LapseOverdue");
	query_text(query, text,
		"SELECT severity, fired_count, JSON_UNQUOTE(JSON_EXTRACT(labels, '$.alertname')), "
		"JSON_UNQUOTE(JSON_EXTRACT(annotations, '$.description')) FROM t_alert");
	ck_assert_str_eq(text, "critical 1 LapseOverdue 300s; the limit is 120s");
	evaluate_at(71000, true);
	ck_assert_int_eq(query_number(query, "SELECT SUM(fired_count) FROM t_alert"), 1);
}
END_TEST

START_TEST(a_rule_that_holds_no_more_is_resolved_and_begins_anew)
{
	figures.refunds[PAYMENT_OUTCOME_LATE].oldest_ms = 901000;
	evaluate_at(1000, true);
	expect_firing("LapseRefundOpen");
	figures.refunds[PAYMENT_OUTCOME_LATE].oldest_ms = 900000;
	evaluate_at(11000, true);
	expect_firing("");
	figures.refunds[PAYMENT_OUTCOME_LATE].oldest_ms = 910000;
	evaluate_at(21000, true);
	expect_firing("LapseRefundOpen");
	ck_assert_int_eq(query_number(query, "SELECT SUM(fired_count) FROM t_alert"), 2);
	/* Interrupted, the time begins again. */
	figures.overdue.oldest_ms = 300000;
	evaluate_at(31000, true);
	figures.overdue.oldest_ms = 0;
	evaluate_at(81000, true);
	figures.overdue.oldest_ms = 300000;
	evaluate_at(91000, true);
	evaluate_at(150999, true);
	expect_firing("LapseRefundOpen");
}
END_TEST

/* What makes each rule hold. */
static void make_everything_bad(void)
{
	figures.overdue = (struct snapshot_pile){ 1, 121000 };
	figures.lateness[SNAPSHOT_WINDOW_MESSAGE] =
		(struct snapshot_lateness){ .count = 21, .p99_ms = 1001 };
	figures.timeout_closes = 1000;
	figures.sweep_closes = 21;
	figures.queues[TOPOLOGY_ROLE_DUE].consumers = 0;
	figures.outbox_new.oldest_ms = 61000;
	figures.tasks[COMPENSATION_KIND_REFUND][COMPENSATION_STATUS_DEAD].oldest_ms = 1801000;
	figures.refunds[PAYMENT_OUTCOME_UNKNOWN_ORDER].oldest_ms = 901000;
	figures.queues[TOPOLOGY_ROLE_PARKED].ready = 1;
	figures.violations[INVARIANT_OUTBOX_STALE] = 1;
	figures.alerts_undelivered.oldest_ms = 601000;
	figures.parts[SNAPSHOT_PART_LATEST] =
		(struct snapshot_state){ .is_known = false, .errors = 1 };
	fleet.down = 1;
	fleet.versions = 2;
}

START_TEST(each_rule_has_something_that_makes_it_fire)
{
	make_everything_bad();
	evaluate_at(1000, true);
	expect_firing("LapseAlertsUndelivered,LapseBlind,LapsePromiseBroken,LapseRefundOpen");
	evaluate_at(1000 + MINUTES(30), true);
	ck_assert_int_eq(
		query_number(query, "SELECT COUNT(*) FROM t_alert"), (int64_t)threshold_rule_count);
	make_well();
	evaluate_at(1000 + MINUTES(31), true);
	expect_firing("");
}
END_TEST

START_TEST(few_closes_and_sweeping_only_say_nothing)
{
	figures.lateness[SNAPSHOT_WINDOW_MESSAGE] =
		(struct snapshot_lateness){ .count = 20, .p99_ms = 9000 };
	figures.timeout_closes = 20;
	figures.sweep_closes = 20;
	evaluate_at(1000, true);
	evaluate_at(1000 + HOURS(1), true);
	expect_firing("");
	figures.mode = TOPOLOGY_MODE_NONE;
	figures.timeout_closes = 1000;
	figures.sweep_closes = 1000;
	figures.queues[TOPOLOGY_ROLE_DUE].consumers = 0;
	evaluate_at(1000 + HOURS(2), true);
	evaluate_at(1000 + HOURS(3), true);
	expect_firing("");
}
END_TEST

START_TEST(what_cannot_be_told_stays_as_it_is)
{
	figures.refunds[PAYMENT_OUTCOME_LATE].oldest_ms = 901000;
	evaluate_at(1000, true);
	make_well();
	figures.parts[SNAPSHOT_PART_REFUNDS].is_known = false;
	evaluate_at(11000, true);
	expect_firing("LapseRefundOpen");
	fleet = (struct thresholds_fleet){ .is_known = false, .down = 1 };
	evaluate_at(11000 + HOURS(1), true);
	expect_firing("LapseRefundOpen");
}
END_TEST

START_TEST(rules_that_are_not_evaluated_any_more_leave_nothing_firing)
{
	figures.refunds[PAYMENT_OUTCOME_LATE].oldest_ms = 901000;
	evaluate_at(1000, true);
	expect_firing("LapseRefundOpen");
	/* The next leader knows nothing of it, and Prometheus rings now. */
	thresholds_forget(thresholds);
	evaluate_at(11000, false);
	expect_firing("");
}
END_TEST

START_TEST(a_failure_is_told_and_tried_again)
{
	struct error error = { .text = "" };

	figures.refunds[PAYMENT_OUTCOME_LATE].oldest_ms = 901000;
	query_run(query, "ALTER TABLE t_alert RENAME COLUMN labels TO elsewhere");
	ck_assert_int_ne(evaluate(1000, true, &error), RESULT_OK);
	query_run(query, "ALTER TABLE t_alert RENAME COLUMN elsewhere TO labels");
	evaluate_at(11000, true);
	expect_firing("LapseRefundOpen");
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		when_all_is_well_nothing_fires,
		a_rule_fires_only_when_it_has_held_for_its_time,
		a_rule_that_holds_no_more_is_resolved_and_begins_anew,
		each_rule_has_something_that_makes_it_fire,
		few_closes_and_sweeping_only_say_nothing,
		what_cannot_be_told_stays_as_it_is,
		rules_that_are_not_evaluated_any_more_leave_nothing_firing,
		a_failure_is_told_and_tried_again,
	};
	const struct runner_fixture fixture = { set_up, tear_down };

	sandbox_need_servers();
	return runner_run_with("thresholds_raise", &fixture, tests, ARRAY_LENGTH(tests));
}
