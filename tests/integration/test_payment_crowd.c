/* payment_apply many times at once: the same trade, many trades, at the deadline. */
#include <stdatomic.h>
#include <sys/types.h>
#include <sys/wait.h>

#include "common/base/text.h"
#include "common/io/db.h"
#include "common/order/payment.h"
#include "tests/support/direct_db.h"
#include "tests/support/orders.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/shared.h"
#include "tests/support/wait_until.h"

enum {
	PRICE = 9900, /* of the orders that orders_insert makes */
	PAYERS = 4,
	TRADES = 40, /* of each payer */
	ORDERS = 60, /* that become due while they are paid */
	TRIES = 100, /* of a payer for one notice */
	/* Of all payers, or of all but the one that is first: */
	OTHERS = (PAYERS - 1) * TRADES,
	HALF = TRADES / 2,
	ALL_HALF = PAYERS * HALF,
	OTHERS_HALF = (PAYERS - 1) * HALF,
	ALL_ORDERS = PAYERS * ORDERS,
};

#define HOUR_MS INT64_C(3600000)

static struct sandbox *sandbox;
static struct query *query;
static struct direct_db direct;

static void set_up(void)
{
	sandbox_create(SANDBOX_NO_BROKER, &sandbox);
	query = sandbox_query(sandbox);
	direct_db_open(&direct, sandbox, NULL, NULL);
}

static void tear_down(void)
{
	direct_db_close(&direct);
	sandbox_destroy(&sandbox);
}

static int64_t count_rows(const char *table)
{
	return query_number(query, "SELECT COUNT(*) FROM %s", table);
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

/* What the payers of one test share. */
struct crowd {
	atomic_uint waiting; /* payers that are ready */
	atomic_uint outcomes[PAYMENT_OUTCOME_UNKNOWN_ORDER + 1];
	atomic_uint repeated;
	atomic_uint failed;
};

/* The plan of one payer: in each of its turns it pays the order with that number. */
struct payer {
	struct crowd *crowd;
	unsigned int number;
	unsigned int turns;
	bool has_own_trades;
};

static void pay_in_crowd(struct db *db, const struct payer *payer, unsigned int turn)
{
	struct payment_result mine = { .is_repeated = false };
	char order_no[TEXT_KEY_SIZE];
	char trade_no[TEXT_KEY_SIZE];
	enum result result = RESULT_TEMPORARY;

	(void)text_format(order_no, sizeof(order_no), "A%u", turn);
	(void)text_format(trade_no, sizeof(trade_no), "T%u-%u", turn,
		payer->has_own_trades ? payer->number : 0);
	/* As a payment channel does: again until there is an answer. */
	for (int i = 0; i < TRIES && result == RESULT_TEMPORARY; i++)
		result = try_pay(db, order_no, trade_no, &mine);
	if (result != RESULT_OK)
		atomic_fetch_add(&payer->crowd->failed, 1);
	else if (mine.is_repeated)
		atomic_fetch_add(&payer->crowd->repeated, 1);
	else
		atomic_fetch_add(&payer->crowd->outcomes[mine.outcome], 1);
}

static bool all_are_ready(void *context)
{
	return atomic_load(&((struct crowd *)context)->waiting) == PAYERS;
}

static void run_payer(void *context)
{
	const struct payer *payer = context;
	struct direct_db mine;

	direct_db_open(&mine, sandbox, NULL, NULL);
	atomic_fetch_add(&payer->crowd->waiting, 1);
	(void)wait_until(all_are_ready, payer->crowd, WAIT_LIMIT_MS);
	for (unsigned int turn = 0; turn < payer->turns; turn++)
		pay_in_crowd(mine.db, payer, turn);
	direct_db_close(&mine);
}

static void run_crowd(const struct payer *plan)
{
	pid_t children[PAYERS];
	struct payer payers[PAYERS];

	for (unsigned int i = 0; i < PAYERS; i++) {
		payers[i] = *plan;
		payers[i].number = i;
		children[i] = shared_fork(run_payer, &payers[i]);
	}
	for (unsigned int i = 0; i < PAYERS; i++)
		ck_assert_int_eq(waitpid(children[i], NULL, 0), children[i]);
	ck_assert_uint_eq(atomic_load(&plan->crowd->failed), 0);
}

static void insert_orders(unsigned int count, int64_t first_due_ms, int64_t step_ms)
{
	for (unsigned int i = 0; i < count; i++) {
		char order_no[TEXT_KEY_SIZE];

		(void)text_format(order_no, sizeof(order_no), "A%u", i);
		orders_insert_one(query, order_no, first_due_ms + step_ms * (int64_t)i);
	}
}

START_TEST(one_trade_that_comes_many_times_at_once_is_judged_once)
{
	struct crowd *crowd = shared_create(sizeof(*crowd));

	insert_orders(HALF, HOUR_MS, 0);
	/* Every second order is not there. */
	query_run(
		query, "UPDATE t_order SET order_no = CONCAT('A', 2 * (id - 1)) ORDER BY id DESC");
	run_crowd(&(struct payer){ .crowd = crowd, .turns = TRADES });
	ck_assert_uint_eq(atomic_load(&crowd->outcomes[PAYMENT_OUTCOME_APPLIED]), HALF);
	ck_assert_uint_eq(atomic_load(&crowd->repeated), OTHERS_HALF);
	ck_assert_uint_eq(atomic_load(&crowd->outcomes[PAYMENT_OUTCOME_UNKNOWN_ORDER]), ALL_HALF);
	ck_assert_int_eq(count_rows("t_payment"), TRADES);
	ck_assert_int_eq(count_rows("t_compensation"), 0);
	direct_db_expect_sound(&direct);
	shared_destroy(crowd, sizeof(*crowd));
}
END_TEST

START_TEST(of_many_trades_at_once_one_pays_and_the_others_go_back)
{
	struct crowd *crowd = shared_create(sizeof(*crowd));

	insert_orders(TRADES, HOUR_MS, 0);
	run_crowd(&(struct payer){ .crowd = crowd, .turns = TRADES, .has_own_trades = true });
	ck_assert_uint_eq(atomic_load(&crowd->outcomes[PAYMENT_OUTCOME_APPLIED]), TRADES);
	ck_assert_uint_eq(atomic_load(&crowd->outcomes[PAYMENT_OUTCOME_DUPLICATE]), OTHERS);
	ck_assert_int_eq(orders_count(query, "PAID"), TRADES);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_compensation WHERE "
					     "kind = 'REFUND'"),
		OTHERS);
	direct_db_expect_sound(&direct);
	shared_destroy(crowd, sizeof(*crowd));
}
END_TEST

/* They become due while they are paid, some before their turn and some behind it. */
START_TEST(at_the_deadline_money_is_in_time_or_goes_back)
{
	struct crowd *crowd = shared_create(sizeof(*crowd));

	insert_orders(ORDERS, 100, 5);
	run_crowd(&(struct payer){ .crowd = crowd, .turns = ORDERS, .has_own_trades = true });
	uint32_t applied = atomic_load(&crowd->outcomes[PAYMENT_OUTCOME_APPLIED]);
	uint32_t late = atomic_load(&crowd->outcomes[PAYMENT_OUTCOME_LATE]);
	uint32_t duplicate = atomic_load(&crowd->outcomes[PAYMENT_OUTCOME_DUPLICATE]);
	ck_assert_uint_eq(applied + late + duplicate, ALL_ORDERS);
	ck_assert_int_eq(orders_count(query, "PAID"), applied);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_order WHERE "
					     "pay_time >= expire_time"),
		0);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_compensation WHERE "
					     "kind = 'REFUND'"),
		late + duplicate);
	direct_db_expect_sound(&direct);
	shared_destroy(crowd, sizeof(*crowd));
}
END_TEST

int main(void)
{
	const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = {
		one_trade_that_comes_many_times_at_once_is_judged_once,
		of_many_trades_at_once_one_pays_and_the_others_go_back,
		at_the_deadline_money_is_in_time_or_goes_back,
	};

	sandbox_need_servers();
	return runner_run_with("payment_crowd", &fixture, tests, ARRAY_LENGTH(tests));
}
