/*
 * Customers create, pay, cancel and read the same orders at random while every daemon is killed at
 * random; afterwards the books must balance to the cent and to the piece.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/text.h"
#include "common/io/json.h"
#include "tests/support/api_client.h"
#include "tests/support/customers.h"
#include "tests/support/fleet.h"
#include "tests/support/gateway.h"
#include "tests/support/process.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/wait_until.h"

enum {
	CUSTOMERS = 6,
	CHAOS_MS = 20000,
	CALM_MAX_MS = 400, /* between two kills */
	ANSWERS_MIN = 200, /* or the customers met nobody */
	REFUND_LIST_MAX = 1000,
};

static struct fleet *fleet;
static struct sandbox *sandbox;
static struct query *query;
static struct customers *customers;
static struct gateway_run gateways[CUSTOMERS_GATEWAYS];
static struct process *members[FLEET_MEMBERS];
static struct api_client *refunds;

static bool refund_service_answers(void *context)
{
	(void)context;
	return api_client_get(refunds, "/v1/refunds")->status == 200;
}

/* It loses answers behind the deed, and fails now and then. */
static void start_refund_service(void)
{
	uint16_t port = sandbox_free_port();
	char address[32];
	const char *const words[] = { "--listen", address, "--lose-answers", "0.1", "--fail-rate",
		"0.05", NULL };

	(void)text_format(address, sizeof(address), "127.0.0.1:%u", port);
	(void)sandbox_start(sandbox, "lapse-receiver", words);
	api_client_create(port, &refunds);
	WAIT_UNTIL(refund_service_answers, NULL);
	sandbox_set(sandbox, "LAPSE_REFUND_URL", "http://127.0.0.1:%u", port);
}

static void set_up(void)
{
	fleet_create(&fleet);
	sandbox = fleet_sandbox(fleet);
	query = fleet_query(fleet);
	sandbox_set(sandbox, "LAPSE_UNKNOWN_ORDER_GRACE", "3s");
	start_refund_service();
	for (size_t i = 0; i < CUSTOMERS_GATEWAYS; i++)
		gateway_start(&gateways[i], sandbox);
	for (int i = 0; i < FLEET_MEMBERS; i++)
		members[i] = fleet_start_one(fleet, (enum fleet_member)i);
}

static void tear_down(void)
{
	customers_destroy(&customers);
	api_client_destroy(&refunds);
	for (size_t i = 0; i < CUSTOMERS_GATEWAYS; i++)
		gateway_leave(&gateways[i]);
	fleet_destroy(&fleet);
}

/* kill -9 of one process by chance, and another in its place. */
static void kill_one(void)
{
	size_t victim = runner_random(FLEET_MEMBERS + CUSTOMERS_GATEWAYS - 1);

	if (victim < FLEET_MEMBERS) {
		fleet_kill_one(fleet, members[victim]);
		members[victim] = fleet_start_one(fleet, (enum fleet_member)victim);
		return;
	}
	struct gateway_run *gateway = &gateways[victim - FLEET_MEMBERS];
	sandbox_kill(sandbox, gateway->process);
	sandbox_set(sandbox, "LAPSE_GATEWAY_ADDR", "127.0.0.1:%u", gateway->port);
	gateway_start_again(gateway);
}

static void rage(uint64_t duration_ms)
{
	uint64_t end_ms = clock_now_ms() + duration_ms;

	while (clock_now_ms() < end_ms) {
		(void)process_wait(members[0], runner_random(CALM_MAX_MS));
		kill_one();
	}
}

static int64_t count(const char *sql)
{
	return query_number(query, "%s", sql);
}

/* Each trade that was sent is there once, as it was sent, and was judged. */
static void check_trades(void)
{
	customers_write_books(customers, query);
	ck_assert_int_eq(
		count("SELECT COUNT(*) FROM t_payment"), count("SELECT COUNT(*) FROM t_paid"));
	ck_assert_int_eq(
		count("SELECT COUNT(*) FROM t_paid JOIN t_payment USING (trade_no, order_no, "
		      "amount_cents, currency) WHERE channel = 'pay'"),
		count("SELECT COUNT(*) FROM t_paid"));
	ck_assert_int_eq(count("SELECT COUNT(*) FROM t_payment WHERE refund_state <> "
			       "IF(outcome = 'APPLIED', 'NONE', 'DONE')"),
		0);
}

/* An order is PAID by exactly one trade of its price; no other order has taken money. */
static void check_orders(void)
{
	ck_assert_int_eq(count("SELECT COUNT(*) FROM t_order o WHERE (SELECT COUNT(*) FROM "
			       "t_payment p WHERE p.order_no = o.order_no AND "
			       "p.outcome = 'APPLIED' AND p.amount_cents = o.amount_cents AND "
			       "p.currency = o.currency) <> (o.status = 'PAID')"),
		0);
	ck_assert_int_eq(count("SELECT COUNT(*) FROM t_payment LEFT JOIN t_order USING (order_no) "
			       "WHERE outcome = 'APPLIED' AND IFNULL(status, '') <> 'PAID'"),
		0);
}

/* Exactly one refund for each trade that was not applied, and the service gave all of it back. */
static void check_refunds(void)
{
	struct json *root = NULL;
	struct error error = { .text = "" };
	int64_t given_back = 0;
	int64_t amount = 0;

	ck_assert_int_eq(
		count("SELECT COUNT(*) FROM t_payment p JOIN t_compensation c ON "
		      "c.kind = 'REFUND' AND c.status = 'DONE' AND c.order_no = p.order_no AND "
		      "c.idempotency_key = CONCAT('refund:pay:', p.trade_no) AND "
		      "JSON_EXTRACT(c.payload, '$.amount_cents') = p.amount_cents "
		      "WHERE p.outcome <> 'APPLIED'"),
		count("SELECT COUNT(*) FROM t_payment WHERE outcome <> 'APPLIED'"));
	ck_assert_int_eq(count("SELECT COUNT(*) FROM t_compensation WHERE kind = 'REFUND'"),
		count("SELECT COUNT(*) FROM t_payment WHERE outcome <> 'APPLIED'"));
	const struct api_answer *answer = api_client_get(refunds, "/v1/refunds");
	ck_assert_int_eq(
		json_parse(answer->body, strlen(answer->body), API_CLIENT_BODY_SIZE, &root, &error),
		RESULT_OK);
	const struct json *list = json_get(root, "refunds");
	ck_assert_uint_lt(json_count(list), REFUND_LIST_MAX);
	for (size_t i = 0; i < json_count(list); i++) {
		ck_assert(json_get_int(json_at(list, i), "amount_cents", &amount));
		given_back += amount;
	}
	json_destroy(&root);
	ck_assert_int_eq(count("SELECT SUM(amount_cents) FROM t_paid"),
		given_back + count("SELECT COALESCE(SUM(amount_cents), 0) FROM t_order WHERE "
				   "status = 'PAID'"));
}

static bool all_money_is_judged(void *context)
{
	(void)context;
	return count("SELECT COUNT(*) FROM t_payment WHERE refund_state = 'PENDING' OR "
		     "(outcome = 'UNKNOWN_ORDER' AND refund_state = 'NONE')") == 0;
}

START_TEST(every_cent_and_every_piece_is_where_it_belongs)
{
	static const struct fleet_expectation all_is_well = { .latest_ms = FLEET_ANY_LATENESS };
	const uint16_t ports[CUSTOMERS_GATEWAYS] = { gateways[0].port, gateways[1].port };
	char words[512];
	char summary[QUERY_TEXT_SIZE];

	customers_start(runner_seed(), ports, CUSTOMERS, &customers);
	rage(CHAOS_MS);
	customers_stop(customers);
	ck_assert_msg(customers_count_strange(customers, words) == 0, "%s", words);
	ck_assert_uint_gt(customers_count_answers(customers), ANSWERS_MIN);
	ck_assert(customers_repeat(customers, WAIT_LIMIT_MS));
	WAIT_UNTIL(all_money_is_judged, NULL);
	query_text(query, summary,
		"SELECT GROUP_CONCAT(outcome, ' ', number ORDER BY outcome) FROM (SELECT outcome, "
		"COUNT(*) AS number FROM t_payment GROUP BY outcome) AS outcomes");
	(void)printf("%llu answers, %s\n", (unsigned long long)customers_count_answers(customers),
		summary);
	check_trades();
	check_orders();
	check_refunds();
	ck_assert_msg(customers_count_strange(customers, words) == 0, "%s", words);
	fleet_check(fleet, &all_is_well);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = { every_cent_and_every_piece_is_where_it_belongs };
	const struct runner_fixture fixture = { set_up, tear_down };

	sandbox_need_servers();
	return runner_run_with("books", &fixture, tests, ARRAY_LENGTH(tests));
}
