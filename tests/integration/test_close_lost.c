/* close_orders over lines that break, and beside its own kind. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/io/db.h"
#include "common/order/close.h"
#include "common/order/close_due.h"
#include "tests/support/direct_db.h"
#include "tests/support/orders.h"
#include "tests/support/proxy.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/shared.h"
#include "tests/support/wait_until.h"

enum {
	BATCH = 500,
	MANY = 2000,
	CLOSERS = 3
};

static struct sandbox *sandbox;
static struct query *query;
static struct direct_db direct;
static struct close_order *orders;
static struct close_report report;

static void set_up(void)
{
	sandbox_create(SANDBOX_NO_BROKER, &sandbox);
	query = sandbox_query(sandbox);
	direct_db_open(&direct, sandbox, NULL, NULL);
	orders = memory_allocate_array(MANY, sizeof(*orders));
	memset(&report, 0, sizeof(report));
}

static void tear_down(void)
{
	free(orders);
	direct_db_close(&direct);
	sandbox_destroy(&sandbox);
}

static void insert_due(uint32_t count)
{
	const struct orders_plan plan = {
		.prefix = "T", .count = count, .due_in_ms = -5000, .has_no_events = true
	};

	orders_insert_many(query, &plan);
}

static void name_orders(struct close_order *list, size_t count)
{
	memset(list, 0, count * sizeof(*list));
	for (size_t i = 0; i < count; i++)
		(void)text_format(list[i].order_no, sizeof(list[i].order_no), "T%zu", i);
}

static enum result try_close(size_t count, struct error *error)
{
	const struct close_request request = {
		.reason = CLOSE_REASON_TIMEOUT, .source = CLOSE_SOURCE_MESSAGE, .report = &report
	};

	return close_orders(direct.db, &request, orders, count, error);
}

static void reopen_through(const struct proxy *proxy)
{
	direct_db_close(&direct);
	direct_db_open(&direct, sandbox, proxy, NULL);
}

/* Again with the same orders until it works, as the programs do. */
static int close_patiently(size_t count)
{
	struct error error = { .text = "" };
	int failures = 0;

	name_orders(orders, count);
	direct_db_reconnect(&direct);
	while (try_close(count, &error) != RESULT_OK) {
		ck_assert_int_lt(++failures, 20);
		direct_db_reconnect(&direct);
	}
	return failures;
}

static void expect_all_closed(int64_t count)
{
	ck_assert_int_eq(orders_count(query, "CLOSED"), count);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_outbox_event"), count);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_compensation"), 2 * count);
	direct_db_expect_sound(&direct);
}

START_TEST(a_commit_whose_answer_is_lost_has_happened_once)
{
	struct proxy *proxy = sandbox_proxy_mysql(sandbox);

	insert_due(50);
	reopen_through(proxy);
	proxy_cut_at(proxy, PROXY_COMMIT, PROXY_AFTER, 1);
	ck_assert_int_eq(close_patiently(50), 1);
	ck_assert_uint_eq(report.repeats[CLOSE_REPEAT_CONNECTION], 1);
	for (size_t i = 0; i < 50; i++)
		ck_assert_int_eq(orders[i].outcome, CLOSE_OUTCOME_ALREADY_CLOSED);
	expect_all_closed(50);
}
END_TEST

START_TEST(a_commit_that_never_arrived_is_made_again)
{
	struct proxy *proxy = sandbox_proxy_mysql(sandbox);

	insert_due(50);
	reopen_through(proxy);
	proxy_cut_at(proxy, PROXY_COMMIT, PROXY_BEFORE, 1);
	ck_assert_int_eq(close_patiently(50), 1);
	for (size_t i = 0; i < 50; i++)
		ck_assert_int_eq(orders[i].outcome, CLOSE_OUTCOME_CLOSED);
	expect_all_closed(50);
}
END_TEST

START_TEST(a_line_may_be_cut_at_any_byte)
{
	struct proxy *proxy = sandbox_proxy_mysql(sandbox);
	int failures = 0;

	insert_due(40);
	reopen_through(proxy);
	for (int i = 0; i < 40; i++) {
		proxy_cut_after(proxy, 1 + runner_random(4000));
		failures += close_patiently((size_t)i + 1);
	}
	proxy_cut_after(proxy, 0);
	ck_assert_int_gt(failures, 0);
	expect_all_closed(40);
}
END_TEST

START_TEST(a_killed_session_changes_nothing)
{
	insert_due(3);
	for (int i = 1; i <= 3; i++) {
		query_run(query, "SELECT CONCAT('KILL ', id) INTO @kill FROM "
				 "information_schema.processlist WHERE db = DATABASE() "
				 "AND id <> CONNECTION_ID() LIMIT 1");
		query_run(query, "EXECUTE IMMEDIATE @kill");
		ck_assert_int_eq(close_patiently((size_t)i), 1);
	}
	expect_all_closed(3);
}
END_TEST

/* ---- many at once */

static void close_all_again(struct direct_db *mine, size_t count)
{
	struct close_order *list = memory_allocate_array(count, sizeof(*list));
	const struct close_request request = {
		.reason = CLOSE_REASON_TIMEOUT, .source = CLOSE_SOURCE_MESSAGE, .report = &report
	};
	struct error error = { .text = "" };

	name_orders(list, count);
	for (size_t first = 0; first < count; first += BATCH)
		if (close_orders(mine->db, &request, list + first, BATCH, &error) != RESULT_OK)
			abort();
	free(list);
}

static void close_in_a_process(void *context)
{
	struct direct_db mine;
	atomic_int *started = context;

	direct_db_open(&mine, sandbox, NULL, NULL);
	atomic_fetch_add(started, 1);
	while (atomic_load(started) < CLOSERS) {
	}
	close_all_again(&mine, MANY);
	direct_db_close(&mine);
	atomic_fetch_add(started, 100);
}

static void sweep_until_nothing_is_due(void)
{
	struct close_cursor cursor = { .id = 0 };
	const struct close_due_request due = { .limit = 300, .cursor = &cursor };
	struct error error = { .text = "" };
	enum result result = RESULT_OK;
	size_t count = 0;

	while (result == RESULT_OK || result == RESULT_CONFLICT)
		result = close_due_orders(direct.db, &due, orders, &count, &report, &error);
	ck_assert_msg(result == RESULT_NONE, "close_due_orders: %s", error.text);
}

static bool all_closers_are_done(void *context)
{
	return atomic_load((atomic_int *)context) == CLOSERS + 100 * (CLOSERS - 1);
}

START_TEST(closers_and_a_sweep_together_close_each_order_once)
{
	atomic_int *started = shared_create(sizeof(*started));
	pid_t children[CLOSERS - 1];

	insert_due(MANY);
	for (size_t i = 0; i < ARRAY_LENGTH(children); i++)
		children[i] = shared_fork(close_in_a_process, started);
	atomic_fetch_add(started, 1);
	sweep_until_nothing_is_due();
	WAIT_UNTIL(all_closers_are_done, started);
	for (size_t i = 0; i < ARRAY_LENGTH(children); i++)
		shared_end(children[i]);
	shared_destroy(started, sizeof(*started));
	sweep_until_nothing_is_due();
	expect_all_closed(MANY);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		a_commit_whose_answer_is_lost_has_happened_once,
		a_commit_that_never_arrived_is_made_again,
		a_line_may_be_cut_at_any_byte,
		a_killed_session_changes_nothing,
		closers_and_a_sweep_together_close_each_order_once,
	};
	const struct runner_fixture fixture = { set_up, tear_down };

	sandbox_need_servers();
	return runner_run_with("close_lost", &fixture, tests, ARRAY_LENGTH(tests));
}
