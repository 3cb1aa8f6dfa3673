/* Many at once on the same orders: lost races are repeated, nobody loses or doubles anything. */
#include <inttypes.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/text.h"
#include "tests/support/api_client.h"
#include "tests/support/daemon.h"
#include "tests/support/fleet.h"
#include "tests/support/gateway.h"
#include "tests/support/http_stub.h"
#include "tests/support/orders.h"
#include "tests/support/process.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/wait_until.h"

#define DUE_QUEUE "lapse.timeout.due"

enum {
	MANY = 8,
	MESSAGES = 2000,
	ORDERS = 1000,
	SKUS = 5,
	CALLERS = 4,
	TRY_MAX = 100,       /* calls of one caller about one order */
	FIRST_DUE_MS = 2000, /* the callers are at it by then */
	SPREAD_MS = 6000,
};

static struct fleet *fleet;
static struct sandbox *sandbox;
static struct query *query;
static struct process *members[MANY];
static struct gateway_run gateway;

static const struct fleet_expectation all_is_well = { .latest_ms = FLEET_ANY_LATENESS };

static void set_up(void)
{
	fleet_create(&fleet);
	sandbox = fleet_sandbox(fleet);
	query = fleet_query(fleet);
	sandbox_set(sandbox, "LAPSE_SWEEP_INTERVAL", "1s");
}

static void tear_down(void)
{
	gateway_leave(&gateway);
	fleet_destroy(&fleet);
}

static void start_many(enum fleet_member member)
{
	for (int i = 0; i < MANY; i++) {
		members[i] = fleet_start_one(fleet, member);
		fleet_await_ready(fleet, member, true);
	}
}

/* What is repeated calls nobody. */
static void expect_no_error(const struct process *process)
{
	ck_assert_uint_eq(process_count_logged(process, "\"level\":\"error\""), 0);
}

static void expect_no_errors(void)
{
	for (int i = 0; i < MANY; i++)
		expect_no_error(members[i]);
}

/* Each was closed by the one message about it, whoever had to repeat a transaction for that. */
START_TEST(eight_consumers_close_two_thousand_orders_at_once)
{
	const struct orders_plan plan = {
		.prefix = "M", .count = MESSAGES, .due_in_ms = -1000, .has_no_events = true
	};

	sandbox_set(sandbox, "LAPSE_PREFETCH", "100");
	sandbox_set(sandbox, "LAPSE_CLOSE_BATCH", "100");
	orders_insert_many(query, &plan);
	start_many(FLEET_CONSUMER);
	daemon_flood(sandbox, DUE_QUEUE, "M", MESSAGES);
	WAIT_UNTIL(orders_are_all_final, query);
	ck_assert_int_eq(fleet_count_closed(fleet, "M", "message"), MESSAGES);
	expect_no_errors();
	(void)fleet_start_one(fleet, FLEET_PRODUCER);
	(void)fleet_start_one(fleet, FLEET_RETRY);
	fleet_check(fleet, &all_is_well);
	ck_assert_uint_eq(http_stub_most_calls(fleet_stub(fleet)), 1);
}
END_TEST

/* The same five SKUs in every order, every second one lists them from the end. */
static void insert_orders(void)
{
	query_run(query,
		"START TRANSACTION; "
		"INSERT INTO t_order(order_no, user_id, amount_cents, expire_time) "
		"WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < %d) "
		"SELECT CONCAT('S', i), 42, 9900, UTC_TIMESTAMP(3) + INTERVAL %d + i * %d DIV %d "
		"* 1000 MICROSECOND FROM n; "
		"INSERT INTO t_order_item(order_id, sku_id, quantity) "
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) "
		"SELECT o.id, CONCAT('SKU-', IF(o.id %% 2 = 0, i, %d + 1 - i)), i FROM t_order o "
		"CROSS JOIN n ORDER BY o.id, i; COMMIT",
		ORDERS - 1, FIRST_DUE_MS * 1000, SPREAD_MS, ORDERS, SKUS, SKUS);
}

/* Somebody else holds the order: the same again. */
static unsigned int ask(struct api_client *client, bool is_payment, const char *order_no)
{
	unsigned int status = 503;
	char path[64];

	(void)text_format(path, sizeof(path), "/v1/orders/%s/cancel", order_no);
	for (int i = 0; i < TRY_MAX && status == 503; i++)
		status = is_payment ? gateway_notify(client,
					      &(struct gateway_notice){
						      .order_no = order_no, .trade_no = order_no })
					      ->status
				    : api_client_post(client, path, NULL)->status;
	return status;
}

/* Two callers about an order, one pays, one cancels; every third order is left to the sweep. */
_Noreturn static void call(int number)
{
	struct api_client *client = NULL;
	int strange = 0;

	api_client_create(gateway.port, &client);
	for (uint32_t i = (uint32_t)number / 2; i < ORDERS; i += 3) {
		bool is_payment = (i + (uint32_t)number) % 2 == 0; /* each is first now and then */
		char order_no[16];

		(void)text_format(order_no, sizeof(order_no), "S%" PRIu32, i);
		unsigned int status = ask(client, is_payment, order_no);
		if (status != 200 && !(status == 409 && !is_payment))
			strange++;
	}
	_exit(strange > 0 ? 1 : 0);
}

static void call_all(void)
{
	pid_t callers[CALLERS];

	for (int i = 0; i < CALLERS; i++) {
		(void)fflush(NULL);
		callers[i] = fork();
		ck_assert_int_ge(callers[i], 0);
		if (callers[i] == 0)
			call(i);
	}
	for (int i = 0; i < CALLERS; i++) {
		int status = -1;

		ck_assert_int_eq(waitpid(callers[i], &status, 0), callers[i]);
		ck_assert_msg(status == 0, "caller %d had a strange answer", i);
	}
}

START_TEST(sweepers_payments_and_cancels_end_each_order_in_one_state)
{
	char url[HTTP_STUB_URL_SIZE];

	http_stub_format_url(fleet_stub(fleet), url);
	http_stub_accept_path(fleet_stub(fleet), "/v1/refunds");
	sandbox_set(sandbox, "LAPSE_REFUND_URL", "%s", url);
	sandbox_set(sandbox, "LAPSE_SWEEP_BATCH", "40");
	gateway_start(&gateway, sandbox);
	start_many(FLEET_SWEEPER);
	insert_orders();
	call_all();
	WAIT_UNTIL(orders_are_all_final, query);
	expect_no_errors();
	expect_no_error(gateway.process);
	ck_assert_int_gt(orders_count(query, "PAID"), 0);
	ck_assert_int_gt(fleet_count_closed(fleet, "S", "sweep"), 0);
	ck_assert_int_gt(fleet_count_closed(fleet, "S", "api"), 0);
	/* A trade is APPLIED or goes back. */
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_payment p JOIN t_order o "
					     "USING (order_no) WHERE (p.outcome = 'APPLIED') <> "
					     "(o.status = 'PAID')"),
		0);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_payment p LEFT JOIN "
					     "t_compensation c ON c.idempotency_key = "
					     "CONCAT('refund:pay:', p.trade_no) WHERE "
					     "(p.outcome = 'APPLIED') <> (c.id IS NULL)"),
		0);
	(void)fleet_start_one(fleet, FLEET_PRODUCER);
	(void)fleet_start_one(fleet, FLEET_RETRY);
	fleet_check(fleet, &all_is_well);
	ck_assert_uint_eq(http_stub_most_calls(fleet_stub(fleet)), 1);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		eight_consumers_close_two_thousand_orders_at_once,
		sweepers_payments_and_cancels_end_each_order_in_one_state,
	};
	const struct runner_fixture fixture = { set_up, tear_down };

	sandbox_need_servers();
	return runner_run_with("crowd", &fixture, tests, ARRAY_LENGTH(tests));
}
