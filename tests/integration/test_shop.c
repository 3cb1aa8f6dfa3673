/*
 * lapse-shop on a real database and lapse-stock: what it writes is what an order service writes, a
 * cut line doubles or loses nothing, and stock that is reserved is sold.
 */
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "common/base/compiler.h"
#include "common/base/text.h"
#include "tests/support/http_client.h"
#include "tests/support/process.h"
#include "tests/support/proxy.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/wait_until.h"

enum {
	ORDERS = 250,
	SHORT_MS = 300,
};

static struct sandbox *sandbox;
static struct proxy *proxy;
static struct query *query;
static char *output;

static void set_up(void)
{
	sandbox_create(SANDBOX_NO_BROKER, &sandbox);
	proxy = sandbox_proxy_mysql(sandbox);
	query = sandbox_query(sandbox);
	output = NULL;
}

static void tear_down(void)
{
	free(output);
	sandbox_destroy(&sandbox);
}

/* The number behind key= in the totals. */
static int64_t total(const char *key)
{
	char wanted[32];

	(void)text_format(wanted, sizeof(wanted), " %s=", key);
	const char *found = strstr(output, wanted);
	ck_assert_msg(found != NULL, "no %s in %s", key, output);
	return strtoll(found + strlen(wanted), NULL, 10);
}

static void shop(const char *const *words)
{
	int status = sandbox_run(sandbox, "lapse-shop", words, &output);

	ck_assert_int_eq(status, 0);
}

static void expect_whole_orders(int64_t count)
{
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_order"), count);
	ck_assert_int_eq(
		query_number(query, "SELECT COUNT(DISTINCT order_id) FROM t_order_item"), count);
	ck_assert_int_eq(
		query_number(query, "SELECT COUNT(*) FROM t_order o JOIN t_outbox_event e USING "
				    "(order_no) WHERE event_type = 'ORDER_CREATED'"),
		count);
	/* Each payment is told too, in its transaction. */
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_outbox_event"),
		count + query_number(query, "SELECT COUNT(*) FROM t_order o JOIN t_outbox_event e "
					    "USING (order_no) WHERE o.status = 'PAID' AND "
					    "e.event_type = 'ORDER_PAID'"));
	ck_assert_int_eq(
		query_number(query, "SELECT COUNT(*) FROM t_order o WHERE status = 'PAID' AND "
				    "NOT EXISTS (SELECT 1 FROM t_outbox_event e WHERE e.order_no = "
				    "o.order_no AND event_type = 'ORDER_PAID')"),
		0);
}

START_TEST(orders_are_the_three_inserts)
{
	static const char *const words[] = { "--no-reserve", "--orders=250", "--rate=max",
		"--timeout=1h", "--jitter", "10s", "--pay", "0", "--items", "1-5", NULL };

	shop(words);
	expect_whole_orders(ORDERS);
	ck_assert_int_eq(total("orders"), ORDERS);
	ck_assert_int_eq(
		query_number(query, "SELECT COUNT(*) FROM t_order WHERE status = 'UNPAID' AND "
				    "expire_time - INTERVAL 3600 SECOND >= created_at AND "
				    "expire_time - INTERVAL 3611 SECOND < created_at"),
		ORDERS);
}
END_TEST

static void expect_no_doubles(enum proxy_place place, const char *rate)
{
	const char *const words[] = { "--no-reserve", "--orders=250", rate, "--timeout=1h", "--pay",
		"0", "--batch", "50", NULL };

	proxy_cut_at(proxy, PROXY_COMMIT, place, 2);
	shop(words);
	ck_assert_uint_eq(proxy_count_cuts(proxy), 2);
	expect_whole_orders(ORDERS);
}

START_TEST(a_cut_before_the_commit_loses_no_order)
{
	expect_no_doubles(PROXY_BEFORE, "--rate=max");
}
END_TEST

START_TEST(a_cut_behind_the_commit_doubles_no_order)
{
	expect_no_doubles(PROXY_AFTER, "--rate=max");
}
END_TEST

/* They were not in the transaction of which nobody knows, and go with the next. */
START_TEST(orders_that_become_ready_meanwhile_are_not_taken_for_inserted)
{
	expect_no_doubles(PROXY_AFTER, "--rate=400");
}
END_TEST

START_TEST(no_order_is_paid_at_or_after_its_deadline)
{
	static const char *const words[] = { "--no-reserve", "--orders=250", "--rate=500",
		"--timeout=300ms", "--pay", "1", "--last-moment", "1", NULL };

	shop(words);
	expect_whole_orders(ORDERS);
	ck_assert_int_eq(total("paid") + total("too_late"), ORDERS);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_order WHERE status = 'PAID'"),
		total("paid"));
	ck_assert_int_eq(
		query_number(query, "SELECT COUNT(*) FROM t_order WHERE pay_time >= expire_time"),
		0);
}
END_TEST

static bool order_is_there(void *context)
{
	(void)context;
	return query_number(query, "SELECT COUNT(*) FROM t_order") == 1;
}

START_TEST(a_payment_whose_answer_was_lost_is_made_once)
{
	static const char *const words[] = { "--no-reserve", "--orders=1", "--timeout=10s",
		"--pay=1", NULL };
	struct process *process = sandbox_start(sandbox, "lapse-shop", words);

	WAIT_UNTIL(order_is_there, NULL);
	/* The commit that comes next is that of the payment. */
	proxy_cut_at(proxy, PROXY_COMMIT, PROXY_AFTER, 1);
	ck_assert_int_eq(process_wait(process, WAIT_LIMIT_MS), 0);
	ck_assert_uint_eq(proxy_count_cuts(proxy), 1);
	output = process_output(process);
	ck_assert_int_eq(total("paid"), 1);
	ck_assert_int_eq(query_number(query, "SELECT version FROM t_order"), 1);
}
END_TEST

static uint16_t stock_port;

static bool stock_is_there(void *context)
{
	(void)context;
	return http_client_get(stock_port, "/v1/stock", SHORT_MS, NULL) == 200;
}

START_TEST(what_is_reserved_is_sold_and_the_rest_goes_back)
{
	char address[32];
	char url[64];
	const char *const stock_words[] = { "--listen", address, NULL };
	const char *const words[] = { "--orders=250", "--rate=max", "--timeout=1h", "--pay=0",
		"--items=3", "--skus=4", "--stock-url", url, NULL };

	stock_port = sandbox_free_port();
	(void)text_format(address, sizeof(address), "127.0.0.1:%u", stock_port);
	(void)text_format(url, sizeof(url), "http://%s", address);
	(void)sandbox_start(sandbox, "lapse-stock", stock_words);
	WAIT_UNTIL(stock_is_there, NULL);
	/* SKU-3 is scarce and SKU-4 unknown. */
	query_run(query, "INSERT INTO t_stock(sku_id, quantity) VALUES ('SKU-1', 10000), "
			 "('SKU-2', 10000), ('SKU-3', 20)");
	shop(words);
	expect_whole_orders(total("orders"));
	ck_assert_int_gt(total("orders"), 0);
	ck_assert_int_gt(total("refused"), 0);
	ck_assert_int_eq(total("orders") + total("refused"), ORDERS);
	ck_assert_int_eq(
		query_number(query, "SELECT COUNT(*) FROM t_stock s WHERE quantity + (SELECT "
				    "COALESCE(SUM(i.quantity), 0) FROM t_order_item i WHERE "
				    "i.sku_id = s.sku_id) NOT IN (20, 10000)"),
		0);
}
END_TEST

START_TEST(a_wrong_command_line_is_refused)
{
	static const char *const wrong[] = { "--orders=0", "--orders=x", "--rate=0", "--pay=1.1",
		"--items=3-2", "--items=17", "--stock-url=ftp://x", "--prefix=a b", "--timeout=5",
		"--nothing", "more" };

	for (size_t i = 0; i < ARRAY_LENGTH(wrong); i++) {
		const char *const words[] = { wrong[i], NULL };

		ck_assert_msg(
			sandbox_run(sandbox, "lapse-shop", words, NULL) == 64, "%s", wrong[i]);
	}
	static const char *const unfinished[] = { "--orders", NULL };
	ck_assert_int_eq(sandbox_run(sandbox, "lapse-shop", unfinished, NULL), 78);
}
END_TEST

int main(void)
{
	const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = {
		orders_are_the_three_inserts,
		a_cut_before_the_commit_loses_no_order,
		a_cut_behind_the_commit_doubles_no_order,
		orders_that_become_ready_meanwhile_are_not_taken_for_inserted,
		no_order_is_paid_at_or_after_its_deadline,
		a_payment_whose_answer_was_lost_is_made_once,
		what_is_reserved_is_sold_and_the_rest_goes_back,
		a_wrong_command_line_is_refused,
	};

	sandbox_need_servers();
	return runner_run_with("shop", &fixture, tests, ARRAY_LENGTH(tests));
}
