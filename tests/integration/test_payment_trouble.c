/* payment_apply among locks, deadlocks and lines that break. */
#include <stdatomic.h>
#include <string.h>
#include <sys/types.h>

#include "common/base/clock.h"
#include "common/base/text.h"
#include "common/io/db.h"
#include "common/order/payment.h"
#include "tests/support/direct_db.h"
#include "tests/support/orders.h"
#include "tests/support/proxy.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/shared.h"
#include "tests/support/wait_until.h"

enum {
	PRICE = 9900,     /* of the orders that orders_insert makes */
	MOMENT_MS = 1500, /* more than a look at a locked row takes */
	LIMIT = 100,
	ERROR_DEADLOCK = 1213,
};

#define HOUR_MS INT64_C(3600000)

static struct sandbox *sandbox;
static struct query *query;
static struct query *other; /* another session, with locks of its own */
static struct direct_db direct;
static struct payment_result judged;

static void set_up(void)
{
	sandbox_create(SANDBOX_NO_BROKER, &sandbox);
	query = sandbox_query(sandbox);
	query_create(sandbox_mysql_url(sandbox), &other);
	query_run(other, "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED");
	direct_db_open(&direct, sandbox, NULL, NULL);
}

static void tear_down(void)
{
	query_destroy(&other);
	direct_db_close(&direct);
	sandbox_destroy(&sandbox);
}

static enum result try_pay(struct db *db, const char *order_no, const char *trade_no,
	struct payment_result *judged_out)
{
	struct payment_notice notice = {
		.channel = "pay", .amount_cents = PRICE, .currency = "CNY"
	};
	struct error error = { .text = "" };

	(void)text_copy(notice.order_no, sizeof(notice.order_no), order_no);
	(void)text_copy(notice.trade_no, sizeof(notice.trade_no), trade_no);
	return payment_apply(db, &notice, judged_out, &error);
}

static enum payment_outcome pay(const char *order_no, const char *trade_no)
{
	ck_assert_int_eq(try_pay(direct.db, order_no, trade_no, &judged), RESULT_OK);
	return judged.outcome;
}

static int64_t count_rows(const char *table)
{
	return query_number(query, "SELECT COUNT(*) FROM %s", table);
}

static void settle_unknown(struct payment_unknown *unknown)
{
	struct error error = { .text = "" };
	enum result result = RESULT_OK;

	while (result == RESULT_OK)
		result = payment_settle_unknown(direct.db, 0, LIMIT, unknown, &error);
	ck_assert_msg(result == RESULT_NONE, "settle: %s", error.text);
}

/* ---- locks */

START_TEST(an_order_that_somebody_holds_is_not_waited_for)
{
	orders_insert_one(query, "A1", HOUR_MS);
	query_run(other, "START TRANSACTION");
	query_run(other, "SELECT id FROM t_order WHERE order_no = 'A1' FOR UPDATE");
	uint64_t start_ms = clock_now_ms();
	ck_assert_int_eq(try_pay(direct.db, "A1", "T1", &judged), RESULT_TEMPORARY);
	ck_assert_uint_lt(clock_now_ms() - start_ms, MOMENT_MS);
	ck_assert_int_eq(count_rows("t_payment"), 0);
	query_run(other, "COMMIT");
	ck_assert_int_eq(pay("A1", "T1"), PAYMENT_OUTCOME_APPLIED);
	direct_db_expect_sound(&direct);
}
END_TEST

START_TEST(a_trade_that_was_judged_is_known_though_somebody_holds_its_order)
{
	orders_insert_one(query, "A1", HOUR_MS);
	ck_assert_int_eq(pay("A1", "T1"), PAYMENT_OUTCOME_APPLIED);
	query_run(other, "START TRANSACTION");
	query_run(other, "SELECT id FROM t_order WHERE order_no = 'A1' FOR UPDATE");
	ck_assert_int_eq(pay("A1", "T1"), PAYMENT_OUTCOME_APPLIED);
	ck_assert(judged.is_repeated);
	query_run(other, "COMMIT");
}
END_TEST

START_TEST(a_trade_that_hangs_elsewhere_is_waited_for_once)
{
	orders_insert_one(query, "A1", -1000);
	query_run(other, "START TRANSACTION");
	query_run(other,
		"INSERT INTO t_payment(channel, trade_no, order_no, amount_cents, currency, "
		"outcome) VALUES ('pay', 'T1', 'A1', 9900, 'CNY', 'LATE')");
	uint64_t start_ms = clock_now_ms();
	ck_assert_int_eq(try_pay(direct.db, "A1", "T1", &judged), RESULT_TEMPORARY);
	/* The lock wait of these tests is a second. */
	ck_assert_uint_lt(clock_now_ms() - start_ms, 1000 + MOMENT_MS);
	query_run(other, "ROLLBACK");
	ck_assert_int_eq(pay("A1", "T1"), PAYMENT_OUTCOME_LATE);
	direct_db_expect_sound(&direct);
}
END_TEST

START_TEST(a_held_order_does_not_stop_the_money_of_others)
{
	struct payment_unknown unknown = { .last_id = 0 };

	ck_assert_int_eq(pay("A1", "T1"), PAYMENT_OUTCOME_UNKNOWN_ORDER);
	ck_assert_int_eq(pay("A2", "T2"), PAYMENT_OUTCOME_UNKNOWN_ORDER);
	ck_assert_int_eq(pay("A3", "T3"), PAYMENT_OUTCOME_UNKNOWN_ORDER);
	orders_insert_one(query, "A1", HOUR_MS);
	query_run(other, "START TRANSACTION");
	query_run(other, "SELECT id FROM t_order WHERE order_no = 'A1' FOR UPDATE");
	settle_unknown(&unknown);
	ck_assert_uint_eq(unknown.settled, 2);
	ck_assert_uint_eq(unknown.failed, 1);
	query_run(other, "COMMIT");
	settle_unknown(&unknown);
	ck_assert_uint_eq(unknown.settled, 3);
	ck_assert(orders_is(query, "A1", "PAID"));
	direct_db_expect_sound(&direct);
}
END_TEST

/* ---- deadlock */

/* An insert of one row takes so long only when it waits for a lock. */
static bool the_payment_waits_for_a_lock(void *context)
{
	return query_number(context, "SELECT COUNT(*) FROM information_schema.processlist "
				     "WHERE db = DATABASE() AND id <> CONNECTION_ID() AND "
				     "info LIKE 'INSERT INTO t_payment%%' AND time_ms > 150") > 0;
}

/*
 * Holds the trade's key that the payment waits for, then wants the order that the payment holds.
 * It has changed more rows than the payment, so the payment is the one that the server sacrifices.
 */
static void make_deadlock(void *context)
{
	struct query *mine = NULL;
	struct query *watch = NULL;
	atomic_bool *is_ready = context;

	query_create(sandbox_mysql_url(sandbox), &mine);
	query_create(sandbox_mysql_url(sandbox), &watch);
	(void)query_try(mine, "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED; "
			      "START TRANSACTION");
	(void)query_try(mine, "INSERT INTO t_event_consumed(consumer_name, event_id) "
			      "SELECT 'weight', id FROM t_order_item");
	(void)query_try(mine, "INSERT INTO t_payment(channel, trade_no, order_no, amount_cents, "
			      "currency, outcome) VALUES ('pay', 'T1', 'T0', 9900, 'CNY', 'LATE')");
	atomic_store(is_ready, true);
	(void)wait_until(the_payment_waits_for_a_lock, watch, WAIT_LIMIT_MS);
	(void)query_try(mine, "SELECT id FROM t_order WHERE order_no = 'T0' FOR UPDATE");
	(void)query_try(mine, "ROLLBACK");
}

static bool is_set(void *context)
{
	return atomic_load((atomic_bool *)context);
}

START_TEST(a_deadlock_is_repeated)
{
	static const struct orders_plan plan = { .prefix = "T", .count = 400, .due_in_ms = 600000 };
	atomic_bool *is_ready = shared_create(sizeof(*is_ready));
	orders_insert_many(query, &plan);
	query_run(query, "UPDATE t_order SET amount_cents = 9900 WHERE order_no = 'T0'");
	pid_t child = shared_fork(make_deadlock, is_ready);
	WAIT_UNTIL(is_set, is_ready);
	ck_assert_int_eq(pay("T0", "T1"), PAYMENT_OUTCOME_APPLIED);
	shared_end(child);
	shared_destroy(is_ready, sizeof(*is_ready));
	/* So it was the payment that the server sacrificed. */
	ck_assert_uint_eq(db_last_errno(direct.db), ERROR_DEADLOCK);
	direct_db_expect_sound(&direct);
}
END_TEST

/* ---- lines that break */

static void pay_over_a_cut_line(enum proxy_place place)
{
	struct proxy *proxy = sandbox_proxy_mysql(sandbox);

	orders_insert_one(query, "A1", HOUR_MS);
	orders_insert_one(query, "A2", -1000);
	direct_db_close(&direct);
	direct_db_open(&direct, sandbox, proxy, NULL);
	static const char *const order_numbers[] = { "A1", "A2", "NOBODY" };
	for (size_t i = 0; i < ARRAY_LENGTH(order_numbers); i++) {
		proxy_cut_at(proxy, PROXY_COMMIT, place, 1);
		ck_assert_int_eq(try_pay(direct.db, order_numbers[i], order_numbers[i], &judged),
			RESULT_TEMPORARY);
		direct_db_reconnect(&direct);
		ck_assert_int_eq(
			try_pay(direct.db, order_numbers[i], order_numbers[i], &judged), RESULT_OK);
		/* A trade of an unknown order is judged anew each time. */
		ck_assert(judged.is_repeated == (place == PROXY_AFTER && i < 2));
	}
	ck_assert_uint_eq(proxy_count_cuts(proxy), 3);
	ck_assert(orders_is(query, "A1", "PAID"));
	ck_assert_int_eq(count_rows("t_payment"), 3);
	ck_assert_int_eq(count_rows("t_compensation"), 1);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_outbox_event WHERE "
					     "event_type <> 'ORDER_CREATED'"),
		2);
	direct_db_expect_sound(&direct);
}

START_TEST(a_cut_before_the_commit_leaves_nothing)
{
	pay_over_a_cut_line(PROXY_BEFORE);
}
END_TEST

START_TEST(a_cut_behind_the_commit_doubles_nothing)
{
	pay_over_a_cut_line(PROXY_AFTER);
}
END_TEST

int main(void)
{
	const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = {
		an_order_that_somebody_holds_is_not_waited_for,
		a_trade_that_was_judged_is_known_though_somebody_holds_its_order,
		a_trade_that_hangs_elsewhere_is_waited_for_once,
		a_held_order_does_not_stop_the_money_of_others,
		a_deadlock_is_repeated,
		a_cut_before_the_commit_leaves_nothing,
		a_cut_behind_the_commit_doubles_nothing,
	};

	sandbox_need_servers();
	return runner_run_with("payment_trouble", &fixture, tests, ARRAY_LENGTH(tests));
}
