/* lapse-gateway is stopped and killed under load: what it has acknowledged is committed. */
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>

#include "common/base/text.h"
#include "tests/support/gateway.h"
#include "tests/support/orders.h"
#include "tests/support/process.h"
#include "tests/support/proxy.h"
#include "tests/support/query.h"
#include "tests/support/runner.h"
#include "tests/support/sandbox.h"
#include "tests/support/shared.h"
#include "tests/support/wait_until.h"

enum {
	CALLERS = 6,
	TRADES = 5000, /* of each caller, more than it can tell before the end */
	ENOUGH = 50,   /* acknowledged in all before the stop */
	SLOW_MS = 250, /* of each answer of MySQL */
	LOAD_MS = 1000,
	STOP_LIMIT_MS = 15000 /* its shutdown timeout is 10 s */
};

static struct sandbox *sandbox;
static struct query *query;
static struct gateway_run gateway;

/* What the callers share. */
struct load {
	atomic_uint acknowledged;
	atomic_uint put_off;
	atomic_uint cut; /* connections that ended without an answer */
	atomic_uchar is_acknowledged[CALLERS][TRADES];
};

struct caller {
	struct load *load;
	unsigned int number;
};

static struct load *load;
static pid_t children[CALLERS];
static struct caller callers[CALLERS];

static void set_up(void)
{
	sandbox_create(SANDBOX_NO_BROKER, &sandbox);
	query = sandbox_query(sandbox);
	sandbox_set(sandbox, "LAPSE_SHUTDOWN_TIMEOUT", "10s");
	load = shared_create(sizeof(*load));
	memset(children, 0, sizeof(children));
}

static void tear_down(void)
{
	for (size_t i = 0; i < CALLERS; i++)
		shared_end(children[i]);
	shared_destroy(load, sizeof(*load));
	gateway_leave(&gateway);
	sandbox_destroy(&sandbox);
}

static void name_trade(char name[TEXT_KEY_SIZE], unsigned int caller, unsigned int trade)
{
	(void)text_format(name, TEXT_KEY_SIZE, "T%u-%u", caller, trade);
}

/* One trade after the other, for an order that closed long ago, until nobody listens any more. */
static void tell_trades(void *context)
{
	const struct caller *caller = context;
	struct api_client *client = NULL;

	api_client_create(gateway.port, &client);
	for (unsigned int trade = 0; trade < TRADES; trade++) {
		char trade_no[TEXT_KEY_SIZE];

		name_trade(trade_no, caller->number, trade);
		const struct api_answer *answer = gateway_notify(
			client, &(struct gateway_notice){ .order_no = "L1", .trade_no = trade_no });
		if (answer->status == 200) {
			atomic_store(&caller->load->is_acknowledged[caller->number][trade], 1);
			atomic_fetch_add(&caller->load->acknowledged, 1);
		} else if (answer->status != API_CLIENT_NO_ANSWER) {
			atomic_fetch_add(&caller->load->put_off, 1);
		} else if (api_client_was_refused(client)) {
			break;
		} else {
			atomic_fetch_add(&caller->load->cut, 1);
			break;
		}
	}
	api_client_destroy(&client);
}

static void start_load(void)
{
	orders_insert_one(query, "L1", -1000);
	for (unsigned int i = 0; i < CALLERS; i++) {
		callers[i] = (struct caller){ load, i };
		children[i] = shared_fork(tell_trades, &callers[i]);
	}
}

static void await_callers(void)
{
	for (size_t i = 0; i < CALLERS; i++) {
		ck_assert_int_eq(waitpid(children[i], NULL, 0), children[i]);
		children[i] = 0;
	}
}

static bool enough_are_acknowledged(void *context)
{
	(void)context;
	return atomic_load(&load->acknowledged) >= ENOUGH;
}

/* Each acknowledged trade is there, with its refund. */
static void expect_all_committed(void)
{
	query_run(query, "CREATE TABLE t_told (trade_no VARCHAR(64) CHARACTER SET ascii COLLATE "
			 "ascii_bin PRIMARY KEY)");
	for (unsigned int i = 0; i < CALLERS; i++) {
		for (unsigned int trade = 0; trade < TRADES; trade++) {
			char trade_no[TEXT_KEY_SIZE];

			if (atomic_load(&load->is_acknowledged[i][trade]) == 0)
				continue;
			name_trade(trade_no, i, trade);
			query_run(query, "INSERT INTO t_told VALUES ('%s')", trade_no);
		}
	}
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_told"),
		atomic_load(&load->acknowledged));
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_told LEFT JOIN t_payment "
					     "USING (trade_no) WHERE outcome IS NULL OR "
					     "outcome <> 'LATE'"),
		0);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_payment"),
		query_number(query, "SELECT COUNT(*) FROM t_compensation WHERE kind = 'REFUND'"));
}

START_TEST(a_stop_answers_what_has_arrived)
{
	gateway_start(&gateway, sandbox);
	start_load();
	WAIT_UNTIL(enough_are_acknowledged, NULL);
	process_signal(gateway.process, SIGTERM);
	ck_assert_int_eq(process_wait(gateway.process, STOP_LIMIT_MS), 0);
	await_callers();
	ck_assert_uint_eq(atomic_load(&load->cut), 0);
	ck_assert_uint_eq(process_count_logged(gateway.process, "drain_incomplete"), 0);
	expect_all_committed();
}
END_TEST

START_TEST(what_was_acknowledged_before_a_kill_is_committed)
{
	gateway_start(&gateway, sandbox);
	start_load();
	WAIT_UNTIL(enough_are_acknowledged, NULL);
	process_kill(gateway.process);
	await_callers();
	expect_all_committed();
}
END_TEST

START_TEST(a_stop_ends_in_time_though_mysql_is_slow)
{
	proxy_slow(sandbox_proxy_mysql(sandbox), SLOW_MS);
	gateway_start(&gateway, sandbox);
	start_load();
	ck_assert(wait_until(enough_are_acknowledged, NULL, LOAD_MS) ||
		  process_is_alive(gateway.process));
	process_signal(gateway.process, SIGTERM);
	ck_assert_int_eq(process_wait(gateway.process, STOP_LIMIT_MS), 0);
	await_callers();
	ck_assert_uint_eq(atomic_load(&load->cut), 0);
	expect_all_committed();
}
END_TEST

/* Dead between commit and answer: the channel comes again and is told the same. */
START_TEST(a_death_behind_the_commit_doubles_nothing)
{
	orders_insert_one(query, "L1", -1000);
	sandbox_set(sandbox, "FAILPOINT", "after_commit");
	gateway_start(&gateway, sandbox);
	sandbox_unset(sandbox, "FAILPOINT");
	const struct gateway_notice notice = { .order_no = "L1", .trade_no = "T1" };
	ck_assert_uint_eq(gateway_notify(gateway.client, &notice)->status, API_CLIENT_NO_ANSWER);
	ck_assert_int_eq(process_wait(gateway.process, WAIT_LIMIT_MS), 128 + SIGKILL);
	gateway_start_again(&gateway);
	gateway_expect(gateway_notify(gateway.client, &notice), 200,
		"\"outcome\":\"LATE\",\"repeated\":true");
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_compensation"), 1);
}
END_TEST

START_TEST(a_death_before_the_commit_leaves_nothing)
{
	orders_insert_one(query, "L1", -1000);
	sandbox_set(sandbox, "FAILPOINT", "before_commit");
	gateway_start(&gateway, sandbox);
	sandbox_unset(sandbox, "FAILPOINT");
	const struct gateway_notice notice = { .order_no = "L1", .trade_no = "T1" };
	ck_assert_uint_eq(gateway_notify(gateway.client, &notice)->status, API_CLIENT_NO_ANSWER);
	ck_assert_int_eq(process_wait(gateway.process, WAIT_LIMIT_MS), 128 + SIGKILL);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_payment"), 0);
	ck_assert_int_eq(query_number(query, "SELECT COUNT(*) FROM t_compensation"), 0);
	gateway_start_again(&gateway);
	gateway_expect(
		gateway_notify(gateway.client, &notice), 200, "{\"code\":0,\"outcome\":\"LATE\"}");
}
END_TEST

int main(void)
{
	const struct runner_fixture fixture = { set_up, tear_down };
	const TTest *const tests[] = {
		a_stop_answers_what_has_arrived,
		what_was_acknowledged_before_a_kill_is_committed,
		a_stop_ends_in_time_though_mysql_is_slow,
#ifdef LAPSE_FAILPOINTS
		a_death_behind_the_commit_doubles_nothing,
		a_death_before_the_commit_leaves_nothing,
#endif
	};

	sandbox_need_servers();
	return runner_run_with("gateway_stop", &fixture, tests, ARRAY_LENGTH(tests));
}
