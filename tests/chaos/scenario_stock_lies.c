/* The product service is down, slow, failing, lying: each effect comes once, or a person knows. */
#include <signal.h>
#include <stdlib.h>

#include "common/base/text.h"
#include "tests/support/fleet.h"
#include "tests/support/http_stub.h"
#include "tests/support/orders.h"
#include "tests/support/process.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/wait_until.h"

static struct fleet *fleet;

static const struct fleet_expectation all_is_well = { .latest_ms = FLEET_ANY_LATENESS };

static void set_up(void)
{
	fleet_create(&fleet);
}

static void tear_down(void)
{
	fleet_destroy(&fleet);
}

static void set_rules(const struct http_stub_rule *rules, size_t count)
{
	for (size_t i = 0; i < count; i++)
		http_stub_set_rule(fleet_stub(fleet), &rules[i]);
}

/* count overdue orders of one item each, found by the sweep. */
static void feed_sku(const char *prefix, const char *sku_id, uint32_t count)
{
	char order_no[64];

	for (uint32_t i = 0; i < count; i++) {
		const struct order_item item = { sku_id, 1 + i };
		const struct order_plan plan = { .order_no = order_no,
			.due_in_ms = -1000,
			.has_no_event = true,
			.items = &item,
			.item_count = 1 };

		(void)text_format(order_no, sizeof(order_no), "%s%u", prefix, i);
		orders_insert(fleet_query(fleet), &plan);
	}
}

static int64_t count_tasks(const char *status)
{
	return query_number(fleet_query(fleet),
		"SELECT COUNT(*) FROM t_compensation WHERE status = '%s'", status);
}

/* Whatever came of them, an operator gives the dead ones five more retries when all is well. */
static void requeue_the_dead(void)
{
	char count[32];
	const char *const words[] = { "retry", "requeue", "--status", "dead", "--confirm-count",
		count, "--yes", "--no-input", NULL };
	char *output = NULL;

	(void)text_format(count, sizeof(count), "%lld", (long long)count_tasks("DEAD"));
	if (count_tasks("DEAD") == 0)
		return;
	int status = sandbox_run(fleet_sandbox(fleet), "lapsectl", words, &output);
	ck_assert_msg(status == 0, "lapsectl retry requeue: status %d\n%s", status, output);
	free(output);
}

static const struct http_stub_rule lies[] = {
	{ .sku_id = "SKU-0", .mode = HTTP_STUB_STATUS, .per_mille = 400, .status = 500 },
	{ .sku_id = "SKU-1", .mode = HTTP_STUB_ANSWER_LOST, .per_mille = 400 },
	{ .sku_id = "SKU-2", .mode = HTTP_STUB_CODE, .per_mille = 400, .code = 17 },
	{ .sku_id = "SKU-3", .mode = HTTP_STUB_CUT, .per_mille = 300 },
	{ .sku_id = "SKU-4", .mode = HTTP_STUB_TEXT, .per_mille = 300, .text = "{\"code\":" },
	{ .sku_id = "SKU-5", .mode = HTTP_STUB_HANG, .per_mille = 50 },
	{ .sku_id = "SKU-6", .mode = HTTP_STUB_OK, .delay_ms = 200 },
};

START_TEST(lies_at_random_end_with_every_effect_once)
{
	set_rules(lies, ARRAY_LENGTH(lies));
	fleet_start(fleet);
	fleet_feed(fleet, "R", 300, 500, 2000);
	fleet_settle(fleet);
	http_stub_drop_rules(fleet_stub(fleet));
	requeue_the_dead();
	fleet_check(
		fleet, &(struct fleet_expectation){ .latest_ms = FLEET_ANY_LATENESS, .calls = 12 });
}
END_TEST

START_TEST(lies_in_a_batch_cost_their_own_items_only)
{
	static const struct http_stub_rule in_batch[] = {
		{ .sku_id = "SKU-1", .mode = HTTP_STUB_CODE, .code = 9, .times = 40 },
		{ .sku_id = "SKU-2", .mode = HTTP_STUB_MISSING, .times = 40 },
		{ .sku_id = "SKU-3", .mode = HTTP_STUB_ANSWER_LOST, .times = 2 },
	};

	sandbox_set(fleet_sandbox(fleet), "LAPSE_STOCK_BATCH", "25");
	set_rules(in_batch, ARRAY_LENGTH(in_batch));
	fleet_start(fleet);
	fleet_feed(fleet, "B", 300, -500, 0);
	fleet_check(fleet, &all_is_well);
	ck_assert_uint_lt(http_stub_count_calls(fleet_stub(fleet)), 600);
}
END_TEST

static bool have_all_tasks(void *context)
{
	(void)context;
	return orders_count(fleet_query(fleet), "UNPAID") == 0;
}

/* Without a breaker six calls of each task would be used up in a few seconds. */
START_TEST(a_service_that_is_down_burns_nobody_s_retries)
{
	struct query *query = fleet_query(fleet);

	http_stub_refuse(fleet_stub(fleet), true);
	fleet_start(fleet);
	fleet_feed(fleet, "D", 250, 500, 2000);
	ck_assert(wait_until(have_all_tasks, NULL, WAIT_LIMIT_MS));
	query_run(query, "SELECT SLEEP(10)");
	ck_assert_int_eq(count_tasks("DEAD"), 0);
	ck_assert_int_eq(count_tasks("DONE"), 0);
	http_stub_refuse(fleet_stub(fleet), false);
	fleet_check(fleet, &all_is_well);
	ck_assert_uint_le(http_stub_max_in_flight(fleet_stub(fleet)), 64);
}
END_TEST

START_TEST(hopeless_calls_end_in_one_alert_each_and_the_others_go_on)
{
	struct http_stub *elsewhere = sandbox_stub(fleet_sandbox(fleet));
	char away[HTTP_STUB_URL_SIZE];
	char here[HTTP_STUB_URL_SIZE];

	http_stub_format_url(elsewhere, away);
	http_stub_format_url(fleet_stub(fleet), here);
	sandbox_set(fleet_sandbox(fleet), "LAPSE_STOCK_URL", "%s", here);
	const struct http_stub_rule rules[] = {
		{ .sku_id = "SILENT", .mode = HTTP_STUB_HANG },
		{ .sku_id = "DRIPPING", .mode = HTTP_STUB_TRICKLE },
		{ .sku_id = "ENDLESS", .mode = HTTP_STUB_ENDLESS },
		{ .sku_id = "AWAY", .mode = HTTP_STUB_REDIRECT, .text = away },
		{ .sku_id = "GONE", .mode = HTTP_STUB_STATUS, .status = 410 },
		{ .sku_id = "REUSED", .mode = HTTP_STUB_STATUS, .status = 409 },
	};
	set_rules(rules, ARRAY_LENGTH(rules));
	for (size_t i = 0; i < ARRAY_LENGTH(rules); i++)
		feed_sku(rules[i].sku_id, rules[i].sku_id, 2);
	fleet_start(fleet);
	fleet_feed(fleet, "GOOD", 100, 500, 500);
	fleet_settle(fleet);
	ck_assert_int_eq(query_number(fleet_query(fleet),
				 "SELECT COUNT(*) FROM t_compensation WHERE status = 'DEAD' "
				 "AND calls = 1 AND (order_no LIKE 'GONE%%' "
				 "OR order_no LIKE 'REUSED%%')"),
		4);
	ck_assert_uint_eq(http_stub_count_calls(elsewhere), 0);
	fleet_check(fleet, &(struct fleet_expectation){ .latest_ms = FLEET_ANY_LATENESS,
				   .dead = 2 * (int64_t)ARRAY_LENGTH(rules) });
}
END_TEST

START_TEST(a_busy_service_is_left_alone_as_long_as_it_asks)
{
	static const struct http_stub_rule busy = { .sku_id = "BUSY",
		.mode = HTTP_STUB_STATUS,
		.status = 429,
		.retry_after_s = 3,
		.times = 1 };
	struct http_stub_key key;
	char name[QUERY_TEXT_SIZE];

	http_stub_set_rule(fleet_stub(fleet), &busy);
	feed_sku("BUSY", "BUSY", 1);
	fleet_start(fleet);
	fleet_check(fleet, &all_is_well);
	query_text(fleet_query(fleet), name, "SELECT idempotency_key FROM t_compensation");
	ck_assert(http_stub_find(fleet_stub(fleet), name, &key));
	ck_assert_uint_eq(key.calls, 2);
	ck_assert_uint_ge(key.times_ms[1] - key.times_ms[0], 2900);
}
END_TEST

/* One that wakes behind its lease finds its tasks done by another one. */
START_TEST(a_revived_retry_writes_nothing)
{
	char before[QUERY_TEXT_SIZE];
	char after[QUERY_TEXT_SIZE];

	feed_sku("Z", "SKU-1", 20);
	(void)fleet_start_one(fleet, FLEET_PRODUCER);
	(void)fleet_start_one(fleet, FLEET_CONSUMER);
	(void)fleet_start_one(fleet, FLEET_SWEEPER);
	struct process *zombie = fleet_stop_one(fleet, FLEET_RETRY, "after_call:stop");
	(void)fleet_start_one(fleet, FLEET_RETRY);
	fleet_settle(fleet);
	query_text(fleet_query(fleet), before, "CHECKSUM TABLE t_compensation");
	process_signal(zombie, SIGCONT);
	feed_sku("Y", "SKU-2", 5);
	fleet_settle(fleet);
	query_run(fleet_query(fleet), "DELETE FROM t_compensation WHERE order_no LIKE 'Y%%'");
	query_text(fleet_query(fleet), after, "CHECKSUM TABLE t_compensation");
	ck_assert_str_eq(before, after);
	ck_assert_uint_eq(http_stub_sum_effects(fleet_stub(fleet), "SKU-1"), 210);
	sandbox_stop_all(fleet_sandbox(fleet), WAIT_LIMIT_MS);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		lies_at_random_end_with_every_effect_once,
		lies_in_a_batch_cost_their_own_items_only,
		a_service_that_is_down_burns_nobody_s_retries,
		hopeless_calls_end_in_one_alert_each_and_the_others_go_on,
		a_busy_service_is_left_alone_as_long_as_it_asks,
#ifdef LAPSE_FAILPOINTS
		a_revived_retry_writes_nothing,
#endif
	};
	const struct runner_fixture fixture = { set_up, tear_down };

	sandbox_need_servers();
	return runner_run_with("stock_lies", &fixture, tests, ARRAY_LENGTH(tests));
}
