/* act: what a person does with orders, outbox rows, rules and alerts, and what is noted. */

#include "common/base/compiler.h"
#include "common/order/act_alert.h"
#include "common/order/act_order.h"
#include "common/order/act_outbox.h"
#include "common/order/act_rule.h"
#include "common/order/payment.h"
#include "common/order/rule_change.h"
#include "common/order/rule_set.h"
#include "tests/support/acts.h"
#include "tests/support/claims.h"
#include "tests/support/orders.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"

#define HOUR_MS INT64_C(3600000)

static struct sandbox *sandbox;
static struct query *query;
static struct claims_db ours;
static struct error error;

static void set_up(void)
{
	sandbox_create(SANDBOX_NO_BROKER, &sandbox);
	query = sandbox_query(sandbox);
	claims_connect(sandbox_mysql_url(sandbox), &ours);
}

static void tear_down(void)
{
	claims_disconnect(&ours);
	sandbox_destroy(&sandbox);
}

/* ---- orders */

static struct act_result close_order(
	const char *order_no, const char *typed, const char *request_id)
{
	const struct act_close request = { order_no, typed, "customer called" };
	const struct audit_actor actor = acts_actor("operator", request_id);
	struct act_close_effect effect;
	struct act_result result;

	ck_assert_int_eq(
		act_close_order(ours.db, &request, &actor, &effect, &result, &error), RESULT_OK);
	return result;
}

START_TEST(an_order_is_closed_once_by_hand_and_a_paid_one_never)
{
	struct act_result result;

	orders_insert_one(query, "ORDER-1", HOUR_MS);
	orders_insert_one(query, "P1", HOUR_MS);
	ck_assert(orders_pay(query, "P1"));
	result = close_order("ORDER-1", "ER-2", "r0");
	acts_expect(&result, ACT_OUTCOME_INVALID, "typed");
	result = close_order("ORDER-1", "ER-1", "r1");
	acts_expect(&result, ACT_OUTCOME_DONE, "");
	result = close_order("ORDER-1", "ER-1", "r1");
	ck_assert(result.is_repeat);
	acts_expect(&result, ACT_OUTCOME_DONE, "");
	result = close_order("ORDER-1", "ORDER-1", "r2");
	acts_expect(&result, ACT_OUTCOME_REFUSED, "CLOSED already");
	result = close_order("P1", "P1", "r3");
	acts_expect(&result, ACT_OUTCOME_REFUSED, "PAID");
	result = close_order("N1", "N1", "r4");
	acts_expect(&result, ACT_OUTCOME_NOT_FOUND, "N1");
	query_expect(query, "ok refused refused", ACTS_AUDIT);
	query_expect(query, "1 1",
		"SELECT COUNT(*), (SELECT COUNT(*) FROM t_compensation) FROM t_outbox_event "
		"WHERE event_type = 'ORDER_CLOSED'");
	query_expect(query, "CLOSED OPERATOR console PAID",
		"SELECT o.status, o.close_reason, o.close_source, p.status "
		"FROM t_order o, t_order p WHERE o.order_no = 'ORDER-1' AND p.order_no = 'P1'");
}
END_TEST

START_TEST(money_behind_a_close_by_hand_goes_back_once)
{
	const struct payment_notice notice = { .channel = "wx",
		.trade_no = "T1",
		.order_no = "A1",
		.amount_cents = 9900,
		.currency = "CNY" };
	struct payment_result paid;
	struct act_result result;

	orders_insert_one(query, "A1", HOUR_MS);
	query_run(query, "UPDATE t_order SET amount_cents = 9900");
	result = close_order("A1", "A1", "r1");
	acts_expect(&result, ACT_OUTCOME_DONE, "");
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(payment_apply(ours.db, &notice, &paid, &error), RESULT_OK);
		ck_assert_int_eq(paid.outcome, PAYMENT_OUTCOME_LATE);
	}
	query_expect(query, "1", "SELECT COUNT(*) FROM t_compensation WHERE kind = 'REFUND'");
	query_expect(query, "CLOSED OPERATOR", "SELECT status, close_reason FROM t_order");
}
END_TEST

/* ---- outbox, rules, alerts */

static struct act_result replay(uint64_t id, const char *request_id)
{
	const struct audit_actor actor = acts_actor("operator", request_id);
	struct act_result result;

	ck_assert_int_eq(act_replay_outbox(ours.db, id, NULL, &actor, &result, &error), RESULT_OK);
	return result;
}

START_TEST(a_replayed_row_is_new_and_keeps_its_event_id)
{
	struct act_result result;

	query_run(query, "INSERT INTO t_outbox_event (id, event_id, event_type, order_no, status, "
			 "sent_at) VALUES (1, 'e1', 'ORDER_PAID', 'A1', 'SENT', UTC_TIMESTAMP(3)), "
			 "(2, 'e2', 'ORDER_NONE', 'A1', 'FAILED', NULL); "
			 "INSERT INTO t_alert (kind, ref, severity, labels, annotations) "
			 "VALUES ('OUTBOX_FAILED', '2', 'warning', '{}', '{}')");
	result = replay(1, "r1");
	acts_expect(&result, ACT_OUTCOME_DONE, "");
	result = replay(2, "r1");
	acts_expect(&result, ACT_OUTCOME_DONE, "");
	result = replay(1, "r2");
	acts_expect(&result, ACT_OUTCOME_CONFLICT, "is NEW");
	result = replay(3, "r3");
	acts_expect(&result, ACT_OUTCOME_NOT_FOUND, "there is no outbox 3");
	query_expect(query, "e1 NEW 1 e2 NEW 1 RESOLVED",
		"SELECT GROUP_CONCAT(event_id, ' ', status, ' ', sent_at IS NULL ORDER BY id "
		"SEPARATOR ' '), (SELECT state FROM t_alert) FROM t_outbox_event");
	query_expect(query, "ok ok conflict", ACTS_AUDIT);
}
END_TEST

START_TEST(a_rule_is_added_once_per_request_and_ended_once)
{
	const struct rule_definition definition = { .values = { "t1" }, .timeout_s = 60 };
	const struct act_rule_add add = { .definition = &definition, .reason = "new shop" };
	const struct audit_actor actor = acts_actor("admin", "r1");
	struct act_rule_end end = { .reason = "no longer true" };
	struct act_result first;
	struct act_result result;

	ck_assert_int_eq(act_add_rule(ours.db, &add, &actor, &first, &error), RESULT_OK);
	acts_expect(&first, ACT_OUTCOME_DONE, "");
	ck_assert_int_eq(act_add_rule(ours.db, &add, &actor, &result, &error), RESULT_OK);
	ck_assert(result.is_repeat);
	ck_assert_uint_eq(first.made_id, result.made_id);
	query_expect(query, "1", "SELECT COUNT(*) FROM t_timeout_rule");
	end.rule_id = first.made_id;
	ck_assert_int_eq(act_end_rule(ours.db, &end, &actor, &result, &error), RESULT_OK);
	acts_expect(&result, ACT_OUTCOME_DONE, "");
	const struct audit_actor other = acts_actor("admin", "r2");
	ck_assert_int_eq(act_end_rule(ours.db, &end, &other, &result, &error), RESULT_OK);
	acts_expect(&result, ACT_OUTCOME_REFUSED, "has ended");
	query_expect(query, "ok ok refused", ACTS_AUDIT);
}
END_TEST

START_TEST(a_rule_is_changed_only_as_the_rules_were_shown)
{
	const struct rule_definition definition = { .values = { "t1" }, .timeout_s = 60 };
	char shown[RULE_SET_SIZE];
	struct act_rule_add add = { .definition = &definition, .shown = shown };
	struct act_rule_end end = { .rule_id = 1, .shown = shown };
	const struct audit_actor first = acts_actor("admin", "r1");
	const struct audit_actor second = acts_actor("admin", "r2");
	const struct audit_actor third = acts_actor("admin", "r3");
	struct act_result result;

	ck_assert_int_eq(rule_set_read(ours.db, shown, &error), RESULT_OK);
	ck_assert_int_eq(act_add_rule(ours.db, &add, &first, &result, &error), RESULT_OK);
	acts_expect(&result, ACT_OUTCOME_DONE, "");
	/* Sent again it is the first answer, although the rules are others now. */
	ck_assert_int_eq(act_add_rule(ours.db, &add, &first, &result, &error), RESULT_OK);
	acts_expect(&result, ACT_OUTCOME_DONE, "");
	ck_assert_int_eq(act_add_rule(ours.db, &add, &second, &result, &error), RESULT_OK);
	acts_expect(&result, ACT_OUTCOME_CONFLICT, "have changed since they were shown");
	ck_assert_int_eq(act_end_rule(ours.db, &end, &second, &result, &error), RESULT_OK);
	acts_expect(&result, ACT_OUTCOME_CONFLICT, "have changed since they were shown");
	query_expect(query, "1 1", "SELECT COUNT(*), SUM(valid_to IS NULL) FROM t_timeout_rule");
	query_expect(query, "ok conflict conflict", ACTS_AUDIT);
	ck_assert_int_eq(rule_set_read(ours.db, shown, &error), RESULT_OK);
	ck_assert_int_eq(act_end_rule(ours.db, &end, &third, &result, &error), RESULT_OK);
	acts_expect(&result, ACT_OUTCOME_DONE, "");
	/* Nothing is held any more. */
	query_expect(query, "1", "SELECT IS_FREE_LOCK(CONCAT('lapse.rules.', DATABASE()))");
}
END_TEST

START_TEST(two_who_saw_the_same_rules_do_not_both_change_them)
{
	const struct rule_definition definition = { .timeout_s = 60 };
	char shown[RULE_SET_SIZE];
	const struct act_rule_add add = { .definition = &definition, .shown = shown };
	const struct audit_actor actor = acts_actor("admin", "r1");
	struct act_result result;

	ck_assert_int_eq(rule_set_read(ours.db, shown, &error), RESULT_OK);
	/* The other one is in the middle of it. */
	query_expect(query, "1", "SELECT GET_LOCK(CONCAT('lapse.rules.', DATABASE()), 0)");
	ck_assert_int_eq(act_add_rule(ours.db, &add, &actor, &result, &error), RESULT_TEMPORARY);
	query_run(query, "INSERT INTO t_timeout_rule (tenant) VALUES ('t')");
	query_expect(query, "1", "SELECT RELEASE_LOCK(CONCAT('lapse.rules.', DATABASE()))");
	ck_assert_int_eq(act_add_rule(ours.db, &add, &actor, &result, &error), RESULT_OK);
	acts_expect(&result, ACT_OUTCOME_CONFLICT, "have changed");
	query_expect(query, "1", "SELECT COUNT(*) FROM t_timeout_rule");
}
END_TEST

START_TEST(a_silence_ends_within_a_day_and_only_for_what_fires)
{
	struct act_silence request = {
		.alert_id = 1, .duration_s = 86401, .reason = "deploy tonight"
	};
	const struct audit_actor actor = acts_actor("operator", "r1");
	struct act_result result;

	query_run(query, "INSERT INTO t_alert (kind, ref, severity, labels, annotations) "
			 "VALUES ('TASK_DEAD', '7', 'warning', '{}', '{}')");
	ck_assert_int_eq(act_silence_alert(ours.db, &request, &actor, &result, &error), RESULT_OK);
	acts_expect(&result, ACT_OUTCOME_INVALID, "24 h");
	request.duration_s = 3600;
	ck_assert_int_eq(act_silence_alert(ours.db, &request, &actor, &result, &error), RESULT_OK);
	acts_expect(&result, ACT_OUTCOME_DONE, "");
	query_expect(query, "1",
		"SELECT silenced_until > UTC_TIMESTAMP(3) + INTERVAL 59 MINUTE FROM t_alert");
	query_run(query, "UPDATE t_alert SET state = 'RESOLVED'");
	const struct audit_actor other = acts_actor("operator", "r2");
	ck_assert_int_eq(act_silence_alert(ours.db, &request, &other, &result, &error), RESULT_OK);
	acts_expect(&result, ACT_OUTCOME_CONFLICT, "not FIRING");
	query_expect(query, "ok conflict", ACTS_AUDIT);
}
END_TEST

START_TEST(a_test_alert_rings_once_and_only_for_an_admin)
{
	const struct audit_actor anna = acts_actor("admin", "r1");
	const struct audit_actor again = acts_actor("admin", "r2");
	const struct audit_actor olga = acts_actor("operator", "r3");
	struct act_result result;

	ck_assert_int_eq(act_test_alerts(ours.db, &olga, &result, &error), RESULT_OK);
	acts_expect(&result, ACT_OUTCOME_FORBIDDEN, "admin");
	query_expect(query, "0", "SELECT COUNT(*) FROM t_alert");
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(act_test_alerts(ours.db, &anna, &result, &error), RESULT_OK);
		acts_expect(&result, ACT_OUTCOME_DONE, "");
		ck_assert(result.is_repeat == (i == 1));
	}
	ck_assert_int_eq(act_test_alerts(ours.db, &again, &result, &error), RESULT_OK);
	acts_expect(&result, ACT_OUTCOME_CONFLICT, "firing still");
	query_expect(query, "THRESHOLD LapseTest info FIRING 1 0 PENDING",
		"SELECT kind, ref, severity, state, fired_count, repeat_count, delivery_state "
		"FROM t_alert");
	query_run(query, "UPDATE t_alert SET state = 'RESOLVED'");
	const struct audit_actor later = acts_actor("admin", "r4");
	ck_assert_int_eq(act_test_alerts(ours.db, &later, &result, &error), RESULT_OK);
	acts_expect(&result, ACT_OUTCOME_DONE, "");
	query_expect(query, "FIRING 2", "SELECT state, fired_count FROM t_alert");
	query_expect(query, "refused ok conflict ok", ACTS_AUDIT);
}
END_TEST

START_TEST(what_changes_no_row_is_written_down_too)
{
	const struct act_note note = { .action = "login",
		.target_type = "user",
		.target_id = "\xe6\x9d\x8e\n",
		.outcome = ACT_OUTCOME_REFUSED,
		.words = "wrong password" };
	const struct audit_actor actor = { .actor = "\xff\n",
		.role = "viewer",
		.auth = "basic",
		.ip = "10.0.0.1",
		.request_id = "r1" };

	ck_assert_int_eq(act_write_note(ours.db, &note, &actor, &error), RESULT_OK);
	query_expect(query, "?? login user ???? refused 10.0.0.1",
		"SELECT actor, action, target_type, target_id, result, ip FROM t_operator_audit");
}
END_TEST

int main(void)
{
	static const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = {
		an_order_is_closed_once_by_hand_and_a_paid_one_never,
		money_behind_a_close_by_hand_goes_back_once,
		a_replayed_row_is_new_and_keeps_its_event_id,
		a_rule_is_added_once_per_request_and_ended_once,
		a_rule_is_changed_only_as_the_rules_were_shown,
		two_who_saw_the_same_rules_do_not_both_change_them,
		a_silence_ends_within_a_day_and_only_for_what_fires,
		a_test_alert_rings_once_and_only_for_an_admin,
		what_changes_no_row_is_written_down_too,
	};

	sandbox_need_servers();
	return runner_run_with("act_other", &fixture, tests, ARRAY_LENGTH(tests));
}
