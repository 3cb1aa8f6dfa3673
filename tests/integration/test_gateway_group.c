/* Calls that arrive together are committed together; each still gets its own answer. */
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>

#include "common/base/clock.h"
#include "common/base/text.h"
#include "tests/support/gateway.h"
#include "tests/support/orders.h"
#include "tests/support/process.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/shared.h"
#include "tests/support/wait_until.h"

enum {
	CALLERS = 8,
	STATUS_NONE = 1000, /* no answer, rather than not yet */
	ARRIVAL_MS = 300,   /* a request of a few hundred bytes has arrived on loopback by then */
};

static struct sandbox *sandbox;
static struct query *query;
static struct gateway_run gateway;

/* What callers say at the same moment, and what each was told. */
struct meeting {
	atomic_uint statuses[CALLERS];
};

struct caller {
	struct meeting *meeting;
	size_t number;
	const char *order_no; /* to be created; NULL: to be paid */
	const char *pays;
	int64_t amount_cents;
};

static struct meeting *meeting;
static struct caller callers[CALLERS];
static pid_t children[CALLERS];
static size_t caller_count;

static void set_up(void)
{
	sandbox_create(SANDBOX_NO_BROKER, &sandbox);
	query = sandbox_query(sandbox);
	sandbox_set(sandbox, "LAPSE_LOCK_WAIT", "1s");
	meeting = shared_create(sizeof(*meeting));
	memset(children, 0, sizeof(children));
	caller_count = 0;
}

static void tear_down(void)
{
	for (size_t i = 0; i < CALLERS; i++)
		shared_end(children[i]);
	shared_destroy(meeting, sizeof(*meeting));
	gateway_leave(&gateway);
	sandbox_destroy(&sandbox);
}

static void call(void *context)
{
	const struct caller *caller = context;
	struct api_client *client = NULL;
	const struct api_answer *answer = NULL;
	char text[256];

	api_client_create(gateway.port, &client);
	if (caller->order_no != NULL) {
		(void)text_format(text, sizeof(text),
			"{\"order_no\":\"%s\",\"user_id\":\"7\",\"amount_cents\":%lld,"
			"\"currency\":\"CNY\",\"timeout\":\"30m\",\"items\":[{\"sku_id\":\"SKU-1\","
			"\"quantity\":1}]}",
			caller->order_no, (long long)caller->amount_cents);
		answer = api_client_post(client, "/v1/orders", text);
	} else {
		(void)text_format(text, sizeof(text), "T%zu", caller->number);
		answer = gateway_notify(client, &(struct gateway_notice){ .order_no = caller->pays,
							.trade_no = text,
							.amount_cents = caller->amount_cents });
	}
	atomic_store(&caller->meeting->statuses[caller->number],
		answer->status == API_CLIENT_NO_ANSWER ? STATUS_NONE : answer->status);
	api_client_destroy(&client);
}

static void add(const char *order_no, const char *pays, int64_t amount_cents)
{
	size_t i = caller_count++;

	callers[i] = (struct caller){ meeting, i, order_no, pays, amount_cents };
	children[i] = shared_fork(call, &callers[i]);
}

static void hold_gateway(void)
{
	gateway_start(&gateway, sandbox);
	process_signal(gateway.process, SIGSTOP);
}

/* The kernel accepts and keeps what they say until the gateway looks. */
static void let_go(void)
{
	clock_wait_ms(ARRIVAL_MS);
	process_signal(gateway.process, SIGCONT);
}

static void await_answers(void)
{
	for (size_t i = 0; i < caller_count; i++) {
		ck_assert_int_eq(waitpid(children[i], NULL, 0), children[i]);
		children[i] = 0;
	}
}

static unsigned int status(size_t caller)
{
	return atomic_load(&meeting->statuses[caller]);
}

static int64_t count_orders(void)
{
	return query_number(query, "SELECT COUNT(*) FROM t_order WHERE order_no LIKE 'N%%'");
}

START_TEST(those_who_come_together_are_all_served)
{
	static const char *const names[CALLERS] = { "N1", "N2", "N3", "N4", "N5", "N6", "N7",
		"N8" };

	hold_gateway();
	for (size_t i = 0; i < CALLERS; i++)
		add(names[i], NULL, 9900);
	let_go();
	await_answers();
	for (size_t i = 0; i < CALLERS; i++)
		ck_assert_uint_eq(status(i), 201);
	ck_assert_int_eq(count_orders(), CALLERS);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_outbox_event"), CALLERS);
	ck_assert_int_eq(
		query_number(query, "SELECT COUNT(DISTINCT order_id) FROM t_order_item"), CALLERS);
}
END_TEST

/* Same, different, late, unknown and wrong ones side by side. */
START_TEST(each_gets_its_own_answer)
{
	orders_insert_one(query, "OPEN", 60000);
	orders_insert_one(query, "LATE", -1000);
	hold_gateway();
	add("N1", NULL, 9900);
	add("N1", NULL, 9900);
	add(NULL, "OPEN", 9900);
	add(NULL, "LATE", 9900);
	add(NULL, "NOBODY", 9900);
	add("N2", NULL, -1);
	let_go();
	await_answers();
	ck_assert_uint_eq(status(0) + status(1), 201 + 200);
	ck_assert_uint_eq(status(2), 200);
	ck_assert_uint_eq(status(3), 200);
	ck_assert_uint_eq(status(4), 404);
	ck_assert_uint_eq(status(5), 400);
	ck_assert_int_eq(count_orders(), 1);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_payment"), 3);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_order WHERE order_no = "
					     "'OPEN' AND status = 'PAID'"),
		1);
	ck_assert_int_eq(
		query_number(query, "SELECT COUNT(*) FROM t_compensation WHERE kind = 'REFUND'"),
		1);
}
END_TEST

/* Somebody else is making N1 and does not finish: who waits for him is put off, the others not. */
START_TEST(one_that_loses_a_race_does_not_take_the_others_along)
{
	struct query *other = NULL;

	query_create(sandbox_mysql_url(sandbox), &other);
	query_run(other, "START TRANSACTION");
	query_run(
		other, "INSERT INTO t_order(order_no, user_id, amount_cents) VALUES ('N1', 1, 1)");
	hold_gateway();
	add("N1", NULL, 9900);
	add("N2", NULL, 9900);
	add("N3", NULL, 9900);
	let_go();
	await_answers();
	query_run(other, "ROLLBACK");
	query_destroy(&other);
	ck_assert_uint_eq(status(0), 503);
	ck_assert_uint_eq(status(1), 201);
	ck_assert_uint_eq(status(2), 201);
	ck_assert_int_eq(count_orders(), 2);
}
END_TEST

/* Two for one order, one for an order that somebody holds, one with too little. */
START_TEST(notices_that_come_together_are_judged_as_if_alone)
{
	static const char *const plain[] = { "OPEN1", "OPEN2", "OPEN3" };
	struct query *other = NULL;

	for (size_t i = 0; i < ARRAY_LENGTH(plain); i++)
		orders_insert_one(query, plain[i], 60000);
	orders_insert_one(query, "HELD", 60000);
	orders_insert_one(query, "LESS", 60000);
	query_create(sandbox_mysql_url(sandbox), &other);
	query_run(other, "START TRANSACTION");
	query_run(other, "SELECT 1 FROM t_order WHERE order_no = 'HELD' FOR UPDATE");
	hold_gateway();
	for (size_t i = 0; i < ARRAY_LENGTH(plain); i++)
		add(NULL, plain[i], 9900);
	add(NULL, "OPEN1", 9900);
	add(NULL, "HELD", 9900);
	add(NULL, "LESS", 9899);
	let_go();
	await_answers();
	query_destroy(&other);
	for (size_t i = 0; i < caller_count; i++)
		ck_assert_uint_eq(status(i), i == 4 ? 503 : 200);
	query_expect(query, "3 1 1",
		"SELECT SUM(outcome = 'APPLIED'), SUM(outcome = 'DUPLICATE' AND order_no = "
		"'OPEN1'), SUM(outcome = 'MISMATCH' AND order_no = 'LESS') FROM t_payment");
	query_expect(query, "3", "SELECT COUNT(*) FROM t_order WHERE status = 'PAID'");
	query_expect(query, "2", "SELECT COUNT(*) FROM t_compensation WHERE kind = 'REFUND'");
}
END_TEST

static void create_two(void)
{
	add("N1", NULL, 9900);
	add("N2", NULL, 9900);
}

static void pay_two(void)
{
	add(NULL, "OPEN1", 9900);
	add(NULL, "OPEN2", 9900);
}

/* Both callers learn nothing, and the process is gone. */
static void die_at(const char *failpoint, void (*call_twice)(void))
{
	sandbox_set(sandbox, "FAILPOINT", "%s", failpoint);
	hold_gateway();
	sandbox_unset(sandbox, "FAILPOINT");
	call_twice();
	let_go();
	await_answers();
	ck_assert_uint_eq(status(0), STATUS_NONE);
	ck_assert_uint_eq(status(1), STATUS_NONE);
	ck_assert_int_eq(process_wait(gateway.process, WAIT_LIMIT_MS), 128 + SIGKILL);
}

static void call_again(void (*call_twice)(void))
{
	gateway_start_again(&gateway);
	caller_count = 0;
	call_twice();
	await_answers();
	ck_assert_uint_eq(status(0), 200);
	ck_assert_uint_eq(status(1), 200);
}

START_TEST(a_death_before_the_common_commit_leaves_nothing)
{
	die_at("before_group_commit", create_two);
	ck_assert_int_eq(count_orders(), 0);
}
END_TEST

START_TEST(a_death_while_orders_are_created_together_leaves_nothing)
{
	die_at("before_set_commit", create_two);
	ck_assert_int_eq(count_orders(), 0);
}
END_TEST

START_TEST(a_death_behind_the_common_commit_doubles_nothing)
{
	die_at("after_group_commit", create_two);
	call_again(create_two);
	ck_assert_int_eq(count_orders(), 2);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_order_item"), 2);
}
END_TEST

START_TEST(a_death_while_notices_are_applied_together_leaves_nothing)
{
	orders_insert_one(query, "OPEN1", 60000);
	orders_insert_one(query, "OPEN2", 60000);
	die_at("before_set_commit", pay_two);
	query_expect(query, "0", "SELECT COUNT(*) FROM t_payment");
	call_again(pay_two);
	query_expect(query, "2 2", "SELECT COUNT(*), SUM(outcome = 'APPLIED') FROM t_payment");
}
END_TEST

int main(void)
{
	const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = {
		those_who_come_together_are_all_served,
		each_gets_its_own_answer,
		one_that_loses_a_race_does_not_take_the_others_along,
		notices_that_come_together_are_judged_as_if_alone,
#ifdef LAPSE_FAILPOINTS
		a_death_before_the_common_commit_leaves_nothing,
		a_death_while_orders_are_created_together_leaves_nothing,
		a_death_behind_the_common_commit_doubles_nothing,
		a_death_while_notices_are_applied_together_leaves_nothing,
#endif
	};

	sandbox_need_servers();
	return runner_run_with("gateway_group", &fixture, tests, ARRAY_LENGTH(tests));
}
