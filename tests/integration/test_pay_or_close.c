/*
 * Paying against closing and against cancelling, thousands of pairs at the same moment: exactly one
 * wins, and the money that came for the loser goes back.
 */
#include <stdatomic.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>

#include "common/base/clock.h"
#include "common/base/random.h"
#include "common/base/text.h"
#include "common/io/db.h"
#include "common/order/close.h"
#include "common/order/payment.h"
#include "tests/support/direct_db.h"
#include "tests/support/orders.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/shared.h"
#include "tests/support/wait_until.h"

enum {
	PAIRS = 3000,
	SPACE_MS = 3, /* between two deadlines */
	FIRST_DUE_MS = 2500,
	SIDES = 2,         /* so many payers, and so many who close */
	EARLY_MS = 3,      /* a payment comes this much before its deadline at the earliest, */
	LATE_MS = 1,       /* and this much behind it */
	FIRST_CENTS = 100, /* what orders_insert_many asks for the first one */
	TRIES = 1000,
};

#define HOUR_MS INT64_C(3600000)

/* What all processes share. */
struct race {
	int64_t first_due_ms; /* 0: no deadline decides, both begin together */
	atomic_uint ready;
	atomic_uint begun[PAIRS]; /* of each pair, when both begin together */
	atomic_uint applied;
	atomic_uint late;
	atomic_uint other;
	atomic_uint closed;
	atomic_uint lost; /* closes that found the order PAID */
	atomic_uint failed;
};

struct runner_part {
	struct race *race;
	unsigned int first; /* every SIDES-th pair from here */
	enum close_reason reason;
};

static struct sandbox *sandbox;
static struct query *query;
static struct direct_db direct;
static struct race *race;

static void set_up(void)
{
	sandbox_create(SANDBOX_NO_BROKER, &sandbox);
	query = sandbox_query(sandbox);
	direct_db_open(&direct, sandbox, NULL, NULL);
	race = shared_create(sizeof(*race));
}

static void tear_down(void)
{
	shared_destroy(race, sizeof(*race));
	direct_db_close(&direct);
	sandbox_destroy(&sandbox);
}

static bool all_are_ready(void *context)
{
	return atomic_load(&((struct race *)context)->ready) == 2 * SIDES;
}

/* Until the deadline, give or take, or until the other side is there as well. */
static void await_moment(struct race *shared, unsigned int pair, int64_t skew_ms)
{
	if (shared->first_due_ms == 0) {
		uint64_t end_ms = clock_now_ms() + WAIT_LIMIT_MS;

		atomic_fetch_add(&shared->begun[pair], 1);
		while (atomic_load(&shared->begun[pair]) < 2 && clock_now_ms() < end_ms)
			clock_wait_ms(0);
		return;
	}
	int64_t moment_ms = shared->first_due_ms + (int64_t)pair * SPACE_MS + skew_ms;
	while ((int64_t)clock_epoch_ms() < moment_ms)
		clock_wait_ms(1);
}

static void pay(struct db *db, struct race *shared, unsigned int pair)
{
	struct payment_notice notice = {
		.channel = "pay", .amount_cents = FIRST_CENTS + (int64_t)pair, .currency = "CNY"
	};
	struct payment_result judged = { .is_repeated = false };
	struct error error = { .text = "" };
	enum result result = RESULT_TEMPORARY;

	(void)text_format(notice.order_no, sizeof(notice.order_no), "P%u", pair);
	(void)text_format(notice.trade_no, sizeof(notice.trade_no), "T%u", pair);
	for (int i = 0; i < TRIES && result == RESULT_TEMPORARY; i++)
		result = payment_apply(db, &notice, &judged, &error);
	if (result != RESULT_OK)
		atomic_fetch_add(&shared->failed, 1);
	else if (judged.outcome == PAYMENT_OUTCOME_APPLIED)
		atomic_fetch_add(&shared->applied, 1);
	else if (judged.outcome == PAYMENT_OUTCOME_LATE)
		atomic_fetch_add(&shared->late, 1);
	else
		atomic_fetch_add(&shared->other, 1);
}

static void close_one(struct db *db, const struct runner_part *part, unsigned int pair)
{
	struct close_report report = { .transactions = 0 };
	const struct close_request request = {
		.reason = part->reason, .source = CLOSE_SOURCE_API, .report = &report
	};
	struct close_order order = { .outcome = CLOSE_OUTCOME_LOCKED };
	struct error error = { .text = "" };

	(void)text_format(order.order_no, sizeof(order.order_no), "P%u", pair);
	for (int i = 0; i < TRIES; i++) {
		enum result result = close_orders(db, &request, &order, 1, &error);

		if (result == RESULT_OK && order.outcome != CLOSE_OUTCOME_LOCKED &&
			order.outcome != CLOSE_OUTCOME_NOT_DUE)
			break;
	}
	if (order.outcome == CLOSE_OUTCOME_CLOSED)
		atomic_fetch_add(&part->race->closed, 1);
	else if (order.outcome == CLOSE_OUTCOME_ALREADY_PAID)
		atomic_fetch_add(&part->race->lost, 1);
	else
		atomic_fetch_add(&part->race->failed, 1);
}

static void run_payer(void *context)
{
	const struct runner_part *part = context;
	struct direct_db mine;

	direct_db_open(&mine, sandbox, NULL, NULL);
	atomic_fetch_add(&part->race->ready, 1);
	(void)wait_until(all_are_ready, part->race, WAIT_LIMIT_MS);
	for (unsigned int pair = part->first; pair < PAIRS; pair += SIDES) {
		await_moment(
			part->race, pair, (int64_t)random_up_to(EARLY_MS + LATE_MS) - EARLY_MS);
		pay(mine.db, part->race, pair);
	}
	direct_db_close(&mine);
}

static void run_closer(void *context)
{
	const struct runner_part *part = context;
	struct direct_db mine;

	direct_db_open(&mine, sandbox, NULL, NULL);
	atomic_fetch_add(&part->race->ready, 1);
	(void)wait_until(all_are_ready, part->race, WAIT_LIMIT_MS);
	for (unsigned int pair = part->first; pair < PAIRS; pair += SIDES) {
		await_moment(part->race, pair, 0);
		close_one(mine.db, part, pair);
	}
	direct_db_close(&mine);
}

static void run_race(enum close_reason reason)
{
	struct runner_part parts[SIDES];
	pid_t children[2 * SIDES];

	for (unsigned int i = 0; i < SIDES; i++) {
		parts[i] = (struct runner_part){ race, i, reason };
		children[2 * (size_t)i] = shared_fork(run_payer, &parts[i]);
		children[2 * (size_t)i + 1] = shared_fork(run_closer, &parts[i]);
	}
	for (size_t i = 0; i < ARRAY_LENGTH(children); i++)
		ck_assert_int_eq(waitpid(children[i], NULL, 0), children[i]);
}

/* Whoever won says so, and the rows agree. */
static void expect_one_winner_each(void)
{
	unsigned int applied = atomic_load(&race->applied);
	unsigned int closed = atomic_load(&race->closed);

	(void)printf("paid %u, closed %u\n", applied, closed);
	ck_assert_uint_eq(atomic_load(&race->failed), 0);
	ck_assert_uint_eq(atomic_load(&race->other), 0);
	ck_assert_uint_eq(applied + closed, PAIRS);
	ck_assert_uint_eq(atomic_load(&race->late), closed);
	ck_assert_uint_eq(atomic_load(&race->lost), applied);
	ck_assert_int_eq(orders_count(query, "PAID"), applied);
	ck_assert_int_eq(orders_count(query, "CLOSED"), closed);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_order o JOIN t_payment p "
					     "USING (order_no) WHERE (o.status = 'PAID') <> "
					     "(p.outcome = 'APPLIED')"),
		0);
	/* Each refund is that of the money of an order that was closed. */
	ck_assert_int_eq(
		query_number(query,
			"SELECT COUNT(*) FROM t_order o JOIN t_compensation c USING "
			"(order_no) WHERE c.kind = 'REFUND' AND o.status = 'CLOSED' AND "
			"c.idempotency_key = CONCAT('refund:pay:T', SUBSTR(order_no, 2)) AND "
			"JSON_EXTRACT(c.payload, '$.amount_cents') = o.amount_cents"),
		closed);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_compensation WHERE "
					     "kind = 'REFUND'"),
		closed);
	/* Neither too early nor too late. */
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_order WHERE pay_time >= "
					     "expire_time OR (close_reason = 'TIMEOUT' AND "
					     "close_time < expire_time)"),
		0);
	direct_db_expect_sound(&direct);
}

START_TEST(paid_at_the_deadline_or_closed_at_the_deadline_and_never_both)
{
	static const struct orders_plan plan = { .prefix = "P",
		.count = PAIRS,
		.due_in_ms = FIRST_DUE_MS,
		.spread_ms = PAIRS * SPACE_MS };

	orders_insert_many(query, &plan);
	race->first_due_ms = query_number(query,
		"SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', expire_time) DIV 1000 "
		"FROM t_order WHERE order_no = 'P0'");
	run_race(CLOSE_REASON_TIMEOUT);
	expect_one_winner_each();
}
END_TEST

START_TEST(paid_or_cancelled_and_never_both)
{
	static const struct orders_plan plan = {
		.prefix = "P", .count = PAIRS, .due_in_ms = HOUR_MS, .spread_ms = 1
	};

	orders_insert_many(query, &plan);
	run_race(CLOSE_REASON_USER_CANCEL);
	expect_one_winner_each();
	ck_assert_uint_gt(atomic_load(&race->applied), 0);
	ck_assert_uint_gt(atomic_load(&race->closed), 0);
}
END_TEST

int main(void)
{
	const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = {
		paid_at_the_deadline_or_closed_at_the_deadline_and_never_both,
		paid_or_cancelled_and_never_both,
	};

	sandbox_need_servers();
	return runner_run_with("pay_or_close", &fixture, tests, ARRAY_LENGTH(tests));
}
