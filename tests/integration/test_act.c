/* act: what a person does by hand: once per request, guarded, by role, and written down. */

#include "common/base/compiler.h"
#include "common/order/act_rule.h"
#include "common/order/act_task.h"
#include "common/order/rule_change.h"
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

static void insert_dead(uint64_t id, const char *kind, const char *order_no)
{
	query_run(query,
		"INSERT INTO t_compensation (id, kind, target, idempotency_key, order_no, payload, "
		"status, calls, retry_count, last_error) VALUES (%llu, '%s', 'stock', 'k%llu', "
		"'%s', '{\"channel\":\"wx\",\"trade_no\":\"T1\"}', 'DEAD', 6, 5, 'HTTP 503'); "
		"INSERT INTO t_alert (kind, ref, severity, labels, annotations) "
		"VALUES ('TASK_DEAD', '%llu', 'warning', '{}', '{}')",
		(unsigned long long)id, kind, (unsigned long long)id, order_no,
		(unsigned long long)id);
}

static struct act_result requeue(uint64_t id, const char *role, const char *request_id)
{
	const struct audit_actor actor = acts_actor(role, request_id);
	struct act_result result;

	ck_assert_int_eq(
		act_requeue(ours.db, &(struct act_task){ id, 5 }, 0, &actor, &result, &error),
		RESULT_OK);
	return result;
}

/* ---- once */

START_TEST(the_same_request_twice_acts_once_and_shows_the_first_answer)
{
	insert_dead(7, "STOCK_RESTORE", "A1");
	struct act_result first = requeue(7, "operator", "r1");
	struct act_result second = requeue(7, "operator", "r1");

	acts_expect(&first, ACT_OUTCOME_DONE, "");
	acts_expect(&second, ACT_OUTCOME_DONE, "");
	ck_assert(!first.is_repeat && second.is_repeat);
	ck_assert_uint_eq(first.audit_id, second.audit_id);
	query_expect(query, "PENDING 10", "SELECT status, max_retries FROM t_compensation");
	query_expect(query, "ok", ACTS_AUDIT);
	query_expect(query, "RESOLVED", "SELECT state FROM t_alert");
}
END_TEST

START_TEST(of_two_people_one_acts_and_the_other_is_told_what_it_is_now)
{
	insert_dead(7, "STOCK_RESTORE", "A1");
	struct act_result first = requeue(7, "operator", "r1");
	struct act_result second = requeue(7, "operator", "r2");
	struct act_result again = requeue(7, "operator", "r2");

	acts_expect(&first, ACT_OUTCOME_DONE, "");
	acts_expect(&second, ACT_OUTCOME_CONFLICT, "task 7 is PENDING, not DEAD");
	acts_expect(&second, ACT_OUTCOME_CONFLICT, "the last to act on it was maria (requeue, ");
	acts_expect(&again, ACT_OUTCOME_CONFLICT, "task 7 is PENDING, not DEAD");
	ck_assert(again.is_repeat);
	query_expect(query, "PENDING 10", "SELECT status, max_retries FROM t_compensation");
	query_expect(query, "ok conflict", ACTS_AUDIT);
}
END_TEST

START_TEST(a_task_that_died_again_is_not_the_one_that_was_shown)
{
	insert_dead(7, "STOCK_RESTORE", "A1");
	query_run(query, "UPDATE t_compensation SET retry_count = 10, max_retries = 10");
	struct act_result result = requeue(7, "operator", "r1");

	acts_expect(&result, ACT_OUTCOME_CONFLICT, "10 retries, not 5");
	query_expect(query, "DEAD 10", "SELECT status, max_retries FROM t_compensation");
}
END_TEST

START_TEST(a_selection_has_an_answer_for_each)
{
	static const struct act_task tasks[] = { { 7, 5 }, { 8, 4 }, { 9, 5 }, { 10, UINT32_MAX } };
	const struct audit_actor actor = acts_actor("operator", "r1");
	const struct act_selection selection = { tasks, ARRAY_LENGTH(tasks) };
	struct act_result results[ARRAY_LENGTH(tasks)];
	size_t done = 0;

	insert_dead(7, "STOCK_RESTORE", "A1");
	insert_dead(8, "STOCK_RESTORE", "A1");
	insert_dead(10, "WEBHOOK", "A1");
	ck_assert_int_eq(act_requeue_selected(ours.db, &selection, &actor, results, &done, &error),
		RESULT_OK);
	ck_assert_uint_eq(done, ARRAY_LENGTH(tasks));
	acts_expect(&results[0], ACT_OUTCOME_DONE, "");
	acts_expect(&results[1], ACT_OUTCOME_CONFLICT, "not 4");
	acts_expect(&results[2], ACT_OUTCOME_NOT_FOUND, "there is no task 9");
	acts_expect(&results[3], ACT_OUTCOME_DONE, "");
	query_expect(query, "PENDING DEAD PENDING",
		"SELECT GROUP_CONCAT(status ORDER BY id SEPARATOR ' ') FROM t_compensation");
}
END_TEST

/* ---- who */

START_TEST(a_role_that_is_too_small_is_refused_and_written_down)
{
	const struct audit_actor operator= acts_actor("operator", "r2");
	const struct rule_definition definition = { .timeout_s = 60 };
	const struct act_rule_add add = { .definition = &definition };
	struct act_result result;

	insert_dead(7, "STOCK_RESTORE", "A1");
	result = requeue(7, "viewer", "r1");
	acts_expect(&result, ACT_OUTCOME_FORBIDDEN, "requeue needs the role operator");
	ck_assert_int_eq(act_add_rule(ours.db, &add, &operator, & result, &error), RESULT_OK);
	acts_expect(&result, ACT_OUTCOME_FORBIDDEN, "rule_add needs the role admin");
	query_expect(query, "refused refused", ACTS_AUDIT);
	query_expect(query, "DEAD 0",
		"SELECT status, (SELECT COUNT(*) FROM t_timeout_rule) FROM t_compensation");
	ck_assert(act_role_needed("discard") == ACT_ROLE_ADMIN);
	ck_assert(act_role_needed("anything") == ACT_ROLE_ADMIN);
	ck_assert(act_role_needed("replay") == ACT_ROLE_OPERATOR);
}
END_TEST

START_TEST(a_request_id_that_can_be_no_key_is_invalid)
{
	insert_dead(7, "STOCK_RESTORE", "A1");
	struct act_result result = requeue(7, "admin", "r 1");

	acts_expect(&result, ACT_OUTCOME_INVALID, "request id");
	query_expect(query, "", ACTS_AUDIT);
}
END_TEST

/* ---- resolve */

static struct act_result resolve(
	const char *role, const char *request_id, const struct act_resolve *request)
{
	const struct audit_actor actor = acts_actor(role, request_id);
	struct act_result result;

	ck_assert_int_eq(act_resolve(ours.db, request, &actor, &result, &error), RESULT_OK);
	return result;
}

START_TEST(a_red_check_needs_an_admin_who_types_the_order_number)
{
	struct act_resolve request = { .task_id = 7, .code = "other", .text = "sent by post" };
	struct act_result result;

	insert_dead(7, "STOCK_RESTORE", "A1");
	insert_dead(8, "STOCK_RESTORE", "A1"); /* not settled either */
	result = resolve("operator", "r1", &request);
	acts_expect(&result, ACT_OUTCOME_FORBIDDEN, "only an admin");
	result = resolve("admin", "r2", &request);
	acts_expect(&result, ACT_OUTCOME_REFUSED, "has to be typed");
	request.typed_order_no = "A2";
	result = resolve("admin", "r3", &request);
	acts_expect(&result, ACT_OUTCOME_REFUSED, "has to be typed");
	request.typed_order_no = "A1";
	result = resolve("admin", "r4", &request);
	acts_expect(&result, ACT_OUTCOME_DONE, "");
	/* Now the other one has no open sibling any more. */
	request = (struct act_resolve){ .task_id = 8, .code = "not_needed", .text = "all is well" };
	result = resolve("operator", "r5", &request);
	acts_expect(&result, ACT_OUTCOME_DONE, "");
	query_expect(query, "refused refused refused ok ok", ACTS_AUDIT);
	query_expect(query, "RESOLVED RESOLVED",
		"SELECT GROUP_CONCAT(status ORDER BY id SEPARATOR ' ') FROM t_compensation");
}
END_TEST

START_TEST(an_order_that_is_still_unpaid_is_red)
{
	const struct act_resolve request = {
		.task_id = 7, .code = "other", .text = "sent by post"
	};
	struct act_checks checks;

	orders_insert_one(query, "A1", HOUR_MS);
	insert_dead(7, "STOCK_RESTORE", "A1");
	ck_assert_int_eq(act_check_resolve(ours.db, &request, &checks, &error), RESULT_OK);
	ck_assert(!checks.is_order_final && checks.has_no_open_sibling);
	struct act_result result = resolve("operator", "r1", &request);
	acts_expect(&result, ACT_OUTCOME_FORBIDDEN, "UNPAID");
}
END_TEST

START_TEST(a_refund_by_hand_names_its_reference_and_the_payment_knows)
{
	struct act_resolve request = {
		.task_id = 7, .code = "refunded_by_hand", .text = "refunded_by_hand"
	};
	struct act_result result;

	insert_dead(7, "REFUND", "A1");
	query_run(query, "INSERT INTO t_payment (channel, trade_no, order_no, amount_cents, "
			 "currency, outcome, refund_state) "
			 "VALUES ('wx', 'T1', 'A1', 5, 'CNY', 'LATE', 'FAILED')");
	result = resolve("operator", "r1", &request);
	acts_expect(&result, ACT_OUTCOME_FORBIDDEN, "no reference");
	request.text = "bank transfer 4711";
	result = resolve("operator", "r2", &request);
	acts_expect(&result, ACT_OUTCOME_DONE, "");
	query_expect(query, "RESOLVED DONE",
		"SELECT status, (SELECT refund_state FROM t_payment) FROM t_compensation");
}
END_TEST

START_TEST(a_resolve_without_a_good_reason_is_invalid)
{
	static const struct act_resolve cases[] = { { 7, "because", "it is so", NULL },
		{ 7, NULL, "it is so", NULL }, { 7, "other", "abcd", NULL },
		{ 7, "other", NULL, NULL } };

	insert_dead(7, "STOCK_RESTORE", "A1");
	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		struct act_result result = resolve("admin", "r1", &cases[i]);

		acts_expect(&result, ACT_OUTCOME_INVALID, "reason");
	}
	query_expect(query, "DEAD", "SELECT status FROM t_compensation");
}
END_TEST

int main(void)
{
	static const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = {
		the_same_request_twice_acts_once_and_shows_the_first_answer,
		of_two_people_one_acts_and_the_other_is_told_what_it_is_now,
		a_task_that_died_again_is_not_the_one_that_was_shown,
		a_selection_has_an_answer_for_each,
		a_role_that_is_too_small_is_refused_and_written_down,
		a_request_id_that_can_be_no_key_is_invalid,
		a_red_check_needs_an_admin_who_types_the_order_number,
		an_order_that_is_still_unpaid_is_red,
		a_refund_by_hand_names_its_reference_and_the_payment_knows,
		a_resolve_without_a_good_reason_is_invalid,
	};

	sandbox_need_servers();
	return runner_run_with("act", &fixture, tests, ARRAY_LENGTH(tests));
}
